#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
guest-device load 120 0 >/dev/null &
load=$!
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -s /thin.d -- true >/dev/null 2>err
until guest-device costs mine | grep 'detached 2$'; do sleep 0.1; done
dfr stop mine
rmmod dfr && insmod /dfr.ko && echo unloaded
dtrace -x cpubudget=1 -qs /thin.d >/dev/null 2>err &
sleep 8
kill -9 $!
wait $!
until rmmod dfr 2>/dev/null; do sleep 0.1; done
insmod /dfr.ko && echo unloaded
wc -l </sys/kernel/tracing/enabled_functions
kill $load
