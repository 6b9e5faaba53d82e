#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
echo 'echo 3000 >/sys/module/dfr_test/parameters/call' >w.sh
echo 'NF == 2 { bad += $1 != -n || $2 != $1; n++ } /^sum/ { print } END { print n, bad + 0 }' >check
dtrace -qn 'fbt:dfr_test:dfr_test_call:entry { printf("%d %d\n", arg1, arg1); }' -c 'sh w.sh' | awk -f check
dtrace -qn '
	fbt:dfr_test:dfr_test_call:entry { printf("%d %d\n", arg1, arg1); }
	fbt:dfr_test:dfr_test_call:entry { @ = sum((int64_t)arg1 + 1); }
	END { printa("sum of all: %@d\n", @); }
' -c 'sh w.sh' | awk -f check
rmmod dfr_test
