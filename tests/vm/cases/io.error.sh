#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/configfs.ko 2>/dev/null; insmod /lib/modules/null_blk.ko nr_devices=0 || exit 1
mount -t configfs configfs /sys/kernel/config
cd /sys/kernel/config/nullb && mkdir bad && cd bad && echo 16 >size && echo 1 >memory_backed &&
	echo +64-71 >badblocks && echo 1 >power
cd /tmp
disk=$(ls /dev | grep -E "^(nullb|bad)" | head -n 1)
dtrace -qn '
	io:::done /args[1]->dev_name == "nullb"/ {
		printf("%d %d %x\n", args[0]->b_blkno, args[0]->b_error, args[0]->b_flags);
	}
' -c "dd if=/dev/$disk of=/dev/null bs=4096 skip=7 count=3 iflag=direct" 2>/dev/null
