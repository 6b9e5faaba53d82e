#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
sleep 1
dd if=/dev/vda of=/dev/null bs=4096 count=50 iflag=direct
/bin/true; /bin/true; /bin/true
END
dfr record --profile flight -x cpubudget=100 -o f.dfr -- sh w.sh >out 2>err
dfr replay -qn '
	syscall:::entry /execname == "sleep"/ { self->t = timestamp; }
	syscall:::return /self->t && timestamp - self->t > 900000000/ { @[execname] = count(); }
	END { printa("slowest: %s, about a second\n", @); }
' f.dfr 2>err2
dfr replay -qn '
	io:::start { t[arg0] = timestamp; }
	io:::done /t[arg0]/ { @ = count(); t[arg0] = 0; }
	END { printa("%@d reads took their time\n", @); }
' f.dfr 2>>err2
dfr replay -qn '
	proc:::exec-success /execname == "true"/ { @[execname] = count(); }
	END { printa("%@d %s\n", @); }
' f.dfr 2>>err2
grep ' took [0-9]* us' out | grep -o 'sleep' | head -n 1 | sed 's/^/slow calls were printed: /'
cat err err2 >&2
