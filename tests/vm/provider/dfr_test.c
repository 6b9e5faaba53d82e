// SPDX-License-Identifier: GPL-2.0
/*
 * A provider in a module of its own, for the tests of the exported interface
 * (kmod/engine/provider.h): probes that are always there, that come when they
 * are asked for, and that come later; fired with arguments that a test knows.
 * Everything is driven by writing to /sys/module/dfr_test/parameters:
 *
 *   fire N     fires dfrtest:dfr_test:fire:now N times: arg0 the count from 0,
 *              arg1 its square, arg2 0xfeedface; arg3 on from getarg: 1000 + n
 *   later NAME creates dfrtest:dfr_test:later:NAME and fires it once
 *   storm 0|1  a thread fires dfrtest:dfr_test:storm:now without end
 *   pin 0|1    whether an armed probe holds the module, so that rmmod is refused
 *   refuse 0|1 whether the storm's probe refuses to be armed (EBUSY)
 *   armed      (read) probes that are armed
 *   commits    (read) calls of commit
 *
 * dfrtest:dfr_test:demand:NUMBER exists once somebody has asked for it.
 *
 * And it is a module like any other, for the providers that look at modules:
 *
 *   call N     calls dfr_test_call() N times (also as an argument of insmod: then
 *              before the module's initialization) with n = 0..N-1: arguments n,
 *              -n, "text", 4, { n, 2n }, 6, 7 n, 8; it returns -n and passes the
 *              tracepoint dfr_test_called (n, -n, "text", 4, 5 << 40, 6, 7 n)
 *
 *   hold 1     (as an argument of insmod) its initialization waits until 0 is
 *              written, or until who loads it is killed
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "kmod/engine/provider.h"

#define CREATE_TRACE_POINTS
#include "dfr_test_trace.h"

struct dfr_engine* dfr_kernel_engine(void);

static struct dfr_provider provider;
static struct dfr_probe *fire_probe, *storm_probe;
static struct task_struct* storm_thread;
static bool pin, refuse, hold;
module_param(pin, bool, 0644);
module_param(refuse, bool, 0644);
module_param(hold, bool, 0644);
static unsigned int armed, commits;
module_param(armed, uint, 0444);
module_param(commits, uint, 0444);

/* --- What the engine calls; under its lock. ------------------------------ */

static int provide(struct dfr_provider* self, const char* const pattern[4]) {
	unsigned long number;

	if (!strcmp(pattern[2], "demand") && !kstrtoul(pattern[3], 10, &number) &&
	    !dfr_probe_find(self, "dfr_test", "demand", pattern[3]) &&
	    !dfr_probe_create(self, "dfr_test", "demand", pattern[3], 0, NULL))
		return -ENOMEM;
	return 0;
}

static int arm(struct dfr_provider* self, struct dfr_probe* probe) {
	if (refuse && probe == storm_probe)
		return -EBUSY;
	if (pin && !try_module_get(THIS_MODULE))
		return -ENODEV;
	armed++;
	return 0;
}

static void disarm(struct dfr_provider* self, struct dfr_probe* probe) {
	armed--;
	if (pin)
		module_put(THIS_MODULE);
}

static int commit(struct dfr_provider* self) {
	commits++;
	return 0;
}

/* Probe context. */
static u64 getarg(const struct dfr_firing* firing, unsigned int n) {
	return 1000 + n;
}

static const struct dfr_provider_ops ops = {
    .provide = provide,
    .arm = arm,
    .disarm = disarm,
    .commit = commit,
    .getarg = getarg,
};

/* --- Firing. ------------------------------------------------------------- */

static void fire(struct dfr_probe* probe, u64 n) {
	u64 args[3] = {n, n * n, 0xfeedface};

	preempt_disable();
	dfr_fire(probe, args, ARRAY_SIZE(args), NULL);
	preempt_enable();
}

