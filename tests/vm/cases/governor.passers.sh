#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Nobody makes the call that is traced; the hook that all other calls pass is charged all the same.
text='dfr: state .* take more than 1% of a CPU even when they do nothing'
before=$(dmesg | grep -c "$text")
cat >w.sh <<END
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	[ \$(dmesg | grep -c "$text") = $before ] || break
	guest-device load 5 0 >/dev/null
done
END
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -x syscallhook=tracepoint -n '
	syscall::getpriority: { trace(arg0); }
' -- sh w.sh >/dev/null 2>err
dmesg | grep -c "$text" | awk -v before=$before '{ print "detached", ($1 > before) }'
dfr stop mine
