/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hook on a few kernel functions by name, for providers whose probes are not functions themselves
 * (a system call, the first run of a thread). Each hook has one ftrace_ops. While nobody uses it,
 * nothing is patched. Process context under the engine's lock; the handlers run in probe context.
 */
#ifndef DFR_KMOD_LINUX_HOOK_H
#define DFR_KMOD_LINUX_HOOK_H

#include <linux/ftrace.h>
#include <linux/preempt.h>
#include "kmod/linux/compat.h"

struct dfr_probe;

/*
 * Defines NAME, an ftrace callback that calls body(ip, ops, regs) with preemption off. A fully
 * preemptible kernel calls it with preemption on; but tables that are replaced are freed when all
 * sections without preemption are over, and return hooks must not move to another CPU.
 */
#define DFR_FTRACE_CALLBACK(name, body)                                                                      \
	static void name(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,                     \
			 struct ftrace_regs *fregs)                                                          \
	{                                                                                                    \
		preempt_disable_notrace();                                                                   \
		body(ip, ops, DFR_FTRACE_REGS(fregs));                                                       \
		preempt_enable_notrace();                                                                    \
	}

struct dfr_hook {
	const char *const
		*ho_names; /* NULL-terminated; those that exist are hooked. Each has a row in assumptions.h */
	void (*ho_enter)(struct dfr_hook *hook, struct pt_regs *regs);
	void (*ho_return)(void *cookie, struct pt_regs *regs); /* or NULL */
	unsigned int ho_users;				       /* armed probes that it serves */

	struct ftrace_ops ho_ops;
	struct rethook *ho_returns;
	bool ho_registered;
};

/* Clears the filter of ops that are no longer registered, so that they can be registered again. */
void dfr_ops_reset(struct ftrace_ops *ops);

int dfr_ops_start(struct ftrace_ops *ops);
/*
 * Unregisters and resets. -ENODEV: ftrace has switched itself off after an error of its own and
 * removes nothing any more. Then patched functions go on calling these ops for as long as the
 * machine runs, so the ops, what they point to and the module's code must stay (dfr_code_stays()).
 * The caller goes on treating the ops as registered.
 */
int dfr_ops_end(struct ftrace_ops *ops);

/*
 * Process context. The kernel cannot be made to stop calling this module: from here on unloading it
 * is refused.
 */
void dfr_code_stays(void);
/*
 * Calls dfr_code_stays() if ftrace has switched itself off while it calls this module, before
 * anybody unloads it.
 */
void dfr_hooks_watch(void);
/*
 * Called in the module's exit, where it is too late to refuse: if the code must stay, this does not
 * return.
 */
void dfr_hooks_settle(void);

/* How many of the hook's functions this kernel has. */
unsigned int dfr_hook_exists(const struct dfr_hook *hook);
/* Registers the hook if ho_users is not 0, else unregisters it. */
int dfr_hook_update(struct dfr_hook *hook);
/* Called by ho_enter: makes ho_return run when this call returns, or counts a loss for that probe. */
void dfr_hook_return(struct dfr_hook *hook, void *cookie, struct pt_regs *regs,
		     struct dfr_probe *const *probe);
/* At unload, after the last update. */
void dfr_hook_free(struct dfr_hook *hook);

#endif
