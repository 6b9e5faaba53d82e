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
sh /asleep.sh 'fbt:vmlinux:*suspend*:return,fbt:vmlinux:*resume*:return,fbt:vmlinux:acpi_*:return,
	fbt:vmlinux:x86_*:return'
