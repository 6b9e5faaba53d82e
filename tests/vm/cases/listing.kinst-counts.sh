#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
echo 'dd if=/dev/zero of=/dev/null bs=3 count=200' >w.sh
second=$(dfr disasm --function ksys_read | sed -n '2s/ .*//p')
dtrace -qn "
	kinst::ksys_read:0 /execname == \"dd\"/ { @a = count(); }
	$second /execname == \"dd\"/ { @b = count(); }
	fbt::ksys_read:entry /execname == \"dd\"/ { @c = count(); }
	END { printa(\"%@d %@d %@d\\n\", @a, @b, @c); }
" -c 'sh w.sh' 2>/dev/null | awk 'NF { print ($1 >= 200), ($1 == $2), ($2 == $3) }'
