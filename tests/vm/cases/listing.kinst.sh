#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr disasm --function vfs_read >shown
head -n 1 shown | grep -c '^kinst:vmlinux:vfs_read:0  *[0-9a-f][0-9a-f] '
legal=$(sed 's/ .*//; s/.*://' shown | tr '\n' ' ')
n=1
while echo " $legal" | grep -q " $n "; do n=$((n + 1)); done
dtrace -n "kinst::vfs_read:$n { }" 2>&1 | grep -c 'instructions of vfs_read begin at 0 '
dtrace -n "kinst::do_syscall_64:0 { }" 2>&1 |
	grep -c 'do_syscall_64 cannot be probed: the kernel forbids probes'
dtrace -ln 'kinst::vfs_read:' | awk 'NR > 1' | wc -l | grep -cx $(wc -l <shown)
