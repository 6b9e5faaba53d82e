/* SPDX-License-Identifier: GPL-2.0 */
/*
 * file-opens: which process opened which file during the boot, and how often; files that were not there too.
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=256k
#pragma D option aggsize=8m

syscall::openat:entry { self->path = arg1; }

syscall::openat:return
/self->path && (int)arg1 >= 0/
{
	@opened[execname, copyinstr(self->path)] = count();
}

syscall::openat:return
/self->path && (int)arg1 < 0/
{
	@missing[execname, copyinstr(self->path)] = count();
}

syscall::openat:return { self->path = 0; }

END
{
	printf("opened, by process\n");
	printa("  %-16s %-60s %@6d\n", @opened);
	printf("looked for and not opened\n");
	printa("  %-16s %-60s %@6d\n", @missing);
}
