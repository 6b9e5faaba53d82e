/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slow-io: block I/O that took long, with who asked for it and from where in the kernel.
 *
 *   dfr record -s slow-io.d --arg 20 -o slow.dfr             longer than 20 ms
 *
 * The start is recorded into a speculation, which is kept if the I/O was slow. Ask the recording:
 *
 *   dfr replay slow.dfr -n 'io:::start { t[arg0] = timestamp; who[arg0] = execname; }
 *       io:::done /t[arg0]/ { @[who[arg0]] = quantize((timestamp - t[arg0]) / 1000); t[arg0] = 0; }'
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option nspec=1024

io:::start
{
	spec[arg0] = speculation();
}

io:::start
/spec[arg0]/
{
	began[arg0] = timestamp;
	speculate(spec[arg0]);
	capture(arg0, args[0]->b_edev, args[0]->b_blkno, args[0]->b_bcount, args[0]->b_flags, stack(10));
}

io:::done
/spec[arg0] && timestamp - began[arg0] > ($1 ? $1 : 20) * 1000000/
{
	speculate(spec[arg0]);
	capture(arg0, args[0]->b_error);
}

io:::done
/spec[arg0] && timestamp - began[arg0] > ($1 ? $1 : 20) * 1000000/
{
	commit(spec[arg0]);
	spec[arg0] = 0;
	began[arg0] = 0;
}

io:::done
/spec[arg0]/
{
	discard(spec[arg0]);
	spec[arg0] = 0;
	began[arg0] = 0;
}
