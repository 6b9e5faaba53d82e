// SPDX-License-Identifier: GPL-2.0
/*
 * Arming: links a state's ECBs into their probes' chains and has the providers patch; and
 * takes them off again, when the state ends, the governor detaches probes, or probes go.
 * Process context under the engine's lock; the state's lock is not held while a provider
 * arms or disarms.
 */
#include "kmod/engine/recording/store.h"

/*
 * Plain clauses are not charged for their work (work.c), so only the first PLAIN_ON_PROBE at a
 * probe may be plain; those behind them take the general form.
 */
#define PLAIN_ON_PROBE 64

/*
 * Are both the same test, of a kind that asks only about the task that fires (up to DFR_TEST_OWNER),
 * so that it needs neither arguments nor state?
 */
static bool same_test(const struct dfr_test *a, const struct dfr_test *b)
{
	return a && b && a->te_kind <= DFR_TEST_OWNER && a->te_kind == b->te_kind &&
	       a->te_negated == b->te_negated && a->te_words[0] == b->te_words[0] &&
	       a->te_words[1] == b->te_words[1];
}

/*
 * Would an ECB that follows `before` (NULL: the probe's first one) break the row of equal tests? All
 * share one test if no ECB does, because the first is compared with itself.
 */
static bool unlike(const struct dfr_ecb *before, const struct dfr_ecb *ecb)
{
	return !same_test((before ? before : ecb)->ec_test, ecb->ec_test);
}

/* Counts what the ECB is by itself; `by` is 1 or -1. */
static void count_ecb(struct dfr_probe *probe, const struct dfr_ecb *ecb, int by)
{
	if (!(ecb->ec_flags & DFR_EC_PURE))
		probe->pb_impure += (u32)by;
	if (dfr_form_reads_args(ecb))
		probe->pb_readers += (u32)by;
	if (!dfr_state_confined(ecb->ec_state))
		probe->pb_unconfined += (u32)by;
}

/* Sets what holds for all ECBs at the probe, of which `first` is the first: pb_test, DFR_PB_PURE, DFR_PB_NOARGS. */
static void refresh_probe(struct dfr_probe *probe, const struct dfr_ecb *first)
{
	const struct dfr_test *test = first && !probe->pb_unlike ? first->ec_test : NULL;
	u32 flags = 0;

	/* A test but of the name must be asked first, by dfr_probe_wants(). */
	if (!probe->pb_readers && (!test || (test->te_kind == DFR_TEST_NAME && !test->te_negated)))
		flags |= DFR_PB_NOARGS;
	if (first && !probe->pb_impure && !test && !(flags & DFR_PB_NOARGS))
		flags |= DFR_PB_PURE;
	dfr_write_once(&probe->pb_test, test);
	dfr_write_once(&probe->pb_flags, (probe->pb_flags & ~(u32)(DFR_PB_PURE | DFR_PB_NOARGS)) | flags);
}

/* Before it is linked: the first ECB of a state at a probe tells of what the probe misses from here on. */
static void begin_telling(struct dfr_ecb *ecb)
{
	bool off;

	ecb->ec_tells = !dfr_state_ecb_at(ecb->ec_state, ecb->ec_probe);
	if (ecb->ec_tells)
		ecb->ec_missed = dfr_ecb_missed(ecb, &off);
}

static void link_ecb(struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;
	struct dfr_ecb *before = probe->pb_last;
	struct dfr_ecb **link = before ? &before->ec_next : &probe->pb_ecbs;

	if (probe->pb_provider->pv_ops->missed)
		begin_telling(ecb);
	dfr_form_find(ecb, probe->pb_armed >= PLAIN_ON_PROBE);
	ecb->ec_next = NULL; /* a former place in a chain; no firing is at this ECB any more */
	ecb->ec_before = before;
	/*
	 * Before it is linked, because what holds for the other ECBs only would make firings skip
	 * the new one.
	 */
	count_ecb(probe, ecb, 1);
	probe->pb_unlike += unlike(before, ecb);
	refresh_probe(probe, before ? probe->pb_ecbs : ecb);
	probe->pb_last = ecb;
	dfr_ecb_mark(ecb, DFR_MARK_LINKED, true);
	dfr_store_release(link, ecb);
}

static void unlink_ecb(struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;
	struct dfr_ecb *before = ecb->ec_before;
	struct dfr_ecb *next = ecb->ec_next;
	struct dfr_ecb **link = before ? &before->ec_next : &probe->pb_ecbs;

	/* Its own ec_next stays, because a firing on another CPU may be at this ECB and go on from it. */
	dfr_store_release(link, next);
	count_ecb(probe, ecb, -1);
	probe->pb_unlike -= unlike(before, ecb);
	if (next) {
		probe->pb_unlike += (u32)unlike(before, next) - (u32)unlike(ecb, next);
		next->ec_before = before;
	} else {
		probe->pb_last = before;
	}
	dfr_ecb_mark(ecb, DFR_MARK_LINKED, false);
	refresh_probe(probe, probe->pb_ecbs);
}

