#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Works that the kernel's threads begin in a second.
dtrace -x engine=kernel -x cleanrate=5000hz -qn '
	sdt:workqueue::workqueue_execute_start { @ = count(); }
	tick-1s { exit(0); }
	END { printa("%@d\n", @); }
' >works
awk '{ print ($1 > 0 && $1 < 1500 ? "few" : $1) }' works
