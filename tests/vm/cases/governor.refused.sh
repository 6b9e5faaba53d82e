#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
detached() { dmesg | grep -c 'dearest are detached'; }; before=$(detached)
cat >w.sh <<END
guest-device getppid 1000000000 & calls=\$!
until [ \$(dmesg | grep -c "dearest are detached") -gt $before ]; do sleep 0.1; done
kill \$calls
END
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -n '
	syscall::getppid:entry /execname == "nobody"/ { trace(arg0); }
' -- sh w.sh >/dev/null 2>&1
dfr info r.dfr 2>/dev/null | sed -n 's/^  event *[0-9:.]* \(probe .* is detached\).*/\1/p' | sort -u
dfr stop mine
