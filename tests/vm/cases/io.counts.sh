#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
disk() { awk '$3 == "vda" { print $4, $6, $8, $10 }' /proc/diskstats; }
cat >w.sh <<'END'
dd if=/dev/vda of=/dev/null bs=4096 count=50 iflag=direct
dd if=/dev/zero of=/dev/vda bs=8192 count=30 oflag=direct
END
sync; disk >before
dtrace -qn '
	io:::done /args[1]->dev_statname == "vda" && args[0]->b_flags & B_READ/ {
		r++;
		rb += args[0]->b_bcount;
	}
	io:::done /args[1]->dev_statname == "vda" && args[0]->b_flags & B_WRITE/ {
		w++;
		wb += args[0]->b_bcount;
	}
	io:::start /args[1]->dev_statname == "vda"/ { s++; }
	END { printf("%d %d %d %d\n", r, rb / 512, w, wb / 512); printf("started %d\n", s); }
' -c 'sh w.sh' >counted 2>/dev/null
disk >after
paste before after | awk '{ print $5 - $1, $6 - $2, $7 - $3, $8 - $4 }'
cat counted
