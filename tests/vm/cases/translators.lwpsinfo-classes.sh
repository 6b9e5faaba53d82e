#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
touch going
printf 'while [ -e going ]; do taskset 1 taskset 2 true; done\n' >w.sh
dtrace -qn '
	sched:::on-cpu /execname == "migration/0" || execname == "migration/1"/ {
		printf("%s %d %d\n", curlwpsinfo->pr_clname, curlwpsinfo->pr_pri,
		    curlwpsinfo->pr_bindpro == cpu);
		exit(0);
	}
' -c 'sh w.sh'
rm going
