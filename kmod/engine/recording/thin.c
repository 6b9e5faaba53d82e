// SPDX-License-Identifier: GPL-2.0
/*
 * Thinning: which clauses go first when a state's budget is short. A clause has a priority (enum
 * dfr_priority). Those below the highest that the state has leave a reserve of its credit to the ones
 * above them: what is left when they are off is spent by these alone, and only when nothing is left
 * does the governor throttle (governor.c).
 *
 *   credit, eighths of its most
 *   8  +------------------------------------------------------
 *   7  |  low ones come back
 *   6  |  low ones go off                  spent by all
 *   5  |  low ones are detached
 *   4  |  normal ones come back            spent by normal and high ones
 *   3  |  normal ones go off
 *   2  |  normal ones are detached         spent by high ones
 *   0  +------------------------------------------------------ throttled
 *
 * Off is decided for each CPU, in probe context, where the cost is measured: the firing finds no share
 * for the ECB (ec_live) and counts itself. If the credit goes on shrinking even so, leaving out costs
 * too much by itself, and the priority's probes are detached on all CPUs until each CPU has its credit
 * again and the priorities above it are attached. The distance between off and back is what keeps
 * stretches from being short: it takes an eighth of ten seconds to gather.
 *
 * Each stretch stands in the ledger (formats/abi/block.h): when it begins, in each block that is begun
 * meanwhile, and when it is over. So neither a copy of the ring nor one that has overwritten its older
 * blocks is silent about it. It stands on the counters' page (formats/abi/tally.h), so an image is not either.
 */
#include "kmod/engine/recording/store.h"

#define MILLISECOND 1000000ULL
#define REVIEW	    (100 * MILLISECOND) /* while its probes are detached nothing is in a hurry */
/*
 * Detaching and attaching patch code: probes stay detached for at least so many times what it cost to
 * detach them, or patching would cost more than the budget. Most of what it takes is waiting, for all
 * CPUs to leave the old code and, where others have the CPUs, for one of them: that costs nothing.
 */
#define PATCHING 50

static const struct {
	u8 off, detach, back; /* eighths of the most credit */
	u8 above;	      /* the priorities that it leaves the rest to: 1 << priority */
} levels[DFR_THIN_PRIORITIES] = {
	[DFR_PRIORITY_NORMAL] = { .off = 3, .detach = 2, .back = 4, .above = 1 << DFR_PRIORITY_HIGH },
	[DFR_PRIORITY_LOW] = { .off = 6,
			       .detach = 5,
			       .back = 7,
			       .above = 1 << DFR_PRIORITY_NORMAL | 1 << DFR_PRIORITY_HIGH },
};

bool dfr_thin_yields(const struct dfr_state *state, u32 priority)
{
	return priority < DFR_THIN_PRIORITIES && state->st_priorities & 1u << priority &&
	       state->st_priorities & levels[priority].above;
}

/* On the share's CPU, interrupts off. */

static bool is_off(const struct dfr_share *share, u32 priority)
{
	return dfr_read_once(&dfr_thinned(share, priority)->now.from) != 0;
}

u32 dfr_thin_off(const struct dfr_share *share)
{
	u32 priority, off = 0;

	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++)
		if (is_off(share, priority))
			off |= 1u << priority;
	return off;
}

static void set_live(struct dfr_share *share, u32 priority, bool on)
{
	dfr_store_release(dfr_live(share->sh_state, priority, share->sh_cpu),
			  on ? share : (struct dfr_share *)NULL);
}

/* From the last firing's time on: where one decides it while it runs, its own low clauses may follow yet. */
static void begin(struct dfr_share *share, u32 priority, u64 now)
{
	struct dfr_tally_thinned *thin = dfr_thinned(share, priority);
	u64 last = dfr_cpu_of(share->sh_state->st_engine, share->sh_cpu)->pc_last;

	if (last && last < now)
		now = last;
	thin->now.left = 0;
	thin->now.detached = DFR_TALLY_MARK | !!(share->sh_state->st_thinned & 1u << priority);
	dfr_write_once(&thin->now.from, now);
	set_live(share, priority, false);
	dfr_thin_tell(share);
}

