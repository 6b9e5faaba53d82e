#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Calls on CPU 1, and nothing of a high priority happens there: while a clause is off, no record tells of it.
dfr record -o before.dfr -q --keep mine -x cpubudget=3 -x bufsize=4m -s /thin.d -- true 2>/dev/null
taskset 2 guest-device load 600 0 >/dev/null &
load=$!
taskset -p 1 $$ >/dev/null
sleep 4
for part in first second; do
	dfrd --name mine --output $part.dfr --checkpoint 1 2>log-$part &
	daemon=$!
	while ! grep -q recording log-$part; do sleep 0.1; done
	sleep 3
	kill -TERM $daemon; wait $daemon
done
dfr snapshot --name mine --last 1s -o late.dfr 2>/dev/null
kill $load && echo there is load
wait $load 2>/dev/null
ask() {
	dfr replay -qn "$1 { @ = count(); }" $2 >/dev/null 2>verdict
	echo "$3: $?, $(grep -o 'clauses of low priority' verdict)"
}
ask syscall:::entry second.dfr 'calls of a part'
dfr info second.dfr 2>/dev/null | grep -o 'low priority off on CPU 1' | head -n 1
ask syscall:::entry late.dfr 'calls of the snapshot'
cat verdict >&2; dfr info late.dfr 2>/dev/null | grep thinned >&2
dfr info late.dfr 2>/dev/null | grep -o 'low priority off on CPU 1' | head -n 1
ask proc:::exit second.dfr 'exits of a part'
dfr stop mine
