#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry, syscall::getppid:entry { capture(arg0); }
'
dfrd --name always --program p.dof --output a.dfr --checkpoint 1 --stop 2>log &
daemon=$!
while ! grep -q recording log; do sleep 0.1; done
cpu1() { echo $1 >/sys/devices/system/cpu/cpu1/online; }
(
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do guest-workload number 500 >pid; done
) &
load=$!
for i in 1 2 3; do
	taskset -c 1 guest-device getppid 100
	cpu1 0
	sleep 0.3
	cpu1 1
done
taskset -c 1 guest-device getppid 100
wait $load
kill -TERM $daemon; wait $daemon
dfr replay -qn '
	syscall::getpgid:entry { @ = count(); }
	syscall::getppid:entry /execname == "guest-device"/ { @by[cpu] = count(); }
	END { printa("%@d\n", @); printa("CPU %d: %@d\n", @by); }
' a.dfr 2>verdict
grep -o '^complete' verdict
