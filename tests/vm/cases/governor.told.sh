#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# With this cleanrate housekeeping looks at the state when it has begun and a second later.
dfr record -x cleanrate=1hz -x strsize=16k -o k.dfr -s /costly.d \
	-- guest-device getppid 1000000000 >/dev/null 2>log
killall -9 guest-device
dfr info k.dfr 2>/dev/null | grep -o 'killed: .*'
dfr replay -qn 'syscall::getppid:entry { n++; } END { printf("%s\n", n > 0 ? "has records" : "has none"); }' \
	k.dfr 2>verdict
echo "replay $?"
grep -o 'ended by the kernel at [0-9:.]*, because [^;]*' verdict | sed 's/[0-9][0-9:.]*,/TIME,/'
grep -q '^partial' verdict || cat log verdict >&2
