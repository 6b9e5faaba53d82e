/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and threads as proc(4) of old describes them, from Linux's task_struct (6.1 to 6.12).
 * Where Linux keeps nothing of the kind a member reads 0; times are nanoseconds rather than structures.
 */
typedef int taskid_t;
typedef int projid_t;
typedef int poolid_t;
typedef int zoneid_t;
typedef int processorid_t;
typedef int psetid_t;
typedef int lgrp_id_t;
typedef int chipid_t;

inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;

inline int PR_STOPPED = 0x1;
inline int PR_ISTOP = 0x2;
inline int PR_DSTOP = 0x4;
inline int PR_IDLE = 0x10000000;
inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;

typedef struct lwpsinfo {
	int pr_flag;
	int pr_lwpid;
	uintptr_t pr_addr;
	uintptr_t pr_wchan;
	char pr_stype;
	char pr_state;
	char pr_sname;
	char pr_nice;
	short pr_syscall;
	int pr_oldpri;
	char pr_cpu;
	int pr_pri;
	ushort_t pr_pctcpu;
	uint64_t pr_start;
	uint64_t pr_time;
	string pr_clname;
	string pr_name;
	processorid_t pr_onpro;
	processorid_t pr_bindpro;
	psetid_t pr_bindpset;
	int pr_lgrp;
} lwpsinfo_t;

/*
 * The bits of task_struct's __state: 0 runs, 1 interruptible, 2 uninterruptible, 4 stopped, 8 traced;
 * exit_state: 0x20 zombie, 0x10 dead; 0x402 is an idle kernel thread.
 */
translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = T->flags & 2 ? PR_IDLE : T->__state & 4 ? PR_STOPPED : T->__state & 8 ? PR_ISTOP : 0;
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = T->exit_state & 0x30 ? SZOMB : T->__state & 0xc ? SSTOP : T->__state & 0x3 ? SSLEEP :
	    T->on_cpu ? SONPROC : SRUN;
	pr_sname = T->exit_state & 0x30 ? 'Z' : T->__state & 0xc ? 'T' : (T->__state & 0x402) == 0x402 ? 'I' :
	    T->__state & 0x3 ? 'S' : T->on_cpu ? 'O' : 'R';
	pr_nice = T->static_prio - 120;
	pr_syscall = 0;
	pr_oldpri = T->normal_prio;
	pr_cpu = 0;
	pr_pri = T->prio;
	pr_pctcpu = 0;
	pr_start = T->start_time;
	pr_time = T->se.sum_exec_runtime;
	pr_clname = T->policy == 0 ? "OTHER" : T->policy == 1 ? "FIFO" : T->policy == 2 ? "RR" :
	    T->policy == 3 ? "BATCH" : T->policy == 5 ? "IDLE" : T->policy == 6 ? "DEADLINE" : "EXT";
	pr_name = stringof(T->comm);
	pr_onpro = T->thread_info.cpu;
	pr_bindpro = T->nr_cpus_allowed == 1 ? T->thread_info.cpu : -1;
	pr_bindpset = -1;
	pr_lgrp = 0;
};

typedef struct psinfo {
	int pr_flag;
	int pr_nlwp;
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;
	pid_t pr_sid;
	int pr_uid;
	int pr_euid;
	int pr_gid;
	int pr_egid;
	uintptr_t pr_addr;
	size_t pr_size;
	size_t pr_rssize;
	uint64_t pr_ttydev;
	ushort_t pr_pctcpu;
	ushort_t pr_pctmem;
	uint64_t pr_start;
	uint64_t pr_time;
	uint64_t pr_ctime;
	string pr_fname;
	string pr_psargs;
	int pr_wstat;
	int pr_argc;
	uintptr_t pr_argv;
	uintptr_t pr_envp;
	char pr_dmodel;
	taskid_t pr_taskid;
	projid_t pr_projid;
	int pr_nzomb;
	poolid_t pr_poolid;
	zoneid_t pr_zoneid;
	id_t pr_contract;
	uintptr_t pr_lwp;
} psinfo_t;

/* What the current process was started with, a blank between two words. */
inline size_t argument_bytes[struct mm_struct *M] = M->arg_end - M->arg_start < 256 ? M->arg_end - M->arg_start : 256;
inline string execargs = curthread->mm == NULL ? "" :
    memstr(copyin(curthread->mm->arg_start, argument_bytes[curthread->mm]), ' ', argument_bytes[curthread->mm]);
#pragma D attributes Stable/Stable/Common execargs

/* Resident pages of a kind (0 of files, 1 anonymous, 3 shared): plain counters until 6.1, one per CPU and a sum since. */
inline int64_t mm_pages[struct mm_struct *M, int i] = *(int64_t *)((uintptr_t)&(M->rss_stat) +
    (sizeof (M->rss_stat) > 64 ? sizeof (struct percpu_counter) * i + offsetof(struct percpu_counter, count) : 8 * i));

/*
 * signal->pids: 2 is the process group, 3 the session. Sizes are in KB. pr_time is this thread's
 * and that of those which have ended. pr_psargs is the arguments of the
 * current process, of any other its name; pr_argv and pr_envp are where the strings themselves lie.
 */
translator psinfo_t < struct task_struct *T > {
	pr_flag = 0;
	pr_nlwp = T->signal->nr_threads;
	pr_pid = T->tgid;
	pr_ppid = T->real_parent->tgid;
	pr_pgid = T->signal->pids[2]->numbers[0].nr;
	pr_sid = T->signal->pids[3]->numbers[0].nr;
	pr_uid = T->cred->uid.val;
	pr_euid = T->cred->euid.val;
	pr_gid = T->cred->gid.val;
	pr_egid = T->cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_size = T->mm != NULL ? T->mm->total_vm * 4 : 0;
	pr_rssize = T->mm != NULL ? (mm_pages[T->mm, 0] + mm_pages[T->mm, 1] + mm_pages[T->mm, 3]) * 4 : 0;
	pr_ttydev = T->signal->tty != NULL ?
	    T->signal->tty->driver->major << 20 | (T->signal->tty->driver->minor_start + T->signal->tty->index) : 0;
	pr_pctcpu = 0;
	pr_pctmem = 0;
	pr_start = T->start_time;
	pr_time = T->signal->sum_sched_runtime + T->se.sum_exec_runtime;
	pr_ctime = T->signal->cutime + T->signal->cstime;
	pr_fname = stringof(T->comm);
	pr_psargs = T->mm != NULL && T == curthread ? execargs : stringof(T->comm);
	pr_wstat = T->exit_code;
	pr_argc = 0;
	pr_argv = T->mm != NULL ? T->mm->arg_start : 0;
	pr_envp = T->mm != NULL ? T->mm->env_start : 0;
	pr_dmodel = T->thread_info.status & 2 ? PR_MODEL_ILP32 : PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
	pr_lwp = (uintptr_t)T;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curpsinfo
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curlwpsinfo
inline string cwd = stringof(curthread->fs->pwd.dentry->d_name.name);

/* zonename: Linux has no zones; a UTS namespace of its own has a name. 0xeffffffe is the first one's number. */
inline string uts_zone_name = curthread->nsproxy == NULL || curthread->nsproxy->uts_ns->ns.inum == 0xeffffffe ? "global" :
    stringof(curthread->nsproxy->uts_ns->name.nodename);
inline string root = stringof(curthread->fs->root.dentry->d_name.name);
