#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir small && mount -t tmpfs -o size=1m none small
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
	syscall::sync:entry { exit(0); }
'
export NOTIFY_SOCKET=/nobody
dfrd --name flight --program p.dof --mode flight --output small/a.dfr --after 10s 2>log &
daemon=$!
said() { until grep -q "$1" log; do sleep 0.1; done; }
said 'is in flight'
# Its file cannot be removed when the disk is full: something is mounted there.
kill -USR1 $daemon
until [ -e small/a-0001.dfr ]; do sleep 0.1; done
mount --bind small/a-0001.dfr small/a-0001.dfr
dd if=/dev/zero of=small/full bs=1k 2>/dev/null
guest-workload number 20000 >pid
until grep -q '(SIGUSR1) failed' log; do sleep 0.1; done
umount small/a-0001.dfr
rm small/full
grep -o '(SIGUSR1) failed: .*; it is tried again' log | sed 's/: .*;/:/' | sort -u
said '^dfrd: snapshot small/a-0002'
ls small
# The memory is full, so the process of the last snapshot is killed.
sync
until grep -q 'its process was killed' log || ! kill -0 $daemon 2>/dev/null; do
	for child in $(cat /proc/$daemon/task/$daemon/children); do kill -KILL $child; done
done
until grep -q 'tries again in' log || ! kill -0 $daemon 2>/dev/null; do sleep 0.1; done
grep -o 'tries again in' log | head -n 1
kill -HUP $daemon
wait $daemon; echo status $?
last=$(ls small/a-*.dfr | tail -n 1)
dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$last" 2>/dev/null
umount small
