#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr; insmod /lib/modules/dfr_break.ko || exit 1
cd /sys/module/dfr_break/parameters; n=1
while echo $n >fail; do
	dmesg -c >/dev/null
	if insmod /dfr.ko 2>/dev/null; then
		[ "$(cat failed)" ] || break
		echo "without $(cat failed)$(dmesg | grep -o ': its reason alone will be noted')"; rmmod dfr
	else
		echo "not without $(cat failed)"
	fi
	[ ! -e /dev/dfr ] || echo still there
	n=$((n + 1))
done
echo 0 >fail; rmmod dfr; cd /; rmmod dfr_break
echo 0 >/sys/devices/system/cpu/cpu1/online; echo 1 >/sys/devices/system/cpu/cpu1/online
insmod /dfr.ko && guest-device count 10
