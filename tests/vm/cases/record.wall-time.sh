#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >p.d <<'D'
syscall::getppid:entry { printf("%d\n", walltimestamp); @ = max(walltimestamp); }
D
dfr record -q --for p.d -s p.d -o r.dfr -- guest-device getppid 2000 >live 2>/dev/null
dfr replay -q -s p.d r.dfr >replay 2>verdict
grep -c '^[0-9]' live
cmp live replay && grep -o '^complete' verdict
