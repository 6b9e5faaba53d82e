#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
[ -e /sys/module/dfr_break ] || insmod /lib/modules/dfr_break.ko || exit 1
dfr record -o a.dfr --keep a -qn '
	syscall::getpgid:entry /arg0 == 99999/ { snapshot("none"); }
' -- true 2>/dev/null
dfr record -o b.dfr --keep b -qn 'syscall::getpgid:entry { capture(); }' -- true 2>/dev/null
guest-trigger news a >woken & viewer=$!
until grep -q '^271 ' /proc/$viewer/syscall; do sleep 0.05; done
echo 1 >/sys/module/dfr_break/parameters/oops
wait $viewer
cat woken
guest-trigger list a
guest-trigger list b
dfr snapshot --name b -o s.dfr 2>/dev/null
dfr info s.dfr 2>/dev/null | grep -o 'mark: .*'
dfr stop a >/dev/null; dfr stop b >/dev/null
