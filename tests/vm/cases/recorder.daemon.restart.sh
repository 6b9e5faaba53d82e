#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -n 'syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(); }'
start() {
	dfrd --name flight2 --program p.dof --output $1 $2 2>log-$1 &
	while ! grep -q recording log-$1; do sleep 0.1; done
}
start a.dfr && dd if=/dev/zero of=/dev/null bs=3 count=100 2>/dev/null && kill -INT $! && wait $!
dd if=/dev/zero of=/dev/null bs=3 count=20 2>/dev/null
>p.dof # a compiler that failed: what records is claimed all the same
start b.dfr --stop && dd if=/dev/zero of=/dev/null bs=3 count=3 2>/dev/null && kill -TERM $! && wait $!
for f in a.dfr b.dfr; do
	dfr replay -q -n '
		syscall::read:entry /execname == "dd" && arg2 == 3/ { @n = count(); }
		END { printa("%@d\n", @n); }
	' $f 2>/dev/null
done
