#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x cpubudget=90 -x bufsize=8m -n 'syscall::getpgid:entry { capture(arg0); }'
dfrd --name moved --program p.dof --output a.dfr --checkpoint 1 --stop 2>log &
dfrd=$!
while ! grep -q recording log; do sleep 0.1; done
guest-workload number 1 >/dev/null # so that the first snapshot has something
guest-workload number 199999 >/dev/null &
load=$!
n=0
while kill -0 $load 2>/dev/null; do
	n=$((n + 1))
	dfr snapshot -o s$n.dfr 2>/dev/null
done
wait $load
kill -TERM $dfrd
wait $dfrd
dfr replay -qn '
	syscall::getpgid:entry { @ = count(); }
	END { printa("%@d\n", @); }
' a.dfr 2>verdict
sed 's/: .*//' verdict
# Where a snapshot is slow, dfrd has given back blocks that it had listed and not copied yet, and it says so;
# nothing else may be wrong with it.
for file in s*.dfr; do
	dfr verify $file 2>/dev/null >found
	sed -n '2,/^  CPU/{ /^  CPU/d; /are not there (/d; p }' found
	grep -q '^  CPU' found || echo "$file has no CPU"
done
echo sound
