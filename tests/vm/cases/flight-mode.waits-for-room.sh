#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@" 2>/dev/null
}
compile() { dfr compile -o p.dof -x bufpolicy=ring -x bufsize=8m -x cpubudget=90 -n "$1"; }
# Prints whether dfrd said so; it may have ended instead.
said() {
	until [ "$(grep -c "$1" log)" -ge $2 ] || ! kill -0 $daemon 2>/dev/null; do sleep 0.1; done
	[ "$(grep -c "$1" log)" -ge $2 ] && echo "said: $1"
}
export NOTIFY_SOCKET=/nobody
mkdir small && mount -t tmpfs -o size=16m none small
compile 'syscall::getpgid:entry { capture(arg0); }'
dfrd --name flight --program p.dof --mode flight --output small/a.dfr 2>log &
daemon=$!
said 'is in flight' 1
guest-workload number 1000 >pid
# A reload ends the program, and the disk is read-only.
compile '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
	syscall::sync:entry { trace(1); exit(0); }
'
mount -o remount,ro small
kill -HUP $daemon
said 'tries again' 1
mount -o remount,rw small
kill -HUP $daemon # it need not wait any longer
said 'is in flight' 3
count small/a-0001.dfr
# The program ends, and the disk is full.
dd if=/dev/zero of=small/full bs=64k 2>/dev/null
guest-workload number 60000 >pid
sync
said 'tries again' 2
rm small/full
kill -HUP $daemon
wait $daemon; echo status $?
count small/a-0002.dfr
umount small
