#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
woken() { dmesg | grep -c 'ACPI: PM: Waking up from system sleep state S3'; }; before=$(woken)
echo deep >/sys/power/mem_sleep
cat >w.sh <<'END'
for i in 1 2; do
	guest-device getppid 100; echo +3 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state
done
guest-device getppid 100
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
	/returns/ { print ($1 > 100 ? "many" : $1), $2 }
	NF == 2 && $1 < 2 { n++; back += $2 <= last[$1]; last[$1] = $2 }
	END { print n, back + 0 }
' out
echo $(($(woken) - before))
rmmod dfr && insmod /dfr.ko && guest-device count 10
