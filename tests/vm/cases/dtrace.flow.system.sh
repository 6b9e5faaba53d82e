#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x engine=kernel -Fwn '
	syscall::getppid:return /pid == $target/ { system("echo SYS"); }
' -c 'guest-access calls 1' 2>/dev/null | grep -cE '^ *[0-9]+  <= getppid +SYS$'
