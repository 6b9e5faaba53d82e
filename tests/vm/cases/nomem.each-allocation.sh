#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dmesg -c >/dev/null
echo 4 >/proc/sys/kernel/printk
guest-nomem
echo 7 >/proc/sys/kernel/printk
complaints=$(dmesg | grep -E 'WARNING|BUG|KASAN|possible|suspicious|sleeping|use-after')
rmmod dfr && insmod /dfr.ko
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
