// SPDX-License-Identifier: GPL-2.0
/*
 * The governor: measures what probes cost and acts when that is too much. It does not watch for a
 * consumer that has gone silent: the platform does (kmod/linux/holding.c).
 *
 * About one firing in 64 is timed, at random distances, and stands for those since the last sample
 * (fire.c). It is judged where it is measured, on its CPU and in probe context, at most every 10 ms,
 * because a machine that does nothing but fire probes might run no timer and no thread that could
 * stop it.
 *
 *   budget    A kept state, or one with -x cpubudget, has a credit of time on
 *             each CPU: it grows by the budget's share of the time that passes
 *             and shrinks by the time that firings take. Below zero the CPU
 *             records nothing for the state (it is throttled) but counts what
 *             it leaves out, until housekeeping finds that some credit has
 *             gathered again. All states of a user without privilege also
 *             share a second purse, and a third one for what the calls of
 *             others cost at his probes. That one is never seen: it only
 *             has probes detached, or he would learn from throttling and
 *             from COST how often others make the calls that he traces.
 *   thinning  Clauses of a lower priority than others of their state go off before
 *             that, so that there is credit left for the others: thin.c.
 *   detach    Where even leaving out costs more than the budget, so that a
 *             credit stays at its floor for a second, housekeeping detaches the
 *             dearest probes, and more of them each second as long as that does not
 *             help, because the hook that all system calls pass stays as long as one
 *             needs it. It attaches them again later, after a wait that grows each time.
 *   deadman   States without a budget may take any time until they take more
 *             than nine tenths of a CPU in each of four quarters of a second in
 *             a row: then one of them is killed, most likely the one that
 *             fires most. What states with a budget take does not count, because
 *             it would be taken from the others. A virtual CPU that was not run
 *             for a while makes only one bad quarter.
 */
#include "kmod/engine/recording/store.h"

#define MILLISECOND   1000000ULL
#define SECOND	      1000000000ULL
#define WINDOW	      (10 * MILLISECOND)
#define BUDGET_KEPT   5			 /* percent of a CPU */
#define BURST	      DFR_GOVERNOR_BURST /* most credit: the budget of this many ns */
#define RESUME	      (SECOND / 10)	 /* credit that ends throttling */
#define FLOOR	      SECOND		 /* most debt, so that a load that has ended is soon forgotten */
#define DEADMAN_SHARE 90		 /* percent of a CPU */
#define QUARTERS      4
#define QUARTER	      (SECOND / QUARTERS)
#define DETACH_AFTER  SECOND
#define FOLD_MOST     (10 * SECOND)
#define ATTACH_FIRST  (10 * SECOND)
#define ATTACH_LAST   (320 * SECOND)

/*
 * A sample of more than OUTLIER times the average counts as OUTLIER times the average, because a
 * virtual CPU may have been descheduled in the middle of it. If firings really are that dear, the
 * average rises to them within a few samples.
 */
#define OUTLIER	    8
#define USUAL_LEAST 2000

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

u32 dfr_governor_budget(const struct dfr_state *state)
{
	s64 given = dfr_option(state, DFR_OPT_CPUBUDGET);

	if (given > 0)
		return (u32)given;
	return state->st_name[0] || !given ? BUDGET_KEPT : 0;
}

/*
 * Probe context. Firings until the next sample: 33 to 96, at random, because with a fixed distance
 * one of two alternating probes might never be sampled.
 */
static u32 distance(struct dfr_cpu *pc)
{
	pc->pc_random = pc->pc_random * 6364136223846793005ULL + 1442695040888963407ULL;
	return 33 + (u32)(pc->pc_random >> 58);
}

/* Throttling: on the share's CPU, interrupts off. */

/* All clauses record on the share's CPU, or none: only those that thinning has off stay so. */
static void set_live(struct dfr_share *share, bool on)
{
	u32 off = dfr_thin_off(share);
	u32 priority;

	for (priority = 0; priority < DFR_PRIORITIES; priority++)
		dfr_store_release(dfr_live(share->sh_state, priority, share->sh_cpu),
				  on && !(off & 1u << priority) ? share : (struct dfr_share *)NULL);
}

/* High priorities are never thinned. */
static bool is_live(const struct dfr_share *share)
{
	return dfr_read_once(dfr_live(share->sh_state, DFR_PRIORITY_HIGH, share->sh_cpu));
}

