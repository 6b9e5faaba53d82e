#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
insmod /lib/modules/dummy.ko
until grep -q vmlinux out; do sleep 0.1; done
insmod /lib/modules/dfr_test.ko call=1
END
dtrace -Zqx switchrate=10ms -n '
	fbt::do_init_module:entry { stack(1); }
	sdt:dfr_test::dfr_test_called { stack(1); }
' -c 'sh w.sh' >out
sed 's/+0x[0-9a-f]*//' out | awk '/`/ { print n++ ? $1 : "first" }' | head -n 2
rmmod dfr_test dummy
