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
		*hk_names; /* NULL-terminated; those that exist are hooked. Each has a row in assumptions.h */
	void (*hk_enter)(struct dfr_hook *hook, struct pt_regs *regs);
	void (*hk_return)(void *cookie, struct pt_regs *regs); /* or NULL */
	unsigned int hk_users;				       /* armed probes that it serves */

	struct ftrace_ops hk_ops;
	struct rethook *hk_returns;
	bool hk_registered;
};

/* Of ops that are no longer registered: they have no filter, and can be registered again. */
void dfr_ops_reset(struct ftrace_ops *ops);

int dfr_ops_start(struct ftrace_ops *ops);
/*
 * Unregisters and resets. -ENODEV: ftrace has switched itself off after an error of its
 * own and takes nothing out any more. The sites go on calling these ops for as long as
 * the machine runs: they, what they reach and the module's code stay (dfr_code_stays()).
 * The caller goes on treating them as registered.
 */
int dfr_ops_end(struct ftrace_ops *ops);

/* Process context. The kernel goes on calling this module, whatever it is told: unloading is refused from here on. */
void dfr_code_stays(void);
/* If ftrace has switched itself off while it calls this module: the same, before anybody unloads it. */
void dfr_hooks_watch(void);
/* In the module's exit, where it is too late to refuse: does not return if the code must stay. */
void dfr_hooks_settle(void);

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
