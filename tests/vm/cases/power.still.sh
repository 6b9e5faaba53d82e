#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
guest-device getppid 100
echo "vm: stands still" >/dev/kmsg
sleep 2
until [ $(grep -c tick out) -gt 9 ]; do sleep 0.1; done
guest-device getppid 100
END
dtrace -x engine=kernel -qn '
	syscall::getppid:entry /execname == "guest-device"/ { printf("%d %d\n", cpu, timestamp); }
	tick-100ms { t++; printf("tick\n"); }
	END { printf("ticks %s\n", t > 9 ? "many" : "few"); }
' -c 'sh w.sh' >out
grep ticks out
awk '
	NF == 2 && $1 < 2 && !/ticks/ { n++; back += $2 <= last[$1]; last[$1] = $2 }
	END { print n, back + 0 }
' out
rmmod dfr && insmod /dfr.ko && guest-device count 10
