#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/button.ko
cat >w.sh <<'END'
for i in 1 2; do
	guest-device getppid 100; echo "vm: lies down" >/dev/kmsg; echo freeze >/sys/power/state
done
guest-device getppid 100
END
dtrace -x engine=kernel -qn '
	syscall::getppid:entry /execname == "guest-device"/ { printf("%d %d\n", cpu, timestamp); }
	fbt:vmlinux:*suspend*:return,fbt:vmlinux:*resume*:return,fbt:vmlinux:*idle*:return { @ = count(); }
	END { printa("%@d returns\n", @); }
' -c 'sh w.sh' >out
awk '
	/returns/ { print ($1 > 100 ? "many" : $1), $2 }
	NF == 2 && $1 < 2 { n++; back += $2 <= last[$1]; last[$1] = $2 }
	END { print n, back + 0 }
' out
rmmod dfr && insmod /dfr.ko && guest-device count 10
