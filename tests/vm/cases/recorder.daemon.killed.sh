#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -n 'syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(); }'
dfrd --name flight3 --program p.dof --output a.dfr --checkpoint 1 2>log &
while ! grep -q recording log; do sleep 0.1; done
dd if=/dev/zero of=/dev/null bs=3 count=50 2>/dev/null
until dfr replay a.dfr 2>&1 >/dev/null | grep -q 'it was not finished'; do sleep 0.1; done
kill -KILL $!; wait $! 2>/dev/null
dfrd --name flight3 --output b.dfr --stop 2>log2 &
while ! grep -q recording log2; do sleep 0.1; done
kill -TERM $!
wait $! && echo claimed
dfr info a.dfr >/dev/null 2>info; dfr replay a.dfr 2>&1 >/dev/null | grep -o 'it was not finished'
