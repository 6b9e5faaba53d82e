#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr --keep calls -qn '
	syscall::getpgid:entry /arg0 == 1/ { snapshot("slow"); }
	syscall::getpgid:entry /arg0 == 99999/ { snapshot("odd"); }
' -- true 2>/dev/null
asleep() { until grep -q '^271 ' /proc/$1/syscall; do sleep 0.05; done; }
guest-workload number 1 >/dev/null
guest-trigger news calls >woken & viewer=$!
asleep $viewer
guest-workload number 1 >/dev/null
wait $viewer
cat woken
guest-workload number 1 >/dev/null
guest-trigger list calls
dfr snapshot --name calls -o s.dfr 2>/dev/null
dfr info s.dfr 2>/dev/null | sed -n 's/^ *trigger  *[0-9].*-[0-9.:]* //p'
dfr info --json s.dfr 2>/dev/null | tr -d ' ' | grep -o '"reason":"slow","probe":"[^"]*","count":3'
dfr replay s.dfr 2>/dev/null
guest-trigger news calls & viewer=$!
asleep $viewer
dfr stop calls >/dev/null
wait $viewer
