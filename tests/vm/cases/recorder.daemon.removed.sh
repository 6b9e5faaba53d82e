#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@" 2>/dev/null
}
dfr compile -o p.dof -x cpubudget=90 -n 'syscall::getpgid:entry { capture(arg0); }'
n=0
for rotate in '' '--rotate 1h'; do
	n=$((n + 1))
	dfrd --name moved --program p.dof --output a.dfr --checkpoint 1 --stop $rotate 2>log-$n &
	daemon=$!
	until grep -q recording log-$n; do sleep 0.1; done
	guest-workload number 1000 >pid
	until [ "$(count a*.dfr)" = 1000 ]; do sleep 0.2; done
	sleep 2 # they are stored by then
	rm a*.dfr
	guest-workload number 500 >pid
	until grep -q 'was removed while' log-$n; do sleep 0.1; done
	guest-workload number 300 >pid
	# Once more at the very end.
	until [ "$(count a*.dfr)" = 800 ]; do sleep 0.2; done
	sleep 2
	kill -STOP $daemon
	rm a*.dfr
	guest-workload number 40 >pid
	kill -TERM $daemon; kill -CONT $daemon
	wait $daemon; echo status $?
	count a*.dfr
	rm a*.dfr
done
# What only a file would have is not recorded on.
dfr record -o r.dfr -n 'syscall::getpgid:entry { capture(arg0); }' 2>said &
until [ -s r.dfr ]; do sleep 0.1; done
rm r.dfr
wait $!; echo status $?
grep -o 'r.dfr was removed' said