static void throttle(struct dfr_share *share, u64 now)
{
	struct dfr_governor *gv = &share->sh_governor;

	gv->gv_from = now;
	gv->gv_skipped = 0;
	dfr_write_once(&gv->gv_since, now);
	dfr_write_once(&gv->gv_throttled, 1);
	set_live(share, false);
}

void dfr_governor_skipped(struct dfr_share *share, const struct dfr_ecb *ecb, const struct dfr_firing *firing)
{
	struct dfr_governor *gv = &share->sh_governor;
	u64 stamp = dfr_cpu_of(firing->fr_engine, firing->fr_cpu)->pc_stamp;
	u32 probe = firing->fr_probe->pb_id;

	if (dfr_thin_off(share) & 1u << dfr_ecb_priority(ecb)) {
		dfr_thin_skipped(share, dfr_ecb_priority(ecb), stamp);
		return;
	}
	/* Count each firing once, although this is called for each of its clauses. */
	if (!gv->gv_throttled || gv->gv_skip_stamp == stamp)
		return;
	gv->gv_skip_stamp = stamp;
	gv->gv_probe = gv->gv_skipped && gv->gv_probe != probe ? 0 : probe;
	gv->gv_skipped++;
	dfr_count_lost(share, DFR_LOSS_THROTTLE, 1);
}

/* Writes the number of firings left out so far to the ledger. */
static void tell(struct dfr_share *share, u64 now)
{
	struct dfr_governor *gv = &share->sh_governor;

	if (gv->gv_skipped)
		dfr_ledger(share, DFR_LOSS_THROTTLE, gv->gv_probe, gv->gv_skipped, gv->gv_from, now);
	gv->gv_skipped = 0;
	gv->gv_from = now;
}

static void release(struct dfr_share *share, u64 now)
{
	struct dfr_governor *gv = &share->sh_governor;

	if (!gv->gv_throttled)
		return;
	tell(share, now);
	gv->gv_purse.pu_sunk = 0;
	dfr_write_once(&gv->gv_throttled, 0);
}

void dfr_governor_open(struct dfr_share *share, bool open, u64 now)
{
	release(share, now);
	dfr_thin_open(share, open, now);
	set_live(share, open);
}

/* What a purse can hold, and its deepest debt. */
static s64 most_of(u32 budget)
{
	return (s64)(BURST / 100 * budget);
}

static bool is_short(const struct dfr_purse *purse, u32 budget, u32 eighths)
{
	return purse->pu_time && purse->pu_credit < most_of(budget) / 8 * eighths;
}

bool dfr_governor_short(const struct dfr_share *share, u32 eighths)
{
	const struct dfr_governor *gv = &share->sh_governor;
	u32 budget = dfr_governor_budget(share->sh_state);

	return (budget && is_short(&gv->gv_purse, budget, eighths)) ||
	       (gv->gv_user && is_short(&gv->gv_user->up_own, DFR_CONFINED_BUDGET, eighths));
}

/*
 * Adds the budget for the time since the last call to the credit and subtracts what was spent in
 * that time.
 */
static void settle_purse(struct dfr_purse *purse, u32 budget, u64 now)
{
	s64 most = most_of(budget);
	s64 floor = -(s64)(FLOOR / 100 * budget);
	u64 elapsed;

	if (!purse->pu_time) {
		purse->pu_credit = most;
		purse->pu_spent = 0;
		purse->pu_time = now;
	}
	if (now <= purse->pu_time)
		return;
	elapsed = now - purse->pu_time;
	purse->pu_credit += (s64)(least(elapsed, BURST) * budget / 100);
	purse->pu_credit -= (s64)least(purse->pu_spent, elapsed);
	purse->pu_spent = 0;
	purse->pu_time = now;
	if (purse->pu_credit > most)
		purse->pu_credit = most;
	/* A window in which no sample fell does not lift it. */
	if (purse->pu_credit > floor / 10 * 9)
		purse->pu_sunk = 0;
	if (purse->pu_credit > floor)
		return;
	purse->pu_credit = floor;
	if (!purse->pu_sunk)
		purse->pu_sunk = now;
}