/* The next block tells of the last stretch. If it has not told of the one before, that is made longer. */
static void end(struct dfr_share *share, u32 priority, u64 now)
{
	struct dfr_tally_thinned *thin = dfr_thinned(share, priority);
	struct dfr_stretch *over = &thin->over;

	/* A reader of a dead machine may see both for a moment, but never neither. */
	over->to = now;
	if (!over->from)
		over->from = thin->now.from;
	over->left += thin->now.left;
	over->detached |= thin->now.detached;
	dfr_write_once(&thin->now.from, (u64)0);
	dfr_thin_tell(share);
}

/*
 * Called in a visit: reads the clock itself, because until the visit the CPU leaves firings out, also
 * after the time from which its caller goes.
 */
static void end_and_record(struct dfr_share *share, u32 priority)
{
	end(share, priority, dfr_plat_clock(NULL));
	/* A share that is throttled records again when that is over. */
	if (dfr_read_once(&share->sh_state->st_activity) == DFR_ACTIVE && !share->sh_governor.gv_throttled)
		set_live(share, priority, true);
}

void dfr_thin_skipped(struct dfr_share *share, u32 priority, u64 stamp)
{
	struct dfr_tally_thinned *thin = dfr_thinned(share, priority);

	/* Count each firing once, although this is called for each of its clauses. */
	if (!is_off(share, priority) || share->sh_governor.gv_thin_stamp[priority] == stamp)
		return;
	share->sh_governor.gv_thin_stamp[priority] = stamp;
	thin->now.left++;
	dfr_count(&share->sh_governor.gv_left, 1);
}

/* The purses have been settled. */
void dfr_thin_settle(struct dfr_share *share, u64 now)
{
	u32 priority;

	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++)
		if (dfr_thin_yields(share->sh_state, priority) && !is_off(share, priority) &&
		    dfr_read_once(dfr_live(share->sh_state, priority, share->sh_cpu)) &&
		    dfr_governor_short(share, levels[priority].off))
			begin(share, priority, now);
}

/* The share begins to record or ends it. */
void dfr_thin_open(struct dfr_share *share, bool open, u64 now)
{
	u32 priority;

	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++) {
		if (is_off(share, priority))
			end(share, priority, now);
		if (open && share->sh_state->st_thinned & 1u << priority)
			begin(share, priority, now);
	}
}

/* Process context. */

struct survey {
	struct dfr_share *sv_share;
	u64 sv_now;
	u32 sv_sinks; /* 1 << priority: off, and the credit shrinks yet */
	u32 sv_short; /* and may not come back */
};

/* On the share's CPU. */
static void look_after(void *arg)
{
	struct survey *survey = arg;
	struct dfr_share *share = survey->sv_share;
	struct dfr_state *state = share->sh_state;
	u32 priority;

	dfr_governor_settle(share, survey->sv_now);
	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++) {
		if (!is_off(share, priority))
			continue;
		if (dfr_governor_short(share, levels[priority].detach))
			survey->sv_sinks |= 1u << priority;
		if (dfr_governor_short(share, levels[priority].back)) {
			survey->sv_short |= 1u << priority;
		} else if (!(state->st_thinned & (1u << priority | levels[priority].above))) {
			end_and_record(share, priority);
		}
	}
	dfr_record_tell(share);
}

/* Is there something to look after on this CPU? */
static bool is_thinned(const struct dfr_share *share, bool all)
{
	u32 off = dfr_thin_off(share);

	return share->sh_thin_untold || off & ~share->sh_state->st_thinned || (all && off);
}

void dfr_thin_keep(struct dfr_state *state, u64 now)
{
	bool all = now - state->st_reviewed >= REVIEW;
	struct survey survey = { .sv_now = now };
	struct dfr_share *share;
	u32 cpu, priority;

	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++) {
		share = state->st_shares[cpu];
		if (!share || !is_thinned(share, all))
			continue;
		survey.sv_share = share;
		dfr_visit_cpu(state->st_engine, cpu, look_after, &survey);
	}
	state->st_to_thin |= survey.sv_sinks;
	if (!all)
		return;
	state->st_reviewed = now;
	state->st_to_thin |= state->st_thinned;
	/* Normal ones are decided first: low ones do not come back to spend what these wait for. */
	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++)
		if (!(survey.sv_short & 1u << priority) && now >= state->st_thinned_until[priority] &&
		    !(state->st_to_thin & levels[priority].above))
			state->st_to_thin &= ~(1u << priority);
}

