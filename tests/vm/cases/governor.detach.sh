#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
guest-device load 600 0 >/dev/null & load=$!
is_detached() { dfr status mine >status; grep -q '^  detached' status; }
until is_detached; do sleep 0.1; done
kill $load
cp status while-detached
while is_detached; do sleep 0.5; done
guest-device load 3 20000
END
dfr record -o r.dfr -q --keep mine -x cpubudget=1 -n '
	syscall::getppid: { trace(arg0); }
' -- sh w.sh >/dev/null 2>err
grep -c '^  detached  *syscall:.* on: what fires there is estimated later$' while-detached
tail -n 2 err | grep -cE '[0-9,]+ firings lost \(estimated: probes detached\)'
dfr replay --json -qn 'BEGIN { }' r.dfr 2>&1 | grep -cE '"estimated": ?[1-9]'
dfr status mine | grep -cE ' lost, of which [1-9][0-9,]* are estimates \(detached probes\)$'
dfr replay -qn '
	syscall::getppid:entry { @[tid] = count(); }
' r.dfr | grep . | sort -n | tail -n 1 | awk '{ print ($2 > 10) + 0, "after it" }'
dfr info r.dfr 2>/dev/null | sed -n 's/^  event *[0-9:.]* probe .* is \(detached\|attached\).*/\1/p' | sort -u
dfr info r.dfr 2>/dev/null |
	sed -E 's/ of syscall:vmlinux:getppid:(entry|return) / /' |
	grep -cE '^  governor +[0-9:.]+-[0-9:.]+ [0-9,]+ firings left out \(estimated\)$' |
	sed 's/^[1-9].*/some/'
dfr stop mine
