#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir -p parts/a-0001.dfr
dfr compile -o p.dof -n 'syscall::getpgid:entry { capture(pid); }'
dfrd --name always --program p.dof --output parts/a.dfr --rotate 1m --retain 1 --checkpoint 1 --stop 2>log &
daemon=$!
while ! grep -q recording log; do sleep 0.1; done
guest-workload number 1000 >pid
until grep -q 'cannot remove' log; do sleep 0.1; done
sleep 3
kill -TERM $daemon; wait $daemon
echo status $?
grep -o 'cannot remove.*' log
