#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x cpu=1 -qn '
	profile-97 { @[cpu] = count(); }
	profile-5hz /n++ == 2/ { exit(0); }
' 2>&1 | grep -v ' providers\? missed$' | awk 'NF { print $1 }' # where this CPU stood still
