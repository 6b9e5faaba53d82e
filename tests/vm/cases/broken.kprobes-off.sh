#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
enabled=/sys/kernel/debug/kprobes/enabled
echo "guest-device getppid 5; echo 0 >$enabled; guest-device getppid 5" >w.sh
dtrace -qn '
	kinst::__x64_sys_getppid:0 /execname == "guest-device"/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'sh w.sh' 2>err | grep 5
grep armed err
echo 1 >$enabled
dfr record -o file.dfr -n 'kinst::__x64_sys_getppid:0 /execname == "guest-device"/ { trace(1); }' -- sh w.sh \
	>/dev/null 2>&1
echo 1 >$enabled
dfr replay -qn 'kinst:::0 /execname == "guest-device"/ { @ = count(); } END { printa("%@d\n", @); }' \
	file.dfr >out 2>err
grep -o 'kinst:[^;]*not recorded' err
grep 5 out