void dfr_governor_settle(struct dfr_share *share, u64 now)
{
	struct dfr_governor *gv = &share->sh_governor;

	settle_purse(&gv->gv_purse, dfr_governor_budget(share->sh_state), now);
	/*
	 * The user's purse is settled at its own interval: his other states spend from it too and
	 * may have settled it just now.
	 */
	if (gv->gv_user && now - gv->gv_user->up_own.pu_time >= WINDOW) {
		settle_purse(&gv->gv_user->up_own, DFR_CONFINED_BUDGET, now);
		settle_purse(&gv->gv_user->up_others, DFR_CONFINED_BUDGET, now);
	}
	dfr_thin_settle(share, now);
	if (dfr_governor_short(share, 0) && !gv->gv_throttled && is_live(share))
		throttle(share, now);
}

/* Probe: samples. */

static bool ended_by_deadman(struct dfr_state *state, u64 now)
{
	if (dfr_governor_budget(state) || !dfr_becomes_over(state, DFR_ACTIVE, DFR_KILLED, now))
		return false;
	dfr_write_once(&state->st_tally->killed, 1ULL);
	dfr_plat_wake(state);
	return true;
}

/* Judges this CPU's last quarter of a second. True: it is the fourth bad one in a row, or a later one. */
static bool deadman(struct dfr_cpu *pc, u64 now)
{
	bool too_much;

	if (now - pc->pc_judged < QUARTER)
		return false;
	too_much = pc->pc_judged && pc->pc_spent * 100 >= (now - pc->pc_judged) * DEADMAN_SHARE;
	pc->pc_spent = 0;
	pc->pc_judged = now;
	pc->pc_bad_quarters = too_much ? pc->pc_bad_quarters + 1 : 0;
	return pc->pc_bad_quarters >= QUARTERS;
}

/* Brings gv_spent up to date: what was seen in the last seconds weighs most; in the first one, all alike. */
static void fold(struct dfr_governor *gv, u64 now)
{
	u64 elapsed = now - gv->gv_seen, recent;

	if (!gv->gv_seen) {
		gv->gv_seen = now;
		gv->gv_recent = 0;
	} else if (now > gv->gv_seen && elapsed >= WINDOW) {
		elapsed = least(elapsed, FOLD_MOST);
		recent = least(gv->gv_recent, elapsed);
		gv->gv_spent = (u32)((gv->gv_spent * (gv->gv_known / 1000) + recent / 1000 * 1000000) /
				     ((gv->gv_known + elapsed) / 1000));
		gv->gv_known = least(gv->gv_known + elapsed, SECOND);
		gv->gv_seen = now;
		gv->gv_recent = 0;
	}
}

/* The hook's time, for the first ECB of a sample that `sample` has not counted yet. */
static u64 hook_once(const struct dfr_cpu *pc, const struct dfr_ecb *ecb, u64 *sample)
{
	bool counted = *sample == pc->pc_samples;

	*sample = pc->pc_samples;
	return counted ? 0 : ecb->ec_state->st_engine->en_hook_time;
}

/* A firing in somebody else's task: a confined state's clauses end at the test of the owner, and count nothing of it. */
static void charge_others(const struct dfr_cpu *pc, struct dfr_ecb *ecb, struct dfr_share *share, u64 time,
			  u32 weight)
{
	struct dfr_purse *purse = &share->sh_governor.gv_user->up_others;

	time = least(time, USUAL_LEAST * OUTLIER) + hook_once(pc, ecb, &purse->pu_sample);
	purse->pu_spent += time * weight;
	dfr_atomic_add(&ecb->ec_cost, time * weight);
}

/* Charges an ECB for a timed firing that stands for `weight` firings. */
static void charge(struct dfr_cpu *pc, struct dfr_ecb *ecb, struct dfr_share *share, u64 time, u32 weight)
{
	struct dfr_governor *gv = &share->sh_governor;
	u64 usual = gv->gv_usual > USUAL_LEAST ? gv->gv_usual : USUAL_LEAST;

	time += hook_once(pc, ecb, &gv->gv_sample);
	time = least(time, usual * OUTLIER);
	/*
	 * The average rises fast and falls slowly, so that one dear firing among a hundred that end
	 * at once still counts in full.
	 */
	gv->gv_usual = time > usual ? (usual + time) / 2 : usual - usual / 64;
	gv->gv_purse.pu_spent += time * weight;
	gv->gv_recent += time * weight;
	if (gv->gv_user)
		gv->gv_user->up_own.pu_spent += time * weight;
	if (!dfr_governor_budget(ecb->ec_state))
		pc->pc_spent += time * weight;
	dfr_atomic_add(&ecb->ec_cost, time * weight);
}

