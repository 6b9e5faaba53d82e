#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
now=$(date +%s)
guest-device getppid 100
date -s @1000000000 >/dev/null
guest-device getppid 100
date -s @$now >/dev/null
guest-device getppid 100
END
dtrace -x engine=kernel -qn '
	syscall::getppid:entry /execname == "guest-device"/ {
		printf("%d %d %d\n", cpu, timestamp, walltimestamp / 1000000000);
	}
' -c 'sh w.sh' >out
awk '
	NF == 3 { n++; early += $3 >= 1000000000 && $3 < 1000000100; back += $2 <= last[$1]; last[$1] = $2 }
	END { print n, early, back + 0 }
' out
rmmod dfr && insmod /dfr.ko && guest-device count 10
