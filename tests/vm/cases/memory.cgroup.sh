#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir -p /tmp/groups
mount -t cgroup2 none /tmp/groups && echo +memory >/tmp/groups/cgroup.subtree_control &&
	mkdir /tmp/groups/user
sh -c 'echo $$ >/tmp/groups/user/cgroup.procs; exec guest-device keep charged'
[ $(cat /tmp/groups/user/memory.current) -gt 8388608 ] && echo charged
guest-device end charged
# The kernel frees it a moment later.
until [ $(cat /tmp/groups/user/memory.current) -lt 4194304 ]; do sleep 0.1; done; echo gone
echo 4M >/tmp/groups/user/memory.max
sh -c 'echo $$ >/tmp/groups/user/cgroup.procs; exec guest-device record 1000'
grep -x 'oom_kill 0' /tmp/groups/user/memory.events
rmdir /tmp/groups/user; umount /tmp/groups
