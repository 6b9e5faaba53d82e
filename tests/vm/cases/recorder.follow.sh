#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x cpubudget=90 -x bufsize=8m -n '
	syscall::read:entry { capture(vtimestamp, arg1, arg2); }
'
load() { dd if=/dev/zero of=/dev/null bs=3 count=25000 2>/dev/null; }
dfrd --name follow --program p.dof --output a.dfr --rotate 256k --checkpoint 1 --stop 2>log &
dfrd=$!
while ! grep -q recording log; do sleep 0.1; done
load
until [ "$(wc -c <a-0001.dfr)" -gt 1000 ]; do sleep 0.1; done
dfr replay -q --follow -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { n++; @ = count(); }
	syscall::read:entry /execname == "dd" && arg2 == 3 && n % 25000 == 0/ { printf("so far %d\n", n); }
' a-0001.dfr >out 2>verdict &
follow=$!
# Each load is answered while the recording goes on.
for so_far in 25000 50000 75000 100000 125000 150000 175000 200000; do
	until grep -q "so far $so_far" out; do sleep 0.1; done
	load
done
kill -TERM $dfrd
wait $dfrd
wait $follow
echo status $?
grep . out | tail -n 2 | sed 's/^ *//'
sed 's/: .*//' verdict
[ "$(ls a-*.dfr | wc -l)" -ge 2 ] && echo parts
# Ctrl-C prints what has been counted.
dfrd --name follow2 --program p.dof --output b.dfr --checkpoint 1 --stop 2>log2 &
dfrd=$!
while ! grep -q recording log2; do sleep 0.1; done
load
until [ "$(wc -c <b.dfr)" -gt 1000 ]; do sleep 0.1; done
dfr replay -q --follow -n '
	syscall::read:entry /execname == "dd" && arg2 == 3/ { @ = count(); n++; }
	syscall::read:entry /n == 25000 && execname == "dd"/ { printf("all\n"); n++; }
' b.dfr >out2 2>verdict2 &
follow=$!
until grep -q all out2; do sleep 0.1; done
kill -INT $follow
wait $follow
echo status $?
grep . out2 | tail -n 2 | sed 's/^ *//'
kill -TERM $dfrd
wait $dfrd
