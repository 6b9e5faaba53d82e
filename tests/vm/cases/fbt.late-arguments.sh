#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'ls -lR /sys/module >/dev/null 2>&1' >w.sh
for n in 6 7 8 9; do
	dtrace -qn "
		fbt:::entry /arg$n == 0x5ac1f00d5ac1f00d/ { @ = count(); }
	" -c 'sh w.sh' 2>/dev/null >/dev/null
	echo arg$n $?
done
dtrace -qn '
	fbt:::return /arg5 == 1 || arg6 == 1 || arg9 == 1/ { @ = count(); }
' -c 'sh w.sh' 2>/dev/null >/dev/null
echo return $?
dtrace -qn '
	syscall:::entry,syscall:::return /arg6 == 1 || arg9 == 1/ { @ = count(); }
' -c 'sh w.sh' 2>/dev/null >/dev/null
echo syscall $?
