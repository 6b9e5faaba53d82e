#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
before=$(dmesg | grep -c 'dearest are detached')
cat >w.sh <<END
until [ \$(dmesg | grep -c 'dearest are detached') -gt $before ]; do guest-device getppid 1000000; done
sleep 12
END
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -x syscallhook=tracepoint -n '
	syscall::getpriority: { trace(arg0); }
' -- sh w.sh >/dev/null 2>&1
dfr info r.dfr 2>/dev/null | sed -nE "s/^  governor .* ([0-9,]+) firings .*left out.*/\1/p" | tr -d , |
	awk '{ n += $1 } END { print "few are lost", (NR > 0 && n < 10) }'
dfr stop mine
