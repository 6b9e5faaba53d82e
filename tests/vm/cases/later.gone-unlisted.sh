#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
listed() {
	dtrace -l 2>/dev/null | awk '
		$3 == "dfr_test" { n[$2]++ }
		END { print (n["fbt"] > 2) + 0, n["sdt"] + 0, n["rawtp"] + 0, n["kinst"] + 0 }
	'
}
insmod /lib/modules/dfr_test.ko && dtrace -ln 'kinst::dfr_test_call:0' >/dev/null; listed
cat >w.sh <<'END'
rmmod dfr_test; dtrace -l >/list; insmod /lib/modules/dummy.ko; insmod /lib/modules/dfr_test.ko call=7
END
dtrace -qn '
	fbt:dfr_test:dfr_test_call:entry { @["fbt"] = count(); }
	sdt:dfr_test:: { @["sdt"] = count(); }
	END { printa("%s %@d\n", @); }
' -c 'sh w.sh' | sort
grep -c dfr_test /list; listed; rmmod dfr_test dummy; listed
rm /list; wc -l </sys/kernel/tracing/enabled_functions
