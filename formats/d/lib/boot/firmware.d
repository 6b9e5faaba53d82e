/* SPDX-License-Identifier: GPL-2.0 */
/*
 * firmware: which firmware was asked for during the boot, how long it took to come, and what the answer was (0: it is
 * there; -2: there is no such file).
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=64k

fbt:vmlinux:_request_firmware:entry
{
	self->at = timestamp;
	self->name = stringof(arg1);
}

fbt:vmlinux:_request_firmware:return
/self->at/
{
	printf("%9d us  %-48s %5d  by %s\n", (timestamp - self->at) / 1000, self->name, (int)arg1, execname);
	self->at = 0;
	self->name = 0;
}
