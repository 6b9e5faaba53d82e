#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -qn '
	syscall::mk*dir*:entry /execname == "mkdir"/ { printf("%s\n", probefunc); }
' -c 'mkdir /tmp/made2'
