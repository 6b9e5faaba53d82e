#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
mkdir -p /run
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -n 'syscall::getpgid:entry { capture(arg0); }'
dfrd --name flight --program p.dof --mode flight --output a.dfr --after 1s --stop --every 1h 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
guest-workload number 200 >pid
kill -USR1 $daemon
while ! grep -q '^dfrd: snapshot' log; do sleep 0.1; done
count a-0001.dfr 2>verdict
grep -oE '^(complete|window)' verdict
dfr info a-0001.dfr 2>/dev/null | grep -o 'snapshot: .*'
guest-workload number 100 >pid
kill -USR1 $daemon
until dfr status flight | grep -o '[0-9].* 1 triggers without one' >told; do sleep 0.5; done
cat told
dfr status --json | grep -o '"snapshots": 1'
dfr status | grep -o 'it may take 1 % of each'
echo "$(ls a-*.dfr | wc -l) files"
kill -KILL $daemon; wait $daemon 2>/dev/null
dfrd --name flight --output b.dfr --mode flight 2>log2 &
daemon=$!
while ! grep -q 'is in flight' log2; do sleep 0.1; done
kill -TERM $daemon; wait $daemon
grep -o '; the state.*' log2
dfr record --claim flight --stop -o c.dfr 2>/dev/null
count c.dfr 2>/dev/null
