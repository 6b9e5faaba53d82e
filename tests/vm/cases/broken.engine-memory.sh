#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr; insmod /lib/modules/dfr_break.ko memory=1 || exit 1
cd /sys/module/dfr_break/parameters
for n in $(seq 2 12); do
	echo $n >fail; insmod /dfr.ko 2>/dev/null && rmmod dfr; cat failed
done | grep -cE 'kvmalloc_node|get_zeroed_page|get_free_pages'
echo 0 >fail; cd /; rmmod dfr_break; insmod /dfr.ko && guest-device count 10
