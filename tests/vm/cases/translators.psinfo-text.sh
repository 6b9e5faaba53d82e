#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'umask >/dev/null\n' >w.sh
dtrace -qn '
	syscall::umask:entry /pid == $target/ {
		printf("%s|%s|%d|%d|%d\n", curpsinfo->pr_fname, curpsinfo->pr_psargs,
		    curpsinfo->pr_dmodel == PR_MODEL_LP64, curpsinfo->pr_addr == (uintptr_t)curthread,
		    curpsinfo->pr_lwp == (uintptr_t)curthread);
		exit(0);
	}
' -c 'sh w.sh first second'
