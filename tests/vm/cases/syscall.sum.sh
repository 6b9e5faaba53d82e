#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::write:entry /execname == "dd" && arg2 == 7/ { @ = sum(arg2); }
	END { printa("%@d\n", @); }
' -c 'dd if=/dev/zero of=/dev/null bs=7 count=100' 2>/dev/null
