#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 \
	-n 'syscall::getpgid:entry { capture(arg0); }'
dfrd --name flight --program p.dof --mode flight --output a.dfr --after 30s --stop --every 0 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
for n in 1 2; do
	kill -USR1 $daemon
	while [ ! -e a-000$n.dfr ]; do sleep 0.1; done
	guest-workload number 1000 >pid
done
for n in 1 2; do
	while ! grep -q "^dfrd: snapshot a-000$n" log; do sleep 0.1; done
	count a-000$n.dfr 2>verdict
	grep -oE '^(complete|window)' verdict
done
count a-0001.dfr a-0002.dfr 2>verdict
kill -TERM $daemon; wait $daemon
