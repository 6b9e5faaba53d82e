#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -x statusrate=1h -x switchrate=1h -x aggrate=1h -qn '
	tick-13s { printf("end\n"); exit(0); }
' | grep end
