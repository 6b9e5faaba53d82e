#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr record -o before.dfr --keep marked -n 'syscall::getpgid:entry { capture(arg0); }' -- true 2>/dev/null
dfr mark 'deployed version 12'
dfr snapshot -o a.dfr 2>/dev/null
dfr info a.dfr 2>/dev/null | grep -o 'mark: .*'
dfr stop marked >/dev/null
dfr mark nobody 2>said; status=$?
head -n 1 said; echo $status
dfr mark "$(printf 'two\nlines')" 2>&1 | head -n 1
