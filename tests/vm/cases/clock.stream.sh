#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
dfr compile -o p.dof -x bufsize=4m -x cpubudget=90 -n 'syscall::getpgid:entry { capture(arg0); }'
start() {
	dfrd --name always --program p.dof --output a.dfr --rotate 1m --checkpoint 1 "$@" 2>>log &
	daemon=$!
}
parts=0
begun() { # the next part is
	parts=$((parts + 1))
	until [ -e a-000$parts.dfr ]; do sleep 0.1; done
}
day=86400
set_clock() { date -s @$(($(date +%s) + $1)) >date; }
start --retain 1h
begun
for by in 0 -$day $((2 * day)) -$day; do
	set_clock $by
	guest-workload number 1000 >pid
	kill -HUP $daemon # goes on in a next part
	begun
	sleep 1.5 # past a checkpoint, which looks at the parts
done
# A dfrd that starts with a clock that was set takes no part of this boot for an old one.
kill -TERM $daemon; wait $daemon
set_clock $day
guest-workload number 1000 >pid
start --retain 1h
begun
sleep 1.5
kill -TERM $daemon; wait $daemon
echo $(ls a-*.dfr)
count a-*.dfr 2>verdict
grep -o '^window' verdict
# And those that are old are.
sleep 3.5
start --retain 2s --stop
begun
until grep -q 'removed a-0006' log; do sleep 0.1; done
kill -TERM $daemon; wait $daemon
grep -c 'removed a-000.*older than 2 s' log
set_clock -$day
