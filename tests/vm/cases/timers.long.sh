#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -ln 'tick-1m,tick-1min,profile-1h,profile-1hour,tick-1d,tick-365day' | awk 'NR > 1' | wc -l
dtrace -qn '
	tick-1m,tick-1min,profile-1h,tick-1hour,tick-1d,profile-1day { trace(probename); }
	tick-200ms { exit(0); }
'
