// SPDX-License-Identifier: GPL-2.0
/*
 * Return hooks over the kernel's rethook (rethook.h says what they are). Its
 * functions are found by name and called by static calls. Up to 6.6 the owner
 * adds nodes one by one, and core code frees them with kfree(): each must be a
 * kmalloc of its own with the rethook_node first. From 6.7 on rethook keeps
 * them in an objpool.
 */
#include "kmod/linux/rethook.h"

#include "formats/abi/block.h"
#include "kmod/engine/platform.h"
#include "kmod/engine/provider.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include "kmod/linux/compat.h"
#include "kmod/linux/resolve.h"

struct dfr_return_pool {
	struct rethook *rp_rethook;
	dfr_return_handler rp_handler;
};

struct dfr_return_node {
	struct rethook_node rn_node; /* first: core code frees the node's address */
	void *rn_cookie;
};

static struct rethook_node *no_try_get(struct rethook *rh)
{
	return NULL;
}

static void no_hook(struct rethook_node *node, struct pt_regs *regs, bool mcount)
{
}

static void no_free(struct rethook *rh)
{
}

#if DFR_RETHOOK_OWN_NODES
static struct rethook *no_alloc(void *data, rethook_handler_t handler)
{
	return NULL;
}

static void no_add(struct rethook *rh, struct rethook_node *node)
{
}
DEFINE_STATIC_CALL(dfr_rethook_add_node, no_add);
#else
static struct rethook *no_alloc(void *data, rethook_handler_t handler, int size, int num)
{
	return NULL;
}
#endif
DEFINE_STATIC_CALL(dfr_rethook_alloc, no_alloc);
DEFINE_STATIC_CALL(dfr_rethook_free, no_free);
DEFINE_STATIC_CALL(dfr_rethook_try_get, no_try_get);
DEFINE_STATIC_CALL(dfr_rethook_hook, no_hook);

static int resolve_all(void)
{
	if (dfr_resolve_call(dfr_rethook_alloc, "rethook_alloc") ||
	    dfr_resolve_call(dfr_rethook_free, "rethook_free") ||
	    dfr_resolve_call(dfr_rethook_try_get, "rethook_try_get") ||
	    dfr_resolve_call(dfr_rethook_hook, "rethook_hook"))
		return -ENOENT;
#if DFR_RETHOOK_OWN_NODES
	if (dfr_resolve_call(dfr_rethook_add_node, "rethook_add_node"))
		return -ENOENT;
#endif
	return 0;
}

static void handle_return(DFR_RETHOOK_HANDLER_ARGS)
{
	struct dfr_return_pool *pool = data;

	pool->rp_handler(container_of(node, struct dfr_return_node, rn_node)->rn_cookie, regs);
}

#if DFR_RETHOOK_OWN_NODES
static int allocate(struct dfr_return_pool *pool, unsigned int nodes)
{
	pool->rp_rethook = static_call(dfr_rethook_alloc)(pool, handle_return);
	if (!pool->rp_rethook)
		return -ENOMEM;
	while (nodes--) {
		struct dfr_return_node *node = kzalloc(sizeof(*node), GFP_KERNEL);

		if (!node) {
			static_call(dfr_rethook_free)(pool->rp_rethook);
			return -ENOMEM;
		}
		static_call(dfr_rethook_add_node)(pool->rp_rethook, &node->rn_node);
	}
	return 0;
}
#else
static int allocate(struct dfr_return_pool *pool, unsigned int nodes)
{
	pool->rp_rethook = static_call(dfr_rethook_alloc)(pool, handle_return,
							  sizeof(struct dfr_return_node), nodes);
	return IS_ERR_OR_NULL(pool->rp_rethook) ? -ENOMEM : 0;
}
#endif

int dfr_return_pool_create(unsigned int nodes, dfr_return_handler handler,
			   struct dfr_return_pool **out)
{
	struct dfr_return_pool *pool;
	int error = resolve_all();

	if (error)
		return error;
	pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	if (!pool)
		return -ENOMEM;
	pool->rp_handler = handler;
	error = allocate(pool, nodes);
	if (error) {
		kfree(pool);
		return error;
	}
	*out = pool;
	return 0;
}

void dfr_return_pool_free(struct dfr_return_pool *pool)
{
	static_call(dfr_rethook_free)(pool->rp_rethook);
	/* rethook_free() took the handler away: after this nobody is inside it. */
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
	kfree(pool);
}

/*
 * One bit for each interrupt level of a CPU: taking a node calls functions that
 * may be traced themselves, and with all functions armed that would never end.
 */
static DEFINE_PER_CPU(u8, hooking);

enum dfr_hooked dfr_return_try(struct dfr_return_pool *pool, void *cookie, struct pt_regs *regs)
{
	u8 mine = 1 << dfr_plat_level();
	struct rethook_node *node;

	if (unlikely(raw_cpu_read(hooking) & mine))
		return DFR_HOOK_NESTED;
	if (unlikely(is_idle_task(current)) && !rcu_is_watching())
		return DFR_HOOK_UNWATCHED;
	raw_cpu_or(hooking, mine);
	node = static_call(dfr_rethook_try_get)(pool->rp_rethook);
	if (likely(node)) {
		container_of(node, struct dfr_return_node, rn_node)->rn_cookie = cookie;
		static_call(dfr_rethook_hook)(node, regs, true);
	}
	raw_cpu_and(hooking, ~mine);
	return likely(node) ? DFR_HOOKED : DFR_HOOK_EMPTY;
}

void dfr_return_lost(enum dfr_hooked hooked, struct dfr_probe *probe)
{
	if (probe)
		dfr_probe_lost(probe, hooked == DFR_HOOK_EMPTY ? DFR_LOSS_RETURN_POOL : DFR_LOSS_RCU_IDLE);
}
