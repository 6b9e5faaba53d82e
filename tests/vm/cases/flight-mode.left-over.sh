#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir small && mount -t tmpfs -o size=16m none small
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=1m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
'
export NOTIFY_SOCKET=/nobody
printf 'checkpoint 1\nrotate 1m\n' >conf
dfrd --name flight --program p.dof --config conf --output small/a.dfr --stop 2>log &
daemon=$!
until grep -q recording log; do sleep 0.1; done
dd if=/dev/zero of=small/full bs=1k 2>/dev/null
guest-workload number 20000 >pid
until grep -q 'tries again' log; do sleep 0.1; done
rm small/full
echo 'mode flight' >conf
kill -HUP $daemon
snapshots() { grep '^dfrd: snapshot' log; }
until grep -q 'is in flight' log; do sleep 0.1; done
until [ "$(snapshots | wc -l)" = 1 ] || ! grep -q 'not stored by' log; do sleep 0.1; done
guest-workload number 150000 >pid
kill -USR1 $daemon
until snapshots | grep -q SIGUSR1; do sleep 0.1; done
snapshots | sed -E 's/.*\((.*)\): .* before the trigger, (complete|window)?.*/\1: \2/
	s/(complete|window)$/whole/'
first=$(snapshots | sed -n '1s/.*snapshot \([^ ]*\) .*/\1/p')
dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$first" 2>/dev/null
kill -TERM $daemon; wait $daemon
umount small
