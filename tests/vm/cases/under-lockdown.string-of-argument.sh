#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
sh /lock-down.sh || exit
dtrace -x engine=kernel -qn '
	syscall::openat:entry /pid == $target/ { trace((string)arg1); }
' -c 'cat /init' 2>&1 >/dev/null | grep -o 'invalid kernel access' | head -n 1
dtrace -x engine=kernel -qn '
	syscall::openat:entry /pid == $target/ { @[(string)arg1] = count(); }
' -c 'cat /init' 2>&1 >/dev/null | grep -o 'invalid kernel access' | head -n 1
