#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# asleep.sh PROBES: records the calls of guest-device while w.sh, in this folder, puts the machine to sleep and
# wakes it, and counts PROBES. Prints whether PROBES fired often, the lines of w.sh that begin with "no", and how
# many calls the CPUs 0 and 1 recorded, of which how many have a time before that of an earlier one. Then the
# module is taken out and comes back.
# dtrace sleeps too, and may be away for longer than a consumer may.
echo 60 >/sys/module/dfr/parameters/consumer_timeout
dtrace -x engine=kernel -qn '
	syscall::getppid:entry /execname == "guest-device"/ { printf("%d %d\n", cpu, timestamp); }
	'"$1"' { @ = count(); }
	END { printa("%@d returns\n", @); }
' -c 'sh w.sh' >out
awk '
	/^no /
	/returns/ { print ($1 > 100 ? "many" : $1), $2 }
	NF == 2 && $1 < 2 { n++; back += $2 <= last[$1]; last[$1] = $2 }
	END { print n, back + 0 }
' out
rmmod dfr && insmod /dfr.ko && guest-device count 10
