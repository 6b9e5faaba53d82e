#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_break.ko 2>/dev/null
mkdir -p /run
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
echo 0 >/proc/sys/kernel/hung_task_warnings
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
	sdt:sched::sched_process_hang { snapshot("hung task"); }
'
dfrd --name flight --program p.dof --mode flight --output a.dfr --every 1h --stop 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
guest-workload number 500 >pid
# Not before: the task of the case before this one may still hang.
echo 1 >/proc/sys/kernel/hung_task_timeout_secs
echo 8 >/sys/module/dfr_break/parameters/hang
until grep -q '^dfrd: snapshot a-0001' log; do sleep 0.1; done
echo 120 >/proc/sys/kernel/hung_task_timeout_secs
echo 10 >/proc/sys/kernel/hung_task_warnings
guest-workload number 300 >pid
echo 1 >/sys/module/dfr_break/parameters/oops
until grep -q '^dfrd: snapshot a-0002' log; do sleep 0.1; done
for n in 1 2; do
	dfr info a-000$n.dfr 2>/dev/null | grep -o 'snapshot: .*'
	count a-000$n.dfr 2>verdict
	grep -oE '^(complete|window)' verdict
done
kill -TERM $daemon; wait $daemon
