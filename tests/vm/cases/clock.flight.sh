#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
'
options="--every 0 --last 1h --after 1s --retain 1h --stop"
dfrd --name flight --program p.dof --mode flight --output a.dfr $options 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
day=86400
set_clock() { date -s @$(($(date +%s) + $1)) >date; }
n=0
for by in -$day $((2 * day)); do
	guest-workload number 1000 >pid
	kill -USR1 $daemon
	n=$((n + 1))
	until [ -e a-000$n.dfr ]; do sleep 0.1; done
	# While the snapshot waits for what comes after its trigger.
	set_clock $by
	while ! grep -q "^dfrd: snapshot a-000$n" log; do sleep 0.1; done
	count a-000$n.dfr 2>verdict
	grep -oE '^(complete|window)' verdict
	grep "^dfrd: snapshot a-000$n" log | grep -o 'of 1.0 s after' # nothing is missing
done
sleep 5.5 # dfrd looks at its files
echo $(ls a-*.dfr)
kill -TERM $daemon; wait $daemon
set_clock -$day
