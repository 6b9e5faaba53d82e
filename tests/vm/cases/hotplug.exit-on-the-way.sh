#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cpu1=/sys/devices/system/cpu/cpu1/online
echo "sleep 0.5; echo 0 >$cpu1; sleep 20" >w.sh
dtrace -qn 'fbt::cpuhp_report_idle_dead:entry { exit(3); }' -c 'sh w.sh'; echo $?
echo 1 >$cpu1
dtrace -qn 'syscall::getppid:entry /cpu == 1/ { exit(4); }' -c 'taskset 2 guest-device getppid 9'; echo $?
