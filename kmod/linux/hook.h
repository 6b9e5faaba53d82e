/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hook on a few kernel functions by name, for providers whose probes are not
 * functions themselves (a system call, the first run of a thread). One
 * ftrace_ops a hook. Nothing is patched while nobody uses it. Process context
 * under the engine's lock; the handlers are probe context.
 */
#ifndef DFR_KMOD_LINUX_HOOK_H
#define DFR_KMOD_LINUX_HOOK_H

#include <linux/ftrace.h>
#include <linux/preempt.h>
#include "kmod/linux/compat.h"

struct dfr_probe;

/*
 * NAME, an ftrace callback that calls body(ip, ops, regs) with preemption off: a
 * fully preemptible kernel calls it with preemption on, but tables that are being
 * replaced wait for sections without, and return hooks must not move to another CPU.
 */
#define DFR_FTRACE_CALLBACK(name, body)                                                            \
	static void name(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,           \
			 struct ftrace_regs *fregs)                                                \
	{                                                                                          \
		preempt_disable_notrace();                                                         \
		body(ip, ops, DFR_FTRACE_REGS(fregs));                                             \
		preempt_enable_notrace();                                                          \
	}

struct dfr_hook {
	const char *const *hk_names; /* NULL-terminated; those that exist are hooked */
	void (*hk_enter)(struct dfr_hook *hook, struct pt_regs *regs);
	void (*hk_return)(void *cookie, struct pt_regs *regs); /* or NULL */
	unsigned int hk_users; /* armed probes that it serves */

	struct ftrace_ops hk_ops;
	struct rethook *hk_returns;
	bool hk_registered;
};

/* Of ops that are no longer registered: they have no filter, and can be registered again. */
void dfr_ops_reset(struct ftrace_ops *ops);

/* How many of its functions this kernel has. */
unsigned int dfr_hook_exists(const struct dfr_hook *hook);
/* Registers or unregisters, as hk_users says. */
int dfr_hook_update(struct dfr_hook *hook);
/* From hk_enter: run hk_return when this call returns, or count a loss for that probe. */
void dfr_hook_return(struct dfr_hook *hook, void *cookie, struct pt_regs *regs,
		     struct dfr_probe *const *probe);
/* At unload, after the last update. */
void dfr_hook_free(struct dfr_hook *hook);

#endif
