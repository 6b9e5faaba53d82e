#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
echo 'echo 1000 >/sys/module/dfr_test/parameters/fire' >w.sh
dtrace -qn '
	dfrtest:dfr_test:fire:now {
		@n = count();
		@a = sum(arg0);
		@b = sum(arg1);
		@c = max(arg2);
		@d = min(arg3);
		@e = max(arg5);
	}
	END { printa("%@d %@d %@d %@x %@d %@d\n", @n, @a, @b, @c, @d, @e); }
' -c 'sh w.sh' 2>/dev/null
rmmod dfr_test
