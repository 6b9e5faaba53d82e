#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
for i in 1 2 3; do
	dtrace -x engine=kernel -qn '
		syscall:::entry,syscall:::return { @ = count(); }
		tick-300ms { exit(0); }
	' >/dev/null 2>&1
done &
for i in 1 2 3 4 5; do
	dtrace -x engine=kernel -x cpubudget=100 -qn '
		syscall::getppid:entry /execname == "guest-calls"/ { @e = count(); }
		syscall::getppid:return /execname == "guest-calls"/ { @r = count(); }
		END { printa("%@d", @e); printa(" %@d\n", @r); }
	' -c 'guest-calls 30000 9000' 2>/dev/null
done
wait
