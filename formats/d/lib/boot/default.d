/* SPDX-License-Identifier: GPL-2.0 */
/*
 * default: who executed what during the boot, which processes came and went, what CPU time and storage they used, which
 * modules were loaded.
 * `dfr boot report` shows it on one time axis, `dfr replay boot.dfr` the commands with their arguments. Other
 * questions may be asked of the recording later:
 *
 *   dfr replay boot.dfr -n 'proc:::exit /args[0] != 1/ { printf("%d %s was killed\n", pid, execname); }'
 */

#pragma D option quiet
#pragma D option zdefs           /* a kernel may lack the tracepoint */
#pragma D option bufpolicy=fill  /* a boot is asked about from its beginning */
#pragma D option bufsize=1m

proc:::create { capture(args[0]->pr_pid); }
/* By itself, so that a process whose arguments cannot be read has its record all the same. */
proc:::exec-success { capture(curpsinfo->pr_ppid); }
proc:::exec-success { printf("%6d %6d  %s\n", pid, curpsinfo->pr_ppid, execargs); }
proc:::exit { capture(args[0]); }
/*
 * Of each thread, because the kernel adds a thread to its process later than proc:::exit, and what the process's children
 * read and wrote as well. ioac as a whole: a kernel that does not count bytes has no such members in it, and a program
 * that names them would not compile.
 */
proc:::lwp-exit { capture(vtimestamp); }
proc:::lwp-exit { capture(curthread->ioac); }

sdt:sched::sched_process_exec { capture(stringof(args[2]->filename)); }
sdt:module::module_load { capture(stringof(args[0]->name)); }
