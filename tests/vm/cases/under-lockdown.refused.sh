#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
sh /lock-down.sh || exit
dtrace -x engine=kernel -qn '
	BEGIN { trace(*(int *)curthread); }
	BEGIN { exit(0); }
' 2>&1 | grep -o 'invalid kernel access in action #1'
dtrace -x engine=kernel -qn 'BEGIN { stack(); exit(0); }' 2>&1 | grep -o 'the kernel is locked down'
dtrace -x engine=kernel -qn '
	fbt::vfs_read:entry { trace(arg0); }
	fbt::vfs_read:entry /arg0/ { @ = count(); }
	fbt::vfs_read:entry { @n = count(); }
	END { printa("counted\n", @n); }
' -c 'dd if=/dev/zero of=/dev/null count=1' 2>&1 | grep -v records
dtrace -x engine=kernel -wqn 'BEGIN { stop(); exit(0); }' >/dev/null 2>&1; echo $?
