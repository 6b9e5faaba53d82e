// SPDX-License-Identifier: GPL-2.0
/*
 * Others on a function that dfr.ko traces: a kretprobe and an ftrace_ops on the
 * system call getpgid, each counting what one process does. It needs nothing of
 * dfr.ko. In /sys/module/dfr_beside/parameters:
 *
 *   who PID        whose calls are counted; it must make them in one thread
 *   ops 0|1        whether the ftrace_ops is registered
 *   kretprobe 0|1  whether the kretprobe is
 *   ops_calls      (read) what the former has counted
 *   kretprobe_calls, kretprobe_returns
 *                  (read) what the latter has; its missed calls are in neither
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/string.h>

#define FUNCTION "__x64_sys_getpgid"

static int who;
static unsigned long ops_calls, kretprobe_calls, kretprobe_returns;
module_param(who, int, 0644);
module_param(ops_calls, ulong, 0444);
module_param(kretprobe_calls, ulong, 0444);
module_param(kretprobe_returns, ulong, 0444);

static void on_call(unsigned long ip, unsigned long parent, struct ftrace_ops* ops,
                    struct ftrace_regs* regs) {
	if (current->tgid == who)
		ops_calls++;
}

static struct ftrace_ops ops = {.func = on_call};

static int kretprobe_entered(struct kretprobe_instance* instance, struct pt_regs* regs) {
	if (current->tgid == who)
		kretprobe_calls++;
	return 0;
}

static int kretprobe_left(struct kretprobe_instance* instance, struct pt_regs* regs) {
	if (current->tgid == who)
		kretprobe_returns++;
	return 0;
}

static struct kretprobe kretprobe;

static int start_ops(void) {
	return register_ftrace_function(&ops);
}

static void end_ops(void) {
	unregister_ftrace_function(&ops);
}

/* One that was registered before is not clean. */
static int start_kretprobe(void) {
	memset(&kretprobe, 0, sizeof(kretprobe));
	kretprobe.kp.symbol_name = FUNCTION;
	kretprobe.entry_handler = kretprobe_entered;
	kretprobe.handler = kretprobe_left;
	kretprobe.maxactive = 64;
	return register_kretprobe(&kretprobe);
}

static void end_kretprobe(void) {
	unregister_kretprobe(&kretprobe);
}

static struct party {
	int (*pa_start)(void);
	void (*pa_end)(void);
	bool pa_on;
} parties[] = {{start_ops, end_ops}, {start_kretprobe, end_kretprobe}};

static int set_party(const char* text, const struct kernel_param* param) {
	struct party* party = param->arg;
	bool wanted;
	int error = kstrtobool(text, &wanted);

	if (error || wanted == party->pa_on)
		return error;
	if (wanted)
		error = party->pa_start();
	else
		party->pa_end();
	if (!error)
		party->pa_on = wanted;
	return error;
}

static const struct kernel_param_ops party_ops = {.set = set_party};
module_param_cb(ops, &party_ops, &parties[0], 0200);
module_param_cb(kretprobe, &party_ops, &parties[1], 0200);

/* The filter stays for as long as the module does: its hashes are left dangling where it is freed. */
static int __init beside_init(void) {
	return ftrace_set_filter(&ops, (unsigned char*)FUNCTION, strlen(FUNCTION), 1);
}

static void __exit beside_exit(void) {
	struct party* party;

	for (party = parties; party < parties + ARRAY_SIZE(parties); party++)
		if (party->pa_on)
			party->pa_end();
	ftrace_free_filter(&ops);
}

module_init(beside_init);
module_exit(beside_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Others on a function that the D flight recorder traces, for tests");
