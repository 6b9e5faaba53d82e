#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo deep >/sys/power/mem_sleep
cat >w.sh <<'END'
for level in freezer devices platform processors core; do
	guest-device getppid 100
	echo $level >/sys/power/pm_test
	echo mem >/sys/power/state || echo "no $level"
done
guest-device getppid 100
echo none >/sys/power/pm_test
END
dtrace -x engine=kernel -qn '
	syscall::getppid:entry /execname == "guest-device"/ { printf("%d %d\n", cpu, timestamp); }
	fbt:vmlinux:*suspend*:return,fbt:vmlinux:*resume*:return,fbt:vmlinux:acpi_*:return,
	    fbt:vmlinux:x86_*:return {
		@ = count();
	}
	END { printa("%@d returns\n", @); }
' -c 'sh w.sh' >out
awk '
	/returns/ || /^no / { print ($1 > 100 ? "many" : $1), $2 }
	NF == 2 && $1 < 2 { n++; back += $2 <= last[$1]; last[$1] = $2 }
	END { print n, back + 0 }
' out
rmmod dfr && insmod /dfr.ko && guest-device count 10
