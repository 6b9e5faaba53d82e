// SPDX-License-Identifier: GPL-2.0
/*
 * The end of the machine: writes down the reason where a reader of its memory finds it. Rings need
 * nothing here, because what is committed is readable at any moment. Code that runs while the
 * machine dies must not wait, allocate or take a lock.
 *
 * Three ways lead here. The panic notifier is always registered. But a loaded crash kernel is
 * started before any notifier runs, and an oops may start it without a panic; so while a kept state
 * records, panic() and __crash_kexec() are watched at their entry. The die notifier keeps the text
 * of each oops, in case that oops turns out to be the end. If it does not, the oops is a trigger
 * (kmod/engine/recording/trigger.c): who waits for one is woken by an irq_work.
 */
#include "kmod/linux/compat.h"
#include "kmod/linux/hook.h"
#include "kmod/linux/linux.h"
#include "kmod/linux/assume.h"

#include <linux/ftrace.h>
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>

static char last_oops[128];

static int on_panic(struct notifier_block *block, unsigned long event, void *reason)
{
	dfr_anchor_panic(reason ? reason : "");
	return NOTIFY_DONE;
}

/* Highest priority, because other notifiers have been known not to return. */
static struct notifier_block panic_block = {
	.notifier_call = on_panic,
	.priority = INT_MAX,
};

static void wake_waiting(struct irq_work *work)
{
	dfr_holdings_wake();
}

static struct irq_work oops_wake;

/* Any context. The kernel lets one CPU through here at a time. */
static int on_die(struct notifier_block *block, unsigned long event, void *data)
{
	const struct die_args *args = data;

	if (event != DIE_OOPS)
		return NOTIFY_DONE;
	if (args->str)
		strscpy(last_oops, args->str, sizeof(last_oops));
	dfr_engine_oops(dfr_engine_instance, dfr_plat_clock(NULL));
	irq_work_queue(&oops_wake);
	return NOTIFY_DONE;
}

static struct notifier_block die_block = {
	.notifier_call = on_die,
	.priority = INT_MAX,
};

/*
 * Formats the message of panic(format, ...). Only arguments in registers are read; if the format
 * needs more, the format itself is recorded.
 */
#define REGISTER_ARGS (DFR_FUNCTION_ARGS - 1)

static void panic_entered(const struct pt_regs *regs)
{
	static char text[256];
	static atomic_t used;
	u64 args[DFR_FUNCTION_ARGS];
	unsigned int conversions = 0;
	const char *format, *at;

	if (atomic_xchg(&used, 1))
		return;
	dfr_arch_function_args(regs, args);
	format = (const char *)(unsigned long)args[0];
	for (at = format; (at = strchr(at, '%')) != NULL; at++)
		conversions++;
	if (conversions > REGISTER_ARGS) {
		dfr_anchor_panic(format);
		return;
	}
	snprintf(text, sizeof(text), format, args[1], args[2], args[3], args[4], args[5]);
	dfr_anchor_panic(text);
}

static unsigned long panic_address, crash_address;

/* ip is the function's address or, if the function begins with a landing pad, a few bytes behind it. */
static bool is_entry_of(unsigned long function, unsigned long ip)
{
	return function && ip - function < 16;
}

static void on_entry(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	if (is_entry_of(panic_address, ip))
		panic_entered(DFR_FTRACE_REGS(fregs));
	else if (is_entry_of(crash_address, ip))
		dfr_anchor_panic(last_oops[0] ? last_oops : "jump to the crash kernel");
}

static struct ftrace_ops entry_ops = {
	.func = on_entry,
	.flags = FTRACE_OPS_FL_PERMANENT,
};
static bool watching;

static int watch(void)
{
	unsigned long ips[2];
	unsigned int n = 0;
	int error;

	panic_address = dfr_hooked_address("panic");
	crash_address = dfr_hooked_address("__crash_kexec");
	if (panic_address)
		ips[n++] = panic_address;
	if (crash_address)
		ips[n++] = crash_address;
	if (!n)
		return -ENOENT;
	error = ftrace_set_filter_ips(&entry_ops, ips, n, 0, 1) ?: dfr_ops_start(&entry_ops);
	if (error)
		dfr_ops_reset(&entry_ops);
	return error;
}

/* Process context, the engine's lock is held. If this fails, the panic notifier still serves. */
void dfr_panic_watch(bool wanted)
{
	if (wanted == watching)
		return;
	if (!wanted) {
		watching = dfr_ops_end(&entry_ops) != 0;
		return;
	}
	watching = !watch();
	if (!watching)
		pr_warn("dfr: panic() cannot be watched: a crash kernel would start before the reason is "
			"noted\n");
}

int dfr_panic_init(void)
{
	int error;

	init_irq_work(&oops_wake, wake_waiting);
	error = register_die_notifier(&die_block);
	if (error)
		return error;
	error = atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	if (error)
		unregister_die_notifier(&die_block);
	return error;
}

void dfr_panic_exit(void)
{
	dfr_panic_watch(false);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	unregister_die_notifier(&die_block);
	irq_work_sync(&oops_wake);
}
