#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 3 >/sys/module/dfr/parameters/consumer_timeout
dtrace -x engine=kernel -qn '
	profile-997 { printf("%0200d\n", i++); }
	tick-5s { printf("end\n"); exit(0); }
' 2>said | (sleep 7; grep -c end)
grep unresponsiveness said | wc -l
echo 10 >/sys/module/dfr/parameters/consumer_timeout
