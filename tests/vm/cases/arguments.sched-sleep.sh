#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'guest-workload sleep 20' >w.sh
dtrace -qn '
	syscall::nanosleep:entry,syscall::clock_nanosleep:entry /execname == "guest-workload"/ {
		self->in = 1;
	}
	sched:::sleep /self->in/ { @["sleep"] = count(); }
	sched:::off-cpu /self->in/ { @["off-cpu"] = count(); }
	sched:::on-cpu /self->in/ { @["on-cpu"] = count(); }
	syscall::nanosleep:return,syscall::clock_nanosleep:return /self->in/ { self->in = 0; }
	sched:::wakeup /args[1]->pr_fname == "guest-workload"/ { @w["wakeup"] = count(); }
	END { printa("%s %@d\n", @); printa("%s %@d\n", @w); }
' -c 'sh w.sh' | tail -n +2 >got
awk '
	{ n[$1] = $2 }
	END {
		s = n["sleep"]
		print (s >= 1 && s <= 20), (n["off-cpu"] >= s), (n["on-cpu"] >= s), (n["wakeup"] >= s)
	}
' got
