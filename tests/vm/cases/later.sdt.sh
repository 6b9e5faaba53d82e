#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'for n in 1 2 3; do insmod /lib/modules/dfr_test.ko call=5; rmmod dfr_test; done\n' >w.sh
dtrace -Zqn '
	sdt:dfr_test::dfr_test_called { @["sdt"] = count(); @s["sum"] = sum(arg0); }
	rawtp:dfr_test::dfr_test_called { @["rawtp"] = count(); }
	fbt:dfr_test:dfr_test_call:return { @["fbt"] = count(); }
	END { printa("%s %@d\n", @); printa("%s %@d\n", @s); }
' -c 'sh w.sh' | sort
