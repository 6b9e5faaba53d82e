// SPDX-License-Identifier: GPL-2.0
/*
 * Visits: process context runs a function on a CPU as the writer of that CPU's shares.
 * Only that CPU may write them, and one firing at a time: pc_busy keeps others out, so
 * a visit sets it too. A hit from an NMI during the visit, or from a traced function
 * that the visit calls, then finds pc_busy set and is counted as nested.
 *
 * For a CPU that is offline, the function runs on the caller's CPU; the platform keeps
 * the other one offline meanwhile.
 */
#include "kmod/engine/recording/store.h"

struct visit {
	struct dfr_cpu *vi_cpu;
	void (*vi_fn)(void *arg);
	void *vi_arg;
};

/* Interrupts off. */
static void as_writer(void *arg)
{
	struct visit *visit = arg;

	dfr_cpu_enter(visit->vi_cpu);
	visit->vi_fn(visit->vi_arg);
	dfr_cpu_leave(visit->vi_cpu);
}

void dfr_visit_cpu(struct dfr_engine *engine, u32 cpu, void (*fn)(void *arg), void *arg)
{
	struct visit visit = { .vi_cpu = dfr_cpu_of(engine, cpu), .vi_fn = fn, .vi_arg = arg };

	dfr_plat_on_cpu(engine, cpu, as_writer, &visit);
}

u64 dfr_cpu_stamp(const struct dfr_engine *engine, u32 cpu)
{
	return dfr_read_once(&dfr_cpu_of(engine, cpu)->pc_stamp);
}

/* A firing sets pc_busy first and then counts pc_stamp up, so the one at `stamp` may be stamp + 1 by now. */
bool dfr_cpu_still(const struct dfr_engine *engine, u32 cpu, u64 stamp)
{
	const struct dfr_cpu *pc = dfr_cpu_of(engine, cpu);

	return dfr_read_once(&pc->pc_busy) && dfr_read_once(&pc->pc_stamp) - stamp <= 1;
}

/* On the share's CPU. */
static void tell(void *arg)
{
	const struct dfr_untold *loss = arg;
	struct dfr_share *share = loss->un_share;

	dfr_count(&share->sh_loss[loss->un_cause], loss->un_count);
	dfr_count(&share->sh_lost, loss->un_count);
	dfr_ledger(share, loss->un_cause, loss->un_probe, loss->un_count, loss->un_from, loss->un_to);
}

void dfr_tell_loss(struct dfr_untold *loss)
{
	if (loss->un_count)
		dfr_visit_cpu(loss->un_share->sh_state->st_engine, loss->un_share->sh_cpu, tell, loss);
}
