#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	vfs::read:entry /execname == "dd" && arg2 == 3/ { self->r = 1; @e = count(); }
	vfs::read:return /self->r/ { self->r = 0; @b = sum(arg1); }
	END { printa("entry %@d\n", @e); printa("bytes %@d\n", @b); }
' -c 'dd if=/dev/zero of=/dev/null bs=3 count=200' 2>/dev/null
