#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
online=/sys/devices/system/cpu/cpu1/online
one() { # ACTION: what CPU 0 does with a speculation when CPU 1, which has a part of it, is away
	dtrace -x engine=kernel -x nspec=1 -x specsize=64k -x cleanrate=5hz -qn '
		BEGIN { shared = speculation(); printf("ready\n"); }
		syscall::getppid:entry /execname == "guest-device"/ { speculate(shared); printf("%d\n", cpu); }
		syscall::sync:entry { '$1'(shared); shared = 0; asked = 1; }
		tick-100ms /asked && (again = speculation())/ { printf("number %d free\n", again); exit(0); }
	' >said.$1 &
	until grep -q ready said.$1; do sleep 0.1; done
	taskset 1 guest-device getppid 50
	taskset 2 guest-device getppid 60
	echo 0 >$online
	taskset 1 sync
	wait $!
	echo $1 $(grep -cx 0 said.$1) $(grep -cx 1 said.$1) $(grep number said.$1)
	echo 1 >$online
}
one commit
one discard
