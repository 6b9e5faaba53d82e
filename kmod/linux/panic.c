// SPDX-License-Identifier: GPL-2.0
/*
 * The end of the machine: writes down the reason where a reader of its memory finds it. Rings need
 * nothing here, because what is committed is readable at any moment. Code that runs while the
 * machine dies must not wait, allocate or take a lock.
 *
 * Three ways lead here. The panic notifier is always registered. But a loaded crash kernel is
 * started before any notifier runs, and an oops may start it without a panic; so while a kept state
 * records, panic() and __crash_kexec() are watched at their entry. An oops that ends the machine comes
 * to __crash_kexec() first, with or without a crash kernel, and without one then to panic(). The die
 * notifier keeps the text of each oops, in case that oops turns out to be the end. If it does not, the
 * oops is a trigger (kmod/engine/recording/trigger.c): who waits for one is woken by an irq_work.
 *
 * Much of what is called here can be traced. Meanwhile the CPU is held, so that its ring keeps
 * what led to the end and gets nothing of ours.
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
/* In it, so it leads to nobody else's end; compared only. A later task may stand at the same address. */
static const struct task_struct *last_oops_of;
static u64 last_oops_start;

#define REGISTER_ARGS 5 /* behind the format: what every architecture has in registers */

/* A task that ends the machine: it has come to panic() or __crash_kexec(). */
struct dying {
	const struct task_struct *dg_task; /* compared only; a task that dies may come to another CPU yet */
	u64 dg_time;
	bool dg_noted;	     /* dg_reason is whole */
	char dg_oops[128];   /* what has led here, or empty. A copy, as other CPUs' oopses may follow */
	char dg_reason[512]; /* of panic() */
	char dg_format[256]; /* its format, */
	char dg_strings[REGISTER_ARGS][48]; /* and the strings that follow it */
};

/* Several may die at once. None gives its place back, because none lives on. */
#define DYING_MAX 8

/* Not strscpy(), whose checks of known sizes call what may be traced. */
static void copy_text(char *to, const char *from, size_t room)
{
	snprintf(to, room, "%s", from);
}

/* NULL: there are more, so this one's reason stands in the kernel's log alone. */
static struct dying *dying_here(void)
{
	static struct dying all[DYING_MAX];
	static atomic_t taken;
	struct dying *dying;
	int place;

	for (dying = all; dying < all + DYING_MAX; dying++)
		if (READ_ONCE(dying->dg_task) == current)
			return dying;
	place = atomic_fetch_inc(&taken);
	if (place < 0 || place >= DYING_MAX)
		return NULL;
	dying = &all[place];
	dying->dg_time = ktime_get_mono_fast_ns();
	if (READ_ONCE(last_oops_of) == current && last_oops_start == current->start_time)
		copy_text(dying->dg_oops, last_oops, sizeof(dying->dg_oops));
	WRITE_ONCE(dying->dg_task, current);
	return dying;
}

static void set_reason(struct dying *dying, const char *reason)
{
	if (dying->dg_oops[0])
		snprintf(dying->dg_reason, sizeof(dying->dg_reason), "%s (%s)", reason, dying->dg_oops);
	else
		copy_text(dying->dg_reason, reason, sizeof(dying->dg_reason));
	barrier(); /* an NMI may panic in the middle of this, and then its reason counts */
	WRITE_ONCE(dying->dg_noted, true);
}

/*
 * What this CPU does here. A fault in it is an oops like any other, which may end its task alone; but then panic()
 * would not go on, which somebody has called to end the machine. So the die notifier calls it again, and from then on
 * only the notifier notes anything; after a second fault its reason alone.
 */
enum { NOTHING, IN_CRASH, IN_PANIC };
static DEFINE_PER_CPU(unsigned int, noting);
static unsigned int faults;

/* Interrupts off, as below. */
static void hold_cpu(struct dfr_hold *hold)
{
	dfr_cpu_hold(dfr_engine_instance, dfr_plat_level(), hold);
}

static void unhold_cpu(const struct dfr_hold *hold)
{
	dfr_cpu_unhold(dfr_engine_instance, hold);
}

/* The CPU stays held: what panic() does from here on is not what led to it. */
static int on_panic(struct notifier_block *block, unsigned long event, void *text)
{
	const char *reason = text ? text : "";
	struct dying *dying;
	struct dfr_hold hold;

	hold_cpu(&hold);
	this_cpu_write(noting, IN_PANIC);
	dying = dying_here();
	if (dying) {
		set_reason(dying, reason); /* anew: this one is formatted by the kernel, from all arguments */
		dfr_panic_note_chosen(dying->dg_reason, dying->dg_time, faults < 2);
	} else {
		dfr_panic_note_chosen(reason, ktime_get_mono_fast_ns(), faults < 2);
	}
	dfr_reserved_write_back(); /* here, where the other CPUs stand still */
	this_cpu_write(noting, NOTHING);
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
	struct dfr_hold hold;

	if (event != DIE_OOPS)
		return NOTIFY_DONE;
	hold_cpu(&hold);
	if (this_cpu_read(noting))
		WRITE_ONCE(faults, faults + 1);
	if (this_cpu_read(noting) == IN_PANIC) {
		const struct dying *dying = dying_here();

		panic("%s",
		      dying && dying->dg_noted ? dying->dg_reason : "dfr: a fault at the entry of panic()");
	}
	if (args->str)
		strscpy(last_oops, args->str, sizeof(last_oops));
	last_oops_start = current->start_time;
	last_oops_of = current;
	dfr_engine_oops(dfr_engine_instance, dfr_plat_clock(NULL));
	if (hold.he_fires) /* in this task: interrupts are off in a firing, and an oops in one above it is a panic */
		dfr_cpu_abandon(dfr_engine_instance);
	dfr_queue_here(&oops_wake);
	unhold_cpu(&hold);
	return NOTIFY_DONE;
}

