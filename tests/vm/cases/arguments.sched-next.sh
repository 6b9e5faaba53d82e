#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	sched:::off-cpu { next[cpu] = args[0]->pr_lwpid; seen[cpu] = 1; }
	sched:::on-cpu /seen[cpu]/ {
		@[next[cpu] == curthread->pid ? "next" : "other"] = count();
		n++;
		seen[cpu] = 0;
	}
	tick-50ms /n > 10/ { exit(0); }
	END { printa("%s %@d\n", @); }
' >got
awk 'NF { print $1, ($2 > 10) }' got
