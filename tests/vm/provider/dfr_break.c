// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the kernel fail where dfr.ko asks it for something, and breaks what dfr.ko
 * stands on. It needs nothing of dfr.ko. By writing to /sys/module/dfr_break/parameters:
 *
 *   fail N     of the calls that dfr.ko makes to the functions below while insmod loads a module, the Nth
 *              fails; none before and none after it does. Counted anew when this is written, and
 *              at each loading of dfr.ko. 0: none fails
 *   failed     (read) the function whose call failed last; empty: none did since
 *   memory 0|1 whether its requests for small memory count as such calls
 *   ftrace 1   ends ftrace as the kernel does when it finds it broken: nothing is
 *              patched any more, what is patched stays
 *   oops 1     a thread of the kernel reads where nothing is: an oops, which ends it
 *   hang N     a thread of the kernel sleeps for N seconds, and nothing can wake it
 *   fault NAME [N]  the next call of this function in a task with interrupts off, as inside a firing, reads where
 *              nothing is: an oops; the next N calls (1)
 */
#include <asm/ibt.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>

struct victim {
	const char* vi_name;
	long vi_answer; /* instead of what the function would have answered */
	bool vi_memory;
	struct kprobe vi_probe;
	bool vi_watched;
};

/* What allocates has another name from 6.10 on; each kernel has one of the two. */
static struct victim victims[] = {
    {.vi_name = "get_zeroed_page"},
    {.vi_name = "get_zeroed_page_noprof"},
    {.vi_name = "__get_free_pages"},
    {.vi_name = "get_free_pages_noprof"},
    {.vi_name = "__cpuhp_setup_state", .vi_answer = -ENOSPC},
    {.vi_name = "register_die_notifier", .vi_answer = -ENOMEM},
    {.vi_name = "atomic_notifier_chain_register", .vi_answer = -ENOMEM},
    {.vi_name = "register_module_notifier", .vi_answer = -ENOMEM},
    {.vi_name = "register_tracepoint_module_notifier", .vi_answer = -ENOMEM},
    {.vi_name = "misc_register", .vi_answer = -ENOMEM},
    {.vi_name = "kvmalloc_node", .vi_memory = true},
    {.vi_name = "__kvmalloc_node_noprof", .vi_memory = true},
};

static unsigned int seen, fail;
static bool memory;
static char failed[64];
module_param(memory, bool, 0644);
module_param_string(failed, failed, sizeof(failed), 0444);

/* One task loads a module at a time. */
static bool is_from_dfr(unsigned long address) {
	static char text[KSYM_SYMBOL_LEN];

	sprint_symbol(text, address);
	return strstr(text, "[dfr]");
}

/* A kprobe at a function's start may choose where to go on, but not what stands on the stack. */
void dfr_break_return(void);
asm(".text\n"
    ".type dfr_break_return, @function\n"
    ".globl dfr_break_return\n"
    "dfr_break_return:\n" ASM_ENDBR ASM_RET ".size dfr_break_return, .-dfr_break_return\n");

static int entered(struct kprobe* probe, struct pt_regs* regs) {
	struct victim* victim = container_of(probe, struct victim, vi_probe);
	const unsigned long* stack = (const unsigned long*)regs->sp;

	if (!fail || (victim->vi_memory && !memory) || strcmp(current->comm, "insmod") ||
	    !is_from_dfr(stack[0]) || ++seen != fail)
		return 0;
	strscpy(failed, victim->vi_name, sizeof(failed));
	regs->ax = victim->vi_answer;
	regs->ip = (unsigned long)dfr_break_return;
	return 1;
}
NOKPROBE_SYMBOL(entered);

/* Not before it is asked for: these kprobes are ftrace's, and it may be what is to be broken. */
static int set_fail(const char* text, const struct kernel_param* param) {
	struct victim* victim;

	failed[0] = 0;
	seen = 0;
	for (victim = victims; victim < victims + ARRAY_SIZE(victims); victim++) {
		victim->vi_probe.symbol_name = victim->vi_name;
		victim->vi_probe.pre_handler = entered;
		if (!victim->vi_watched)
			victim->vi_watched = !register_kprobe(&victim->vi_probe);
	}
	return param_set_uint(text, param);
}

