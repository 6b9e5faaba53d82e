#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo deep >/sys/power/mem_sleep
echo 'sleep 0.5; echo +12 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state; sleep 20' >w.sh
for last in acpi_suspend_enter:entry arch_suspend_disable_irqs:return; do
	dtrace -qn "fbt::$last { exit(3); }" -c 'sh w.sh'; echo $?
	dtrace -qn 'syscall::getppid:entry { exit(4); }' -c 'taskset 1 guest-device getppid 9'; echo $?
done
