#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -Z -o a.dof -n '
	syscall::getppid:entry /execname == "guest-dof"/ {
		trace(arg0);
		@[execname, probefunc] = quantize(arg1);
	}
'
dfr compile -Z -o b.dof -n '
	syscall::getppid:entry { self->t = timestamp; printf("%d %s\n", pid, execname); }
	syscall::getppid:return /self->t/ { @ = sum(timestamp - self->t); self->t = 0; }
'
dfr compile -Z -o c.dof -n '
	syscall::getppid:entry { s = speculation(); speculate(s); capture(); }
	syscall::getppid:return { commit(s); a[pid] = strjoin(execname, "x"); }
'
# Several at once, because loading what is accepted waits more than it works.
for f in a b c; do guest-dof $f.dof 117 7 >$f.out & done
wait
cat ?.out
cat ?.out | grep -c '^117 tried, .* refused, .* loaded, 0 differ$'
