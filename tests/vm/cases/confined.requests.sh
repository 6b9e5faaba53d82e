#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
guest-device keep root-has-it
guest-access as 1000 guest-access others
guest-access as 1000 guest-access many
guest-access as 1000 dtrace -l -x engine=kernel |
	awk 'NR > 1 { seen[$2] } END { for (p in seen) print "sees", p }' | sort
guest-access as 1000 guest-access userns open
guest-device end root-has-it; guest-device states
rmmod dfr && insmod /dfr.ko
