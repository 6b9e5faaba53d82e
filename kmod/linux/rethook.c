// SPDX-License-Identifier: GPL-2.0
/*
 * Return hooks over the kernel's rethook (rethook.h explains them). Its functions are found by name
 * and called by static calls. What rethook does at each function's entry is done here instead,
 * inlined, with the kernel's own inlines for its pools. Up to 6.6 the pool's owner adds nodes one by
 * one, and the kernel frees them with kfree(), so each must be a kmalloc of its own that begins with
 * its rethook_node. From 6.7 on rethook keeps them in an objpool.
 */
#include "kmod/linux/rethook.h"

#include "formats/abi/block.h"
#include "kmod/engine/platform.h"
#include "kmod/engine/provider.h"

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include "kmod/linux/compat.h"
#include "kmod/linux/assume.h"

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

unsigned long dfr_return_trampoline;

static int resolve_all(void)
{
	dfr_return_trampoline = dfr_kernel(arch_rethook_trampoline);
	if (!dfr_return_trampoline || dfr_call_kernel(dfr_rethook_alloc, rethook_alloc) ||
	    dfr_call_kernel(dfr_rethook_free, rethook_free))
		return -ENOENT;
#if DFR_RETHOOK_OWN_NODES
	if (dfr_call_kernel(dfr_rethook_add_node, rethook_add_node))
		return -ENOENT;
#endif
	return 0;
}

#if DFR_RETHOOK_OWN_NODES
static struct rethook *allocate(unsigned int nodes, rethook_handler_t handler, void *data)
{
	struct rethook *pool = static_call(dfr_rethook_alloc)(data, handler);

	while (pool && nodes--) {
		struct dfr_return_node *node = kzalloc(sizeof(*node), DFR_GFP_SHARED);

		if (!node) {
			static_call(dfr_rethook_free)(pool);
			return NULL;
		}
		static_call(dfr_rethook_add_node)(pool, &node->rn_node);
	}
	return pool;
}
#else
static struct rethook *allocate(unsigned int nodes, rethook_handler_t handler, void *data)
{
	return static_call(dfr_rethook_alloc)(data, handler, sizeof(struct dfr_return_node), nodes);
}
#endif

int dfr_return_pool_create(unsigned int nodes, rethook_handler_t handler, void *data, struct rethook **out)
{
	struct rethook *pool;
	int error = resolve_all();

	if (error)
		return error;
	pool = allocate(nodes, handler, data);
	if (IS_ERR_OR_NULL(pool))
		return -ENOMEM;
	*out = pool;
	return 0;
}

void dfr_return_pool_free(struct rethook *pool)
{
	static_call(dfr_rethook_free)(pool);
	/* rethook_free() has cleared the handler; when this returns, no CPU is inside it any more. */
	dfr_plat_synchronize();
}

#if DFR_RETHOOK_OWN_NODES
static struct rethook_node *search_node(struct rethook *pool)
{
	return NULL;
}
#else
static struct rethook_node *search_node(struct rethook *pool)
{
	return objpool_pop(&pool->pool);
}
#endif

/*
 * One bit for each interrupt level of this CPU: set while search() looks for a node. That calls
 * functions that may be traced themselves, so with all functions armed it would never end.
 */
static DEFINE_PER_CPU(u8, hooking);

static struct rethook_node *search(struct rethook *pool)
{
	u8 mine = 1 << dfr_plat_level();
	struct rethook_node *node;

	raw_cpu_or(hooking, mine);
	node = search_node(pool);
	raw_cpu_and(hooking, ~mine);
	return node;
}

static void lost(u32 cause, struct dfr_probe *const *probe)
{
	struct dfr_probe *listens = READ_ONCE(*probe);

	if (listens)
		dfr_probe_lost(listens, cause);
}

struct rethook dfr_return_none;

#if DFR_RETHOOK_OWN_NODES
int dfr_return_none_init(void)
{
	return 0;
}

void dfr_return_none_exit(void)
{
}
#else
static struct objpool_slot no_objects;

int dfr_return_none_init(void)
{
	struct objpool_slot **slots = kcalloc(nr_cpu_ids, sizeof(*slots), DFR_GFP_SHARED);
	unsigned int cpu;

	if (!slots)
		return -ENOMEM;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		slots[cpu] = &no_objects;
	dfr_return_none.pool.cpu_slots = slots;
	return 0;
}

void dfr_return_none_exit(void)
{
	kfree(dfr_return_none.pool.cpu_slots);
}
#endif

/*
 * The slow path of dfr_return_hook(): an idle task, an NMI, or no free node in this CPU's part of
 * the pool.
 */
void dfr_return_hook_other(struct rethook *pool, void *cookie, struct pt_regs *regs,
			   struct dfr_probe *const *probe)
{
	struct rethook_node *node;

	if (is_idle_task(current) && !rcu_is_watching()) {
		lost(DFR_LOSS_RCU_IDLE, probe);
		return;
	}
	if (!DFR_RETHOOK_OWN_NODES && in_nmi()) {
		lost(DFR_LOSS_NMI, probe);
		return;
	}
	node = dfr_return_take(pool);
	if (!node && pool != &dfr_return_none) {
		if (raw_cpu_read(hooking) & 1 << dfr_plat_level())
			return; /* the engine's own doing */
		node = search(pool);
	}
	if (node)
		dfr_return_divert(node, cookie, regs);
	else
		lost(DFR_LOSS_RETURN_POOL, probe);
}
