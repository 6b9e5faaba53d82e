#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr -n 'syscall::read:entry /execname == "dd" && arg2 == 3/ { capture(); }' 2>log >/dev/null &
until [ -s r.dfr ]; do sleep 0.2; done
count() { dfr replay -q -n 'syscall::read:entry { @ = count(); }' r.dfr 2>verdict | tr -d ' \n'; }
n=0
until [ "$(count)" -ge 2000 ] 2>/dev/null; do
	dd if=/dev/zero of=/dev/null bs=3 count=1000 2>/dev/null
	n=$((n + 1))
done
kill -KILL $!; wait $! 2>/dev/null
[ "$(count)" -le $((n * 1000)) ] && echo "no more than there were"
grep -q '^partial: .*it was not finished' verdict && echo "partial"
dfr replay --all -n 'syscall::read:entry { @ = count(); }' r.dfr 2>&1 | grep -o 'it was not finished'
