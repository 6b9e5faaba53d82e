#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko || exit 1
cat >w.sh <<'END'
parameters=/sys/module/dfr_test/parameters
echo 10 >$parameters/fire
echo 1 >$parameters/storm
until [ -e stormed ]; do sleep 0.1; done
rmmod dfr_test || exit 1
rm -f went-on
until [ -e went-on ]; do sleep 0.1; done
insmod /lib/modules/dfr_test.ko
echo 20 >$parameters/fire
END
dtrace -x cpubudget=100 -Zwqx switchrate=10ms -n '
	dfrtest::fire:now { @f = count(); }
	dfrtest::storm:now { @s["storm"] = count(); stormed = 1; }
	tick-100ms /stormed/ { system("touch stormed went-on"); }
	END { printa("%@d\n", @f); printa("%s\n", @s); }
' -c 'sh w.sh' 2>/dev/null
rmmod dfr_test && echo removed
