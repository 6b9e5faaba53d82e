#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'dd if=/dev/zero of=/dev/null bs=3 count=300\n' >w.sh
dtrace -qn '
	fbt:vmlinux:vfs_*:entry /execname == "dd"/ { @[probemod] = count(); }
' -c 'sh w.sh' 2>/dev/null | awk '$1 == "vmlinux" { print ($2 >= 600) }'
dtrace -qn '
	fbt:vmlinux:vfs_*:entry /execname == "dd"/ { @[probefunc] = count(); }
' -c 'sh w.sh' 2>/dev/null | awk '$1 == "vfs_read" { print ($2 >= 300) }'
dtrace -qn '
	fbt:vmlinux:vfs_read:entry /execname == "dd" && arg2 == 3/ { @[stack(2)] = count(); }
' -c 'sh w.sh' 2>/dev/null | sed 's/+0x[0-9a-f]*//'
