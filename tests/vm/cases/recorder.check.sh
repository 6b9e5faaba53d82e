#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x bufsize=1m -n 'syscall::getppid:entry { capture(arg0); }'
guest-device load 1000 1000 >calls & # a thousand a second, or what this guest can
load=$!
rate='s/^ *\([0-9]*\) records and [0-9.]* KiB a second, by a trial of [0-9]*\.[0-9] s$/\1/p'
dfrd --check --program p.dof --mode flight >said 2>&1
echo "status $?"
grep -o 'the options are right; 1 probes' said
dfr record --check -n 'syscall::getppid:entry { capture(arg0); }' >other 2>&1
echo "status $?"
for file in said other; do
	n=$(sed -n "$rate" $file)
	[ "${n:-0}" -gt 0 ] && [ "$n" -lt 3000 ] && echo plausible
done
sed -n 's/^ *\(memory of 1024.0 KiB for each CPU\): [0-9.]* [a-z]* of CPU [01], which records most$/\1/p' said
sed -n 's/^ *cost [0-9.]* % of CPU [01], where it is most; it may take 1 % of each$/cost/p' said
dfr status
kill $load
wrong() { dfrd --check --program p.dof "$@" 2>&1; }
wrong --retain nonsense | sed -n "s/.*retain takes .*, not 'nonsense'.*/retain/p"
dfrd --check 2>&1 | grep -o 'tries a program'
dfr record --check -o x.dfr 2>&1 | grep -o 'writes no recording'
