#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo deep >/sys/power/mem_sleep
echo 'sleep 0.5; echo +10 >/sys/class/rtc/rtc0/wakealarm; echo mem >/sys/power/state; sleep 20' >w.sh
dtrace -qn 'fbt::acpi_suspend_enter:entry { exit(3); }' -c 'sh w.sh'; echo $?
dtrace -qn 'syscall::getppid:entry { exit(4); }' -c 'taskset 1 guest-device getppid 9'; echo $?
