#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'dd if=/dev/zero of=/dev/null bs=3 count=1000' 2>/dev/null
