#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	sched:::enqueue /args[1]->pr_fname == "guest-workload"/ {
		@["enqueue", args[2]->cpu_id < 2 && args[0]->pr_lwpid == args[1]->pr_pid] = count();
	}
	sched:::dequeue /args[1]->pr_fname == "guest-workload" && args[0]->pr_lwpid == tid/ {
		@["dequeue", args[2]->cpu_id == cpu] = count();
	}
	sched:::tick /execname == "guest-workload"/ {
		@["tick", args[0]->pr_lwpid == tid && args[1]->pr_pid == pid] = count();
	}
	END { printa("%s %d %@d\n", @); }
' -c 'guest-workload sleep 20 spin 200' | tail -n +2 >got
awk 'NF { print $1, $2, ($3 >= 1) }' got | sort
