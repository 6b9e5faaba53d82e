#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
guest-workload until go spin 1 until over >/dev/null &
dtrace -wqx switchrate=10ms -n '
	BEGIN { system("touch go"); }
	syscall::getppid:entry /execname == "guest-workload"/ { ustack(); exit(0); }
' | sed 's/+0x[0-9a-f]*//' | grep -E 'user_|do_spin|`main$'
touch over; wait
