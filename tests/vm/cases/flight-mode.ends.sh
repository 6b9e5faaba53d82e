#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
	syscall::sync:entry { exit(0); }
	END { trace(7); }
'
start() {
	dfrd --name flight --program p.dof --mode flight --output a.dfr --after $2 2>log-$1 &
	daemon=$!
	while ! grep -q 'is in flight' log-$1; do sleep 0.1; done
}
start 1 1h
guest-workload number 1000 >pid
kill -USR1 $daemon
while [ ! -s a-0001.dfr ]; do sleep 0.1; done
# It goes with its snapshots, as when systemd ends a service.
kill -KILL $(pidof dfrd); wait $daemon 2>/dev/null
start 2 0
grep -q started log-2 || echo claimed again
guest-workload number 1000 >pid
sync
wait $daemon; status=$?
count a-0002.dfr 2>verdict
grep -oE '^(complete|window)' verdict
dfr replay a-0002.dfr 2>/dev/null | grep -c ':END'
dfr info a-0002.dfr 2>/dev/null | grep -o 'the program has ended'
echo status $status
guest-device states | grep -q flight || echo state gone
