#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
ask() {
	dfr replay -qn '
		syscall::getpgid:entry { @ = count(); }
		syscall::getppid:entry /execname == "guest-device"/ { @by[cpu] = count(); }
		END { printa("%@d\n", @); printa("CPU %d: %@d\n", @by); }
	' $1 2>verdict
	grep -oE '^(complete|window)' verdict
}
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry, syscall::getppid:entry { capture(arg0); }
'
dfrd --name flight --program p.dof --mode flight --output a.dfr --every 0 --after 1s --stop 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
cpu1() { echo $1 >/sys/devices/system/cpu/cpu1/online; }
taken() { while ! grep -q "^dfrd: snapshot a-000$1" log; do sleep 0.1; done; }
taskset -c 1 guest-device getppid 100
cpu1 0
# One while the CPU is away, one in whose time it comes back.
kill -USR1 $daemon
taken 1
ask a-0001.dfr
guest-workload number 1000 >pid
kill -USR1 $daemon
until [ -e a-0002.dfr ]; do sleep 0.1; done
cpu1 1
taskset -c 1 guest-device getppid 100
guest-workload number 1000 >pid
taken 2
kill -USR1 $daemon
taken 3
ask a-0003.dfr
# The second one had a second: whatever came in it, nothing is missing.
dfr replay -qn 'syscall::getppid:entry' a-0002.dfr 2>&1 >out | grep -oE '^(complete|window)'
kill -TERM $daemon; wait $daemon
