#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
mkdir -p /tmp/disk /run
mount -t tmpfs -o size=1m tmpfs /tmp/disk
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
	syscall::sync:entry { snapshot("synced"); }
'
dfrd --name flight --program p.dof --mode flight --output /tmp/disk/a.dfr --every 1h --stop 2>log &
daemon=$!
said() { until [ "$(grep -c "$1" log)" -ge $2 ]; do sleep 0.1; done; }
said 'is in flight' 1
guest-workload number 20000 >pid
mount -o remount,ro /tmp/disk
kill -USR1 $daemon
said 'failed: ' 1
mount -o remount,rw /tmp/disk
dd if=/dev/zero of=/tmp/disk/full bs=1k count=1016 2>/dev/null
sync
said 'failed: ' 2
grep -o '([A-Za-z0-9]*) failed: .*: [A-Z].*' log | sed 's/: cannot.*: /: /'
echo $(ls /tmp/disk)
rm /tmp/disk/full
# The same reasons again, within their interval: what failed has not used it up.
guest-workload number 500 >pid
sleep 5
kill -USR1 $daemon; sync
said '^dfrd: snapshot' 2
for file in /tmp/disk/a-*.dfr; do
	count $file 2>verdict
	grep -oE '^(complete|window)' verdict
done
dfr status flight | grep -o '[0-9]* taken, [0-9]* failed, [0-9]* triggers without one'
kill -TERM $daemon; wait $daemon
umount /tmp/disk
