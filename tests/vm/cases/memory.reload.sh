#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
list() { dtrace -x engine=kernel -ln 'fbt:dfr_test::,sdt:dfr_test::,rawtp:dfr_test::,dfrtest:::' | sort; }
insmod /lib/modules/dfr_test.ko || exit 1; list >before; rmmod dfr_test
cat >w.sh <<'END'
for i in $(seq 20); do
	insmod /lib/modules/dfr_test.ko
	echo 3 >/sys/module/dfr_test/parameters/call
	echo 1 >/sys/module/dfr_test/parameters/fire
	rmmod dfr_test
done
END
dtrace -x engine=kernel -Zqn '
	fbt:dfr_test:dfr_test_call:entry { @f = count(); }
	sdt:dfr_test::dfr_test_called { @s = count(); }
	dfrtest::fire:now { @d = count(); }
	END { printa("%@d ", @f); printa("%@d ", @s); printa("%@d\n", @d); }
' -c 'sh w.sh' 2>/dev/null
insmod /lib/modules/dfr_test.ko; list >after; rmmod dfr_test
cmp before after && [ $(wc -l <after) -gt 6 ] && echo the same
