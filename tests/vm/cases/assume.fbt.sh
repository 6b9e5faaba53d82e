#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko distrust=ftrace_lock
cat /sys/module/dfr/parameters/unmet | tr '\t' '|'
dfr | sed -n 's/^off  *//p'
dfr probes -v 'syscall::read:entry' 2>/dev/null | sed -n 's/^  *off //p'
dtrace -n 'fbt::vfs_read:entry { }' 2>&1 | grep -c 'off on this kernel: fbt: ftrace_lock is distrusted'
dtrace -qn '
	vfs::read:entry /pid == $target/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'dd if=/dev/zero of=/dev/null bs=1 count=50' 2>/dev/null | awk 'NF { print ($1 >= 50) }'
rmmod dfr && insmod /dfr.ko
