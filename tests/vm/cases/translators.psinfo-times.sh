#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done\n' >busy.sh
printf 'sh busy.sh; . ./busy.sh\ncat /proc/$$/stat >stat\numask >/dev/null\n' >w.sh
dtrace -qn '
	syscall::umask:entry /pid == $target/ {
		printf("%d %d %d %d %d\n", curpsinfo->pr_start / 10000000, curpsinfo->pr_time / 10000000,
		    curpsinfo->pr_ctime / 10000000, curlwpsinfo->pr_start / 10000000,
		    curlwpsinfo->pr_time / 10000000);
		exit(0);
	}
' -c 'sh w.sh' | sed '$d' >got
paste stat got | awk '
	{
		t = $(NF - 3) - $14 - $15
		c = $(NF - 2) - $16 - $17
		l = $(NF) - $14 - $15
		print ($(NF - 4) == $22), (t >= -2 && t < 400), (c >= -2 && c < 400), ($(NF - 1) == $22),
		    (l >= -2 && l < 400), ($14 + $15 > 3)
	}
'
