/* SPDX-License-Identifier: GPL-2.0 */
/*
 * off-cpu: threads that were off the CPU for long, and where in the kernel they waited.
 *
 *   dfr record -s off-cpu.d --arg 50 -o off.dfr              longer than 50 ms
 *
 * Each switch is recorded into a speculation of the thread that leaves, which is kept if it comes back late.
 * Ask the recording:
 *
 *   dfr replay off.dfr -n 'sched:::off-cpu { self->t = timestamp; }
 *       sched:::on-cpu /self->t/ { @[execname, tid] = max(timestamp - self->t); self->t = 0; }'
 *   dfr replay off.dfr -n 'sched:::off-cpu { @[execname, stack()] = count(); }'
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option nspec=4096

/* A thread that has ended does not come back. */
sched:::off-cpu
/pid && curlwpsinfo->pr_state != SZOMB/
{
	self->spec = speculation();
}

sched:::off-cpu
/self->spec/
{
	self->began = timestamp;
	speculate(self->spec);
	capture(curlwpsinfo->pr_state, stack());
}

sched:::on-cpu
/self->spec && timestamp - self->began > ($1 ? $1 : 50) * 1000000/
{
	speculate(self->spec);
	capture();
}

sched:::on-cpu
/self->spec && timestamp - self->began > ($1 ? $1 : 50) * 1000000/
{
	commit(self->spec);
	self->spec = 0;
	self->began = 0;
}

sched:::on-cpu
/self->spec/
{
	discard(self->spec);
	self->spec = 0;
	self->began = 0;
}
