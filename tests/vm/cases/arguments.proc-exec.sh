#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo nonsense >noexec; chmod 755 noexec
printf '/bin/true\n/nosuch 2>/dev/null\nexec ./noexec 2>/dev/null\n' >w.sh
dtrace -qn '
	proc:::exec /execname == "sh"/ {
		printf("%s %s %c\n", copyinstr((uintptr_t)args[0]), stringof(args[0]), *args[0]);
	}
	proc:::exec-failure /execname == "sh"/ { printf("failed %d\n", args[0]); }
	proc:::exec-success /execname == "true"/ { printf("success\n"); }
' -c 'sh w.sh' | grep -v '^$' | uniq | head -n 6
