#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_break.ko || exit 1
said() { dmesg | grep -c 'dfr: .* cannot be unloaded before'; }; before=$(said)
guest-device keep kept; guest-device getppid 100
echo 1 >/sys/module/dfr_break/parameters/ftrace
until [ $(said) -gt $before ]; do sleep 0.1; done
rmmod dfr 2>&1 | grep -o 'Resource temporarily unavailable'
guest-device end kept; guest-device getppid 100; rmmod dfr 2>&1 | grep -o 'Resource temporarily unavailable'
rmmod dfr_break
