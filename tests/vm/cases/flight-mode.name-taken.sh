#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -x bufpolicy=ring -x cpubudget=90 -n 'syscall::getpgid:entry { capture(arg0); }'
dfrd --name flight --program p.dof --mode flight --output a.dfr --stop 2>log &
daemon=$!
until grep -q 'is in flight' log; do sleep 0.1; done
echo 'not yours' >a-0001.dfr
kill -USR1 $daemon
until grep -q '(SIGUSR1)' log; do sleep 0.1; done
grep -c 'failed: ' log
grep -o 'snapshot a-0002.dfr' log
kill -TERM $daemon; wait $daemon
cat a-0001.dfr
