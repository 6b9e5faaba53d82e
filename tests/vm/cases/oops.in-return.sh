#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
probe='syscall::getppid:return /execname == "guest-device"/'
dfr record -o kept.dfr --keep kept -q -n "$probe { self->n++; capture(uid); }" -- true 2>/dev/null
echo from_kuid >/sys/module/dfr_break/parameters/fault
guest-device getppid 100 2>/dev/null
[ $? -gt 128 ] && echo victim died
until guest-device states | grep -q '^kept.*killed'; do sleep 0.1; done
guest-device states | awk '$1 == "kept" { print $1, $3 }'
. /anew.sh
