#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Works that the kernel's threads begin in a second.
dtrace -x engine=kernel -x cleanrate=5000hz -qn '
	BEGIN { began = timestamp; }
	sdt:workqueue::workqueue_execute_start { @ = count(); }
	tick-1s { exit(0); }
	END { printa("%@d", @); printf(" %d\n", (timestamp - began) / 1000000); }
' >works
awk '{ print ($1 > 0 && $1 < 1.5 * $2 ? "few" : $0) }' works
