#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -wqn '
	tick-50ms { @n = count(); }
	tick-50ms /n++ == 3/ { chill(450000000); }
	tick-1s { exit(0); }
	END { printa("%@d\n", @n); }
' 2>errors >counted
missed=$(sed -n 's/^dtrace: \([0-9]*\) hits that their providers missed$/\1/p' errors)
n=$(grep -m 1 . counted)
echo $((missed >= 8 && missed <= 9)) $((n + missed >= 19 && n + missed <= 20)) told
