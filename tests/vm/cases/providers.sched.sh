#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	sched:::off-cpu /pid != 0/ { @["off"] = count(); off = 1; }
	sched:::on-cpu /pid != 0/ { @["on"] = count(); on = 1; }
	sched:::wakeup { @["wakeup"] = count(); woken = 1; }
	tick-50ms /off && on && woken/ { exit(0); }
	END { printa("%s %@d\n", @); }
' | awk '$2 > 0 { print $1 }' | sort
