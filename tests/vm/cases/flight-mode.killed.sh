#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
	syscall::sync:entry { snapshot("SIGUSR1"); }
'
start() { # start N OPTION...
	log=log-$1
	shift
	dfrd --name flight --program p.dof --mode flight --output a.dfr --every 1h "$@" 2>$log &
	daemon=$!
	while ! grep -q 'is in flight' $log; do sleep 0.1; done
}
taken() { while ! grep -q "^dfrd: snapshot a-000$1" $log; do sleep 0.1; done; }
# A program's reason is not dfrd's own of that name.
start 1
sync
taken 1
kill -USR1 $daemon
taken 2
kill -TERM $daemon; wait $daemon
# A snapshot's process is killed, as by a memory that is full; then dfrd with the next one.
start 2 --after 1h
taskset 1 guest-workload number 80000 >pid # a chunk is written where one CPU has many
kill -USR1 $daemon
until [ "$(stat -c %s a-0003.dfr 2>/dev/null || echo 0)" -gt 50000 ]; do sleep 0.1; done
kill -KILL $(cat /proc/$daemon/task/$daemon/children)
until grep -o 'a-0003.dfr is cut off' $log; do sleep 0.1; done
sync
until [ "$(stat -c %s a-0004.dfr 2>/dev/null || echo 0)" -gt 50000 ]; do sleep 0.1; done
kill -KILL $(pidof dfrd); wait $daemon 2>/dev/null
guest-workload number 1000 >pid
start 3 --retain 4
grep -o 'a-000[0-9].dfr was cut off' $log
grep -o "'SIGUSR1' had triggered a snapshot.*" $log
taken 5
grep -o '^dfrd: snapshot a-0005.dfr (.*): ' $log
count a-0005.dfr 2>/dev/null
# There is one too many already; those that were cut go first.
kill -USR1 $daemon
taken 6
while [ -e a-0004.dfr ]; do sleep 0.1; done
echo $(ls a-*.dfr)
kill -TERM $daemon; wait $daemon
# What was begun again has its end, and is not taken once more;
# nor is one that became whole although its dfrd was killed.
start 4 --after 1h
grep -c 'not ended' $log
kill -USR1 $daemon
until grep -q '^under-way 7 ' /run/dfr/flight.status; do sleep 0.1; done
kill -STOP $daemon
kill -TERM $(cat /proc/$daemon/task/$daemon/children)
until dfr verify a-0007.dfr >/dev/null 2>&1; do sleep 0.1; done
kill -KILL $daemon; wait $daemon 2>/dev/null
start 5 --stop
grep -c 'not ended' $log
grep -o '^dfrd: snapshot a-000[0-9].dfr (.*): ' $log
kill -TERM $daemon; wait $daemon
