#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	proc:::create /execname == "guest-workload"/ {
		@[args[0]->pr_ppid == pid && args[0]->pr_pid != pid ? "child" : "not",
		    args[0]->pr_fname] = count();
	}
	proc:::start /execname == "guest-workload"/ { @s["start"] = count(); }
	proc:::lwp-create /execname == "guest-workload"/ {
		@t[args[1]->pr_pid == pid && args[0]->pr_lwpid != tid ? "thread" : "not",
		    args[0]->pr_name] = count();
	}
	proc:::lwp-exit /execname == "guest-workload" && tid != pid/ { @s["lwp-exit"] = count(); }
	proc:::lwp-start /execname == "guest-workload" && tid != pid/ { @s["lwp-start"] = count(); }
	END { printa("%s %s %@d\n", @); printa("%s %s %@d\n", @t); printa("%s %@d\n", @s); }
' -c 'guest-workload fork 7 threads 5' | grep -v '^[0-9]' | sort
