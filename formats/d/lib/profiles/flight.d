/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flight: what is always on, and what an engineer wants of the minute before an incident.
 *
 *   dfr record --profile flight -o flight.dfr                 until Ctrl-C
 *   cp flight.d /etc/dfr/ && systemctl enable --now dfrd@flight
 *
 * Every record carries time, CPU, process, thread, cgroup and name, so questions may go by any of them:
 *
 *   dfr replay flight.dfr -n 'syscall:::entry { self->t = timestamp; }
 *       syscall:::return /self->t/ { @[execname, probefunc] = max(timestamp - self->t); self->t = 0; }'
 *   dfr replay flight.dfr -n 'io:::start { t[arg0] = timestamp; }
 *       io:::done /t[arg0]/ { @ = quantize(timestamp - t[arg0]); t[arg0] = 0; }'
 *   dfr replay flight.dfr -n 'proc:::exec-success { printf("%Y %d %s\n", walltimestamp, pid, execname); }'
 *
 * Where the budget is short, low priorities are thinned first, then normal ones; high ones keep a reserve of
 * it. The clauses that one question needs have one priority. What was thinned, and when, is in the recording:
 * dfr info shows it, and each answer that needs it says so.
 */

#pragma D option quiet
#pragma D option zdefs /* a kernel may lack one of the tracepoints */

/* Who came, what he ran, who went, and why; what the kernel gave up. */
#pragma D priority high

proc:::create { capture(args[0]->pr_pid); }
proc:::exec-success { capture(curpsinfo->pr_ppid); }
proc:::exec-failure { capture(args[0]); }
proc:::exit { capture(args[0]); }
proc:::signal-send /args[2] == 9 || args[2] == 6 || args[2] == 11/ { capture(args[1]->pr_pid, args[2]); }

/* Older kernels give the victim's pid here instead of its task: then nothing of it can be read. */
sdt:oom::mark_victim
{
	snapshot("oom");
	capture(arg0, ((struct task_struct *)arg0)->tgid, stringof(((struct task_struct *)arg0)->comm));
}
sdt:sched::sched_process_hang { snapshot("hung task"); capture(stringof(args[0]->comm)); }

/* Who waits for a CPU, for whom and how long; system calls that took more than 10 ms. */
#pragma D priority normal

sched:::off-cpu { capture(args[0]->pr_lwpid, curlwpsinfo->pr_state); }
sched:::on-cpu { capture(); }
sched:::wakeup { capture(args[0]->pr_lwpid); }

syscall:::entry { self->began = timestamp; }
syscall:::return
/self->began && timestamp - self->began > 10000000/
{
	printf("%Y %s[%d] %s took %d us\n", walltimestamp, execname, tid, probefunc,
	    (timestamp - self->began) / 1000);
}
syscall:::return { self->began = 0; }

/* These do not return: what a thread that has ended leaves is never given back, and the next of its number reads it. */
syscall::exit:entry, syscall::exit_group:entry { self->began = 0; }

/* All system calls, block I/O, page faults. */
#pragma D priority low

syscall:::entry { capture(arg0, arg1, arg2); }
syscall:::return { capture(arg1, errno); }

io:::start { capture(arg0, args[0]->b_edev, args[0]->b_blkno, args[0]->b_bcount, args[0]->b_flags); }
io:::done { capture(arg0, args[0]->b_edev, args[0]->b_error); }

sdt:exceptions::page_fault_user { capture(arg0); }
