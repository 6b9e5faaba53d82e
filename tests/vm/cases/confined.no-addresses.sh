#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o own.dof -n '
	syscall::getppid:entry {
		capture();
		printf("%s %d %d", execname, pid, timestamp);
		ustack();
		@[execname, ustack()] = count();
		@q = quantize(arg0);
		self->s = speculation();
	}
	syscall::getppid:entry { speculate(self->s); trace(probefunc); }
	syscall::getppid:return { trace(arg0); trace(ucaller); }
	syscall::getppid:return { commit(self->s); self->s = 0; }
	syscall::getppid:return { trace(((char *)copyin(ucaller, 8))[100000]); }
	ERROR { trace(arg5); trace(arg1); }
'
dfr compile -o root.dof -n 'syscall::getppid:entry { trace((uint64_t)curthread); }'
rmmod dfr && insmod /dfr.ko unprivileged=1; chmod 755 .
guest-access as 1000 guest-access scan own.dof 500
guest-access scan root.dof 500
rmmod dfr && insmod /dfr.ko
