#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Nobody makes the call that is traced; what the hook costs that all other calls pass is its state's all
# the same.
# The call that passes was traced by its function before.
dtrace -x engine=kernel -qn 'syscall::getppid: { @ = count(); }' -c true >/dev/null 2>&1
cat >w.sh <<'END'
guest-device load 3 0 >/dev/null
dfr status mine --json |
	sed -n 's/.*"most_millionths": \([0-9]*\).*/\1/p' | awk '{ print "charged", ($1 > 1000) }'
END
dfr record -o r.dfr -q --keep mine -x cpubudget=50 -x syscallhook=tracepoint -n '
	syscall::getpriority: { trace(arg0); }
' -- sh w.sh 2>/dev/null | grep .
dfr stop mine
