#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	tick-50hz { @["hz"] = count(); }
	tick-50 { @["none"] = count(); }
	tick-20ms { @["ms"] = count(); }
	tick-20msec { @["msec"] = count(); }
	tick-20000us { @["us"] = count(); }
	tick-20000usec { @["usec"] = count(); }
	tick-20000000ns { @["ns"] = count(); }
	tick-20000000nsec { @["nsec"] = count(); }
	tick-2s { exit(0); }
	END { printa("%s %@d\n", @); }
' | awk '$2 >= 98 && $2 <= 100 { print $1 }' | sort
