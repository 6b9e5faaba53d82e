#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 3 >/sys/module/dfr/parameters/consumer_timeout
dtrace -x engine=kernel -wqn 'BEGIN { system("sleep 5"); } tick-1s { printf("end\n"); exit(0); }' | grep end
echo 10 >/sys/module/dfr/parameters/consumer_timeout
