#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done\n' >w.sh
dtrace -qn '
	rawtp:sched::sched_process_exec /execname == "true"/ {
		@[args[0]->pid == tid && args[0]->tgid == pid ? "same" : "other", stringof(args[0]->comm),
		    stringof(args[2]->filename)] = count();
	}
	END { printa("%s %s %s %@d\n", @); }
' -c 'sh w.sh'
