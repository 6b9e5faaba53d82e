#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'umask >/dev/null\n' >w.sh
dtrace -qn '
	syscall::umask:entry /pid == $target/ {
		printf("%d %d %d %d %d %d %d %d\n", curlwpsinfo->pr_flag, curlwpsinfo->pr_wchan,
		    curlwpsinfo->pr_stype, curlwpsinfo->pr_syscall, curlwpsinfo->pr_cpu,
		    curlwpsinfo->pr_pctcpu, curlwpsinfo->pr_bindpset, curlwpsinfo->pr_lgrp);
		printf("%d\n", curlwpsinfo->pr_bindpro);
		exit(0);
	}
' -c 'sh w.sh'
