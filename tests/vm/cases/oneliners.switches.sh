#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	sched:::sleep { @[execname, "sleeps"] = count(); }
	sched:::preempt { @[execname, "preempted"] = count(); }
' -c 'guest-workload sleep 20' >got
awk '$1 == "guest-workload" && $2 == "sleeps" { print ($3 >= 1) }' got
