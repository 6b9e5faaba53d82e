#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'ls -lR /sys/module/dfr >/dev/null 2>&1' >w.sh
# With a budget, of the whole CPU, the deadman leaves a state alone: on a busy host such probes may take nine
# tenths.
# run NAME PROGRAM: prints the name and dtrace's status; what it said, if it failed.
run() {
	dtrace -x cpubudget=100 -qn "$2" -c 'sh w.sh' 2>said >/dev/null
	status=$?
	echo "$1 $status"
	[ $status = 0 ] || cat said >&2
}
v=0x5ac1f00d5ac1f00d
run arg6 "fbt:::entry /arg6 == $v/ { @ = count(); }"
run others "fbt:::entry /arg7 == $v || arg8 == $v || arg9 == $v/ { @ = count(); }"
run return 'fbt:::return /arg5 == 1 || arg6 == 1 || arg9 == 1/ { @ = count(); }'
run syscall 'syscall:::entry,syscall:::return /arg6 == 1 || arg9 == 1/ { @ = count(); }'
