#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -n 'syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(); }'
dfrd --name flight4 --program p.dof --output a.dfr --checkpoint 1 2>log &
while ! grep -q recording log; do sleep 0.1; done
dd if=/dev/zero of=/dev/null bs=3 count=50 2>/dev/null
count() { dfr replay -q -n 'syscall::read:entry { @ = count(); }' a.dfr 2>verdict | tr -d ' \n'; }
until [ "$(count)" = 50 ]; do sleep 0.2; done
kill -KILL $!; wait $! 2>/dev/null
count; echo; grep -q '^partial: .*it was not finished' verdict && echo partial
dfr replay -n 'syscall::read:entry' --all a.dfr 2>&1 |
	grep -o 'what was recorded before [0-9].* had been written' | tr -d 0-9
dfrd --name flight4 --output a.dfr --stop 2>log2 &
while ! grep -q recording log2; do sleep 0.1; done
kill -TERM $!; wait $!
ls | grep -c '^a-[0-9]*-[0-9]*\.dfr$'; count; echo
