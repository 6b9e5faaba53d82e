#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr
dtrace -n 'syscall::read:entry { }' 2>&1 | grep -c 'the module is not loaded'
folder=/lib/modules/$(uname -r); mkdir -p $folder/extra && cp /dfr.ko $folder/extra/ && depmod
dtrace -qn 'BEGIN { printf("here\n"); exit(0); }'; [ -e /dev/dfr ] || echo not loaded
dtrace -qn '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'dd if=/dev/zero of=/dev/null bs=3 count=100' 2>/dev/null
rmmod dfr; insmod /dfr.ko; rm -r $folder
