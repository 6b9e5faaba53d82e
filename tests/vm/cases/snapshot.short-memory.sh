#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
. /short-memory.sh
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@" 2>/dev/null
}
program='syscall::getpgid:entry { capture(arg0); } syscall::sync:entry { snapshot("synced"); }'
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=1m -x cpubudget=90 -n "$program"
dfrd --name flight --program p.dof --mode flight --output a.dfr --every 1h --stop 2>log &
flight=$!
dfrd --name moved --program p.dof --output b.dfr --checkpoint 1 --stop 2>log2 &
stream=$!
until grep -q 'is in flight' log && grep -q recording log2; do sleep 0.1; done
guest-workload number 1000 >/dev/null
fill_memory
dfr snapshot --name flight -o s.dfr 2>told || cat told
sync
until grep -qE '^dfrd: (snapshot|the snapshot)' log; do sleep 0.1; done
guest-workload number 500 >/dev/null
sleep 2
kill -0 $stream && echo 'it streams on'
[ $(($(kilobytes MemAvailable) * 16)) -lt $(kilobytes MemTotal) ] && echo short
umount fill
count s.dfr
grep -c '^dfrd: snapshot' log
count a-0001.dfr
kill -TERM $flight $stream
wait $flight $stream
count b.dfr
