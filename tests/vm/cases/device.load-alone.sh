#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
guest-load long >out & loads=$!; until grep -q loading out; do sleep 0.1; done
ticks() { awk '{ print $15 }' /proc/$loads/stat; }
before=$(ticks)
until [ $(($(ticks) - before)) -ge 20 ]; do sleep 0.1; done
# No other state is there; its own is, for a moment, when a load was done.
guest-device count 1000; guest-device states | awk -v loader=$loads '$4 != loader'
kill -9 $loads; wait $loads 2>/dev/null; cat out; guest-device states; guest-device count 10
