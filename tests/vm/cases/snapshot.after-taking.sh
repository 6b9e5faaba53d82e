#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() { dfr replay -qn 'syscall::getpgid:entry { n++; } END { printf("%d\n", n); }' "$1" 2>verdict; }
dfr record -o before.dfr --keep taken -x bufsize=4m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(arg0); }
' -- true 2>/dev/null
guest-workload number 1000 >pid
dfrd --name taken --output taken.dfr 2>log &
while ! grep -q recording log; do sleep 0.1; done
kill -TERM $!
wait $!
dfr snapshot -o a.dfr 2>/dev/null
count a.dfr
grep -o 'earlier records are missing' verdict
guest-workload number 1000 >pid
dfr snapshot -o b.dfr 2>/dev/null
count b.dfr
grep -o 'earlier records are missing' verdict
guest-device end taken