static int commit_providers(struct dfr_engine *engine)
{
	struct dfr_provider *provider;
	int error = 0;
	int result;

	for (provider = engine->en_providers; provider; provider = provider->pv_next) {
		if (!provider->pv_ops->commit)
			continue;
		result = provider->pv_ops->commit(provider);
		if (result && !error)
			error = result;
	}
	return error;
}

static void tell_unarmed(struct dfr_state *state, s32 which, int error)
{
	dfr_mutex_lock(&state->st_lock);
	dfr_catalog_unarmed(state, which, error);
	dfr_mutex_unlock(&state->st_lock);
}

/* If the provider cannot arm the probe, the log and the catalog name it, and the ECB stays unlinked. */
static void arm_ecb(struct dfr_state *state, struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;
	int error;

	link_ecb(ecb);
	if (probe->pb_armed++)
		return;
	state->st_engine->en_arming = state;
	error = probe->pb_provider->pv_ops->arm(probe->pb_provider, probe);
	state->st_engine->en_arming = NULL;
	if (!error)
		return;
	dfr_plat_log("probe %s:%s:%s:%s cannot be armed (error %d)", probe->pb_provider->pv_name,
		     probe->pb_module, probe->pb_function, probe->pb_name, error);
	tell_unarmed(state, (s32)probe->pb_id, error);
	probe->pb_armed--;
	unlink_ecb(ecb);
}

s64 dfr_arming_option(const struct dfr_engine *engine, u32 option)
{
	return dfr_option(engine->en_arming, option);
}

/* A provider whose commit() fails cannot say which probes it left out, so the catalog entry names none. */
static void commit(struct dfr_state *state, int error)
{
	int failed = commit_providers(state->st_engine);

	error = error ? error : failed;
	if (!error)
		return;
	dfr_plat_log("not all probes of state %u could be armed (error %d)", dfr_state_number(state), error);
	tell_unarmed(state, 0, error);
}

/*
 * The task that starts the state may be killed between two probes, since arming one may take
 * milliseconds. What was armed by then is disarmed with the state.
 */
void dfr_state_arm(struct dfr_state *state)
{
	struct dfr_ecb *ecb;
	int error = 0;

	state->st_armed = true;
	for (ecb = state->st_ecbs; ecb && !error; ecb = ecb->ec_sibling) {
		arm_ecb(state, ecb);
		error = dfr_plat_proceed();
	}
	commit(state, error);
}

static void disarm_ecb(struct dfr_state *state, struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;

	if (!dfr_ecb_marked(ecb, DFR_MARK_LINKED))
		return;
	unlink_ecb(ecb);
	if (probe->pb_provider->pv_ops->missed)
		dfr_state_unlinked(state, ecb);
	if (--probe->pb_armed == 0)
		probe->pb_provider->pv_ops->disarm(probe->pb_provider, probe);
}

/* When this returns, no new firing sees the state and those under way are over. */
void dfr_state_disarm(struct dfr_state *state)
{
	struct dfr_ecb *ecb;

	if (!state->st_armed)
		return;
	state->st_armed = false;
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling)
		disarm_ecb(state, ecb);
	commit_providers(state->st_engine);
	dfr_plat_synchronize();
}

/* The governor. */

#define DETACH_MOST 64

static const struct dfr_ecb *dearest(const struct dfr_state *state, u64 *total)
{
	const struct dfr_ecb *ecb, *most = NULL;

	*total = 0;
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (!dfr_ecb_marked(ecb, DFR_MARK_LINKED) || dfr_ecb_marked(ecb, DFR_MARK_CHOSEN))
			continue;
		*total += ecb->ec_cost;
		if (ecb->ec_cost && (!most || ecb->ec_cost > most->ec_cost))
			most = ecb;
	}
	return most;
}

static u64 choose_probe(struct dfr_state *state, const struct dfr_probe *probe)
{
	struct dfr_ecb *ecb;
	u64 cost = 0;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (ecb->ec_probe != probe || !dfr_ecb_marked(ecb, DFR_MARK_LINKED))
			continue;
		cost += ecb->ec_cost;
		dfr_ecb_mark(ecb, DFR_MARK_CHOSEN, true);
	}
	return cost;
}

/*
 * For the governor: detaches the probes with the highest cost, so many that more than half of the
 * state's cost is gone. Returns how many probes. They are told of before, so that no end of a window lies
 * between both.
 */
