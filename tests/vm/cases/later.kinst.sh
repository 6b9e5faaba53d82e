#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'for n in 1 2 3; do insmod /lib/modules/dfr_test.ko call=5; rmmod dfr_test; done\n' >w.sh
dtrace -Zqn 'kinst::dfr_test_call:0 { @ = count(); } END { printa("%@d\n", @); }' -c 'sh w.sh'
insmod /lib/modules/dfr_test.ko
cat >w.sh <<'END'
rmmod dfr_test; insmod /lib/modules/dummy.ko; insmod /lib/modules/dfr_test.ko call=7; rmmod dfr_test dummy
END
dtrace -qn 'kinst:dfr_test:dfr_test_call:0 { @ = count(); } END { printa("%@d\n", @); }' -c 'sh w.sh'
wc -l </sys/kernel/debug/kprobes/list
