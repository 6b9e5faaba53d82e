#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
probe='kinst::__x64_sys_getppid:0 /execname == "guest-device"/'
dfr record -o kept.dfr --keep kept -q -n "$probe { capture(uid); }" -- true 2>/dev/null
echo from_kuid >/sys/module/dfr_break/parameters/fault
taskset 2 guest-device getppid 100 2>/dev/null
[ $? -gt 128 ] && echo victim died
until guest-device states | grep -q '^kept.*killed'; do sleep 0.1; done
probe='syscall::getppid:entry /execname == "guest-device"/'
. /anew.sh
grep -c "getppid.*DISABLED" /sys/kernel/debug/kprobes/list
# (On newer kernels fbt is off.)
cut -f 1 /sys/module/dfr/parameters/unmet | grep -vx fbt
dfr | grep -o '^off.*' | grep -v '^off *fbt:'
dfr record -o kinst.dfr -q -n 'kinst::__x64_sys_getppid:0 /execname == "guest-device"/ { @ = count(); }
	END { printa("kinst %@d\n", @); }' -- sh calls.sh >counted 2>verdict
cat counted
grep -o '[0-9]* hits that their providers missed' verdict | head -1 | awk '{ print ($1 >= 200), "missed" }'
