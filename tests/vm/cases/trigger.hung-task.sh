#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
echo 0 >/proc/sys/kernel/hung_task_warnings
echo 1 >/proc/sys/kernel/hung_task_timeout_secs
dfr record -o r.dfr --keep hangs -qn '
	sdt:sched::sched_process_hang { snapshot("hung task"); capture(stringof(args[0]->comm)); }
' -- true 2>err || cat err
guest-trigger news hangs >woken & viewer=$!
until grep -q '^271 ' /proc/$viewer/syscall; do sleep 0.05; done
echo 20 >/sys/module/dfr_break/parameters/hang
wait $viewer
cat woken
# Another task may have been told of before it.
hung() {
	rm -f s.dfr
	dfr snapshot --name hangs -o s.dfr 2>/dev/null
	dfr replay -qn '
		sdt:sched::sched_process_hang { printf("%s\n", stringof(args[0]->comm)); }
	' s.dfr 2>/dev/null | sort -u | grep -x dfr_hang
}
until hung; do sleep 0.5; done
dfr stop hangs >/dev/null
echo 600 >/proc/sys/kernel/hung_task_timeout_secs
echo 10 >/proc/sys/kernel/hung_task_warnings
