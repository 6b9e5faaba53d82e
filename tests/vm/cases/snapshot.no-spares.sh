#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
. /short-memory.sh
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@" 2>/dev/null
}
dfr compile -o p.dof -x bufsize=1m -x cpubudget=90 -n 'syscall::getpgid:entry { capture(timestamp, arg0); }'
dfrd --name moved --program p.dof --output a.dfr --checkpoint 600 --stop 2>log &
daemon=$!
until grep -q recording log; do sleep 0.1; done
dtrace -qn '
	syscall::ioctl:entry /pid == $1/ { @ = count(); }
	END { printa("%@d\n", @); }
' $daemon >asked 2>told &
counter=$!
until [ "$(guest-device states | wc -l)" -ge 2 ]; do sleep 0.1; done
fill_memory
begun=$(date +%s)
guest-workload number 20000 >pid
sleep 10
kill -INT $counter; wait $counter
# Each turn takes about four requests; without a rest there are hundreds of turns in a second.
[ $(cat asked) -lt $((40 * ($(date +%s) - begun))) ] && echo 'it rests' || cat asked
umount fill
kill -TERM $daemon; wait $daemon
count a.dfr
