#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -n 'syscall::getpgid:entry { capture(arg0); }'
rmmod dfr
insmod /lib/modules/dfr_older.ko
trap 'rmmod dfr; insmod /dfr.ko' EXIT
guest-device keep old
guest-device getppid 100
try() {
	said=$("$@" 2>&1)
	status=$?
	echo "$*: $status $(echo "$said" |
		sed -nE 's/the module speaks version [0-9]+ of the control interface, this dfr speaks [0-9]+/VERSION/p' |
		sed -E 's/  +/ /g; s/^ //; s/^module //')"
}
try dfr
try dfr status
try dfr snapshot --name old -o s.dfr
try dfr record -o r.dfr -n syscall::getpgid:entry -- true
try dfr record --claim old -o c.dfr
try dfr probes syscall::getpgid:
try dtrace -n syscall::getpgid:entry
try dfrd --name old --output a.dfr
try dfrd --name old --mode flight --output a.dfr
try dfrd --name new --program p.dof --output a.dfr
dfr mark hello
echo files: *
guest-device states | cut -f 1,3 | tr '\t' ' '
# Others may call getppid(), too.
[ "$(guest-device claim old 23)" -ge 123 ] && echo it has all
dfr stop old
