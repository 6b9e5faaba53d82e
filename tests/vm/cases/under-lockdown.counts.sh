#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
sh /lock-down.sh || exit
dtrace -x engine=kernel -qn '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); }
	fbt::vfs_read:entry /execname == "dd"/ { @f = count(); }
	END { printa("%@d\n", @); printa("%@d\n", @f); }
' -c 'dd if=/dev/zero of=/dev/null bs=3 count=200' 2>/dev/null | sed 's/^2[0-9][0-9]$/2xx/'
