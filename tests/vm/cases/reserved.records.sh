#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
question='syscall::read:entry /execname == "dd" && arg2 == 3/'
load='dd if=/dev/zero of=/dev/null bs=3 count=20000'
record() {
	dfr record --replace -q -x memory=reserved -x cpubudget=100 -n "$question { capture(); }" "$@" 2>err
}
count() {
	dfr replay -q -n "$question { @ = count(); } END { printa(\"%@d\n\", @); }" "$1" 2>/dev/null | grep .
}
for i in 1 2 3; do
	record -x bufsize=1m -o a.dfr -- $load
	count a.dfr
done
record --keep kept -x bufpolicy=ring -x bufsize=1m -o k.dfr -- true
$load 2>/dev/null
dfr snapshot --name kept -o s.dfr >/dev/null 2>&1
count s.dfr
dfr stop kept >/dev/null 2>&1
record -x bufsize=3584k -o a.dfr -- true && echo fits || cat err
