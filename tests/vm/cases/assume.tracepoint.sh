#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko distrust=sched_switch,do_dentry_open
cut -f 1 /sys/module/dfr/parameters/unmet
for p in sched:::off-cpu sched:::sleep sched:::wakeup vfs::create:entry; do
	dfr probes $p 2>/dev/null | sed 's/.* //'
done
rmmod dfr && insmod /dfr.ko
