#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	proc:::exec /execname == "guest-calls"/ { printf("exec %s\n", copyinstr(arg0)); }
	proc:::exec-failure /execname == "guest-calls"/ { printf("failure %d\n", arg0); }
	proc:::exec-success /execname == "true"/ { printf("success %s\n", execname); }
' -c 'guest-calls exec /nope /bin/true'
