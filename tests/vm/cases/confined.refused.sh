#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
rmmod dfr && insmod /dfr.ko unprivileged=1
as() {
	guest-access as 1000 dtrace -x engine=kernel -qn "
		$1
	" -c 'guest-access calls 1' 2>&1 |
		grep -o -m 1 'unprivileged users .*' |
		sed 's/ ([sh]e[ac][td].*//'
}
as 'fbt::vfs_read:entry { @ = count(); }'
as 'tick-1s { exit(0); }'
as 'profile-333 { exit(0); }'
as 'BEGIN { trace((uint64_t)curthread); }'
as 'BEGIN { trace(caller); }'
as 'BEGIN { trace(*(int *)arg0); }'
as 'BEGIN { trace((uint64_t)copyin(arg0, 1)); }'
as 'BEGIN { stack(); }'
as 'BEGIN { trace(`jiffies); }'
as 'BEGIN { trace((uintptr_t)getf(0)); }'
as 'profile-97 { trace(arg0); }'
as '#pragma D option strsize=8k
BEGIN { }'
guest-access as 1000 dtrace -x engine=kernel -wqn '
	BEGIN { stop(); }
' 2>&1 | grep -o 'unprivileged users .*\|run this as root, or.*' | sed 's/ (header.*//'
rmmod dfr && insmod /dfr.ko
