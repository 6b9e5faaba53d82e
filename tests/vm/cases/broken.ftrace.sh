#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_break.ko || exit 1
cat >w.sh <<'END'
echo 1 >/sys/module/dfr_break/parameters/ftrace; for i in $(seq 100); do cat /proc/self/stat; done
END
dtrace -x engine=kernel -qn '
	fbt::vfs_read:entry, fbt::vfs_read:return { @ = count(); }
	syscall::getppid:entry { @b = count(); }
	END { printf("ended\n"); }
' -c 'sh w.sh' >out 2>err
grep ended out
rmmod dfr 2>&1 | grep -o 'Resource temporarily unavailable'
dmesg | grep -c 'dfr: .* cannot be unloaded before the next reboot'
dtrace -x engine=kernel -qn '
	fbt::vfs_read:entry { @ = count(); }
	fbt::vfs_fsync:entry { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'cat /proc/self/stat' 2>/dev/null | awk 'NF == 1 { print ($1 > 0 ? "seen" : "not seen") }'
dtrace -x engine=kernel -qn '
	syscall::getppid:entry { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'guest-device getppid 100' 2>/dev/null
for i in $(seq 100); do cat /proc/self/stat; done >/dev/null; rmmod dfr_break && echo others go
