#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_test.ko refuse=1 || exit 1
echo 'echo 5 >/sys/module/dfr_test/parameters/fire' >w.sh
dtrace -qn '
	dfrtest::fire:,dfrtest::storm: { @ = count(); }
	dfrtest::storm: { trace(1); }
	END { printa("%@d\n", @); }
' -c 'sh w.sh'
dfr record -o r.dfr -n 'dfrtest::[fs]*:now { capture(); }' -- sh w.sh 2>/dev/null
dfr info r.dfr 2>/dev/null | sed -n 's/^  event *[0-9:.]* //p'
rmmod dfr_test
