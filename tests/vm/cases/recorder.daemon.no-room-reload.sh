#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir small && mount -t tmpfs -o size=1m none small
dfr compile -o p.dof -x bufsize=8m -x cpubudget=90 -n '
	syscall::getpgid:entry { capture(timestamp, vtimestamp); }
'
export NOTIFY_SOCKET=/nobody
printf 'rotate 256k\ncheckpoint 1\nretain 20\n' >conf
dfrd --name always --program p.dof --config conf --output small/a.dfr --stop 2>log &
daemon=$!
until grep -q recording log; do sleep 0.1; done
# Slowly, so that there are several parts: of one alone --retain removes nothing.
until grep -q 'tries again' log; do guest-workload number 5000 >pid; sleep 0.2; done
sed -i 's/retain 20/retain 1/' conf
kill -HUP $daemon
until grep -q 'more than 1 parts' log; do sleep 0.2; done
echo 'there is room'
kill -TERM $daemon; wait $daemon
echo status $?
umount small
