#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'cat /proc/$$/stat >stat\numask >/dev/null\n' >w.sh
dtrace -qn '
	syscall::umask:entry /pid == $target/ {
		printf("%d %d %d %d %d ", curlwpsinfo->pr_lwpid, curlwpsinfo->pr_pri - 100,
		    curlwpsinfo->pr_nice, curlwpsinfo->pr_onpro, curlwpsinfo->pr_bindpro);
		printf("%d %c %d %s %s %d\n", curlwpsinfo->pr_state, curlwpsinfo->pr_sname,
		    curlwpsinfo->pr_addr == (uintptr_t)curthread, curlwpsinfo->pr_clname,
		    curlwpsinfo->pr_name, curlwpsinfo->pr_oldpri - 100);
		exit(0);
	}
' -c 'taskset 2 start-stop-daemon -S -N 19 -x /bin/sh -- w.sh' | sed '$d' >got
awk '{ print $1, $18, $19, $39, $39, "6 O 1 OTHER sh", $18 }' stat >want
diff want got && awk '{ print $3, $4 }' got
