/* SPDX-License-Identifier: GPL-2.0 */
/*
 * drivers: which driver took how long to bind which device during the boot, who waited for it, and what it answered
 * (0: bound; -517: later again). Devices that are bound before the module is loaded are not seen: dfr boot report shows the
 * kernel's initcalls, in which that happens. A driver may bind a device while it binds another: each has its time,
 * and the outer one's has the inner one's in it.
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=256k

fbt:vmlinux:really_probe:entry
{
	self->depth++;
	self->at[self->depth] = timestamp;
	self->device[self->depth] = stringof(args[0]->kobj.name);
	self->driver[self->depth] = stringof(args[1]->name);
}

fbt:vmlinux:really_probe:return
/self->depth/
{
	printf("%9d us  %-24s %-24s %5d  by %s\n", (timestamp - self->at[self->depth]) / 1000,
	    self->driver[self->depth], self->device[self->depth], (int)arg1, execname);
	@took[self->driver[self->depth]] = quantize((timestamp - self->at[self->depth]) / 1000);
	self->at[self->depth] = 0;
	self->device[self->depth] = 0;
	self->driver[self->depth] = 0;
	self->depth--;
}

END
{
	printf("microseconds of each driver\n");
	printa("  %s%@d\n", @took);
}
