#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 0 >/sys/devices/system/cpu/cpu1/online
cat >w.sh <<'END'
dtrace -x engine=kernel -qn "
	fbt:vmlinux:[a-k]*:entry { @ = count(); }
	tick-100ms { exit(0); }
" >/dev/null 2>&1 &
sleep 1
echo 1 >/sys/devices/system/cpu/cpu1/online
wait
END
dtrace -x engine=kernel -qn '
	sched:::on-cpu { @[cpu] = count(); }
	END { printa("cpu %d\n", @); }
' -c 'sh w.sh' 2>&1 | sort
