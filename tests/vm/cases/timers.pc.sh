#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'guest-workload spin 20\ndd if=/proc/kallsyms of=/dev/null\n' >w.sh
dtrace -qn '
	profile-997 /execname == "guest-workload" || execname == "dd"/ {
		@[arg0 != 0 ? "kernel" : "user", arg0 != 0 ? arg0 > 0xffff800000000000 && arg1 == 0 :
		    arg1 >= 0x200000 && arg1 < 0x600000] = count();
	}
	END { printa("%s %d %@d\n", @); }
' -c 'sh w.sh' 2>/dev/null | tail -n +2 | awk 'NF { print $1, $2, ($3 > 5) }' | sort
