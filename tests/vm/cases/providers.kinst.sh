#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	kinst::vfs_read:0 /execname == "dd"/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'dd if=/dev/zero of=/dev/null bs=3 count=200' 2>/dev/null
