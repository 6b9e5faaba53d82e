// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks on functions by name (hook.h). ftrace calls the handler at the function's entry, in probe
 * context.
 */
#include "kmod/linux/hook.h"

#include <linux/errno.h>
#include <linux/freezer.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/rethook.h"

#define HOOK_RETURN_NODES 1024

static __always_inline void entered(unsigned long ip, struct ftrace_ops *ops, struct pt_regs *regs)
{
	struct dfr_hook *hook = container_of(ops, struct dfr_hook, ho_ops);

	hook->ho_enter(hook, regs);
}
DFR_FTRACE_CALLBACK(enter, entered)

static void left(DFR_RETHOOK_HANDLER_ARGS)
{
	struct dfr_hook *hook = data;

	hook->ho_return(dfr_return_cookie(node), regs);
}

void dfr_hook_return(struct dfr_hook *hook, void *cookie, struct pt_regs *regs,
		     struct dfr_probe *const *probe)
{
	dfr_return_hook(hook->ho_returns, cookie, regs, probe);
}

unsigned int dfr_hook_exists(const struct dfr_hook *hook)
{
	unsigned int i, n = 0;

	for (i = 0; hook->ho_names[i]; i++)
		n += dfr_hooked_address(hook->ho_names[i]) != 0;
	return n;
}

static int set_filter(struct dfr_hook *hook)
{
	unsigned int i, n = 0;
	int error;

	for (i = 0; hook->ho_names[i]; i++) {
		unsigned long address = dfr_hooked_address(hook->ho_names[i]);

		if (!address)
			continue;
		error = ftrace_set_filter_ip(&hook->ho_ops, address, 0, 0);
		if (!error)
			n++;
		else if (error != -EINVAL) /* that: no patch site; the hook's other functions still serve */
			return error;
	}
	return n ? 0 : -ENOENT;
}

static bool stays;
static atomic_t registered; /* ops of ours that ftrace has */

/*
 * ftrace_free_filter() leaves pointers to the freed hashes in the ops, so they are cleared and set
 * up anew.
 */
void dfr_ops_reset(struct ftrace_ops *ops)
{
	ftrace_func_t func = ops->func;

	if (stays)
		return; /* it may be in use yet */
	ftrace_free_filter(ops);
	memset(ops, 0, sizeof(*ops));
	ops->func = func;
	ops->flags = FTRACE_OPS_FL_PERMANENT;
}

void dfr_code_stays(void)
{
	if (xchg(&stays, true))
		return;
	if (try_module_get(THIS_MODULE))
		pr_err("dfr: the kernel keeps this module's hooks: the module cannot be unloaded "
		       "before the next reboot\n");
}

/* Has ftrace switched itself off after an error of its own? */
static bool ftrace_ended(void)
{
	static const int *disabled;
	static bool looked;

	if (!looked)
		disabled = (const int *)dfr_kernel(ftrace_disabled);
	looked = true;
	return disabled && READ_ONCE(*disabled);
}

/* If ftrace switches itself off during this registration, it may have patched sites already. */
int dfr_ops_start(struct ftrace_ops *ops)
{
	bool before = ftrace_ended();
	int error = register_ftrace_function(ops);

	if (!error)
		atomic_inc(&registered);
	else if (!before && ftrace_ended())
		dfr_code_stays();
	return error;
}

int dfr_ops_end(struct ftrace_ops *ops)
{
	int error = unregister_ftrace_function(ops);

	if (error) {
		dfr_code_stays();
		return error;
	}
	atomic_dec(&registered);
	dfr_ops_reset(ops);
	return 0;
}

void dfr_hooks_watch(void)
{
	if (ftrace_ended() && atomic_read(&registered))
		dfr_code_stays();
}

/*
 * The task of rmmod sleeps here for good, in a state that counts neither as load nor as a hang and
 * lets the machine be suspended.
 */
void dfr_hooks_settle(void)
{
	if (!stays)
		return;
	pr_err("dfr: ftrace goes on calling this module, which therefore stays; rmmod does not return\n");
	for (;;) {
		set_current_state(TASK_IDLE | TASK_FREEZABLE);
		schedule();
	}
}

static int start(struct dfr_hook *hook)
{
	int error;

	if (hook->ho_return && !hook->ho_returns && dfr_part_works(DFR_PART_RETURNS)) {
		error = dfr_return_pool_create(HOOK_RETURN_NODES, left, hook, &hook->ho_returns);
		if (error)
			return error;
	}
	hook->ho_ops.func = enter;
	hook->ho_ops.flags = FTRACE_OPS_FL_PERMANENT;
	error = set_filter(hook);
	if (!error)
		error = dfr_ops_start(&hook->ho_ops);
	if (error)
		dfr_ops_reset(&hook->ho_ops);
	return error;
}

int dfr_hook_update(struct dfr_hook *hook)
{
	bool wanted = hook->ho_users > 0;
	int error = 0;

	if (wanted == hook->ho_registered)
		return 0;
	if (wanted)
		error = start(hook);
	else
		error = dfr_ops_end(&hook->ho_ops);
	if (!error)
		hook->ho_registered = wanted;
	return error;
}

void dfr_hook_free(struct dfr_hook *hook)
{
	if (hook->ho_returns)
		dfr_return_pool_free(hook->ho_returns);
	hook->ho_returns = NULL;
}