u32 dfr_state_detach(struct dfr_state *state)
{
	u64 total, rest, gone = 0;
	const struct dfr_ecb *most = dearest(state, &total);
	struct dfr_ecb *ecb;
	u32 probes = 0;

	for (; most && gone <= total / 2 && probes < DETACH_MOST; most = dearest(state, &rest)) {
		dfr_governor_names_detached(state, most->ec_probe);
		gone += choose_probe(state, most->ec_probe);
		probes++;
	}
	dfr_governor_counts_detached(state, probes);
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (!dfr_ecb_marked(ecb, DFR_MARK_CHOSEN))
			continue;
		dfr_governor_detached(
			state, ecb); /* before: disarming takes time, and a stop tells of what is marked */
		disarm_ecb(state, ecb);
		dfr_ecb_mark(ecb, DFR_MARK_CHOSEN, false);
	}
	commit_providers(state->st_engine);
	return probes;
}

/*
 * Arms what was detached; the governor then tells of it. dfr_plat_synchronize() first, because a firing may
 * still be at an unlinked ECB, whose ec_next link_ecb() clears.
 */
void dfr_state_attach(struct dfr_state *state)
{
	struct dfr_ecb *ecb;

	dfr_plat_synchronize();
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (dfr_ecb_marked(ecb, DFR_MARK_DETACHED) && !dfr_ecb_marked(ecb, DFR_MARK_LINKED))
			arm_ecb(state, ecb);
	}
	commit(state, 0);
}

/*
 * Thinning: the probes of all clauses of a priority, unless others are on them, too. BEGIN, END and
 * ERROR stay, because they fire whether or not a clause is off (fire.c, actions.c) and cost nothing meanwhile.
 */
void dfr_state_thin(struct dfr_state *state, u32 priority)
{
	struct dfr_ecb *ecb;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (dfr_ecb_priority(ecb) != priority || !dfr_ecb_marked(ecb, DFR_MARK_LINKED) ||
		    ecb->ec_probe->pb_provider == &state->st_engine->en_dtrace)
			continue;
		disarm_ecb(state, ecb);
		dfr_ecb_mark(ecb, DFR_MARK_THINNED, true);
	}
	commit_providers(state->st_engine);
}

/* dfr_plat_synchronize() first, as in dfr_state_attach(). */
void dfr_state_unthin(struct dfr_state *state, u32 priority)
{
	struct dfr_ecb *ecb;

	dfr_plat_synchronize();
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (dfr_ecb_priority(ecb) != priority || !dfr_ecb_marked(ecb, DFR_MARK_THINNED))
			continue;
		dfr_ecb_mark(ecb, DFR_MARK_THINNED, false);
		arm_ecb(state, ecb);
	}
	commit(state, 0);
}

/* Probes that come and go. */

/* New probes have come: those that this state's programs match get ECBs and are armed. */
void dfr_state_match_new(struct dfr_state *state)
{
	struct dfr_ecb *ecb;

	if (!state->st_armed)
		return;
	dfr_mutex_lock(&state->st_lock);
	ecb = state->st_ended ? NULL : dfr_state_build_new(state);
	dfr_mutex_unlock(&state->st_lock);
	if (!ecb)
		return;
	for (; ecb; ecb = ecb->ec_sibling)
		arm_ecb(state, ecb);
	commit(state, 0);
}

/*
 * Takes the ECBs of the probes that go off the state's list. The state's lock is held, because some
 * walk that list under it alone.
 */
static struct dfr_ecb *take_going(struct dfr_state *state, const struct dfr_going *going)
{
	struct dfr_ecb **link = &state->st_ecbs;
	struct dfr_ecb *gone = NULL;
	struct dfr_ecb *last = NULL;
	struct dfr_ecb *ecb;

	while ((ecb = *link)) {
		if (dfr_probe_goes(going, ecb->ec_probe)) {
			dfr_governor_gone(state, ecb, dfr_plat_clock(NULL));
			dfr_ecb_keep_epid(state, ecb);
			*link = ecb->ec_sibling;
			ecb->ec_sibling = gone;
			gone = ecb;
		} else {
			last = ecb;
			link = &ecb->ec_sibling;
		}
	}
	state->st_ecb_last = last;
	return gone;
}

/* Probes are going, and their ECBs with them. Their EPIDs are not given to other ECBs. */
void dfr_state_unlink_probes(struct dfr_state *state, const struct dfr_going *going)
{
	struct dfr_ecb *gone, *ecb;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling)
		if (dfr_probe_goes(going, ecb->ec_probe))
			disarm_ecb(state, ecb);
	dfr_mutex_lock(&state->st_lock);
	gone = take_going(state, going);
	dfr_mutex_unlock(&state->st_lock);
	if (!gone)
		return;
	commit_providers(state->st_engine);
	dfr_plat_synchronize();
	for (; gone; gone = ecb) {
		ecb = gone->ec_sibling;
		dfr_plat_free(gone);
	}
}