static const struct kernel_param_ops fail_ops = {.set = set_fail, .get = param_get_uint};
module_param_cb(fail, &fail_ops, &fail, 0644);

static unsigned long address_of(const char* name) {
	struct kprobe probe = {.symbol_name = name};
	unsigned long address;

	if (register_kprobe(&probe))
		return 0;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return address;
}

static int set_ftrace(const char* text, const struct kernel_param* param) {
	void (*kill)(void) = (void (*)(void))address_of("ftrace_kill");

	if (!kill)
		return -ENOENT;
	kill();
	return 0;
}

static const struct kernel_param_ops ftrace_ops = {.set = set_ftrace};
module_param_cb(ftrace, &ftrace_ops, NULL, 0200);

/* Threads of their own, because who writes a parameter holds a lock of the module's. */
static int do_oops(void* unused) {
	return READ_ONCE(*(int*)8);
}

static int set_oops(const char* text, const struct kernel_param* param) {
	return PTR_ERR_OR_ZERO(kthread_run(do_oops, NULL, "dfr_oops"));
}

static const struct kernel_param_ops oops_ops = {.set = set_oops};
module_param_cb(oops, &oops_ops, NULL, 0200);

static int do_hang(void* seconds) {
	schedule_timeout_uninterruptible((long)seconds * HZ);
	module_put_and_kthread_exit(0);
}

static int set_hang(const char* text, const struct kernel_param* param) {
	unsigned int seconds;
	int error = kstrtouint(text, 0, &seconds);

	if (error)
		return error;
	__module_get(THIS_MODULE); /* until it has ended */
	error = PTR_ERR_OR_ZERO(kthread_run(do_hang, (void*)(long)seconds, "dfr_hang"));
	if (error)
		module_put(THIS_MODULE);
	return error;
}

static const struct kernel_param_ops hang_ops = {.set = set_hang};
module_param_cb(hang, &hang_ops, NULL, 0200);

static atomic_t faults;
static bool watches;

static void entered_to_fault(unsigned long ip, unsigned long parent, struct ftrace_ops* ops,
                             struct ftrace_regs* registers) {
	int left = 10000;

	if (!irqs_disabled() || in_interrupt() || atomic_dec_if_positive(&faults) < 0)
		return;
	/* All of them are inside before the first one is told. */
	while (atomic_read(&faults) > 0 && left--)
		mdelay(1);
	do_oops(NULL);
}

static struct ftrace_ops fault_ops = {.func = entered_to_fault};

static int set_fault(const char* text, const struct kernel_param* param) {
	char name[64] = "";
	int error, count = 1;

	sscanf(text, "%63s %d", name, &count);
	if (watches)
		unregister_ftrace_function(&fault_ops);
	error = ftrace_set_filter(&fault_ops, name, strlen(name), 1);
	if (!error)
		error = register_ftrace_function(&fault_ops);
	watches = !error;
	atomic_set(&faults, watches ? count : 0);
	return error;
}

static const struct kernel_param_ops fault_param_ops = {.set = set_fault};
module_param_cb(fault, &fault_param_ops, NULL, 0200);

/* Who loads it may try twice, by two system calls. */
static int module_event(struct notifier_block* block, unsigned long event, void* data) {
	const struct module* module = data;

	if (event == MODULE_STATE_COMING && !strcmp(module->name, "dfr"))
		seen = 0;
	return NOTIFY_DONE;
}

static struct notifier_block modules = {.notifier_call = module_event};

static int __init break_init(void) {
	return register_module_notifier(&modules);
}

static void __exit break_exit(void) {
	struct victim* victim;

	for (victim = victims; victim < victims + ARRAY_SIZE(victims); victim++)
		if (victim->vi_watched)
			unregister_kprobe(&victim->vi_probe);
	if (watches)
		unregister_ftrace_function(&fault_ops);
	unregister_module_notifier(&modules);
}

module_init(break_init);
module_exit(break_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Breaks what the D flight recorder stands on, for tests");
