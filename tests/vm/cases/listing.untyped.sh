#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
grep -c ' [tT] m_start$' /proc/kallsyms | awk '{ print ($1 > 1) }'
dfr probes -v 'fbt:vmlinux:m_start:entry' 2>/dev/null | sed -n 's/^ *\(args.*\)/\1/p'
dfr probes --json -v 'fbt:vmlinux:m_start:entry' 2>/dev/null | sed 's/.*"args"/"args"/'
dtrace -n '
	fbt:vmlinux:m_start:entry { trace(args[0]); }
' 2>&1 | grep -c 'several functions are called m_start, .*: use arg0 to arg9'
dtrace -qn '
	fbt:vmlinux:m_start:entry /pid == $target/ { @[arg0 != 0] = count(); }
	END { printa("%d\n", @); }
' -c 'cat /proc/self/maps' | tail -n 2
