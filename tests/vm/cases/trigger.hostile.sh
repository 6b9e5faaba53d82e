#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o r.dfr --keep calls -qn '
	syscall::getpgid:entry /arg0 == 1/ { snapshot("slow"); }
' -- true 2>/dev/null
guest-workload number 1 >/dev/null
guest-trigger hostile calls
dfr record -o o.dfr --keep other -qn '
	syscall::getpgid:entry /arg0 == 1/ { snapshot("other"); }
' -- true 2>/dev/null
guest-workload number 1 >/dev/null
guest-trigger reuse calls
dfr stop other >/dev/null
