#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr -n '
	syscall:::entry { @counts[execname, probefunc] = count(); capture(); }
' -- ls -lR /etc /dev >/dev/null 2>&1
dfr replay -q r.dfr >kernel 2>/dev/null
dfr replay -q -n 'syscall:::entry { @counts[execname, probefunc] = count(); }' r.dfr >replay 2>/dev/null
grep -q getdents64 replay && cmp kernel replay && echo equal