u32 dfr_governor_weight(struct dfr_cpu *pc)
{
	u32 weight = pc->pc_distance;

	pc->pc_distance = distance(pc);
	pc->pc_left = pc->pc_distance;
	pc->pc_samples++;
	pc->pc_exact = 0;
	return weight;
}

void dfr_governor_charge(struct dfr_cpu *pc, struct dfr_ecb *ecb, enum dfr_charged what, u32 cpu, u64 from,
			 u64 now, u32 weight)
{
	struct dfr_share *share = dfr_load_acquire(&ecb->ec_state->st_shares[cpu]);
	u64 exact;

	if (!share || dfr_read_once(&ecb->ec_state->st_activity) != DFR_ACTIVE)
		return;
	exact = least(now - from, pc->pc_exact);
	pc->pc_exact = 0;
	dfr_atomic_add(&ecb->ec_cost, exact);
	if (what == DFR_OF_OTHERS)
		charge_others(pc, ecb, share, now - from, weight);
	else
		charge(pc, ecb, share, now - from - exact, weight);
	if (what == DFR_A_FIRING)
		dfr_atomic_add(&ecb->ec_fired, weight);
	fold(&share->sh_governor, now);
	if (now - share->sh_governor.gv_purse.pu_time >= WINDOW && dfr_governor_budget(ecb->ec_state))
		dfr_governor_settle(share, now);
}

void dfr_governor_judge(struct dfr_cpu *pc, struct dfr_ecb *ecb, u64 now)
{
	if (!deadman(pc, now))
		return;
	while (ecb && !ended_by_deadman(ecb->ec_state, now))
		ecb = dfr_load_acquire(&ecb->ec_next);
	if (ecb)
		pc->pc_bad_quarters = 0;
}

/*
 * In the middle of a firing, whether it is sampled or not: a firing that fills a chunk of work
 * (work.c) is charged the time that the chunk took, unweighted and not cut to OUTLIER. So a program
 * that makes few but dear firings cannot escape between samples.
 */
void dfr_governor_dear(struct dfr_cpu *pc, const struct dfr_state *state, const struct dfr_firing *firing,
		       u64 time, u64 now)
{
	struct dfr_share *share = dfr_load_acquire(&state->st_shares[firing->fr_cpu]);

	if (!share || dfr_read_once(&state->st_activity) != DFR_ACTIVE)
		return;
	pc->pc_exact += time;
	share->sh_governor.gv_purse.pu_spent += time;
	share->sh_governor.gv_recent += time;
	if (share->sh_governor.gv_user)
		share->sh_governor.gv_user->up_own.pu_spent += time;
	if (dfr_governor_budget(state)) {
		if (now - share->sh_governor.gv_purse.pu_time >= WINDOW)
			dfr_governor_settle(share, now);
		return;
	}
	pc->pc_spent += time;
	/* This state it was, and none of the others that are at the probe: they may be quiet ones, above all at ERROR. */
	if (deadman(pc, now) && ended_by_deadman((struct dfr_state *)state, now))
		pc->pc_bad_quarters = 0;
}

#ifdef __KERNEL__
DEFINE_PER_CPU(s32, dfr_refusals);

/*
 * Charges the probe's states with its hook, for some 64 times that nothing else of theirs ran; and with the question
 * whose firing it is, which takes time where their owners differ.
 */
