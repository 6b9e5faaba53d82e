#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); capture(); }
' -- dd if=/dev/zero of=/dev/null bs=3 count=500 >/dev/null 2>&1
dfr replay -q -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @n = count(); }
	END { printa("%@d\n", @n); }
' r.dfr 2>verdict
cat verdict
