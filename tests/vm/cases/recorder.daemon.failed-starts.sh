#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
mkdir small && mount -t tmpfs -o size=1m none small
dfr compile -o p.dof -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
'
start() { # start N OPTION...
	log=log-$1
	shift
	dfrd --name always --program p.dof --output small/a.dfr --rotate 1m --checkpoint 1 "$@" 2>$log &
	daemon=$!
}
for n in 1 2; do
	start $n --retain 2
	while ! grep -q recording $log; do sleep 0.1; done
	guest-workload number 1000 >pid
	kill -TERM $daemon; wait $daemon
done
# All on one CPU: what there is room for is a part's head, but not that CPU's records.
taskset -c 0 guest-workload number 20000 >pid
left=$(df -k small | awk 'NR == 2 { print $4 }')
dd if=/dev/zero of=small/full bs=1k count=$((left - 8)) 2>/dev/null
for n in 3 4 5; do
	start $n --retain 2
	wait $daemon; echo status $? "$(grep -o 'No space left' $log | head -n 1)"
done
echo $(cd small && ls a-*.dfr)
rm small/full
# One that was killed before it wrote anything.
: >small/a-0003.dfr
start 6 --stop --retain 20
while ! grep -q recording $log; do sleep 0.1; done
grep -o 'removed .*' $log
kill -TERM $daemon; wait $daemon
count small/a-*.dfr 2>verdict
grep -o '^complete' verdict
umount small
