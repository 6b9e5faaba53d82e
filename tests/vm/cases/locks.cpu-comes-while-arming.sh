#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 0 >/sys/devices/system/cpu/cpu1/online
cat >w.sh <<'END'
dtrace -x engine=kernel -qn "
	fbt:vmlinux:[a-k]*:entry { @ = count(); }
	tick-100ms { exit(0); }
" >/dev/null 2>&1 &
is_arming() { sed -n '100{p;q}' /sys/kernel/tracing/enabled_functions | grep -q .; }
until is_arming || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
echo 1 >/sys/devices/system/cpu/cpu1/online
wait
END
dtrace -x engine=kernel -qn '
	sched:::on-cpu { @[cpu] = count(); }
	END { printa("cpu %d\n", @); }
' -c 'sh w.sh' 2>&1 | sort
