#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
probe='syscall::getppid:entry /execname == "guest-device"/'
dfr compile -o p.dof -x bufpolicy=ring -n "$probe { capture(uid); }"
dfrd --name kept --program p.dof --output s.dfr --checkpoint 1 2>stream &
stream=$!
dfrd --name flown --program p.dof --output f.dfr --mode flight 2>flight &
flight=$!
until grep -q recording stream && grep -q 'in flight' flight; do sleep 0.1; done
guest-device getppid 100
count() { dfr replay -qn "$probe"' { @ = count(); } END { printa("%@d\n", @); }' "$1" 2>verdict; }
until [ "$(count s.dfr)" = 100 ]; do sleep 0.2; done
echo from_kuid >/sys/module/dfr_break/parameters/fault
guest-device getppid 100 2>/dev/null
wait $stream; echo "stream $?"
wait $flight; echo "flight $?"
grep -oh '; the kernel had killed the state, so nothing was recorded since' stream flight
for file in s.dfr "$(ls f-*.dfr | tail -n 1)"; do
	said=$(count "$file")
	echo "replay $?: $said, $(grep -o 'ended by an oops of the kernel inside .* firing' verdict)"
done
guest-device states | wc -l
. /anew.sh