static int set_fire(const char* text, const struct kernel_param* param) {
	unsigned long count, i;
	int error = kstrtoul(text, 10, &count);

	for (i = 0; !error && i < count; i++)
		fire(fire_probe, i);
	return error;
}

static const struct kernel_param_ops fire_ops = {.set = set_fire};
module_param_cb(fire, &fire_ops, NULL, 0200);

static int set_later(const char* text, const struct kernel_param* param) {
	struct dfr_probe* probe;
	char name[32];

	strscpy(name, text, sizeof(name));
	probe = dfr_probe_create(&provider, "dfr_test", "later", strim(name), 3, NULL);
	if (!probe)
		return -EEXIST;
	dfr_probes_created(dfr_kernel_engine());
	fire(probe, 7);
	return 0;
}

static const struct kernel_param_ops later_ops = {.set = set_later};
module_param_cb(later, &later_ops, NULL, 0200);

static int storm(void* unused) {
	u64 n = 0;

	while (!kthread_should_stop()) {
		fire(storm_probe, n++);
		if (!(n & 1023))
			cond_resched();
	}
	return 0;
}

static void stop_storm(void) {
	if (storm_thread)
		kthread_stop(storm_thread);
	storm_thread = NULL;
}

static int set_storm(const char* text, const struct kernel_param* param) {
	bool wanted;
	int error = kstrtobool(text, &wanted);

	if (error)
		return error;
	stop_storm();
	if (!wanted)
		return 0;
	storm_thread = kthread_run(storm, NULL, "dfr_test_storm");
	error = PTR_ERR_OR_ZERO(storm_thread);
	if (error)
		storm_thread = NULL;
	return error;
}

static const struct kernel_param_ops storm_ops = {.set = set_storm};
module_param_cb(storm, &storm_ops, NULL, 0200);

/* --- What others trace. -------------------------------------------------- */

struct dfr_test_pair {
	int pr_first;
	long pr_second;
};

int dfr_test_call(int first, long second, const char* third, u8 fourth, struct dfr_test_pair* pair, int sixth,
                  long seventh, int eighth);

noinline int dfr_test_call(int first, long second, const char* third, u8 fourth, struct dfr_test_pair* pair,
                           int sixth, long seventh, int eighth) {
	trace_dfr_test_called(first, second, third, fourth, 5ULL << 40, sixth, seventh);
	barrier_data(pair); /* all are used: none is optimized away */
	return eighth == 8 ? -first : 0;
}

static int set_call(const char* text, const struct kernel_param* param) {
	int count, i, error = kstrtoint(text, 10, &count);

	for (i = 0; !error && i < count; i++) {
		struct dfr_test_pair pair = {i, 2 * i};

		dfr_test_call(i, -i, "text", 4, &pair, 6, 7L * i, 8);
	}
	return error;
}

static const struct kernel_param_ops call_ops = {.set = set_call};
module_param_cb(call, &call_ops, NULL, 0200);

/* --- Life. --------------------------------------------------------------- */

static int __init test_init(void) {
	int error;

	if (!dfr_kernel_engine())
		return -ENODEV; /* dfr.off */
	while (READ_ONCE(hold) && !msleep_interruptible(20))
		;
	provider.pv_name = "dfrtest";
	provider.pv_ops = &ops;
	error = dfr_provider_register(dfr_kernel_engine(), &provider);
	if (error)
		return error;
	fire_probe = dfr_probe_create(&provider, "dfr_test", "fire", "now", 6, NULL);
	storm_probe = dfr_probe_create(&provider, "dfr_test", "storm", "now", 3, NULL);
	if (!fire_probe || !storm_probe) {
		dfr_provider_unregister(&provider);
		return -ENOMEM;
	}
	dfr_probes_created(dfr_kernel_engine());
	return 0;
}

/* Whoever still has probes of ours enabled goes on without them. */
static void __exit test_exit(void) {
	stop_storm();
	dfr_probes_remove(&provider, NULL);
	dfr_provider_unregister(&provider);
}

module_init(test_init);
module_exit(test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test provider for the D flight recorder");
