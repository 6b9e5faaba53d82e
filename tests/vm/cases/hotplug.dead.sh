#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cpu1=/sys/devices/system/cpu/cpu1/online tracing=/sys/kernel/tracing
mount -t tracefs tracefs $tracing 2>/dev/null
echo function >$tracing/current_tracer
echo 0 >$cpu1
awk '/cpuhp_ap_report_dead|cpu_report_death/ { dead = 1 }
	dead && match($0, /: [a-z_0-9.]+ <-/) { print substr($0, RSTART + 2, RLENGTH - 5) }' \
	$tracing/per_cpu/cpu1/trace | sort -u >functions
echo nop >$tracing/current_tracer
echo 1 >$cpu1
grep -q play_dead functions && printf 'seen, '
while read -r name; do printf 'fbt::%s:,' "$name"; done <functions | sed 's/,$//' >wanted
dtrace -Zln "$(cat wanted)" 2>&1 | grep fbt || echo none probed
