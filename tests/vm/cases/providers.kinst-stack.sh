#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
for at in $(dfr disasm --function vfs_read | sed -n '2,9s/^[^ ]*:\([0-9]*\) .*/\1/p'); do
	n=$((n + 1))
	program="$program kinst::vfs_read:$at /execname == \"dd\" && !n$n++/ { stack(2); }"
	printf 'vfs_read+0x%x ksys_read\n' $at >>want
done
dtrace -qn "$program" -c 'dd if=/dev/zero of=/dev/null bs=3 count=9' 2>/dev/null |
	awk -F'`' '/vfs_read/ { at = $2 } /ksys_read/ { print at, "ksys_read" }' >got
cmp want got && echo same
