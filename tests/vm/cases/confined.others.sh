#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
cp /bin/guest-access /tmp/set-uid; chmod 4755 /tmp/set-uid
guest-access as 1000 dtrace -x engine=kernel -qn '
	syscall::getppid:entry { @[execname, uid] = count(); }
	END { printa("%s %d %@d\n", @); }
' >counts &
tracer=$!
until guest-device states | grep -qw active; do sleep 0.1; done
guest-access calls 100
guest-access as 1001 guest-access calls 110
guest-access as 1000 guest-access hidden 120
guest-access as 1000 /tmp/set-uid calls 130; guest-access as 1000 guest-access calls 140
kill -TERM $(pidof dtrace); wait $tracer; grep -v '^$' counts
rm /tmp/set-uid; rmmod dfr && insmod /dfr.ko
