#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cp $(command -v guest-workload) gone
cat >w.sh <<'END'
./gone until replaced spin 1 until printed &
until grep -q gone /proc/$!/comm; do sleep 0.1; done
rm gone
cp /bin/busybox gone
touch replaced
until grep -q gone out; do sleep 0.1; done
touch printed
wait
END
dtrace -qx switchrate=10ms -n '
	syscall::getppid:entry /execname == "gone"/ { ustack(1); umod(ucaller); }
' -c 'sh w.sh' >out
sed 's/+0x[0-9a-f]*//' out | grep -o ' *gone.*' | sed 's/^ *gone$/gone/'
