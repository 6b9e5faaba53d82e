// SPDX-License-Identifier: GPL-2.0
/*
 * Ends the machine in ways that user space has no means for. Writing one of these
 * words to /sys/module/dfr_crash/parameters/die:
 *
 *   interrupt  a read where nothing is, in an interrupt of the CPU that writes
 *   bug        BUG() in process context
 *   stack      calls itself until the kernel's stack is used up
 *   hang       all CPUs stand still with interrupts off: only an NMI comes through
 *   nested     fires dfrcrash:dfr_crash:die:now, whose fifth argument is read where
 *              nothing is: a fault inside a firing
 *   all        all CPUs enter panic(), and the panic of the one that comes last becomes the kernel's; only if the
 *              module was loaded with all=1
 */
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "kmod/engine/provider.h"

struct dfr_engine* dfr_kernel_engine(void);

static struct dfr_probe* probe;

static int read_where_nothing_is(void) {
	return READ_ONCE(*(int*)8);
}

static int arm(struct dfr_provider* self, struct dfr_probe* which) {
	return 0;
}

static void disarm(struct dfr_provider* self, struct dfr_probe* which) {}

/* Probe context. */
static u64 getarg(const struct dfr_firing* firing, unsigned int n) {
	return read_where_nothing_is();
}

static const struct dfr_provider_ops ops = {.arm = arm, .disarm = disarm, .getarg = getarg};
static struct dfr_provider provider = {.pv_name = "dfrcrash", .pv_ops = &ops};

static void in_interrupt_context(struct irq_work* work) {
	read_where_nothing_is();
}

static struct irq_work work = IRQ_WORK_INIT_HARD(in_interrupt_context);

static noinline int use_up(int depth) {
	char room[256];

	memset(room, depth, sizeof(room));
	barrier_data(room);
	return depth < 1000000 ? use_up(depth + 1) + room[depth & 255] : 0;
}

static void stand_still(void* unused) {
	for (;;)
		cpu_relax();
}

static void fire(void) {
	u64 args[1] = {0};

	preempt_disable();
	dfr_fire(probe, args, ARRAY_SIZE(args), NULL);
	preempt_enable();
}

/*
 * All CPUs but the last one stand still at the entry of panic(), before they can become the kernel's. Who watches that
 * entry later than this kprobe is called before it.
 */
static bool all;
module_param(all, bool, 0400);
static int last_cpu = -1;
static atomic_t still;

static int panic_entered(struct kprobe* entered, struct pt_regs* regs) {
	if (READ_ONCE(last_cpu) < 0 || raw_smp_processor_id() == READ_ONCE(last_cpu))
		return 0;
	atomic_inc(&still);
	stand_still(NULL);
	return 0;
}
NOKPROBE_SYMBOL(panic_entered);

static struct kprobe panic_entry = {.symbol_name = "panic", .pre_handler = panic_entered};

static void end_last(void* unused) {
	while (atomic_read(&still) < num_online_cpus() - 1)
		cpu_relax();
	panic("dfr_crash: the last of %d (%s)", num_online_cpus(), THIS_MODULE->name);
}

static void end_other(void* unused) {
	panic("dfr_crash: another one");
}

static void end_all(void) {
	const int here = get_cpu();
	int cpu;

	WRITE_ONCE(last_cpu, cpumask_any_but(cpu_online_mask, here));
	for_each_online_cpu(cpu) if (cpu != here)
	    smp_call_function_single(cpu, cpu == last_cpu ? end_last : end_other, NULL, 0);
	end_other(NULL);
}

static int set_die(const char* text, const struct kernel_param* param) {
	if (sysfs_streq(text, "interrupt"))
		irq_work_queue(&work);
	else if (sysfs_streq(text, "bug"))
		BUG();
	else if (sysfs_streq(text, "stack"))
		return use_up(0);
	else if (sysfs_streq(text, "hang"))
		on_each_cpu(stand_still, NULL, 0);
	else if (sysfs_streq(text, "nested"))
		fire();
	else if (sysfs_streq(text, "all") && all)
		end_all();
	else
		return -EINVAL;
	return 0;
}

static const struct kernel_param_ops die_ops = {.set = set_die};
module_param_cb(die, &die_ops, NULL, 0200);

static int __init crash_init(void) {
	int error;

	if (!dfr_kernel_engine())
		return -ENODEV; /* dfr.off */
	error = all ? register_kprobe(&panic_entry) : 0;
	if (error)
		return error;
	error = dfr_provider_register(dfr_kernel_engine(), &provider);
	if (error)
		goto no_provider;
	error = -ENOMEM;
	probe = dfr_probe_create(&provider, "dfr_crash", "die", "now", 5, NULL);
	if (!probe)
		goto no_probe;
	dfr_probes_created(dfr_kernel_engine());
	return 0;
no_probe:
	dfr_provider_unregister(&provider);
no_provider:
	if (all)
		unregister_kprobe(&panic_entry);
	return error;
}

static void __exit crash_exit(void) {
	dfr_probes_remove(&provider, NULL);
	dfr_provider_unregister(&provider);
	if (all)
		unregister_kprobe(&panic_entry);
}

module_init(crash_init);
module_exit(crash_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Ends the machine, for tests of the D flight recorder");
