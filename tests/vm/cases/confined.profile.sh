#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
guest-access as 1000 dtrace -x engine=kernel -qn '
	profile-997 { @[uid, pid == $target, ustackdepth > 0] = count(); }
	END { printa("%d %d %d\n", @); }
' -c 'guest-workload spin 60' >out
grep -c '^1000 1 1$' out; grep '^[0-9]* [01] [01]$' out | grep -vc '^1000 '
rmmod dfr && insmod /dfr.ko
