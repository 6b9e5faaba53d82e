#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo hello >known
dtrace -qn '
	fbt::vfs_read:entry /execname == "dd" && args[2] == 3/ {
		self->f = args[0];
		printf("%s %d %d\n", stringof(args[0]->f_path.dentry->d_name.name), args[2], *args[3]);
	}
	fbt::vfs_read:return /self->f/ { printf("%d %d\n", args[0], args[1]); self->f = 0; }
' -c 'dd if=known of=/dev/null bs=3 count=2' 2>/dev/null
