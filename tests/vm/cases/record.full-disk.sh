#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir small && mount -t tmpfs -o size=8k none small
reads='syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(timestamp, arg1); }'
dfr record -o first.dfr --keep kept -x cpubudget=90 --seconds 0.2 -n "$reads" >/dev/null 2>&1
dd if=/dev/zero of=/dev/null bs=3 count=20000 2>/dev/null
dfr record --claim kept --stop -o small/second.dfr >/dev/null 2>log; echo "status $?"
grep -o 'No space left on device' log | head -1
grep -o 'records are not in small/second.dfr; the state keeps them for the next --claim' log
dfr record --claim kept --stop -o third.dfr >/dev/null 2>&1; echo "status $?"
dfr replay -q -n 'syscall::read:entry { @ = count(); }' third.dfr 2>/dev/null
dfr replay small/second.dfr 2>&1 >/dev/null | grep -o 'recording ended early'
umount small