static struct notifier_block die_block = {
	.notifier_call = on_die,
	.priority = INT_MAX,
};

/* Behind a % and before the letter that says what it is for. A width from an argument (*) is none of these. */
static bool is_flag(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == ' ' || c == '#' || c == '.' ||
	       c == 'l' || c == 'h' || c == 'z' || c == 't' || c == 'L';
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/*
 * Makes the strings that the format in dg_format asks for ready to be read without a fault. false: it asks for more
 * than numbers and strings in registers.
 */
static bool prepare_args(struct dying *dying, u64 values[REGISTER_ARGS])
{
	unsigned int n = 0;
	const char *at;

	for (at = dying->dg_format; *at; at++) {
		if (*at != '%' || *++at == '%')
			continue;
		while (is_flag(*at))
			at++;
		if (n == REGISTER_ARGS || !is_letter(*at) || (*at == 'p' && is_letter(at[1])))
			return false;
		if (*at == 's') {
			char *string = dying->dg_strings[n];

			if (dfr_plat_copy_str(NULL, string, values[n], sizeof(dying->dg_strings[n])) < 0)
				copy_text(string, "?", sizeof(dying->dg_strings[n]));
			values[n] = (unsigned long)string;
		}
		n++;
	}
	return true;
}

/* The message of panic(format, ...); if its arguments are not to be had, the format itself. */
static void format_reason(struct dying *dying, const struct pt_regs *regs, char *to, size_t room)
{
	u64 args[DFR_FUNCTION_ARGS];
	u64 *values = args + 1;

	dfr_arch_function_args(regs, args);
	if (dfr_plat_copy_str(NULL, dying->dg_format, args[0], sizeof(dying->dg_format)) < 0)
		copy_text(dying->dg_format, "panic()", sizeof(dying->dg_format));
	if (prepare_args(dying, values))
		snprintf(to, room, dying->dg_format, values[0], values[1], values[2], values[3], values[4]);
	else
		copy_text(to, dying->dg_format, room);
}

/* A panic inside of a panic: the first one's reason stays, but that the notifier will have its own. */
void dfr_panic_entered(const char *reason)
{
	struct dying *dying = dying_here();

	if (!dying)
		return;
	this_cpu_write(noting, IN_PANIC); /* of a program's panic(), too */
	if (!READ_ONCE(dying->dg_noted))
		set_reason(dying, reason);
	dfr_panic_note(dying->dg_reason, dying->dg_time);
	this_cpu_write(noting, NOTHING);
}

static noinline void panic_entered(const struct pt_regs *regs)
{
	struct dying *dying = dying_here();
	char text[256];

	if (!dying)
		return;
	format_reason(dying, regs, text, sizeof(text));
	dfr_panic_entered(text);
}

/* Inside panic(), or of an oops that comes here without it. */
static noinline void crash_entered(void)
{
	const struct dying *dying = dying_here();

	if (!dying)
		dfr_panic_note_chosen("one of many panics", ktime_get_mono_fast_ns(), true);
	else
		dfr_panic_note_chosen(READ_ONCE(dying->dg_noted) ? dying->dg_reason
				      : dying->dg_oops[0]	 ? dying->dg_oops
								 : "jump to the crash kernel",
				      dying->dg_time, true);
}

static unsigned long panic_address, crash_address;

/* ip is the function's address or, if the function begins with a landing pad, a few bytes behind it. */
static bool is_entry_of(unsigned long function, unsigned long ip)
{
	return function && ip - function < 16;
}

bool dfr_panic_is_crash_entry(unsigned long ip)
{
	return is_entry_of(crash_address, ip);
}

/* A fully preemptible kernel calls this with preemption on, and what is noted is of this CPU. */
static void on_entry(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	bool panics = is_entry_of(panic_address, ip);
	struct dfr_hold hold;
	unsigned long flags;

	if (READ_ONCE(faults) || (!panics && !dfr_panic_is_crash_entry(ip)))
		return;
	raw_local_irq_save(flags);
	hold_cpu(&hold);
	this_cpu_write(noting, panics ? IN_PANIC : IN_CRASH);
	if (panics)
		panic_entered(DFR_FTRACE_REGS(fregs));
	else
		crash_entered();
	this_cpu_write(noting, NOTHING);
	unhold_cpu(&hold);
	raw_local_irq_restore(flags);
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
