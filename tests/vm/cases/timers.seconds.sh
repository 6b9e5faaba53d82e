#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	tick-1s { @["s"] = count(); }
	tick-1sec { @["sec"] = count(); }
	profile-1s { @["profile"] = count(); }
	tick-100ms { n++; }
	tick-100ms /n == 35/ { exit(0); }
	END { printa("%s %@d\n", @); }
' | sort
