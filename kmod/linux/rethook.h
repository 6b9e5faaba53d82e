/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool of return hooks: the kernel's own rethook, whose interface is not exported and has changed
 * between versions. A hook replaces the return address of the function that is being entered; its
 * handler runs when the function returns. The replacement is an address in the kernel's text, so a
 * pool may be freed while tasks still sleep in hooked functions.
 */
#ifndef DFR_KMOD_LINUX_RETHOOK_H
#define DFR_KMOD_LINUX_RETHOOK_H

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "formats/abi/block.h"
#include "kmod/linux/arch.h"
#include "kmod/linux/compat.h"

struct dfr_probe;
struct pt_regs;

struct dfr_return_node {
	struct rethook_node rn_node; /* first: core code frees the node's address */
	void *rn_cookie;
};

/* For a handler (compat.h): the cookie that dfr_return_hook() was given. */
static __always_inline void *dfr_return_cookie(struct rethook_node *node)
{
	return container_of(node, struct dfr_return_node, rn_node)->rn_cookie;
}

/*
 * Process context. The handler runs in probe context with preemption off. Returns 0, -ENOENT (this
 * kernel has no rethook) or -ENOMEM.
 */
int dfr_return_pool_create(unsigned int nodes, rethook_handler_t handler, void *data, struct rethook **out);
/* Process context; waits until no handler of the pool runs. */
void dfr_return_pool_free(struct rethook *pool);

/*
 * A pool that never has a node, so every return hooked with it is counted as lost. It takes the
 * place of a pool while functions are entered that will not return (suspend).
 */
extern struct rethook dfr_return_none;
int dfr_return_none_init(void); /* process context, before anybody uses it */
void dfr_return_none_exit(void);

extern unsigned long dfr_return_trampoline; /* where hooked functions return to */
void dfr_return_hook_other(struct rethook *pool, void *cookie, struct pt_regs *regs,
			   struct dfr_probe *const *probe);

/* As the kernel's rethook_try_get(). */
static __always_inline struct rethook_node *dfr_return_take(struct rethook *pool)
{
#if DFR_RETHOOK_OWN_NODES
	struct freelist_node *node = freelist_try_get(&pool->pool);

	return node ? container_of(node, struct rethook_node, freelist) : NULL;
#else
	/*
	 * Takes from this CPU's part. Other CPUs may take from it at the same time, so it is safe in
	 * an interrupt, too.
	 */
	return __objpool_try_get_slot(&pool->pool, raw_smp_processor_id());
#endif
}

static __always_inline void dfr_return_divert(struct rethook_node *node, void *cookie, struct pt_regs *regs)
{
	container_of(node, struct dfr_return_node, rn_node)->rn_cookie = cookie;
	dfr_arch_divert_return(node, regs, dfr_return_trampoline);
}

/*
 * Probe context, at a function's entry, preemption off. Three kinds of returns are not hooked but
 * counted as lost, by cause: no node is free; RCU does not watch on an idle CPU, but the handler
 * needs it; an NMI, which may have come while the kernel was giving a node back to an objpool. They
 * are counted for *probe, the return's probe, which is read only then (NULL: it has gone).
 */
static __always_inline void dfr_return_hook(struct rethook *pool, void *cookie, struct pt_regs *regs,
					    struct dfr_probe *const *probe)
{
	struct rethook_node *node = NULL;

	if (likely(!is_idle_task(current) && (DFR_RETHOOK_OWN_NODES || !in_nmi())))
		node = dfr_return_take(pool);
	if (likely(node))
		dfr_return_divert(node, cookie, regs);
	else
		dfr_return_hook_other(pool, cookie, regs, probe);
}

#endif
