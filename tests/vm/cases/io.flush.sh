#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	io:::start /args[1]->dev_statname == "vda" && args[0]->b_bcount == 0/ { s++; }
	io:::done /args[1]->dev_statname == "vda" && args[0]->b_bcount == 0/ { d++; }
	END { printf("%d %d\n", s, d); }
' -c 'dd if=/dev/zero of=/dev/vda bs=4096 count=1 conv=fsync' 2>/dev/null
