#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	sched:::change-pri /execname == "guest-workload"/ {
		printf("%d %d %d %d\n", args[0]->pr_lwpid == tid, args[1]->pr_pid == pid, args[0]->pr_pri,
		    args[2]);
	}
' -c 'guest-workload nice 7' | tail -n +2
