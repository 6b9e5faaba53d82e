#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	proc:::exit /execname == "guest-workload" && pid != $target/ { @["processes"] = count(); }
	proc:::lwp-exit /execname == "guest-workload" && pid != $target/ { @["threads"] = count(); }
	END { printa("%s %@d\n", @); }
' -c 'guest-workload crowds 100' | sort
