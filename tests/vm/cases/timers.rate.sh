#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	profile-500 { @n = count(); @late = max(arg2); }
	tick-1s { exit(0); }
	END { printa("%@d %@d\n", @n, @late); }
' | awk 'NF { print ($1 >= 498 && $1 <= 500), ($2 < 2000000) }'