static dfr_cold void charge_hook(const struct dfr_probe *probe, enum dfr_charged what)
{
	struct dfr_engine *engine = probe->pb_provider->pv_engine;
	unsigned long flags = dfr_plat_irq_save(engine, 0);
	struct dfr_cpu *pc = dfr_this_cpu(engine);
	struct dfr_ecb *chain = dfr_load_acquire(&probe->pb_ecbs);
	u32 weight = pc->pc_refusals;
	struct dfr_ecb *ecb;
	u64 before, now;

	pc->pc_refusals = distance(pc);
	__this_cpu_write(dfr_refusals, (s32)pc->pc_refusals - 1);
	/* If this interrupts a firing, the firing's CPU data must not be changed here. */
	if (!dfr_read_once(&pc->pc_busy)) {
		dfr_cpu_enter(pc); /* deadman() may wake the consumer by traced functions */
		pc->pc_samples++;
		pc->pc_exact = 0;
		before = now = dfr_plat_clock(NULL);
		if (what == DFR_A_FIRING && !dfr_read_once(&probe->pb_test)) {
			dfr_probe_seen(probe);
			now = dfr_plat_clock(NULL);
		}
		for (ecb = chain; ecb; ecb = dfr_load_acquire(&ecb->ec_next)) {
			dfr_governor_charge(pc, ecb, dfr_state_confined(ecb->ec_state) ? DFR_OF_OTHERS : what,
					    dfr_plat_cpu(), before, now, weight);
			before = now;
		}
		dfr_governor_judge(pc, chain, now);
		dfr_cpu_leave(pc);
	}
	dfr_plat_irq_restore(engine, flags);
}

/*
 * Probe context, before the guard: called for about one in 64 firings that a provider refused
 * (dfr_probe_wants()), for all of them. Such a firing costs its hook; the test itself costs next to
 * nothing.
 */
void dfr_probe_refused(const struct dfr_probe *probe)
{
	charge_hook(probe, DFR_A_FIRING);
}

/* The same for what passes the probe's hook and is none of its firings. */
void dfr_probe_passed(const struct dfr_probe *probe)
{
	charge_hook(probe, DFR_PASSING);
}
#endif

/* Process context, under the state's lock. */

struct review {
	struct dfr_share *rv_share;
	u64 rv_now;
};

/*
 * On the share's CPU: settles, tells, and lets the state record again if there is enough credit. What it tells it reads
 * the clock for, because until the visit the CPU leaves firings out.
 */
static void look_after(void *arg)
{
	struct review *review = arg;
	struct dfr_share *share = review->rv_share;
	struct dfr_governor *gv = &share->sh_governor;
	u32 budget = dfr_governor_budget(share->sh_state);
	u64 now = dfr_plat_clock(NULL);

	dfr_governor_settle(share, review->rv_now);
	if (!gv->gv_throttled)
		return; /* only the purse for others was to be settled */
	tell(share, now);
	if (budget && gv->gv_purse.pu_credit < (s64)(RESUME / 100 * budget))
		return;
	if (gv->gv_user && gv->gv_user->up_own.pu_credit < (s64)(RESUME / 100 * DFR_CONFINED_BUDGET))
		return;
	release(share, now);
	if (dfr_read_once(&share->sh_state->st_activity) == DFR_ACTIVE)
		set_live(share, true);
}

/*
 * How often a detached probe would have fired can only be estimated: at the rate before it was
 * detached, and at least once, so that the gap shows as a loss.
 */
static void lost_detached(struct dfr_state *state, const struct dfr_ecb *ecb, u64 now)
{
	/* exit() may have come while it was detached. */
	u64 until = now > ecb->ec_detached ? now : ecb->ec_detached;
	struct dfr_untold lost = { .un_share = dfr_any_share(state),
				   .un_cause = DFR_LOSS_DETACHED,
				   .un_probe = ecb->ec_probe->pb_id,
				   .un_from = ecb->ec_detached,
				   .un_to = until };
	u64 measured = ecb->ec_counted / MILLISECOND + 1;
	u64 gone = (until - ecb->ec_detached) / MILLISECOND + 1;

	lost.un_count = ecb->ec_fired * gone / measured + 1;
	if (lost.un_share)
		dfr_tell_loss(&lost);
}

/* The state ends: the losses of probes that are still detached are told. */
void dfr_governor_end(struct dfr_state *state, u64 now)
{
	struct dfr_ecb *ecb;

	for (ecb = state->st_ecbs; ecb && state->st_detach_time; ecb = ecb->ec_sibling)
		if (dfr_ecb_marked(ecb, DFR_MARK_DETACHED))
			lost_detached(state, ecb, now);
	state->st_detach_time = 0;
}

/*
 * What was detached is armed, so these are its losses. One that could not be armed stays detached, and the catalog
 * says why.
 */
