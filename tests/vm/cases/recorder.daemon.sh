#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x cpubudget=90 -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); capture(); }
'
dfrd --name flight --program p.dof --output a.dfr --stop 2>log &
while ! grep -q recording log; do sleep 0.1; done
dd if=/dev/zero of=/dev/null bs=3 count=700 2>/dev/null
kill -TERM $! && wait $! && echo ended
dfr replay -q -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @n = count(); }
	END { printa("%@d\n", @n); }
' a.dfr 2>verdict
cat verdict
stat -c 'mode %a' a.dfr
