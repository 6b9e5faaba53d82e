#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# getuid and getuid32 are two calls with one function. Whoever traces the one sees all of its calls when
# somebody else has traced the other and has ended.
cat >w.sh <<'END'
dtrace -x engine=kernel -qn 'syscall::getuid32:entry { @ = count(); }' -c true >/dev/null 2>&1
awk 'END { print "few hooked:", (NR < 100) }' /sys/kernel/tracing/enabled_functions
for i in 1 2 3 4 5 6 7 8 9 10; do id -ru >/dev/null; done
END
dtrace -x engine=kernel -qn '
	syscall::getpid:entry { }
	syscall::getuid:entry /execname == "id"/ { @seen = count(); }
	rawtp:raw_syscalls::sys_enter /arg1 == 102 && execname == "id"/ { @all = count(); }
	END { printa("%@d of %@d\n", @seen, @all); }
' -c 'sh w.sh' 2>/dev/null | awk '/of/ { print "all seen:", ($1 == $3 && $1 > 9); next } { print }'
dtrace -x engine=kernel -qn 'syscall::getuid*:entry { @ = count(); }' -c true >/dev/null 2>&1
awk 'END { print "few left:", (NR < 100) }' /sys/kernel/tracing/enabled_functions
