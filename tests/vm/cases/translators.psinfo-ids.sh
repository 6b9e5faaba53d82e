#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'cat /proc/$$/stat >stat\ncat /proc/$$/status >status\numask >/dev/null\n' >w.sh
cat >p.d <<'END'
syscall::umask:entry /pid == $target/ {
	printf("%d %d %d %d %d %d %d\n", curpsinfo->pr_pid, curpsinfo->pr_ppid, curpsinfo->pr_pgid,
	    curpsinfo->pr_sid, curpsinfo->pr_ttydev, curpsinfo->pr_nlwp, (uintptr_t)curpsinfo->pr_argv);
	printf("%d %d %d %d\n", curpsinfo->pr_uid, curpsinfo->pr_euid, curpsinfo->pr_gid, curpsinfo->pr_egid);
	exit(0);
}
END
dtrace -qs p.d -c 'sh w.sh' | sed '$d' >got
awk '{ print $1, $4, $5, $6, $7, $20, $48 }' stat >want
awk '/^Uid/ { u = $2 " " $3 } /^Gid/ { print u, $2, $3 }' status >>want
diff want got && echo same
