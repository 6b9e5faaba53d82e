#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	io:::start /execname == "dd"/ { stack(); exit(0); }
' -c 'dd if=/dev/vda of=/dev/null bs=4096 count=1 iflag=direct' 2>/dev/null >got
awk 'NF { print $1 }' got | sed 's/+0x.*//' >frames
head -n 1 frames | grep -E 'submit_bio_noacct'
grep -E -e 'submit_bio_wait|vfs_read|ksys_read|do_syscall_64' frames
