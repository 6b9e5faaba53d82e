#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::getpriority:entry { }
' -c 'grep -c sys_getpriority /sys/kernel/tracing/enabled_functions' 2>/dev/null
dtrace -x engine=kernel -x syscallhook=tracepoint -qn '
	syscall::getpriority:entry { }
' -c 'grep -c sys_getpriority /sys/kernel/tracing/enabled_functions' 2>/dev/null
dtrace -x engine=kernel -qn '
	syscall:::entry { }
' -c 'grep -c sys_getpriority /sys/kernel/tracing/enabled_functions' 2>/dev/null
