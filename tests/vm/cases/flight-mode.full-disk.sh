#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir small && mount -t tmpfs -o size=1m none small
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
	syscall::sync:entry { trace(1); exit(0); }
'
dfrd --name flight --program p.dof --mode flight --output small/a.dfr 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
guest-workload number 60000 >pid
dd if=/dev/zero of=small/full bs=64k count=15 2>/dev/null
sync
wait $daemon; echo status $?
grep -o 'so the state is left as it is' log
rm small/*
dfrd --name flight --mode flight --output b.dfr 2>log2; echo status $?
dfr replay -qn '
	syscall::getpgid:entry, syscall::sync:entry { @ = count(); }
	END { printa("%@d\n", @); }
' b-0001.dfr 2>/dev/null
umount small
