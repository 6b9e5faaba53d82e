/* SPDX-License-Identifier: GPL-2.0 */
/*
 * locks: who waited how long for locks of the kernel during the boot, and where in it.
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=256k

/* Who spins before it sleeps begins twice and ends once. */
sdt:lock::contention_begin
/!self->waits/
{
	self->waits = timestamp;
}

sdt:lock::contention_end
/self->waits/
{
	@by[execname] = sum((timestamp - self->waits) / 1000);
	@times[execname] = count();
	@where[stack(6)] = sum((timestamp - self->waits) / 1000);
	self->waits = 0;
}

END
{
	printf("microseconds and times of waiting, by process\n");
	printa("  %-16s %@10d %@8d\n", @by, @times);
	trunc(@where, 10);
	printf("microseconds, by place\n");
	printa("%k  %@d\n", @where);
}
