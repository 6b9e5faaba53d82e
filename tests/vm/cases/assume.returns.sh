#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko distrust=rethook.pool
for p in fbt:vmlinux:vfs_read: vfs::read: io:::wait-done proc:::exec-failure; do
	dfr probes $p 2>/dev/null | sed 's/.* //'
done
dtrace -qn '
	fbt::vfs_read:entry /pid == $target/ { @e = count(); }
	syscall::read:return /pid == $target/ { @r = count(); }
	END { printa("%@d %@d\n", @e, @r); }
' -c 'dd if=/dev/zero of=/dev/null bs=1 count=50' 2>/dev/null | awk 'NF { print ($1 >= 50), ($2 >= 50) }'
rmmod dfr && insmod /dfr.ko
