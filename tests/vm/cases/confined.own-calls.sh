#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1 && stat -c %a /dev/dfr
guest-device load 600 200 >/dev/null & root=$!
guest-access as 1001 guest-device load 600 200 >/dev/null & other=$!
guest-access as 1000 dtrace -x engine=kernel -qn '
	syscall::getppid:entry { @[execname, uid, pid == $target] = count(); }
	END { printa("%s %d %d %@d\n", @); }
' -c 'guest-access calls 500'
guest-access as 1000 dtrace -x engine=kernel -qn '
	syscall::getppid:return /pid == $target && arg0 == ppid/ { @ = sum(arg0 == ppid); }
	END { printa("%@d\n", @); }
' -c 'guest-access calls 300'
guest-access as 1000 dtrace -x engine=kernel -qn '
	syscall::open*:entry /pid == $target/ { self->path = copyinstr(arg1); }
	syscall::open*:return /self->path != NULL && strstr(self->path, "pass") != NULL/ {
		printf("%s %d\n", self->path, errno);
		self->path = 0;
	}
' -c 'cat /etc/no-passport' 2>/dev/null
kill $root $other; wait $root $other 2>/dev/null
rmmod dfr && insmod /dfr.ko && stat -c %a /dev/dfr
