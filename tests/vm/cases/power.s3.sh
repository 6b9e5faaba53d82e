#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
woken() { dmesg | grep -c 'ACPI: PM: Waking up from system sleep state S3'; }; before=$(woken)
echo deep >/sys/power/mem_sleep
cat >w.sh <<'END'
for i in 1 2; do
	guest-device getppid 100; echo +12 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state
done
guest-device getppid 100
END
sh /asleep.sh 'fbt:vmlinux:*suspend*:return,fbt:vmlinux:*resume*:return,fbt:vmlinux:acpi_*:return,
	fbt:vmlinux:x86_*:return'
echo $(($(woken) - before))
