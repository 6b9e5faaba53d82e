#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x cpubudget=90 -n 'syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(); }'
echo 2 >/sys/module/dfr/parameters/consumer_timeout
dfrd --name held --program p.dof --output a.dfr --stop 2>log & daemon=$!
until grep -q recording log; do sleep 0.1; done
calls() { dd if=/dev/zero of=/dev/null bs=3 count=100 2>/dev/null; }
calls
dfr stop held; echo "stop $?"
calls
kill -STOP $daemon
calls
sleep 6
calls
kill -CONT $daemon
calls
guest-device states | awk '{ print $1, $3 }'
kill -TERM $daemon; wait $daemon; echo "dfrd $?"
echo 10 >/sys/module/dfr/parameters/consumer_timeout
dfr replay -qn '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); }
	END { printa("%@d\n", @); }
' a.dfr 2>verdict
grep -o '^complete' verdict

dfr compile -o dear.dof -x cpubudget=5 -s /costly.d
dfrd --name dear --program dear.dof --output b.dfr --stop 2>log2 & daemon=$!
until grep -q recording log2; do sleep 0.1; done
guest-device load 5 500 >calls
guest-device states | awk '{ print $1, $3 }'
kill -TERM $daemon; wait $daemon; echo "dfrd $?"
read made <calls
kept=$(dfr replay -qn 'syscall::getppid:entry { @ = count(); } END { printa("%@d\n", @); }' b.dfr 2>verdict)
lost=$(sed -nE '
	s/.* ([0-9,]*) firings? lost( on CPU [0-9])? \(held back by the governor\).*/\1/p
' verdict | tr -d ,)
echo "$((kept + lost - made)) more than the calls"
[ "$lost" -gt 20 ] && echo some held back
cat verdict >&2
