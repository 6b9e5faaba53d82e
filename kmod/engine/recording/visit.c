// SPDX-License-Identifier: GPL-2.0
/*
 * Visits: process context runs a function on a CPU as the writer of that CPU's shares.
 * Only that CPU may write them, and one firing at a time: pc_busy keeps others out, so
 * a visit sets it too. A hit from an NMI during the visit, or from a traced function
 * that the visit calls, then finds pc_busy set and is counted as nested.
 *
 * For a CPU that is offline, the function runs on the caller's CPU; the platform keeps
 * the other one offline meanwhile.
 *
 * A hold is a visit of the CPU that it runs on, which may find a firing under way: of a machine
 * that dies inside one.
 *
 * The kernel may oops inside a firing and live on. Then the task of that firing is dead, and the guard of
 * its CPU stays taken (pc_dead): what the firing has left half done, no other firing must find. Visits go on
 * there, so what was committed can be read and the states end.
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
	if (!dfr_read_once(&visit->vi_cpu->pc_dead))
		dfr_cpu_leave(visit->vi_cpu);
}

void dfr_visit_cpu(struct dfr_engine *engine, u32 cpu, void (*fn)(void *arg), void *arg)
{
	struct visit visit = { .vi_cpu = dfr_cpu_of(engine, cpu), .vi_fn = fn, .vi_arg = arg };

	dfr_plat_on_cpu(engine, cpu, as_writer, &visit);
}

/* What stands in pc_firing is the firing's that was interrupted, and a nested hit asks it for the level alone. */
void dfr_cpu_hold(const struct dfr_engine *engine, u32 level, struct dfr_hold *hold)
{
	struct dfr_cpu *pc = dfr_this_cpu(engine);
	struct dfr_firing *firing = &pc->pc_firing;

	hold->he_fires = dfr_read_once(&pc->pc_busy);
	dfr_cpu_enter(pc);
	hold->he_flags = firing->fr_flags;
	hold->he_level = firing->fr_context.cx_level;
	firing->fr_context.cx_level = level;
	dfr_smp_wmb();
	firing->fr_flags |= DFR_FR_CONTEXT;
	dfr_smp_wmb();
}

void dfr_cpu_unhold(const struct dfr_engine *engine, const struct dfr_hold *hold)
{
	struct dfr_cpu *pc = dfr_this_cpu(engine);
	struct dfr_firing *firing = &pc->pc_firing;

	firing->fr_flags = hold->he_flags;
	dfr_smp_wmb();
	firing->fr_context.cx_level = hold->he_level;
	if (!hold->he_fires)
		dfr_cpu_leave(pc);
}

/*
 * The kernel tells of an oops long after it: it prints first. The dead firing's own time may not have been asked for,
 * but it is not before that of the CPU's last one.
 */
void dfr_cpu_abandon(struct dfr_engine *engine)
{
	struct dfr_cpu *pc = dfr_this_cpu(engine);
	u64 unknown = pc->pc_last ? pc->pc_last : 1; /* 1: none of its firings had a time */

	dfr_write_once(&pc->pc_dead, 1u);
	if (!engine->en_broken || unknown < engine->en_broken)
		dfr_store_release(&engine->en_broken, unknown);
}

u64 dfr_engine_broken(const struct dfr_engine *engine)
{
	return dfr_load_acquire(&engine->en_broken);
}

u64 dfr_cpu_stamp(const struct dfr_engine *engine, u32 cpu)
{
	return dfr_read_once(&dfr_cpu_of(engine, cpu)->pc_stamp);
}

/* A firing sets pc_busy first and then counts pc_stamp up, so the one at `stamp` may be stamp + 1 by now. */
bool dfr_cpu_still(const struct dfr_engine *engine, u32 cpu, u64 stamp)
{
	const struct dfr_cpu *pc = dfr_cpu_of(engine, cpu);

	return dfr_read_once(&pc->pc_busy) && !dfr_read_once(&pc->pc_dead) &&
	       dfr_read_once(&pc->pc_stamp) - stamp <= 1;
}

/* On the share's CPU. */
static void tell(void *arg)
{
	const struct dfr_untold *loss = arg;
	struct dfr_share *share = loss->un_share;

	dfr_count_lost(share, loss->un_cause, loss->un_count);
	dfr_ledger(share, loss->un_cause, loss->un_probe, loss->un_count, loss->un_from, loss->un_to);
}

void dfr_tell_loss(struct dfr_untold *loss)
{
	if (loss->un_count)
		dfr_visit_cpu(loss->un_share->sh_state->st_engine, loss->un_share->sh_cpu, tell, loss);
}
