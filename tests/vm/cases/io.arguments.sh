#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
dd if=/dev/vda of=/dev/null bs=4096 count=1 skip=3 iflag=direct
dd if=/dev/zero of=/dev/vda bs=4096 count=1 seek=25 oflag=direct
END
dtrace -qn '
	io:::start,io:::done /args[1]->dev_statname == "vda"/ {
		printf("%s %x %d %d %d %d %d %d %s %s %s\n", probename, args[0]->b_flags, args[0]->b_bcount,
		    args[0]->b_bufsize, args[0]->b_blkno, args[0]->b_lblkno, args[0]->b_error,
		    args[0]->b_resid, args[1]->dev_name, args[1]->dev_statname, args[1]->dev_pathname);
	}
' -c 'sh w.sh' 2>/dev/null
