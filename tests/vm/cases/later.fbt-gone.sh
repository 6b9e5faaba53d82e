#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dummy.ko
dtrace -qn '
	fbt:dummy::entry { @[probemod] = count(); }
	BEGIN { system("rmmod dummy"); }
	tick-500ms { exit(0); }
' -w >/dev/null
wc -l </sys/kernel/tracing/enabled_functions
