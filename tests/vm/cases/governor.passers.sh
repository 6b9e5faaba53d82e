#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Nobody makes the call that is traced; the hook that all other calls pass is charged all the same.
text='dfr: state .* take more than 1% of a CPU even when they do nothing'
echo 'governor.passers begins' >/dev/kmsg
detached="dmesg | sed '1,/governor.passers begins/d' | grep -q '$text'"
cat >w.sh <<END
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	guest-device load 5 0 >/dev/null
	! $detached || break
done
END
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -x syscallhook=tracepoint -n '
	syscall::getpriority: { trace(arg0); }
' -- sh w.sh >/dev/null 2>err
eval "$detached" && echo detached
dfr stop mine
