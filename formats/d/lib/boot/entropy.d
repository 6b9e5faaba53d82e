/* SPDX-License-Identifier: GPL-2.0 */
/*
 * entropy: who asked for random numbers during the boot, and who waited for the kernel to have gathered enough.
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=64k

syscall::getrandom:entry { self->at = timestamp; }

syscall::getrandom:return
/self->at/
{
	@asked[execname] = count();
	@took[execname] = max((timestamp - self->at) / 1000);
	self->at = 0;
}

fbt:vmlinux:wait_for_random_bytes:entry { self->waits = timestamp; }

/* Whoever waited for a millisecond or more. */
fbt:vmlinux:wait_for_random_bytes:return
/self->waits && timestamp - self->waits >= 1000000/
{
	printf("%9d us  %s (%d) waited for random numbers\n", (timestamp - self->waits) / 1000, execname, pid);
}

fbt:vmlinux:wait_for_random_bytes:return { self->waits = 0; }

END
{
	printf("getrandom(): how often, and the longest in microseconds\n");
	printa("  %-16s %@8d %@10d\n", @asked, @took);
}
