#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	proc:::signal-send /execname == "guest-workload" && args[2] == 10/ {
		@["send", args[1]->pr_pid == pid && args[0]->pr_lwpid == tid] = count();
	}
	proc:::signal-discard /execname == "guest-workload" && args[2] == 10/ {
		@["discard", args[1]->pr_pid == pid] = count();
	}
	proc:::signal-handle /execname == "guest-workload" && args[0] == 10/ {
		@["handle", args[1]->si_signo == 10 && (uintptr_t)args[2] != 0] = count();
	}
	proc:::signal-clear /execname == "guest-workload" && args[0] == 10/ { @["clear", 1] = count(); }
	END { printa("%s %d %@d\n", @); }
' -c 'guest-workload sigwait 3 handle 4 ignore 6' | grep -v '^[0-9]' | sort
