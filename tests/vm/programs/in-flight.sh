# SPDX-License-Identifier: GPL-2.0
#
# The kernel is made to complain while dfrd is in flight mode: 500 calls, the trigger, and what its snapshot has.
#
#   sh in-flight.sh hang|oops
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
mkdir -p /run
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
	sdt:sched::sched_process_hang { snapshot("hung task"); }
'
dfrd --name flight --program p.dof --mode flight --output a.dfr --every 1h --stop 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
guest-workload number 500 >pid
case $1 in
hang)
	echo 0 >/proc/sys/kernel/hung_task_warnings
	# Not before: the task of the case before this one may still hang.
	echo 1 >/proc/sys/kernel/hung_task_timeout_secs
	echo 20 >/sys/module/dfr_break/parameters/hang
	;;
oops) echo 1 >/sys/module/dfr_break/parameters/oops ;;
esac
until grep -q '^dfrd: snapshot a-0001' log; do sleep 0.1; done
echo 600 >/proc/sys/kernel/hung_task_timeout_secs
echo 10 >/proc/sys/kernel/hung_task_warnings
dfr info a-0001.dfr 2>/dev/null | grep -o 'snapshot: .*'
dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' a-0001.dfr 2>verdict
grep -oE '^(complete|window)' verdict
kill -TERM $daemon; wait $daemon
