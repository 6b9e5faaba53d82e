/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lock-hold: the kernel's mutexes that a thread held for long, and where it took them.
 *
 *   dfr record -s lock-hold.d --arg 10 -o locks.dfr          longer than 10 ms
 *
 * Where a mutex was taken is recorded into a speculation, which is kept if it was held for long. A mutex that is
 * taken or given back by code that was compiled into its caller (the fast way of some kernels) is not seen. Ask:
 *
 *   dfr replay locks.dfr -n 'fbt::mutex_lock:entry { @[execname, stack()] = count(); }'
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option nspec=4096

fbt::mutex_lock:entry
{
	self->spec[arg0] = speculation();
}

fbt::mutex_lock:entry
/self->spec[arg0]/
{
	self->began[arg0] = timestamp;
	speculate(self->spec[arg0]);
	capture(arg0, stack());
}

fbt::mutex_unlock:entry
/self->spec[arg0] && timestamp - self->began[arg0] > ($1 ? $1 : 10) * 1000000/
{
	speculate(self->spec[arg0]);
	capture(arg0);
}

fbt::mutex_unlock:entry
/self->spec[arg0] && timestamp - self->began[arg0] > ($1 ? $1 : 10) * 1000000/
{
	commit(self->spec[arg0]);
	self->spec[arg0] = 0;
	self->began[arg0] = 0;
}

fbt::mutex_unlock:entry
/self->spec[arg0]/
{
	discard(self->spec[arg0]);
	self->spec[arg0] = 0;
	self->began[arg0] = 0;
}
