#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
is_hooked() { grep -q '^x64_sys_call ' /sys/kernel/tracing/enabled_functions; }
guest-access as 1000 dtrace -x engine=kernel -qn 'syscall::s*: { @ = count(); }' >/dev/null & tracer=$!
until guest-device states | grep -qw active; do sleep 0.1; done
is_hooked && echo hooked
taskset 1 sh -c 'while :; do guest-device getppid 1000000; done' & load=$!
while is_hooked; do sleep 0.1; done
echo not hooked
kill $load; kill $(pidof guest-device); kill -TERM $(pidof dtrace); wait $tracer
rmmod dfr && insmod /dfr.ko
