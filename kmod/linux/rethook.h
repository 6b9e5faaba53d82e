/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool of return hooks: the kernel's own rethook, whose interface is not
 * exported and changed between versions. A hook replaces the return address of
 * the function that is being entered; its handler runs when the function
 * returns. The replaced address points into kernel text, so a pool may be freed
 * while functions still sleep inside.
 */
#ifndef DFR_KMOD_LINUX_RETHOOK_H
#define DFR_KMOD_LINUX_RETHOOK_H

#include <linux/types.h>

struct dfr_probe;
struct pt_regs;
struct dfr_return_pool;

/* Handler: probe context, preemption off. `cookie` is what dfr_return_hook() was given. */
typedef void (*dfr_return_handler)(void *cookie, struct pt_regs *regs);

/* Process context. -ENOENT: this kernel has no rethook; -ENOMEM. */
int dfr_return_pool_create(unsigned int nodes, dfr_return_handler handler,
			   struct dfr_return_pool **out);
/* Process context; waits until no handler of the pool runs. */
void dfr_return_pool_free(struct dfr_return_pool *pool);

enum dfr_hooked {
	DFR_HOOKED,
	DFR_HOOK_NESTED, /* inside the hooking of another function: the engine's own doing */
	/* losses: */
	DFR_HOOK_EMPTY,	   /* no node is free */
	DFR_HOOK_UNWATCHED /* RCU does not watch (an idle CPU), which a return's handler needs */
};

/* Probe context, at a function's entry, preemption off. */
enum dfr_hooked dfr_return_hook(struct dfr_return_pool *pool, void *cookie, struct pt_regs *regs);
/* Of what is a loss: counts it by its cause for the return's probe. */
void dfr_return_lost(enum dfr_hooked hooked, struct dfr_probe *probe);

#endif
