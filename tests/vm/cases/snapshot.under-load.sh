#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o before.dfr --keep ring -x bufpolicy=ring -x bufsize=1m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
' -- true 2>/dev/null
guest-workload nice 19 number 100000000 >/dev/null &
one=$!
guest-workload nice 19 number 100000000 >/dev/null &
two=$!
judge() {
	dfr replay -qn '
		syscall::getpgid:entry { @lo[pid] = min(arg0); @hi[pid] = max(arg0); @n[pid] = count(); }
		END { printa("%d %@d %@d %@d\n", @lo, @hi, @n); }
	' "$1" >out
	status=$?
	holes=$(awk 'NF == 4 && $3 - $2 + 1 != $4' out | wc -l)
	[ $status = 3 ] || [ "$holes" = 0 ] || echo "$1: wrong"
	dfr verify "$1" >/dev/null 2>&1 && [ $status = 0 ] && grep -q . out && whole=1
}
whole=0
n=0
until [ $n -ge 3 ] && [ $whole = 1 ]; do
	n=$((n + 1))
	dfr snapshot -o $n.dfr 2>/dev/null
	judge $n.dfr
done
dfr snapshot --after 2s -o after.dfr 2>/dev/null
judge after.dfr
kill $one $two
echo all right
[ $whole = 1 ] && echo a whole one
guest-device states | grep -q "^ring.*active" && echo the state records on
guest-device end ring
