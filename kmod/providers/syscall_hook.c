// SPDX-License-Identifier: GPL-2.0
/*
 * System calls by their functions: one ftrace_ops on the functions of the few
 * calls that are traced, so that all other calls pay nothing. The same callback
 * hooks their returns with the kernel's rethook.
 *
 * syscall.c decides which calls are hooked here; a call fires from here or from
 * the places that all calls pass, never from both. A call that seccomp refuses or a
 * debugger skips never reaches its function, so it does not fire here. The child of
 * a fork does not return through the function, so its return does not fire here.
 */
#include "kmod/providers/syscall.h"

#include <linux/ftrace.h>
#include <linux/sched/task_stack.h>
#include "kmod/linux/hook.h"
#include "kmod/linux/rethook.h"

#define HOOK_RETURN_NODES 2048 /* calls that can be inside a return probe at once */

/*
 * The same for calls to whose return only users without privilege listen: a thread keeps its node as long as it stays in
 * the call, even when the state that wanted it has ended, and theirs must not be missing to others.
 */
#define HOOK_CONFINED_NODES 256

static struct rethook *hook_returns;
static struct rethook *hook_confined_returns;
static bool hook_registered;
static unsigned int hook_calls; /* in the filter of hook_ops */

/*
 * Asked at the entry, and whoever else listens, so that nobody else's call takes a node. A task that becomes its user's
 * own inside the call (by prctl(), say) has no return there. Where its entry is traced, the hook has been charged; not
 * so the question, if there are several to ask (pb_test).
 */
static noinline void hook_confined(struct dfr_syscall *call, struct pt_regs *regs)
{
	if (dfr_probe_seen(call->sy_return))
		dfr_return_hook(hook_confined_returns, call, regs, &call->sy_return);
	else if ((!READ_ONCE(call->sy_entry_armed) || !READ_ONCE(call->sy_return->pb_test)) &&
		 dfr_refusal_due())
		dfr_probe_refused(call->sy_return);
}

/*
 * Probe context. A system call's function has one argument: the registers of user space,
 * which hold the call's number. With any other argument it was not called for a system call.
 */
static __always_inline void entered(unsigned long ip, struct ftrace_ops *ops, struct pt_regs *regs)
{
	const struct pt_regs *user = task_pt_regs(current);
	enum abi abi = dfr_syscall_abi();
	struct dfr_syscall *call;
	u8 hooks;

	if (dfr_arch_syscall_regs(regs) != user)
		return;
	call = dfr_syscall_of(dfr_arch_syscall_number(user), abi);
	if (!call || !READ_ONCE(call->sy_hooked) || ip - call->sy_function[abi] >= SITE_BYTES)
		return;
	if (READ_ONCE(call->sy_entry_armed) == DFR_AT_FUNCTIONS && dfr_probe_wants(call->sy_entry))
		dfr_syscall_fire_entry(call, abi, regs);
	hooks = READ_ONCE(call->sy_hooks_returns);
	if (hooks == DFR_HOOKS_ALL)
		dfr_return_hook(hook_returns, call, regs, &call->sy_return);
	else if (hooks)
		hook_confined(call, regs);
}

DFR_FTRACE_CALLBACK(hook_enter, entered)

/* A thread may have been in the call for hours: by now the call may have moved to where all calls pass. */
static void hook_left(DFR_RETHOOK_HANDLER_ARGS)
{
	struct dfr_syscall *call = dfr_return_cookie(node);

	if (READ_ONCE(call->sy_return_armed) == DFR_AT_FUNCTIONS && dfr_probe_wants(call->sy_return))
		dfr_syscall_fire_return(call, regs_return_value(regs), regs);
}

static struct ftrace_ops hook_ops = {
	.func = hook_enter,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

/* With an empty filter ftrace would call hook_enter() for every function. */
static void unregister(void)
{
	if (hook_registered)
		hook_registered = dfr_ops_end(&hook_ops) != 0;
	else
		dfr_ops_reset(&hook_ops);
}

/* A call without arguments may have the same function in both ABIs, which must be in the filter only once. */
static bool has_function(const struct dfr_syscall *call, enum abi abi)
{
	return call->sy_function[abi] &&
	       (abi == ABI_NATIVE || call->sy_function[abi] != call->sy_function[ABI_NATIVE]);
}

static int filter(struct dfr_syscall *call, bool remove)
{
	enum abi abi;
	int error = 0;

	for (abi = 0; abi < ABI_MAX && (remove || !error); abi++)
		if (has_function(call, abi))
			error = ftrace_set_filter_ip(&hook_ops, call->sy_function[abi], remove, 0);
	return error;
}

/* Without the last call the filter would be empty: unregister() discards it as a whole. */
static void forget(struct dfr_syscall *call)
{
	call->sy_filtered = false;
	if (--hook_calls)
		filter(call, true);
	else
		unregister();
}

void dfr_syscall_hook_remove(struct dfr_syscall *call)
{
	if (call->sy_filtered)
		forget(call);
}

/* Whoever listens now: called after ECBs have been linked or unlinked. */
void dfr_syscall_hook_choose(struct dfr_syscall *call)
{
	enum dfr_hooks_returns hooks = DFR_HOOKS_NONE;

	if (call->sy_return_armed && call->sy_returns)
		hooks = call->sy_return->pb_unconfined ? DFR_HOOKS_ALL : DFR_HOOKS_CONFINED;
	WRITE_ONCE(call->sy_hooks_returns, hooks);
}

static int create_pools(void)
{
	int error = 0;

	if (!hook_returns)
		error = dfr_return_pool_create(HOOK_RETURN_NODES, hook_left, NULL, &hook_returns);
	if (!error && !hook_confined_returns)
		error = dfr_return_pool_create(HOOK_CONFINED_NODES, hook_left, NULL, &hook_confined_returns);
	return error;
}

/* On failure none of the call's functions stays hooked. */
int dfr_syscall_hook_add(struct dfr_syscall *call)
{
	int error;

	if (call->sy_filtered)
		return 0;
	error = create_pools();
	if (error)
		return error;
	call->sy_filtered = true;
	hook_calls++;
	error = filter(call, false);
	if (!error && !hook_registered) {
		error = dfr_ops_start(&hook_ops);
		hook_registered = !error;
	}
	if (error)
		forget(call);
	return error;
}

void dfr_syscall_hook_exit(void)
{
	if (hook_registered)
		unregister();
	if (hook_returns)
		dfr_return_pool_free(hook_returns);
	if (hook_confined_returns)
		dfr_return_pool_free(hook_confined_returns);
	hook_returns = hook_confined_returns = NULL;
}
