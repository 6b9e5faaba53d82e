#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The handler of dfr_break's own kprobe calls sprint_symbol().
insmod /lib/modules/dfr_break.ko memory=1 || exit 1
echo 1000000 >/sys/module/dfr_break/parameters/fail
dtrace -Zqn 'kinst::dfr_test_call:0, kinst::sprint_symbol: { }' -c 'insmod /lib/modules/dfr_test.ko' 2>&1
rmmod dfr_test dfr_break
