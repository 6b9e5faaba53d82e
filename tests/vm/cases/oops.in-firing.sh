#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
probe='syscall::getppid:entry /execname == "guest-device"/'
dfr record -o kept.dfr --keep kept -q -x bufpolicy=ring -n "
	$probe { self->n++; capture(uid); }
" -- true 2>/dev/null
dtrace -x engine=kernel -qn '
	BEGIN { printf("ready\n"); }
'"$probe"' { self->begun["a name"] = timestamp; @ = quantize(uid); }
' >live 2>why &
until grep -q ready live; do sleep 0.1; done
guest-device getppid 100
echo from_kuid >/sys/module/dfr_break/parameters/fault
guest-device getppid 100 2>/dev/null
[ $? -gt 128 ] && echo victim died
wait $!
echo dtrace $?
cat why >&2
until guest-device states | grep -q '^kept.*killed'; do sleep 0.1; done
guest-device states | awk '$1 == "kept" { print $1, $3 }'
dfr snapshot --name kept -o all.dfr 2>/dev/null
dfr info all.dfr 2>/dev/null | grep -o 'killed: .*'
dfr replay -qn "$probe"' { @ = count(); } END { printa("before %@d\n", @); }' all.dfr >counted 2>verdict
echo replay $?
cat counted
grep -o 'ended by an oops of the kernel inside .* firing' verdict | sed 's/^/reason /'
dfr record -o none.dfr -n "$probe" -- true 2>refused
echo refused $?
cat refused >&2
. /anew.sh
