// SPDX-License-Identifier: GPL-2.0
/*
 * sched: which thread gets which CPU, and why it leaves. Arguments are task
 * pointers (twice, because lwpsinfo_t and psinfo_t are made from the same task). For
 * enqueue and dequeue a third one stands for the CPU that the task belongs to.
 *
 *   enqueue, dequeue   task, task, task (its CPU), flags
 *   off-cpu            the thread that runs next, twice
 *   on-cpu, preempt, sleep: none (the thread itself)
 *   surrender, tick    the thread itself, twice
 *   wakeup             the woken thread, twice
 *   change-pri         task, task, new priority
 *
 * Handlers are probe context, some under a run queue's lock.
 */
#include "kmod/providers/events.h"

#include <linux/sched.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"

enum { CHANGE_PRI, ENQUEUE, DEQUEUE, OFF_CPU, ON_CPU, PREEMPT, SLEEP, SURRENDER, TICK, WAKEUP, PROBES };
static struct dfr_event_probe probes[PROBES];

static void fire(int which, u64 a0, u64 a1, u64 a2, u64 a3)
{
	u64 args[4] = { a0, a1, a2, a3 };

	dfr_event_fire(&probes[which], args, probes[which].ep_nargs, NULL);
}

static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	if (preempt)
		fire(PREEMPT, 0, 0, 0, 0);
	else if (prev_state)
		fire(SLEEP, 0, 0, 0, 0);
	fire(OFF_CPU, (u64)next, (u64)next, 0, 0);
}

static void on_wakeup(void *data, struct task_struct *task)
{
	fire(WAKEUP, (u64)task, (u64)task, 0, 0);
}

/* finish_task_switch(): runs in the thread that has just got the CPU. */
static void on_switched(struct dfr_hook *hook, struct pt_regs *regs)
{
	fire(ON_CPU, 0, 0, 0, 0);
}

/* enqueue_task_*(struct rq *, struct task_struct *, int flags) */
static void on_enqueue(struct dfr_hook *hook, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	fire(ENQUEUE, args[1], args[1], args[1], args[2]);
}

static void on_dequeue(struct dfr_hook *hook, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	fire(DEQUEUE, args[1], args[1], args[1], args[2]);
}

static void on_yield(struct dfr_hook *hook, struct pt_regs *regs)
{
	fire(SURRENDER, (u64)current, (u64)current, 0, 0);
}

static void on_tick(struct dfr_hook *hook, struct pt_regs *regs)
{
	fire(TICK, (u64)current, (u64)current, 0, 0);
}

/* set_user_nice(struct task_struct *, long nice) */
static void on_nice(struct dfr_hook *hook, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	fire(CHANGE_PRI, args[0], args[0], NICE_TO_PRIO((long)args[1]), 0);
}

static struct dfr_tracepoint tp_switch = { .tp_name = "sched_switch",
					   .tp_probe = DFR_HANDLER(sched_switch, on_switch) };
/* In who wakes; sched_wakeup may come on the other's CPU, in whatever runs there. */
static struct dfr_tracepoint tp_wakeup = { .tp_name = "sched_waking",
					   .tp_probe = DFR_HANDLER(sched_waking, on_wakeup) };
static struct dfr_tracepoint tp_wakeup_new = { .tp_name = "sched_wakeup_new",
					       .tp_probe = DFR_HANDLER(sched_wakeup_new, on_wakeup) };

static const char *const switched_names[] = {
	"finish_task_switch",
	"finish_task_switch.isra.0",
	"finish_task_switch.constprop.0",
	NULL,
};
static struct dfr_hook hook_switched = { .ho_names = switched_names, .ho_enter = on_switched };
static const char *const enqueue_names[] = {
	"enqueue_task_fair", "enqueue_task_rt",	 "enqueue_task_dl",
	"enqueue_task_stop", "enqueue_task_scx", NULL,
};
static struct dfr_hook hook_enqueue = { .ho_names = enqueue_names, .ho_enter = on_enqueue };
static const char *const dequeue_names[] = {
	"dequeue_task_fair", "dequeue_task_rt",	 "dequeue_task_dl",
	"dequeue_task_stop", "dequeue_task_scx", NULL,
};
static struct dfr_hook hook_dequeue = { .ho_names = dequeue_names, .ho_enter = on_dequeue };
static const char *const yield_names[] = { "do_sched_yield", NULL };
static struct dfr_hook hook_yield = { .ho_names = yield_names, .ho_enter = on_yield };
static const char *const tick_names[] = { "scheduler_tick", "sched_tick", NULL };
static struct dfr_hook hook_tick = { .ho_names = tick_names, .ho_enter = on_tick };
static const char *const nice_names[] = { "set_user_nice", NULL };
static struct dfr_hook hook_nice = { .ho_names = nice_names, .ho_enter = on_nice };

static struct dfr_event_probe probes[PROBES] = {
	[CHANGE_PRI] = { .ep_name = "change-pri", .ep_nargs = 3, .ep_hooks = { &hook_nice } },
	[ENQUEUE] = { .ep_name = "enqueue", .ep_nargs = 4, .ep_hooks = { &hook_enqueue } },
	[DEQUEUE] = { .ep_name = "dequeue", .ep_nargs = 4, .ep_hooks = { &hook_dequeue } },
	[OFF_CPU] = { .ep_name = "off-cpu", .ep_nargs = 2, .ep_points = { &tp_switch } },
	[ON_CPU] = { .ep_name = "on-cpu", .ep_hooks = { &hook_switched } },
	[PREEMPT] = { .ep_name = "preempt", .ep_points = { &tp_switch } },
	[SLEEP] = { .ep_name = "sleep", .ep_points = { &tp_switch } },
	[SURRENDER] = { .ep_name = "surrender", .ep_nargs = 2, .ep_hooks = { &hook_yield } },
	[TICK] = { .ep_name = "tick", .ep_nargs = 2, .ep_hooks = { &hook_tick } },
	[WAKEUP] = { .ep_name = "wakeup", .ep_nargs = 2, .ep_points = { &tp_wakeup, &tp_wakeup_new } },
};

static struct dfr_events sched = {
	.ev_name = "sched",
	.ev_module = "vmlinux",
	.ev_probes = probes,
	.ev_count = PROBES,
};

int dfr_sched_init(void)
{
	return dfr_events_init(&sched);
}

void dfr_sched_exit(void)
{
	dfr_events_exit(&sched);
}
