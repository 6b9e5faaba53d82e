#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
echo 'echo 2 >/sys/module/dfr_test/parameters/call' >w.sh
dtrace -qn '
	sdt:dfr_test::dfr_test_called {
		printf("%d %d %s %d %d %d %d\n", args[0], args[1], stringof(args[2]), args[3], args[4] >> 40,
		    args[5], args[6]);
	}
' -c 'sh w.sh'
dtrace -qn 'rawtp:dfr_test::dfr_test_called { printf("%d %d\n", args[5], args[6]); }' -c 'sh w.sh'
rmmod dfr_test
