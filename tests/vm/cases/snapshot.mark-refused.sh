#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o a.dfr --keep first -n 'syscall::getpgid:entry { capture(arg0); }' -- true 2>/dev/null
guest-device marks 4096
dfr record -o b.dfr --keep second -n 'syscall::getpgid:entry { capture(arg0); }' -- true 2>/dev/null
dfr mark 'one more' 2>said; echo status $?
cat said
dfr snapshot --name second -o s.dfr 2>/dev/null
dfr info s.dfr 2>/dev/null | grep -o 'mark: .*'
dfr stop first >/dev/null
dfr stop second >/dev/null
