// SPDX-License-Identifier: GPL-2.0
/*
 * proc: processes and threads are created, run, execute programs, get signals and
 * exit. Arguments are kernel pointers and numbers; the D library's translators
 * (procfs.d) turn task pointers into psinfo_t and lwpsinfo_t.
 *
 *   create          child task          lwp-create       child task (twice)
 *   start, lwp-start                    lwp-exit
 *   exec            path (user address)
 *   exec-success                        exec-failure     errno
 *   exit            CLD_EXITED, CLD_KILLED or CLD_DUMPED
 *   signal-send, signal-discard         target task (twice), signal
 *   signal-handle   signal, siginfo, handler
 *   signal-clear    signal
 *
 * Handlers are probe context.
 */
#include "kmod/providers/events.h"

#include <linux/binfmts.h>
#include <linux/sched/signal.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"

enum {
	CREATE,
	START,
	EXEC,
	EXEC_SUCCESS,
	EXEC_FAILURE,
	EXIT,
	LWP_CREATE,
	LWP_START,
	LWP_EXIT,
	SIGNAL_SEND,
	SIGNAL_DISCARD,
	SIGNAL_CLEAR,
	SIGNAL_HANDLE,
	PROBES
};
static struct dfr_event_probe probes[PROBES];

static void fire(int which, u64 a0, u64 a1, u64 a2)
{
	u64 args[3] = { a0, a1, a2 };

	dfr_event_fire(&probes[which], args, probes[which].ep_nargs, NULL);
}

static void on_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	fire(child->pid == child->tgid ? CREATE : LWP_CREATE, (u64)child, (u64)child, 0);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	fire(EXEC_SUCCESS, 0, 0, 0);
}

static u64 reason_of(int code)
{
	if (!(code & 0x7f))
		return CLD_EXITED;
	return code & 0x80 ? CLD_DUMPED : CLD_KILLED;
}

static void thread_exits(const struct task_struct *task, bool last)
{
	fire(LWP_EXIT, 0, 0, 0);
	if (last)
		fire(EXIT, reason_of(task->exit_code), 0, 0);
}

#if DFR_TRACEPOINT_TELLS_LAST
static void on_exit(void *data, struct task_struct *task, bool last)
{
	thread_exits(task, last);
}
static struct dfr_tracepoint tp_exit = { .tp_name = "sched_process_exit",
					 .tp_probe = DFR_HANDLER(sched_process_exit, on_exit) };
#define EXIT_SOURCE .ep_points = { &tp_exit }
#else
/*
 * Before 6.16 the tracepoint does not say whether the process's last thread exits, and at that point
 * each of several that exit together may look like it. taskstats_exit(), called by each a moment
 * before, is told.
 */
static void on_exit(struct dfr_hook *hook, struct pt_regs *regs)
{
	thread_exits(current, (int)dfr_arch_second_argument(regs));
}
static const char *const exit_names[] = { "taskstats_exit", NULL };
static struct dfr_hook hook_exit = { .ho_names = exit_names, .ho_enter = on_exit };
#define EXIT_SOURCE .ep_hooks = { &hook_exit }
#endif

#define SIGNAL_DELIVERED_RESULT 0
#define SIGNAL_IGNORED_RESULT	1

static void on_generate(void *data, int sig, struct kernel_siginfo *info, struct task_struct *task, int group,
			int result)
{
	if (result == SIGNAL_DELIVERED_RESULT)
		fire(SIGNAL_SEND, (u64)task, (u64)task, sig);
	else if (result == SIGNAL_IGNORED_RESULT)
		fire(SIGNAL_DISCARD, (u64)task, (u64)task, sig);
}

static void on_deliver(void *data, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	if (ka->sa.sa_handler != SIG_DFL && ka->sa.sa_handler != SIG_IGN)
		fire(SIGNAL_HANDLE, sig, (u64)info, (u64)ka->sa.sa_handler);
}

/* schedule_tail(): the first function that a new thread runs. */
static void on_first_run(struct dfr_hook *hook, struct pt_regs *regs)
{
	if (current->pid == current->tgid)
		fire(START, 0, 0, 0);
	fire(LWP_START, 0, 0, 0);
}

/* A system call's function has one argument: the registers of user space. */
static void on_exec_call(struct dfr_hook *hook, struct pt_regs *regs, unsigned int path)
{
	u64 args[DFR_SYSCALL_ARGS];
	u64 outer[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, outer);
	if (dfr_arch_compat_syscall())
		dfr_arch_compat_syscall_args((struct pt_regs *)outer[0], args);
	else
		dfr_arch_syscall_args((struct pt_regs *)outer[0], args);
	fire(EXEC, args[path], 0, 0);
	if (READ_ONCE(probes[EXEC_FAILURE].ep_armed))
		dfr_hook_return(hook, hook, regs, &probes[EXEC_FAILURE].ep_probe);
}

static void on_execve(struct dfr_hook *hook, struct pt_regs *regs)
{
	on_exec_call(hook, regs, 0);
}

