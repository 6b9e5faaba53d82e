#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir -p /m && mount -t tmpfs none /m || exit 1
echo text >/m/file
echo text >/rows
paths() {
	dtrace -x engine=kernel -qn '
		vfs::open:entry /execname == "cat" && args[0]->dentry->d_name.len == 4/ {
			printf("%s\n", d_path(args[0]));
		}
		ERROR { printf("error\n"); }
	' -c 'cat /rows /m/file' 2>/dev/null >said
	echo $(grep -E '^(/rows|/m/file|error)$' said | uniq)
}
paths
rmmod dfr && insmod /dfr.ko distrust=mount.mnt_parent || exit 1
paths
cut -f 1 /sys/module/dfr/parameters/unmet | grep -vx fbt # which is off on newer kernels
rmmod dfr && insmod /dfr.ko
umount /m
