#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
mkdir -p /run
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
	syscall::getpgid:entry /arg0 <= 300 || arg0 > 4000/ { snapshot("slow"); }
	syscall::sync:entry { snapshot("rare"); }
'
dfrd --name flight --program p.dof --mode flight --output a.dfr --after 5s --stop --every 1h 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
guest-workload number 300 >pid
until grep -q '^dfrd: snapshot a-0001' log; do sleep 0.1; done
dfr info a-0001.dfr 2>/dev/null | grep -o 'snapshot: slow'
echo "$(ls a-*.dfr | wc -l) file"
count a-0001.dfr >counted 2>/dev/null
# It has what came in the seconds after the first of them.
[ "$(cat counted)" = 300 ] && echo complete of 300 || cat counted log
guest-workload number 6700 >pid
until dfr status --json | grep -q '"triggers_without_snapshot": 3299' || [ $((tries += 1)) -gt 100 ]; do
	sleep 0.2
done
dfr status flight | grep -o '[0-9,]* triggers without one' | sed 's/,//; s/ without one//'
sync
until grep -q '^dfrd: snapshot a-0002' log; do sleep 0.1; done
dfr info a-0002.dfr 2>/dev/null | grep -o 'snapshot: rare' | sed 's/.* //'
kill -TERM $daemon; wait $daemon
