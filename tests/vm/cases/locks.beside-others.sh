#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cp /bin/guest-device /tmp/victim; /tmp/victim hold 1000 >held & victim=$!
until grep -q holding held; do sleep 0.1; done
mkdir -p /tmp/groups; mount -t cgroup2 none /tmp/groups && echo +cpuset >/tmp/groups/cgroup.subtree_control
for g in a b; do
	mkdir /tmp/groups/$g; echo 0 >/tmp/groups/$g/cpuset.cpus; echo 0 >/tmp/groups/$g/cpuset.mems
done
echo 'p:others/first /tmp/victim:0x1000' >/sys/kernel/tracing/uprobe_events || echo no uprobes
uprobes() {
	for i in 1 2 3 4 5 6; do
		echo 1 >/sys/kernel/tracing/events/others/enable
		echo 0 >/sys/kernel/tracing/events/others/enable
	done
}
cpusets() { for i in 1 2 3 4 5 6; do for g in a b; do echo $victim >/tmp/groups/$g/cgroup.procs; done; done; }
plug() {
	for i in 1 2 3; do
		echo 0 >/sys/devices/system/cpu/cpu1/online; echo 1 >/sys/devices/system/cpu/cpu1/online
	done
}
ours() {
	for i in 1 2 3; do
		dtrace -x engine=kernel -ln 'sdt:::,rawtp:::' | wc -l
		guest-device record 50000
		dtrace -x engine=kernel -qn '
			fbt:vmlinux:vfs_*:entry,sdt:sched:: { @ = count(); }
			tick-200ms { exit(0); }
		' >/dev/null
	done
}
uprobes & others=$!; cpusets & others="$others $!"; plug & others="$others $!"; ours >ours; wait $others
grep -c '^50000$' ours; sort -u ours | wc -l
kill -9 $victim; wait $victim 2>/dev/null
echo >/sys/kernel/tracing/uprobe_events; rmdir /tmp/groups/a /tmp/groups/b; umount /tmp/groups
rmmod dfr && insmod /dfr.ko && echo done
