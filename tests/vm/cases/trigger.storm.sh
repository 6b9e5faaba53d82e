#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr --keep calls -x cpubudget=90 -qn '
	syscall::getpgid:entry { snapshot("each"); }
' -- true 2>/dev/null
# Those by which work is done that probe context has asked for.
interrupts() {
	awk '$1 == "IWI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts
}
guest-trigger news calls >woken & viewer=$!
until grep -q '^271 ' /proc/$viewer/syscall; do sleep 0.05; done
before=$(interrupts)
guest-workload number 100000 >/dev/null
after=$(interrupts)
wait $viewer
guest-trigger list calls | sed -n 's/^\(each: [0-9]*\),.*/\1/p'
[ $((after - before)) -lt 10000 ] && echo woken seldom || echo "$((after - before)) interrupts"
dfr stop calls >/dev/null
