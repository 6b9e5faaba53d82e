#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
guest-device load 600 0 >/dev/null & load=$!
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -x cleanrate=1d -n '
	syscall::getppid: { trace(arg0); }
' -- true >/dev/null 2>err
until dfr status mine | grep -q '^  detached'; do sleep 0.1; done
echo detached
kill $load; wait $load
dfr stop mine
