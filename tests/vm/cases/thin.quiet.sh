#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'i=0; while [ $i -lt 20 ]; do guest-device getppid 100; i=$((i+1)); done' >w.sh
dfr record -o r.dfr -q -x cpubudget=20 -s /thin.d -- sh w.sh >/dev/null 2>err
dfr replay -qn '
	proc:::exec-success /execname == "guest-device"/ { @e = count(); }
	proc:::exit /execname == "guest-device"/ { @x = count(); }
	END { printa("%@d execs, ", @e); printa("%@d exits", @x); }
' r.dfr >seen 2>err
status=$?
echo "$(cat seen), status $status"
dfr replay -qn '
	syscall::getppid:entry /execname == "guest-device"/ { @ = count(); }
	END { printa("all %@d calls", @); }
' r.dfr >seen 2>err
status=$?
echo "$(cat seen), status $status"
dfr info r.dfr 2>/dev/null | grep thinned | wc -l
