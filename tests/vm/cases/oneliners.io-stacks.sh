#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	io:::start { @[stack()] = count(); }
' -c 'dd if=/dev/vda of=/dev/null bs=4096 count=20 iflag=direct' 2>/dev/null >got
sed -n '/submit_bio_wait/,$p' got | sed 's/+0x[0-9a-f]*//' |
	grep -E 'submit_bio_wait|vfs_read|ksys_read|do_syscall_64'
grep -cx '  *20' got
