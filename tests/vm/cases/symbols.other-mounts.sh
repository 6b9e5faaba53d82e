#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo >over
cat >w.sh <<'END'
mount --bind $(command -v guest-workload) over && ./over spin 1 until printed &
until grep -q over out; do sleep 0.1; done
touch printed
wait
END
dtrace -qx switchrate=10ms -n '
	syscall::getppid:entry /execname == "over"/ { ustack(1); }
' -c 'unshare -m sh w.sh' >out
sed 's/+0x[0-9a-f]*//' out | grep over
