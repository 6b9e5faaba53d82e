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

#include <linux/compiler.h>
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

enum dfr_hooked dfr_return_try(struct dfr_return_pool *pool, void *cookie, struct pt_regs *regs);
void dfr_return_lost(enum dfr_hooked hooked, struct dfr_probe *probe);

/*
 * Probe context, at a function's entry, preemption off. What is lost is counted by
 * its cause for *probe, the return's, which is looked at only then (NULL: gone).
 */
static __always_inline void dfr_return_hook(struct dfr_return_pool *pool, void *cookie,
					    struct pt_regs *regs, struct dfr_probe *const *probe)
{
	enum dfr_hooked hooked = dfr_return_try(pool, cookie, regs);

	if (unlikely(hooked >= DFR_HOOK_EMPTY))
		dfr_return_lost(hooked, READ_ONCE(*probe));
}

#endif
