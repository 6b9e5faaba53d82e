#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(); exit(0); } END { trace(7); }' >p.d
dfr compile -o p.dof -s p.d
dfrd --name flight5 --program p.dof --output a.dfr 2>log &
while ! grep -q recording log; do sleep 0.1; done
dd if=/dev/zero of=/dev/null bs=3 count=50 2>/dev/null
wait $!; echo "status $?"; grep -o '; the .*' log
dfr replay a.dfr 2>/dev/null | grep -c END
# The state is gone: the same command begins anew.
dfrd --name flight5 --program p.dof --output b.dfr --stop 2>log2 &
while ! grep -q recording log2; do sleep 0.1; done
grep -c started log2
kill -TERM $!; wait $!; grep -o '; the .*' log2
