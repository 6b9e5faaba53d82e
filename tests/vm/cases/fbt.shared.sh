#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo vfs_read >/sys/kernel/tracing/set_ftrace_filter; echo function >/sys/kernel/tracing/current_tracer
dtrace -wqn '
	fbt::vfs_read:entry /execname == "dd" && arg2 == 3/ { @ = count(); }
	BEGIN { system("dfr | grep shared"); }
	END { printa("%@d\n", @); }
' -c 'dd if=/dev/zero of=/dev/null bs=3 count=100' 2>/dev/null >got
echo nop >/sys/kernel/tracing/current_tracer; echo >/sys/kernel/tracing/set_ftrace_filter
grep -cE '^shared +1 functions are traced by others as well, .*: vfs_read$' got; grep -cx 100 got
