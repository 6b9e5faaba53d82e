// SPDX-License-Identifier: GPL-2.0
/*
 * Remembers the purses of a state with a budget when it ends. A state of the same name
 * that begins soon after goes on with them, because otherwise one could end a state and
 * begin another to get full purses. All states of root without a name share one entry.
 * States of users without privilege use their user's purses (limits.c), which outlive
 * the states, too. Process context under the engine's lock.
 */
#include "kmod/engine/recording/store.h"

static struct dfr_past **find(struct dfr_engine *engine, const char *name)
{
	struct dfr_past **link = &engine->en_pasts;

	while (*link && strcmp((*link)->pa_name, name))
		link = &(*link)->pa_next;
	return link;
}

static void drop(struct dfr_past **link)
{
	struct dfr_past *past = *link;

	*link = past->pa_next;
	dfr_plat_free(past);
}

/* After DFR_GOVERNOR_BURST a purse is full again, and need not be remembered. */
static void drop_old(struct dfr_engine *engine, u64 now)
{
	struct dfr_past **link = &engine->en_pasts;

	while (*link) {
		if (now - (*link)->pa_left >= DFR_GOVERNOR_BURST)
			drop(link);
		else
			link = &(*link)->pa_next;
	}
}

/* No CPU writes the state's purses any more. If there is no memory, they are forgotten. */
void dfr_past_keep(const struct dfr_state *state)
{
	struct dfr_engine *engine = state->st_engine;
	u64 now = dfr_plat_clock(NULL);
	struct dfr_past **link = find(engine, state->st_name);
	struct dfr_past *past;
	u32 cpu;

	if (dfr_state_confined(state) || !state->st_vars || !dfr_governor_budget(state))
		return;
	if (*link)
		drop(link);
	drop_old(engine, now);
	past = dfr_plat_alloc(sizeof(*past) + engine->en_ncpus * sizeof(past->pa_purses[0]));
	if (!past)
		return;
	memcpy(past->pa_name, state->st_name, sizeof(past->pa_name));
	past->pa_left = now;
	for (cpu = 0; cpu < engine->en_ncpus; cpu++)
		if (state->st_shares[cpu])
			past->pa_purses[cpu] = state->st_shares[cpu]->sh_governor.gv_purse;
	past->pa_next = engine->en_pasts;
	engine->en_pasts = past;
}

struct recall {
	struct dfr_share *re_share;
	const struct dfr_purse *re_purse;
};

/* On the share's CPU. */
static void take_over(void *arg)
{
	const struct recall *recall = arg;

	recall->re_share->sh_governor.gv_purse = *recall->re_purse;
}

/* For a state that is about to begin, or that was named later. */
void dfr_past_recall(struct dfr_state *state)
{
	struct dfr_engine *engine = state->st_engine;
	struct recall recall;
	struct dfr_past **link;
	u32 cpu;

	drop_old(engine, dfr_plat_clock(NULL));
	link = find(engine, state->st_name);
	if (!*link || dfr_state_confined(state) || !dfr_governor_budget(state))
		return;
	for (cpu = 0; cpu < engine->en_ncpus; cpu++) {
		recall.re_share = state->st_shares[cpu];
		recall.re_purse = &(*link)->pa_purses[cpu];
		if (recall.re_share && recall.re_purse->pu_time)
			dfr_visit_cpu(engine, cpu, take_over, &recall);
	}
	drop(link); /* it lives on in the state */
}

void dfr_past_forget(struct dfr_engine *engine)
{
	while (engine->en_pasts)
		drop(&engine->en_pasts);
}
