#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
echo 'echo 3 >/sys/module/dfr_test/parameters/call' >w.sh
dtrace -qn '
	fbt:dfr_test:dfr_test_call:entry {
		printf("%d %d %s %d %d %d %d %d %d\n", args[0], args[1], stringof(args[2]), args[3],
		    args[4]->pr_first, args[4]->pr_second, args[5], args[6], args[7]);
	}
	fbt:dfr_test:dfr_test_call:return { printf("%d\n", args[1]); }
' -c 'sh w.sh'
dtrace -lvn 'fbt:dfr_test:dfr_test_call:entry' | grep args
rmmod dfr_test