static void account_attached(struct dfr_state *state, u64 now)
{
	bool ended = !state->st_detach_time;
	struct dfr_ecb *ecb;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (!dfr_ecb_marked(ecb, DFR_MARK_DETACHED))
			continue;
		dfr_ecb_mark(ecb, DFR_MARK_DETACHED, false);
		if (ended)
			continue;
		lost_detached(state, ecb, now);
		if (!state->st_detached && dfr_ecb_marked(ecb, DFR_MARK_LINKED))
			dfr_catalog_event(state, DFR_EVENT_ATTACHED, (s32)ecb->ec_probe->pb_id, now);
	}
	if (!ended && state->st_detached)
		dfr_catalog_event(state, DFR_EVENT_ATTACHED, -(s32)state->st_detached, now);
	state->st_detached = 0;
	state->st_detach_time = 0;
}

/*
 * The catalog is never shortened, and an overload may last for months: so probes are named when it begins, and from
 * the second time on they are counted. Their losses name them each time.
 */
static bool lasts(const struct dfr_state *state)
{
	return state->st_attach_wait > ATTACH_FIRST;
}

static void tell_detached(struct dfr_state *state, s32 which)
{
	dfr_mutex_lock(&state->st_lock);
	if (state->st_detach_time)
		dfr_catalog_event(state, DFR_EVENT_DETACHED, which, state->st_detach_time);
	dfr_mutex_unlock(&state->st_lock);
}

void dfr_governor_names_detached(struct dfr_state *state, const struct dfr_probe *probe)
{
	if (!lasts(state))
		tell_detached(state, (s32)probe->pb_id);
}

void dfr_governor_counts_detached(struct dfr_state *state, u32 probes)
{
	if (!lasts(state) || !probes)
		return;
	state->st_detached += probes;
	tell_detached(state, -(s32)probes);
}

void dfr_governor_detached(const struct dfr_state *state, struct dfr_ecb *ecb)
{
	u64 since = least(dfr_read_once(&state->st_cost_since), state->st_detach_time);

	ecb->ec_detached = state->st_detach_time;
	ecb->ec_counted = state->st_detach_time - since;
	dfr_ecb_mark(ecb, DFR_MARK_DETACHED, true);
}

void dfr_governor_gone(struct dfr_state *state, const struct dfr_ecb *ecb, u64 now)
{
	if (!state->st_detach_time || !dfr_ecb_marked(ecb, DFR_MARK_DETACHED))
		return;
	lost_detached(state, ecb, now);
	if (!state->st_detached)
		dfr_catalog_event(state, DFR_EVENT_ATTACHED, (s32)ecb->ec_probe->pb_id, now);
}

/*
 * The credit has been near its floor for DETACH_AFTER: even leaving firings out costs more than the
 * budget.
 */
static bool has_sunk(const struct dfr_purse *purse, u64 now)
{
	u64 sunk = dfr_read_once(&purse->pu_sunk);

	return sunk && now > sunk + DETACH_AFTER;
}

static void forget_costs(struct dfr_state *state, u64 now)
{
	struct dfr_ecb *ecb;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (dfr_ecb_marked(ecb, DFR_MARK_DETACHED))
			continue;
		ecb->ec_cost = 0;
		ecb->ec_fired = 0;
	}
	state->st_cost_since = now;
}

static bool any_sunk(const struct dfr_state *state, u64 now)
{
	const struct dfr_governor *gv;
	u32 cpu;

	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++) {
		if (!state->st_shares[cpu])
			continue;
		gv = &state->st_shares[cpu]->sh_governor;
		if (gv->gv_user && has_sunk(&gv->gv_user->up_others, now))
			return true;
		if (dfr_read_once(&gv->gv_throttled) &&
		    (has_sunk(&gv->gv_purse, now) || (gv->gv_user && has_sunk(&gv->gv_user->up_own, now))))
			return true;
	}
	return false;
}

static bool attach_is_due(const struct dfr_state *state, u64 now)
{
	return state->st_detach_time && now > state->st_detach_time + state->st_attach_wait;
}

/* Do the probes that it has cost anything? Those of the user's other states may be what has emptied his purses. */
static bool costs(const struct dfr_state *state)
{
	const struct dfr_ecb *ecb = state->st_ecbs;

	while (ecb && (!dfr_ecb_marked(ecb, DFR_MARK_LINKED) || !dfr_read_once(&ecb->ec_cost)))
		ecb = ecb->ec_sibling;
	return ecb;
}

