#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	io:::start /args[1]->dev_statname == "vda"/ {
		printf("%d:%d %d:%d\n", args[1]->dev_major, args[1]->dev_minor, getmajor(args[0]->b_edev),
		    getminor(args[0]->b_edev));
		exit(0);
	}
' -c 'dd if=/dev/vda of=/dev/null bs=4096 count=1 iflag=direct' >got 2>/dev/null
n=$(cat /sys/block/vda/dev); [ "$(cat got)" = "$n $n" ] && echo same
