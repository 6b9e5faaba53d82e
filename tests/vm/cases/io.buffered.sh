#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 3 >/proc/sys/vm/drop_caches
# What was read ahead is done a moment after dd is.
cat >w.sh <<'END'
dd if=/dev/vda of=/dev/null bs=64k count=16
until [ "$(xargs </sys/block/vda/inflight)" = '0 0' ]; do sleep 0.1; done
END
dtrace -qn '
	io:::start /args[1]->dev_statname == "vda"/ { s += args[0]->b_bcount; }
	io:::done /args[1]->dev_statname == "vda"/ { d += args[0]->b_bcount; }
	END { printf("%d %d\n", s, d); }
' -c 'sh w.sh' >got 2>/dev/null
awk 'NF { print ($1 == $2), ($1 >= 1048576 && $1 < 4 * 1048576) }' got
