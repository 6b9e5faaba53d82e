// SPDX-License-Identifier: GPL-2.0
/*
 * Destructive actions, for programs that may use them (access.c). Probe context. Sending a signal
 * takes locks that the probe may have interrupted, so an irq_work sends it: an interrupt that comes
 * as soon as this CPU takes one, or on -rt, where these locks sleep, the CPU's irq_work thread.
 */
#include "kmod/linux/linux.h"

#include <linux/delay.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#define SIGNALS_MAX 8

/* Signals to be sent on this CPU. Read and written with interrupts off. */
struct outbox {
	struct irq_work ob_work;
	unsigned int ob_count;
	struct {
		struct task_struct *task;
		int signal;
	} ob_signals[SIGNALS_MAX];
};

static DEFINE_PER_CPU(struct outbox, outbox);

static void send_signals(struct irq_work *work)
{
	struct outbox *box = container_of(work, struct outbox, ob_work);
	struct outbox taken;
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	do { /* a kprobe may be in what copies, and put one more there */
		taken.ob_count = READ_ONCE(box->ob_count);
		memcpy(taken.ob_signals, box->ob_signals, sizeof(taken.ob_signals));
	} while (cmpxchg(&box->ob_count, taken.ob_count, 0) != taken.ob_count);
	local_irq_restore(flags);
	for (i = 0; i < taken.ob_count; i++) {
		send_sig(taken.ob_signals[i].signal, taken.ob_signals[i].task, 1);
		put_task_struct(taken.ob_signals[i].task);
	}
}

int dfr_plat_raise(const struct dfr_firing *firing, int sig)
{
	struct outbox *box = this_cpu_ptr(&outbox);

	if (!valid_signal(sig) || !sig)
		return -EINVAL;
	if (current->flags & PF_KTHREAD || is_global_init(current))
		return -EPERM;
	if (dfr_plat_level() == DFR_LEVEL_NMI || box->ob_count == SIGNALS_MAX)
		return -EBUSY;
	if (!dfr_takes_interrupts())
		return -EBUSY;
	box->ob_signals[box->ob_count].task = get_task_struct(current);
	box->ob_signals[box->ob_count].signal = sig;
	box->ob_count++;
	irq_work_queue(&box->ob_work);
	return 0;
}

int dfr_plat_stop(const struct dfr_firing *firing)
{
	return dfr_plat_raise(firing, SIGSTOP);
}

/* The engine bounds how much of a second a program may spend here. */
int dfr_plat_chill(u64 ns)
{
	u64 us = div_u64(min_t(u64, ns, NSEC_PER_SEC / 2), NSEC_PER_USEC);

	for (; us > 1000; us -= 1000)
		udelay(1000);
	udelay(us);
	ndelay(ns % NSEC_PER_USEC);
	return 0;
}

/* The module knows of no debugger to break into. */
int dfr_plat_breakpoint(void)
{
	return -ENOSYS;
}

/*
 * Asked again here, because the parameter may have been switched off since the program was loaded. A firing
 * may be inside a callback of ftrace, which calls no other one then, so the entry of panic() would not be seen.
 */
int dfr_plat_panic(void)
{
	static const char reason[] = "dfr: panic() of a D program";

	if (!READ_ONCE(dfr_destructive))
		return -EPERM;
	dfr_panic_entered(reason);
	panic("%s", reason);
}

void dfr_destructive_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu)
		init_irq_work(&per_cpu(outbox, cpu).ob_work, send_signals);
}

void dfr_destructive_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu)
		irq_work_sync(&per_cpu(outbox, cpu).ob_work);
}
