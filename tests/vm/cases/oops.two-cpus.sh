#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
probe='syscall::getppid:entry /execname == "guest-device"/'
either='syscall::getppid:entry /execname == "guest-device" || execname == "victim"/'
dfr record -o kept.dfr --keep kept -q -x bufpolicy=ring -n "$either { capture(uid); }" -- true 2>/dev/null
for mask in 1 2; do taskset $mask guest-device getppid 50; done
# Both run already, because nothing fires any more when the kernel has told of the first one.
cp /bin/guest-device victim
victim() {
	taskset $1 ./victim load 60 5000 >/dev/null 2>&1
	[ $? -gt 128 ] && echo victim died
}
victim 1 &
victim 2 &
until [ "$(pidof victim | wc -w)" = 2 ]; do sleep 0.1; done
sleep 1
echo from_kuid 2 >/sys/module/dfr_break/parameters/fault
wait
until guest-device states | grep -q '^kept.*killed'; do sleep 0.1; done
guest-device states | awk '$1 == "kept" { print $1, $3 }'
dfr snapshot --name kept -o all.dfr 2>/dev/null
dfr replay -qn "$probe"' { @ = count(); } END { printa("before %@d\n", @); }' all.dfr >counted 2>verdict
echo replay $?
cat counted
grep -o 'ended by an oops of the kernel inside .* firing' verdict | sed 's/^/reason /'
. /anew.sh
