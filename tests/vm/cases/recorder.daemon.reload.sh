#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
count() {
	dfr replay -qn 'syscall::getpgid:entry { @ = count(); } END { printa("%@d\n", @); }' "$@"
}
mkdir -p /etc/dfr /run
compile() {
	dfr compile -o new.dof -x cpubudget=90 -x bufsize=8m -n "$1"
	mv new.dof p.dof
}
compile 'syscall::getpgid:entry { capture(arg0); }'
echo 'rotate 256k' >/etc/dfr/dfrd.conf
dfrd --config /etc/dfr/dfrd.conf --name always --program p.dof --output a.dfr --stop 2>log &
daemon=$!
said() { # said TEXT N
	until [ "$(grep -c "$1" log)" -ge $2 ]; do sleep 0.1; done
}
said 'recording always' 1
(
	i=0
	while [ $i -lt 100 ]; do
		guest-workload number 500 >/dev/null
		i=$((i + 1))
		echo $i >went
	done
) &
load=$!
went() { while [ "$(cat went 2>/dev/null || echo 0)" -lt $1 ]; do sleep 0.1; done; }
went 10
# Another configuration alone.
printf 'rotate 1m\n[always]\ncheckpoint 2\n' >/etc/dfr/dfrd.conf
kill -HUP $daemon
said 'reloaded, the program is the same' 1
said 'recording always' 2
grep -o 'the program is the same' log
went 30
# What is wrong changes nothing.
echo 'rotate x' >>/etc/dfr/dfrd.conf
kill -HUP $daemon
said 'all goes on as before' 1
grep -o 'all goes on as before the reload' log
# A program that loads and cannot start.
echo 'rotate 1m' >/etc/dfr/dfrd.conf
cp p.dof good.dof
dfr compile -o p.dof -x bufsize=16k -x strsize=64k -n 'syscall::openat:entry { trace(copyinstr(arg1)); }'
kill -HUP $daemon
said 'all goes on as before' 2
guest-device states | grep -c '^always'
mv good.dof p.dof
went 40
echo 'rotate 1m' >/etc/dfr/dfrd.conf
compile 'syscall::getpgid:entry { capture(arg0, execname); }'
kill -HUP $daemon
said 'recording always' 3
went 70
wait $load
kill -TERM $daemon; wait $daemon
count a-*.dfr >counted 2>verdict
[ "$(cat counted)" = 50000 ] && echo counted || cat counted log
grep -o '^complete' verdict
for file in a-*.dfr; do
	dfr info --json $file 2>/dev/null | grep -o '"state_number": [^,]*'
done | sort -u >states
echo states $(wc -l <states)
rm -r /etc/dfr
