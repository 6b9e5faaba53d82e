#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	BEGIN {
		this->dentry = (struct dentry *)alloca(sizeof (struct dentry));
		this->dentry->d_name.name = (unsigned char *)curthread->comm;
		this->dentry->d_name.len = 0xffffffff;
		this->dentry->d_parent = curthread->fs->root.dentry;
		this->path = (struct path *)alloca(sizeof (struct path));
		this->path->mnt = curthread->fs->root.mnt;
		this->path->dentry = this->dentry;
		trace(d_path(this->path));
	}
	ERROR { printf("fault\n"); exit(0); }
' 2>/dev/null
dtrace -x engine=kernel -qn 'BEGIN { printf("and after it %d\n", 5); exit(0); }'
