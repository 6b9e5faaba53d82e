#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
guest-workload until go spin 1 until over >/dev/null & workload=$!
# Until it has exec'ed, its maps are those of the shell.
until grep -qs workload /proc/$workload/comm && grep -qs vdso /proc/$workload/maps; do sleep 0.1; done
address=0x$(sed -n 's/-.*\[vdso\]$//p' /proc/$workload/maps)
dtrace -wqx switchrate=10ms -n "
	BEGIN { system(\"touch go\"); }
	syscall::getppid:entry /pid == $workload && $address/ { umod($address); usym($address + 1); exit(0); }
" | sed 's/[`+].*//' | xargs
touch over
wait
