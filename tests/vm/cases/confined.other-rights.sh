#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
mkdir others; chmod 777 others; cd others || exit
program=$(command -v guest-access)
for name in root group unreadable own; do cp "$program" $name; done
chmod 4755 root; chmod 2755 group; chmod 711 unreadable
chmod 4755 own; chown 1000 own; chmod u+s own # its own user's: nothing changes
printf '#!./unreadable\n' >script; cp /proc/self/exe sleep # busybox: its name is the applet
chmod 755 script; chmod 711 sleep
as() {
	guest-access as 1000 "$@" 2>&1 |
		grep -o '^[a-z]*: \(failed to grab\|\./\)[^(:,]*\(: it [^,]*\)\?' | sed 's/ $//'
}
as dtrace -qn 'syscall:::entry { @ = count(); }' -c './root calls 4'
as dfr trace -n 'syscall:::entry { @ = count(); }' -- ./group calls 4
as dfr record -o a.dfr -n 'syscall:::entry { @ = count(); }' -- ./unreadable calls 4
as dfr record -o a.dfr -n 'syscall:::entry { @ = count(); }' -- ./script calls 4
as dtrace -qn 'syscall:::entry { @ = count(); }' -p 1
guest-access as 1000 ./sleep 60 & # its own user's, but nobody's to look at
until [ "$(stat -c %u /proc/$!)" = 1000 ]; do sleep 0.1; done
as dtrace -qn 'syscall:::entry { @ = count(); }' -p $! | sed "s/$!/PID/"; kill $!
guest-access as 1000 dtrace -qn 'syscall:::entry { @ = count(); }' -p 1 >/dev/null 2>&1; echo $?
for n in 4 5; do
	guest-access as 1000 dtrace -qn 'syscall::getppid:entry /pid == $target/ { @ = count(); }
		END { printa("%@d\n", @); }' -c "./own calls $n" 2>&1 | grep .
done
guest-access as 1000 dfr stop none 2>&1 | grep -o 'run this as root'
rmmod dfr && insmod /dfr.ko
