#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
for cpu in $(seq $(nproc)); do guest-device load 10 0 >/dev/null & done
n=$(nproc)
while kill -0 $! 2>/dev/null; do
	guest-device getppid 1
	n=$((n + 1))
done
until [ "$detached" = 0 ]; do
	detached=$(guest-device costs mine | sed 's/.* //')
	n=$((n + 1))
	sleep 0.5
done
sleep 1
echo $n >made
END
dfr record -o r.dfr -q --keep mine -x cpubudget=3 -x bufsize=16m -s /thin.d -- sh w.sh >/dev/null 2>err
read made <made
dfr replay -qn '
	proc:::exec-success /execname == "guest-device"/ { @e = count(); }
	proc:::exit /execname == "guest-device"/ { @x = count(); }
	END { printa("%@d ", @e); printa("%@d\n", @x); }
' r.dfr >seen 2>err
status=$?
read execs exits <seen
[ "$execs" = "$made" ] && execs=all
[ "$exits" = "$made" ] && exits=all
echo "$execs execs, $exits exits, status $status"
[ $status = 0 ] || cat err
dfr replay -qn 'syscall:::entry { @ = count(); } END { printa("%@d\n", @); }' r.dfr >calls 2>err
status=$?
echo "of system calls $(grep . calls | sed 's/^[1-9].*/some/'), status $status"
grep -o 'clauses of low priority ([^)]*) were thinned' err
dfr info r.dfr 2>/dev/null >info
over=$(grep -c '^  thinned .*-[0-9][0-9]:.* low priority off on CPU' info)
echo "stretches that are over: $(echo $over | sed 's/^[1-9].*/some/')"
echo "held back: $(grep -c governor info)"
dfr stop mine