static bool detach_is_due(const struct dfr_state *state, u64 now)
{
	u64 last = state->st_detach_time ? state->st_detach_seen : state->st_attached;

	return !state->st_detaching && now > last + DETACH_AFTER && any_sunk(state, now) && costs(state);
}

static void begin_to_detach(struct dfr_state *state, u64 now)
{
	bool more = state->st_detach_time;

	state->st_detach_time = now;
	state->st_detach_seen = now;
	state->st_detaching = true;
	if (more)
		return; /* after the same wait, which begins anew */
	if (!state->st_attach_wait || now - state->st_attached > 2 * state->st_attach_wait)
		state->st_attach_wait = ATTACH_FIRST;
	else
		state->st_attach_wait = least(2 * state->st_attach_wait, ATTACH_LAST);
}

/* Under the engine's lock only, not the state's: disarming patches code, which takes long. */
static void detach(struct dfr_state *state)
{
	u32 probes = dfr_state_detach(state);

	dfr_mutex_lock(&state->st_lock);
	state->st_detaching = false;
	dfr_mutex_unlock(&state->st_lock);
	dfr_plat_log("state %u: its probes take more than %u%% of a CPU even when they do nothing; "
		     "the %u dearest are detached for %llu s",
		     dfr_state_number(state), dfr_governor_budget(state), probes,
		     (unsigned long long)(state->st_attach_wait / SECOND));
}

/* Under the engine's lock; takes the state's only when code is patched. */
static void attach(struct dfr_state *state)
{
	u64 now;

	dfr_state_attach(state);
	dfr_mutex_lock(&state->st_lock);
	now = dfr_plat_clock(NULL);
	account_attached(state, now);
	forget_costs(state, now);
	dfr_mutex_unlock(&state->st_lock);
}

void dfr_governor_act(struct dfr_state *state, u64 now)
{
	bool attaches = false, detaches = false;

	dfr_mutex_lock(&state->st_lock);
	if (dfr_read_once(&state->st_activity) == DFR_ACTIVE) {
		attaches = attach_is_due(state, now);
		detaches = !attaches && detach_is_due(state, now);
	}
	if (attaches)
		state->st_attached = now;
	else if (detaches)
		begin_to_detach(state, now);
	dfr_mutex_unlock(&state->st_lock);
	dfr_thin_act(state, now);
	if (attaches)
		attach(state);
	else if (detaches)
		detach(state);
}

/* Without a firing on the CPU nobody else would settle its purses. */
static bool is_due(const struct dfr_share *share)
{
	const struct dfr_governor *gv = &share->sh_governor;

	return dfr_read_once(&gv->gv_throttled) ||
	       (gv->gv_user && dfr_read_once(&gv->gv_user->up_others.pu_sunk));
}

bool dfr_governor_keep(struct dfr_state *state, u64 now)
{
	struct review review = { .rv_now = now };
	struct dfr_share *share;
	u32 cpu;

	if (!state->st_cost_since)
		forget_costs(state, now);
	if (state->st_detaching)
		state->st_detach_seen = now;
	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++) {
		share = state->st_shares[cpu];
		if (!share || !is_due(share))
			continue;
		review.rv_share = share;
		dfr_visit_cpu(state->st_engine, cpu, look_after, &review);
	}
	dfr_thin_keep(state, now);
	if (dfr_thin_due(state) || attach_is_due(state, now) || detach_is_due(state, now))
		return true;
	if (now - state->st_cost_since > BURST && !state->st_detaching)
		forget_costs(state, now); /* detaching shall go by recent costs */
	return false;
}

/* What it costs. */

struct bill {
	struct dfr_share *bi_share;
	struct dfr_ioc_cpu_cost *bi_cost;
	u64 bi_now;
};

