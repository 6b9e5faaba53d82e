#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -x dynvarsize=2200m -x bufresize=manual -qn '
	BEGIN { a["x"] = 7; printf("%d\n", a["x"]); exit(0); }
'
