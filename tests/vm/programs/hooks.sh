#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# hooks.sh HOOK: counts the calls of guest-calls, 64-bit and 32-bit ones, some of which fail, by syscallhook=HOOK.
dtrace -x engine=kernel -x syscallhook="$1" -qn '
	syscall::getppid:entry /execname == "guest-calls"/ { @e = count(); }
	syscall::getppid:return /execname == "guest-calls" && arg1 > 0/ { @r = count(); }
	syscall::getpriority:entry /arg0 == 7 && arg1 == 9/ { @in = count(); }
	syscall::getpriority:return /execname == "guest-calls"/ {
		@out[errno, (int)arg0, arg1 == arg0] = count();
	}
	syscall::exit_group:return { @never = count(); }
	END {
		printa("%@d entered\n", @e);
		printa("%@d returned\n", @r);
		printa("%@d arguments\n", @in);
		printa("errno %d result %d %d: %@d\n", @out);
		printa("%@d never\n", @never);
	}
' -c 'guest-calls 3000 1200' 2>/dev/null
