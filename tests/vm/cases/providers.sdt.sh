#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done\n' >w.sh
dtrace -qn '
	sdt:sched::sched_process_exec /execname == "true"/ { @s = count(); }
	rawtp:sched::sched_process_exec /execname == "true"/ { @r = count(); }
	END { printa("sdt %@d\n", @s); printa("rawtp %@d\n", @r); }
' -c 'sh w.sh'
