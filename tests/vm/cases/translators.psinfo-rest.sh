#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'umask >/dev/null\n' >w.sh
dtrace -qn '
	syscall::umask:entry /pid == $target/ {
		printf("%s|%d\n", copyinstr(curpsinfo->pr_argv), index(copyinstr(curpsinfo->pr_envp),
		    "=") > 0);
		printf("%d%d%d%d%d%d%d%d%d%d%d\n", curpsinfo->pr_flag, curpsinfo->pr_pctcpu,
		    curpsinfo->pr_pctmem, curpsinfo->pr_wstat, curpsinfo->pr_argc, curpsinfo->pr_taskid,
		    curpsinfo->pr_projid, curpsinfo->pr_nzomb, curpsinfo->pr_poolid, curpsinfo->pr_zoneid,
		    curpsinfo->pr_contract);
		exit(0);
	}
' -c 'sh w.sh'
