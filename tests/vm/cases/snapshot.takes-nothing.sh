#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
program='syscall::getpgid:entry { capture(arg0); }'
count() { dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"; }
dfr record -o before.dfr --keep all -x bufsize=4m -x cpubudget=90 -n "$program" -- true 2>/dev/null
guest-workload number 1000 >pid
dfr snapshot -o a.dfr 2>/dev/null
count a.dfr 2>verdict
sed 's/: .* CPUs*,/: ,/' verdict
dfr snapshot --name all --last 1h -o b.dfr 2>/dev/null
count b.dfr 2>/dev/null
guest-workload number 1000 >pid
dfr snapshot -o c.dfr 2>/dev/null
count c.dfr 2>/dev/null
count a.dfr b.dfr c.dfr 2>/dev/null
guest-workload number 1000 >pid
dfr record --claim all --stop -o claimed.dfr 2>/dev/null
count claimed.dfr 2>/dev/null
for file in a b c; do
	dfr verify $file.dfr >/dev/null || echo "$file is not sound"
done
echo whole
