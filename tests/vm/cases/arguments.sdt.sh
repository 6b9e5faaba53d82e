#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
echo 'echo 3 >/sys/module/dfr_test/parameters/call' >w.sh
dtrace -qn '
	sdt:dfr_test::dfr_test_called {
		printf("%d %d %s %d %d %d %d\n", (int)arg0, (int64_t)arg1, stringof(arg2), (uint8_t)arg3,
		    arg4 >> 40, (int)arg5, (int64_t)arg6);
	}
' -c 'sh w.sh'
rmmod dfr_test
