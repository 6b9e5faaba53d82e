#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::mkdir:entry /execname == "mkdir"/ { printf("%s %o\n", copyinstr(arg0), arg1); }
' -c 'mkdir /tmp/made' 2>/dev/null