bool dfr_thin_due(const struct dfr_state *state)
{
	return state->st_to_thin != state->st_thinned;
}

struct turn {
	struct dfr_share *tu_share;
	u64 tu_now;
	u32 tu_priority;
	bool tu_on;
};

/* On the share's CPU: the priority's probes are detached from now on, or attached again. */
static void turn_share(void *arg)
{
	const struct turn *turn = arg;
	struct dfr_share *share = turn->tu_share;
	struct dfr_tally_thinned *thin = dfr_thinned(share, turn->tu_priority);

	if (!dfr_read_once(dfr_live(share->sh_state, DFR_PRIORITY_HIGH, share->sh_cpu)) &&
	    !dfr_read_once(&share->sh_governor.gv_throttled))
		return; /* it does not record */
	if (!turn->tu_on && is_off(share, turn->tu_priority)) {
		thin->now.detached = DFR_TALLY_MARK | 1;
	} else if (!turn->tu_on) {
		begin(share, turn->tu_priority, turn->tu_now);
	} else if (is_off(share, turn->tu_priority)) {
		end_and_record(share, turn->tu_priority);
	}
}

static void turn_all(struct dfr_state *state, u32 priority, bool on, u64 now)
{
	struct turn turn = { .tu_now = now, .tu_priority = priority, .tu_on = on };
	u32 cpu;

	if (on)
		state->st_thinned &= ~(1u << priority);
	else
		state->st_thinned |= 1u << priority;
	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++) {
		turn.tu_share = state->st_shares[cpu];
		if (turn.tu_share)
			dfr_visit_cpu(state->st_engine, cpu, turn_share, &turn);
	}
}

/* The sets are of 1 << priority; those that shall change now. */
static u32 due(struct dfr_state *state, bool on)
{
	if (dfr_read_once(&state->st_activity) != DFR_ACTIVE)
		return 0;
	return on ? state->st_thinned & ~state->st_to_thin : state->st_to_thin & ~state->st_thinned;
}

/*
 * The state's lock is not held while code is patched. Firings find no share meanwhile, and are counted.
 */
static void detach(struct dfr_state *state, u32 priority, u64 now)
{
	u64 began, before, after, cost;
	bool detaches;

	dfr_mutex_lock(&state->st_lock);
	detaches = due(state, false) & 1u << priority;
	if (detaches) {
		/* Housekeeping goes on meanwhile, and shall not attach what is being detached. */
		state->st_thinned_until[priority] = ~0ULL;
		turn_all(state, priority, false, now);
	}
	dfr_mutex_unlock(&state->st_lock);
	if (!detaches)
		return;
	began = dfr_plat_clock(NULL);
	before = dfr_plat_task_time();
	dfr_state_thin(state, priority);
	after = dfr_plat_task_time();
	cost = after > before ? after - before : 0; /* it may miss the time since a tick that is late */
	dfr_mutex_lock(&state->st_lock);
	state->st_thinned_until[priority] = now + (dfr_plat_clock(NULL) - began) + cost * PATCHING;
	dfr_mutex_unlock(&state->st_lock);
}

static void attach(struct dfr_state *state, u32 priority, u64 now)
{
	bool attaches;

	dfr_mutex_lock(&state->st_lock);
	attaches = due(state, true) & 1u << priority;
	dfr_mutex_unlock(&state->st_lock);
	if (!attaches)
		return;
	dfr_state_unthin(state, priority);
	dfr_mutex_lock(&state->st_lock);
	turn_all(state, priority, true, now);
	dfr_mutex_unlock(&state->st_lock);
}

void dfr_thin_act(struct dfr_state *state, u64 now)
{
	u32 priority;

	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++) {
		detach(state, priority, now);
		attach(state, priority, now);
	}
}