static void on_execveat(struct dfr_hook *hook, struct pt_regs *regs)
{
	on_exec_call(hook, regs, 1);
}

static void on_execve_return(void *cookie, struct pt_regs *regs)
{
	long result = regs_return_value(regs);

	if (result)
		fire(EXEC_FAILURE, -result, 0, 0);
}

static void on_sigwait(struct dfr_hook *hook, struct pt_regs *regs)
{
	dfr_hook_return(hook, hook, regs, &probes[SIGNAL_CLEAR].ep_probe);
}

static void on_sigwait_return(void *cookie, struct pt_regs *regs)
{
	long result = regs_return_value(regs);

	if (result > 0)
		fire(SIGNAL_CLEAR, result, 0, 0);
}

static struct dfr_tracepoint tp_fork = { .tp_name = "sched_process_fork",
					 .tp_probe = DFR_HANDLER(sched_process_fork, on_fork) };
static struct dfr_tracepoint tp_exec = { .tp_name = "sched_process_exec",
					 .tp_probe = DFR_HANDLER(sched_process_exec, on_exec) };
static struct dfr_tracepoint tp_generate = { .tp_name = "signal_generate",
					     .tp_probe = DFR_HANDLER(signal_generate, on_generate) };
static struct dfr_tracepoint tp_deliver = { .tp_name = "signal_deliver",
					    .tp_probe = DFR_HANDLER(signal_deliver, on_deliver) };

static const char *const first_run_names[] = { "schedule_tail", NULL };
static struct dfr_hook hook_first_run = { .ho_names = first_run_names, .ho_enter = on_first_run };
static const char *const execve_names[] = {
	DFR_ARCH_SYSCALL "sys_execve",
	DFR_ARCH_COMPAT_SYSCALL "compat_sys_execve",
	NULL,
};
static struct dfr_hook hook_execve = {
	.ho_names = execve_names,
	.ho_enter = on_execve,
	.ho_return = on_execve_return,
};
static const char *const execveat_names[] = {
	DFR_ARCH_SYSCALL "sys_execveat",
	DFR_ARCH_COMPAT_SYSCALL "compat_sys_execveat",
	NULL,
};
static struct dfr_hook hook_execveat = {
	.ho_names = execveat_names,
	.ho_enter = on_execveat,
	.ho_return = on_execve_return,
};
static const char *const sigwait_names[] = {
	DFR_ARCH_SYSCALL "sys_rt_sigtimedwait",
	DFR_ARCH_COMPAT_SYSCALL "compat_sys_rt_sigtimedwait_time32",
	DFR_ARCH_COMPAT_SYSCALL "compat_sys_rt_sigtimedwait_time64",
	NULL,
};
static struct dfr_hook hook_sigwait = {
	.ho_names = sigwait_names,
	.ho_enter = on_sigwait,
	.ho_return = on_sigwait_return,
};

static struct dfr_event_probe probes[PROBES] = {
	[CREATE] = { .ep_name = "create", .ep_nargs = 1, .ep_points = { &tp_fork } },
	[START] = { .ep_name = "start", .ep_hooks = { &hook_first_run } },
	[EXEC] = { .ep_name = "exec", .ep_nargs = 1, .ep_hooks = { &hook_execve, &hook_execveat } },
	[EXEC_SUCCESS] = { .ep_name = "exec-success", .ep_points = { &tp_exec } },
	[EXEC_FAILURE] = { .ep_name = "exec-failure",
			   .ep_nargs = 1,
			   .ep_returns = true,
			   .ep_hooks = { &hook_execve, &hook_execveat } },
	[EXIT] = { .ep_name = "exit", .ep_nargs = 1, EXIT_SOURCE },
	[LWP_CREATE] = { .ep_name = "lwp-create", .ep_nargs = 2, .ep_points = { &tp_fork } },
	[LWP_START] = { .ep_name = "lwp-start", .ep_hooks = { &hook_first_run } },
	[LWP_EXIT] = { .ep_name = "lwp-exit", EXIT_SOURCE },
	[SIGNAL_SEND] = { .ep_name = "signal-send", .ep_nargs = 3, .ep_points = { &tp_generate } },
	[SIGNAL_DISCARD] = { .ep_name = "signal-discard", .ep_nargs = 3, .ep_points = { &tp_generate } },
	[SIGNAL_CLEAR] = { .ep_name = "signal-clear",
			   .ep_nargs = 1,
			   .ep_returns = true,
			   .ep_hooks = { &hook_sigwait } },
	[SIGNAL_HANDLE] = { .ep_name = "signal-handle", .ep_nargs = 3, .ep_points = { &tp_deliver } },
};

static struct dfr_events proc = {
	.ev_name = "proc",
	.ev_module = "vmlinux",
	.ev_probes = probes,
	.ev_count = PROBES,
};

int dfr_proc_init(void)
{
	return dfr_events_init(&proc);
}

void dfr_proc_exit(void)
{
	dfr_events_exit(&proc);
}
