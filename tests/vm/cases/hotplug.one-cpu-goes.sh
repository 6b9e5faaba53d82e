#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'sleep 0.5; echo 0 >/sys/devices/system/cpu/cpu1/online' >w.sh
dtrace -x cpu=1 -qn 'BEGIN { printf("begin\n"); } END { printf("end\n"); }' -c 'sh w.sh'
echo 1 >/sys/devices/system/cpu/cpu1/online
