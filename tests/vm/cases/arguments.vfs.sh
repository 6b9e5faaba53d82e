#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo hello >known
dtrace -qn '
	vfs::read:entry /execname == "dd" && args[2] == 3/ {
		self->r = 1;
		printf("read %s %d\n", stringof(args[0]->f_path.dentry->d_name.name), args[2]);
	}
	vfs::read:return /self->r/ { printf("got %d\n", args[1]); self->r = 0; }
	vfs::open:entry /execname == "dd" && stringof(args[0]->dentry->d_name.name) == "known"/ {
		self->o = 1;
		printf("open\n");
	}
	vfs::open:return /self->o/ { printf("opened %d\n", args[1]); self->o = 0; }
' -c 'dd if=known of=/dev/null bs=3 count=1' 2>/dev/null
