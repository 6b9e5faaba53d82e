/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault-storm: the page faults of seconds in which a process had very many of them.
 *
 *   dfr record -s fault-storm.d --arg 1000 -o faults.dfr     more than 1,000 in a second
 *
 * A process's faults go into a speculation of its own for each second, which is kept if there were many. Ask:
 *
 *   dfr replay faults.dfr -n 'sdt:exceptions::page_fault_user { @[execname, pid] = count(); }'
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option nspec=1024
#pragma D option specsize=256k

int spec[int], faults[int];
uint64_t began[int];

sdt:exceptions::page_fault_user
/timestamp - began[pid] > 1000000000 && spec[pid] && faults[pid] <= ($1 ? $1 : 1000)/
{
	discard(spec[pid]);
	spec[pid] = 0;
}

sdt:exceptions::page_fault_user
/timestamp - began[pid] > 1000000000 && spec[pid]/
{
	commit(spec[pid]);
	spec[pid] = 0;
}

sdt:exceptions::page_fault_user
/!spec[pid]/
{
	spec[pid] = speculation();
	began[pid] = spec[pid] ? timestamp : 0;
	faults[pid] = 0;
}

sdt:exceptions::page_fault_user
/spec[pid]/
{
	speculate(spec[pid]);
	faults[pid]++;
	capture(arg0);
}

/* A process that ends in its second is judged by what it had until then, and leaves nothing behind. */
proc:::exit
/spec[pid] && faults[pid] > ($1 ? $1 : 1000)/
{
	commit(spec[pid]);
	spec[pid] = 0;
}

proc:::exit
/spec[pid]/
{
	discard(spec[pid]);
	spec[pid] = 0;
}

proc:::exit
{
	began[pid] = 0;
	faults[pid] = 0;
}
