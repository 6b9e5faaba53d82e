#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 4 >/proc/sys/kernel/printk
guest-nomem
echo 7 >/proc/sys/kernel/printk
dmesg | grep -E 'WARNING|BUG|KASAN|lock|suspicious|sleeping|use-after' |
	grep -vE 'locks held|clocksource|sched_clock|rtc|Unlocked'
rmmod dfr && insmod /dfr.ko
