#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'for n in 1 2 3; do insmod /lib/modules/dfr_test.ko; rmmod dfr_test; done\n' >w.sh
dtrace -Zqn 'kinst:dfr_test:test_init:0 { @ = count(); } END { printa("%@d\n", @); }' -c 'sh w.sh'
insmod /lib/modules/dfr_test.ko
dtrace -ln 'kinst:dfr_test::' 2>/dev/null | grep -c test_init
wc -l </sys/kernel/debug/kprobes/list
rmmod dfr_test
