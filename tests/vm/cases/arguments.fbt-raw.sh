#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
echo 'echo 10 >/sys/module/dfr_test/parameters/call' >w.sh
dtrace -qn '
	fbt:dfr_test:dfr_test_call:entry {
		@n = count();
		@a = sum((int)arg0);
		@b = sum((int64_t)arg1);
		@d = sum((uint8_t)arg3);
		@f = sum((int)arg5);
		@g = sum((int64_t)arg6);
		@h = sum((int)arg7);
		@s[stringof(arg2)] = count();
	}
	END { printa("%@d %@d %@d %@d %@d %@d %@d\n", @n, @a, @b, @d, @f, @g, @h); printa("%s %@d\n", @s); }
' -c 'sh w.sh'
rmmod dfr_test
