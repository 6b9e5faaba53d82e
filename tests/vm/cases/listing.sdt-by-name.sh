#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# One tracepoint that is named, then all: as if all had been asked for at once.
list() { dtrace -x engine=kernel -ln "$1" | awk 'NR > 1 { print $2, $3, $NF }' | sort; }
rmmod dfr && insmod /dfr.ko || exit 1
list sdt:::sched_switch
list rawtp:sched::sched_switch
dtrace -x engine=kernel -ln 'proc:::exit' -n 'sdt:::sched_wakeup' |
	awk '$NF == "sched_wakeup" { print "all listed", ($1 > 3000) }'
for provider in sdt rawtp; do list $provider:::; done >after
rmmod dfr && insmod /dfr.ko || exit 1
for provider in sdt rawtp; do list $provider:::; done >at-once
cmp after at-once && wc -l <after | awk '{ print ($1 > 1000) }'
