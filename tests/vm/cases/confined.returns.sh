#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
ulimit -u unlimited
said() { until grep -q "$1" "$2"; do sleep 0.1; done; }
guest-access as 1000 dtrace -x engine=kernel -qn '
	syscall::pause:return { @ = count(); }
	END { printa("%@d\n", @); }
' >counts & tracer=$!
until guest-device states | grep -qw active; do sleep 0.1; done
guest-access as 1002 guest-access paused 1 listening >third & third=$!
said paused third
guest-access as 1001 guest-access paused 300 >strangers & strangers=$!
said paused strangers
guest-access as 1000 guest-access briefly 5
kill -TERM $(pidof dtrace); wait $tracer; grep -v '^$' counts
guest-access as 1001 guest-access paused 1 listening >other & other=$!
said paused other
guest-access as 1000 guest-access paused 2100 listening >own & own=$!
said paused own; grep lost own
kill -USR1 $own $other $third; said ended own; said ended other; said ended third
dtrace -x engine=kernel -qn '
	syscall::getppid:return /pid == $target/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'guest-access calls 1000'
kill $strangers $own $other $third; wait
rm counts strangers own other third; rmmod dfr && insmod /dfr.ko
