#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x aggpercpu -qn '
	profile-97hz { @ = count(); seen[cpu] = 1; }
	tick-50ms /seen[0] && seen[1]/ { exit(0); }
' >got
awk -v there="$(grep -c ^processor /proc/cpuinfo)" '
	/\[CPU/ { cpus++; n += $3; next }
	NF { total = $1 }
	END { print (cpus == there), (n == total), (total > 0) }
' got
