#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x cpubudget=90 -x bufsize=8m -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(vtimestamp, arg1, arg2); @n = count(); }
'
start() {
	dfrd --name parts --program p.dof --output a.dfr --rotate 256k --checkpoint 1 $2 2>log-$1 &
	while ! grep -q recording log-$1; do sleep 0.1; done
}
load() {
	for i in 1 2 3 4 5 6 7 8; do
		dd if=/dev/zero of=/dev/null bs=3 count=25000 2>/dev/null
		sleep 0.2
	done
}
ask() {
	dfr replay -qn '
		syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); }
		END { printa("%@d\n", @); }
	' "$@" 2>verdict
}
start 1
load
# Killed while its last part has records and no end mark; the next dfrd removes one in which nothing is.
extra=0
until
	kill -STOP $!
	last=$(ls a-*.dfr | tail -n 1)
	dfr verify $last 2>/dev/null | grep -q 'has no end mark' && [ "$(ask $last)" -gt 0 ]
do
	kill -CONT $!
	dd if=/dev/zero of=/dev/null bs=3 count=1000 2>/dev/null
	extra=$((extra + 1000))
	sleep 0.2
done
kill -KILL $!; wait $! 2>/dev/null
dd if=/dev/zero of=/dev/null bs=3 count=1000 2>/dev/null
start 2 --stop
load
kill -TERM $!; wait $!
echo $(($(ask a-*.dfr) - extra))
sed 's/^complete: .*/complete/' verdict
echo $(($(dfr replay a-*.dfr 2>/dev/null) - extra))
# All but the one that was killed have their end mark, and what they say of themselves is so.
for file in a-*.dfr; do
	dfr verify $file 2>/dev/null | grep -v sound: | grep -o 'has no end mark'
done
[ "$(ls a-*.dfr | wc -l)" -ge 4 ] && echo parts
# A part that is not there is named.
rm a-0002.dfr; ask a-*.dfr >/dev/null; echo $?; grep -o 'part 2 is not here' verdict
