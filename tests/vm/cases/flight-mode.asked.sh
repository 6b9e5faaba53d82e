#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp); }
	syscall::sync:entry { snapshot("synced"); }
'
start() { # start N
	log=log-$1
	dfrd --name flight --program p.dof --mode flight --output a.dfr --every 1h --last 30s 2>$log &
	daemon=$!
	while ! grep -q 'is in flight' $log; do sleep 0.1; done
}
kill_it() { kill -KILL $daemon; wait $daemon 2>/dev/null; }
start 1
sync
until grep -q '^dfrd: snapshot a-0001.dfr' $log; do sleep 0.1; done
# The status that the snapshot is told in is written behind that line.
until grep -q '^snapshots 1$' /run/dfr/flight.status; do sleep 0.1; done
kill_it
guest-workload number 1000 >pid
sync
guest-trigger list flight | grep synced
start 2
until grep -q '^dfrd: snapshot a-0002.dfr' $log; do sleep 0.1; done
grep -o "'synced' had triggered.*" $log
grep -o '^dfrd: snapshot a-0002.dfr (.*): ' $log
dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' a-0002.dfr 2>/dev/null
until grep -q '^snapshots 2$' /run/dfr/flight.status; do sleep 0.1; done
dfr status flight | grep -o '[0-9]* taken, [0-9]* failed, [0-9]* triggers without one'
kill_it
# Nothing has happened since.
start 3
sleep 2
ls a-*.dfr | wc -l
kill -TERM $daemon; wait $daemon
dfr stop flight >/dev/null
