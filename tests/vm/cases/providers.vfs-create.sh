#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
for i in 1 2 3; do echo $i >new$i; echo again >new$i; done
touch touched
cat new1 >/dev/null
mkdir d
mkfifo f
END
dtrace -qn '
	vfs::create:entry /progenyof($target)/ {
		@e[stringof(((struct dentry *)arg2)->d_name.name), arg3 & 0170000,
		    arg1 == (uintptr_t)((struct dentry *)arg2)->d_parent->d_inode] = count();
		self->in = 1;
	}
	vfs::create:return /self->in/ { self->in = 0; @r[arg1] = count(); }
	END { printa("%s %o %d %@d\n", @e); printa("result %d: %@d\n", @r); }
' -c 'sh w.sh' | sort