/* On the share's CPU. */
static void tell_cost(void *arg)
{
	const struct bill *bill = arg;
	struct dfr_share *share = bill->bi_share;
	struct dfr_governor *gv = &share->sh_governor;
	struct dfr_ioc_cpu_cost *cost = bill->bi_cost;
	u32 budget = dfr_governor_budget(share->sh_state);
	u32 priority;

	fold(gv, bill->bi_now);
	if (budget)
		dfr_governor_settle(share, bill->bi_now);
	memset(cost, 0, sizeof(*cost));
	cost->cpu = share->sh_cpu;
	cost->spent = gv->gv_spent;
	cost->credit = budget ? gv->gv_purse.pu_credit : 0;
	cost->most = most_of(budget);
	cost->throttled_since = gv->gv_throttled ? gv->gv_since : 0;
	for (priority = 0; priority < DFR_THIN_PRIORITIES; priority++) {
		cost->thinned_since[priority] = dfr_thinned(share, priority)->now.from;
		cost->thinned_left[priority] = dfr_thinned(share, priority)->now.left;
	}
	cost->thinned_firings = gv->gv_left;
	dfr_record_tell(share); /* a snapshot goes by the blocks for those that are over */
}

void dfr_state_cost(struct dfr_state *state, struct dfr_ioc_cost *io, struct dfr_ioc_cpu_cost *costs)
{
	struct bill bill = { .bi_cost = costs };
	u32 cpu;

	dfr_mutex_lock(&state->st_lock);
	io->budget = dfr_governor_budget(state);
	io->detached = state->st_thinned;
	bill.bi_now = dfr_plat_clock(NULL);
	for (cpu = io->cpu; cpu < state->st_engine->en_ncpus && bill.bi_cost < costs + io->count; cpu++) {
		bill.bi_share = state->st_shares[cpu];
		if (!bill.bi_share)
			continue;
		dfr_visit_cpu(state->st_engine, cpu, tell_cost, &bill);
		bill.bi_cost++;
	}
	io->count = (u32)(bill.bi_cost - costs);
	io->cpu = cpu < state->st_engine->en_ncpus ? cpu : 0xffffffffu;
	dfr_mutex_unlock(&state->st_lock);
}

/*
 * Estimates what a hook costs outside of the engine from the time of a firing that no active state
 * listens to. In guest instructions of 6.1 such a firing takes 79; a function's entry takes 144 beside
 * what is timed, its return 224, a tracepoint of system calls 132.
 */
#define ROUNDS	       8
#define FIRINGS	       64
#define HOOK_PER_GUARD 2

static u64 guard_time(struct dfr_engine *engine, struct dfr_probe *probe)
{
	u64 best = ~0ULL;
	u64 start, time;
	unsigned long flags;
	int i, k;

	for (i = 0; i < ROUNDS; i++) {
		flags = dfr_plat_irq_save(engine, 0);
		start = dfr_plat_clock(NULL);
		for (k = 0; k < FIRINGS; k++)
			dfr_fire(probe, NULL, 0, NULL);
		time = dfr_plat_clock(NULL) - start;
		dfr_plat_irq_restore(engine, flags);
		best = least(best, time / FIRINGS);
	}
	return best;
}

/* Times dfr_fire() on a probe whose only ECB is of an inactive state, so that it ends at once. */
static int calibrate(struct dfr_engine *engine)
{
	struct dfr_state *idle;
	struct dfr_probe probe;
	struct dfr_ecb ecb;
	int error = dfr_state_create(engine, &idle);

	if (error)
		return error;
	memset(&ecb, 0, sizeof(ecb));
	memset(&probe, 0, sizeof(probe));
	ecb.ec_state = idle;
	ecb.ec_live = idle->st_live;
	probe.pb_provider = &engine->en_dtrace;
	probe.pb_ecbs = &ecb;
	engine->en_hook_time = HOOK_PER_GUARD * guard_time(engine, &probe);
	dfr_state_destroy(idle);
	return 0;
}

void dfr_engine_govern(struct dfr_engine *engine, u64 hook_time)
{
	u32 cpu;

	engine->en_hook_time = hook_time;
	if (!hook_time && calibrate(engine))
		return; /* without memory for this, no recording could start either: leave the governor off */
	for (cpu = 0; cpu < engine->en_ncpus; cpu++) {
		struct dfr_cpu *pc = engine->en_cpus[cpu];

		pc->pc_random = cpu + 1;
		pc->pc_distance = distance(pc);
		pc->pc_pure_sample = pc->pc_pure + pc->pc_distance;
		dfr_write_once(&pc->pc_left, pc->pc_distance);
	}
}
