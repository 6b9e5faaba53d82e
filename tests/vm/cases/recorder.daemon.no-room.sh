#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir small && mount -t tmpfs -o size=1m none small
dfr compile -o p.dof -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
'
export NOTIFY_SOCKET=/nobody
dfrd --name always --program p.dof --output small/a.dfr --rotate 1m --checkpoint 1 --stop 2>log &
daemon=$!
while ! grep -q recording log; do sleep 0.1; done
dd if=/dev/zero of=small/full bs=1k 2>/dev/null
guest-workload number 20000 >pid
while ! grep -q 'this tries again' log; do sleep 0.1; done
guest-workload number 1000 >pid
rm small/full
times=$(grep -c 'recording always' log)
while [ $(grep -c 'recording always' log) = $times ]; do sleep 0.2; done
guest-workload number 500 >pid
kill -TERM $daemon; wait $daemon
echo status $?
dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' small/a-*.dfr 2>verdict
grep -o '^complete' verdict
umount small
