#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	sched:::surrender /execname == "guest-workload"/ {
		@[args[0]->pr_lwpid == tid && args[1]->pr_pid == pid] = count();
	}
	END { printa("%d %@d\n", @); }
' -c 'guest-workload yield 50' | tail -n +2
