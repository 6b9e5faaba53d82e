#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf '/bin/true\n/bin/echo hello world\n' >w.sh
dtrace -qn '
	proc:::exec-success /execname != "sh"/ { printf("%s %s\n", execname, curpsinfo->pr_fname); }
' -c 'sh w.sh'
