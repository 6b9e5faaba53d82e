#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'x=$(head -c 2000000 /dev/zero | tr "\\0" a)\ncat /proc/$$/stat >stat\numask >/dev/null\n' >w.sh
dtrace -qn '
	syscall::umask:entry /pid == $target/ {
		printf("%d %d\n", curpsinfo->pr_size, curpsinfo->pr_rssize);
		exit(0);
	}
' -c 'sh w.sh' | sed '$d' >got
paste stat got | awk '
	{ d = $(NF) - $24 * 4; print ($(NF - 1) == $23 / 1024), (d > -300 && d < 300), ($24 > 400) }
'
