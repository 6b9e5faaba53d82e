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
	syscall::syslog:entry { snapshot("logged"); }
'
dfrd --name flight --program p.dof --mode flight --output /tmp/disk/a.dfr --every 1h --stop 2>log &
daemon=$!
said() { until [ "$(grep -c "$1" log)" -ge $2 ]; do sleep 0.1; done; }
said 'is in flight' 1
guest-workload number 20000 >pid
mount -o remount,ro /tmp/disk
kill -USR1 $daemon
said '(SIGUSR1) failed: ' 1
mount -o remount,rw /tmp/disk
said '^dfrd: snapshot' 1
dd if=/dev/zero of=/tmp/disk/full bs=1k count=1016 2>/dev/null
guest-workload number 500 >pid
sync
said '(synced) failed: ' 1
# The next try's own file goes, too.
until [ "$(ls /tmp/disk | wc -l)" = 2 ]; do sleep 0.1; done
echo $(ls /tmp/disk | sed 's/^a-.*dfr$/snapshot/')
rm /tmp/disk/full
said '^dfrd: snapshot' 2
grep -o '([A-Za-z0-9]*) failed: .*: [A-Z].*' log | sed 's/: cannot.*: /: /' | sort -u
for file in /tmp/disk/a-*.dfr; do
	count $file 2>verdict
	grep -oE '^(complete|window)' verdict
done
dfr status flight | grep -o '[0-9]* taken, [0-9]* failed, [0-9]* triggers without one'
# After a minute it is given up, and has not used up the reason's interval.
mount -o remount,ro /tmp/disk
dmesg >/dev/null
until grep '(logged) failed: ' log | grep -qv 'it is tried again$'; do sleep 0.1; done
mount -o remount,rw /tmp/disk
sleep 5
dmesg >/dev/null
said '^dfrd: snapshot' 3
dfr status flight | grep -o '[0-9]* taken, [0-9]* failed' # dmesg asks more than once
kill -TERM $daemon; wait $daemon
umount /tmp/disk
