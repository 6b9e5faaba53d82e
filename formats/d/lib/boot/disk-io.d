/* SPDX-License-Identifier: GPL-2.0 */
/*
 * disk-io: what each process read and wrote of which disk during the boot, and how long transfers took. What is
 * written back later counts for the kernel's thread that does it.
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=256k

io:::start
{
	start[arg0] = timestamp;
	@bytes[execname, args[1]->dev_statname, args[0]->b_flags & B_READ ? "read" : "write"] =
	    sum(args[0]->b_bcount);
}

io:::done
/start[arg0]/
{
	@took[args[1]->dev_statname] = quantize((timestamp - start[arg0]) / 1000);
	start[arg0] = 0;
}

END
{
	printf("bytes, by process\n");
	printa("  %-16s %-10s %-6s %@12d\n", @bytes);
	printf("microseconds of a transfer\n");
	printa("  %s%@d\n", @took);
}
