#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr -q --keep mine -x cpubudget=3 -s /thin.d -- true 2>/dev/null
taskset 2 guest-device load 120 0 >/dev/null &
load=$!
taskset -p 1 $$ >/dev/null
: >said
guest-trigger mark mine >said &
asker=$!
until grep -q marked said; do sleep 0.1; done
kill $load
wait $asker
cat said
dfr stop mine
