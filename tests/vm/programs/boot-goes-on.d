/* SPDX-License-Identifier: GPL-2.0 */
/* A boot program whose state dfrd goes on with: the calls of `guest-workload number`. */
#pragma D option bufpolicy=ring
#pragma D option bufsize=1m
#pragma D option cpubudget=90
syscall::getpgid:entry
{
	capture(arg0);
	@calls = count();
}
