#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::mkdir:return /execname == "mkdir"/ { printf("%d %d\n", (int)arg1, errno); }
' -c 'mkdir /no/such/place' 2>/dev/null
