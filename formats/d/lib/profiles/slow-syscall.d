/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slow-syscall: system calls that took long, with their arguments and where they were made; all others leave nothing.
 *
 *   dfr record -s slow-syscall.d --arg 10 -o slow.dfr        longer than 10 ms
 *
 * Each call is recorded into a speculation, which is kept if the call was slow. Ask the recording:
 *
 *   dfr replay slow.dfr -n 'syscall:::entry { self->t = timestamp; }
 *       syscall:::return /self->t/ { @[execname, probefunc] = max(timestamp - self->t); self->t = 0; }'
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option nspec=1024

self int spec;

/* rt_sigreturn never returns; the thread goes on. */
syscall:::entry
/self->spec/
{
	discard(self->spec);
}

syscall:::entry
{
	self->spec = speculation();
}

syscall:::entry
/self->spec/
{
	self->began = timestamp;
	speculate(self->spec);
	capture(arg0, arg1, arg2, arg3, arg4, arg5, ustack(10));
}

syscall:::return
/self->spec && timestamp - self->began > ($1 ? $1 : 10) * 1000000/
{
	speculate(self->spec);
	capture(arg1, errno);
}

syscall:::return
/self->spec && timestamp - self->began > ($1 ? $1 : 10) * 1000000/
{
	commit(self->spec);
	self->spec = 0;
	self->began = 0;
}

syscall:::return
/self->spec/
{
	discard(self->spec);
	self->spec = 0;
	self->began = 0;
}

/* A thread that ends in a call never returns from it. */
proc:::lwp-exit
/self->spec/
{
	discard(self->spec);
	self->spec = 0;
	self->began = 0;
}
