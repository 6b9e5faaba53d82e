// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers: what asks for a snapshot of a state. Those are its programs' snapshot() actions, counted by
 * reason, and the oopses of the kernel. Nothing is copied here: whoever waits is woken, asks which
 * triggers there were, and copies what the state has in memory.
 *
 * A firing of snapshot() is probe context and costs the same however often it comes: its CPU counts
 * it in the share, notes the time, and wakes only if somebody demands it. An oops is counted in the
 * engine, in any context and without a walk over states. The rest is process context.
 *
 * Who waits stores the demand (st_awaited), then looks at the counts; who fires counts, then looks at the
 * demand. The barrier in each keeps that order, so at least one of them sees the other. A firing takes
 * the demand away before it wakes, and each poll() that finds nothing makes it anew.
 */
#include "kmod/engine/recording/fire.h"

/* Reasons. */

u32 dfr_trigger_of(const struct dfr_state *state, const char *reason)
{
	u32 i;

	for (i = 0; i < state->st_nreasons && strcmp(state->st_reasons[i], reason); i++)
		;
	return i;
}

const char *dfr_triggers_check(const struct dfr_state *state, const struct dfr_program *program)
{
	u32 i, n = state->st_nreasons;

	for (i = 0; i < program->pg_nreasons; i++)
		n += dfr_trigger_of(state, program->pg_reasons[i]) == state->st_nreasons;
	return n > DFR_REASONS_MAX ? "the state's programs have more than 32 different reasons for snapshot"
				   : NULL;
}

void dfr_triggers_add(struct dfr_state *state, const struct dfr_program *program)
{
	u32 i;

	for (i = 0; i < program->pg_nreasons; i++)
		if (dfr_trigger_of(state, program->pg_reasons[i]) == state->st_nreasons)
			state->st_reasons[state->st_nreasons++] = program->pg_reasons[i];
}

/* Firing. */

static void wake_awaiting(struct dfr_state *state)
{
	dfr_smp_mb();
	if (!dfr_read_once(&state->st_awaited))
		return;
	dfr_write_once(&state->st_awaited, 0u);
	dfr_plat_wake(state);
}

void dfr_trigger_fire(struct dfr_share *share, struct dfr_firing *firing, u32 reason)
{
	struct dfr_trigger *trigger = &share->sh_triggers[reason];
	u64 now = dfr_firing_time(firing);

	if (trigger->tg_count == dfr_read_once(&trigger->tg_told))
		dfr_write_once(&trigger->tg_first, now);
	dfr_write_once(&trigger->tg_last, now);
	dfr_store_release(&trigger->tg_count, trigger->tg_count + 1);
	dfr_store_release(&share->sh_triggered, share->sh_triggered + 1);
	wake_awaiting(share->sh_state);
}

void dfr_engine_oops(struct dfr_engine *engine, u64 time)
{
	dfr_write_once(&engine->en_oops_times[engine->en_oopses % DFR_OOPSES_KEPT], time);
	dfr_store_release(&engine->en_oopses, engine->en_oopses + 1);
}

/* Waiting. */

static u64 oopses(const struct dfr_state *state)
{
	if (dfr_state_confined(state)) /* what happens to the kernel is not for him */
		return state->st_oopses;
	return dfr_load_acquire(&state->st_engine->en_oopses);
}

u64 dfr_state_triggered(const struct dfr_state *state)
{
	u64 n = oopses(state) - state->st_oopses;
	const struct dfr_share *share;
	u32 i;

	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		share = dfr_load_acquire(&state->st_shares[i]);
		if (share)
			n += dfr_load_acquire(&share->sh_triggered);
	}
	return n;
}

/*
 * A firing of snapshot() leaves a record; of an oops, which is counted where no catalog can be written, a
 * mark tells. Oopses between two looks (of housekeeping, or of who asks) have one mark together, at the
 * time of the last.
 */
void dfr_triggers_mark(struct dfr_state *state)
{
	u64 n = oopses(state);
	int error;

	if (n == state->st_oops_marked || dfr_read_once(&state->st_activity) == DFR_INACTIVE)
		return;
	error = dfr_catalog_mark(state,
				 n - state->st_oops_marked == 1 ? "oops of the kernel"
								: "oopses of the kernel, the last of them",
				 dfr_read_once(&state->st_engine->en_oops_times[(n - 1) % DFR_OOPSES_KEPT]));
	if (error != -ENOMEM) /* else at the next look */
		state->st_oops_marked = n;
}

void dfr_state_await_trigger(struct dfr_state *state)
{
	dfr_write_once(&state->st_awaited, 1u);
	dfr_smp_mb();
}

/* Asking; the state's lock is held. */

/*
 * A firing that counts itself between the two accesses to tg_count and tg_told here has seen the older
 * tg_told, and leaves tg_first as it was, which is from before `asked`, the time of that call. Its own
 * time may be a moment before that: tell_reason() looks at the last one's.
 */
static void add_share(struct dfr_ioc_trigger *entry, struct dfr_trigger *trigger, u64 asked)
{
	u64 count = dfr_load_acquire(&trigger->tg_count);
	u64 first = dfr_read_once(&trigger->tg_first);
	u64 last = dfr_read_once(&trigger->tg_last);

	if (first < asked)
		first = asked;
	if (count != trigger->tg_told && (!entry->first || first < entry->first))
		entry->first = first;
	if (count && last > entry->last)
		entry->last = last;
	entry->count += count;
	dfr_write_once(&trigger->tg_told, count);
}

static void tell_reason(struct dfr_state *state, u32 reason, struct dfr_ioc_trigger *entry)
{
	size_t n = strlen(state->st_reasons[reason]); /* below DFR_REASON_MAX: load_reason() */
	u32 i;

	memcpy(entry->reason, state->st_reasons[reason], n);
	for (i = 0; i < state->st_engine->en_ncpus; i++)
		if (state->st_shares[i])
			add_share(entry, &state->st_shares[i]->sh_triggers[reason], state->st_asked);
	if (entry->first > entry->last)
		entry->first = entry->last;
}

static void tell_oopses(struct dfr_state *state, struct dfr_ioc_trigger *entry)
{
	const u64 *times = state->st_engine->en_oops_times;
	u64 n = oopses(state), first = state->st_oops_told;

	memcpy(entry->reason, "oops", sizeof("oops"));
	entry->flags = DFR_TRIGGER_OOPS;
	entry->count = n - state->st_oopses;
	if (entry->count)
		entry->last = dfr_read_once(&times[(n - 1) % DFR_OOPSES_KEPT]);
	if (n - first > DFR_OOPSES_KEPT)
		first = n - DFR_OOPSES_KEPT; /* earlier times are not kept */
	if (n != first)
		entry->first = dfr_read_once(&times[first % DFR_OOPSES_KEPT]);
	state->st_oops_told = n;
}

int dfr_state_triggers(struct dfr_state *state, struct dfr_ioc_triggers *io, struct dfr_ioc_trigger *triggers,
		       u64 *seen)
{
	u32 i, n = state->st_nreasons + !dfr_state_confined(state), room = io->count;

	io->count = n;
	if (n > room)
		return -ENOSPC;
	memset(triggers, 0, n * sizeof(*triggers));
	dfr_mutex_lock(&state->st_lock);
	io->time = dfr_plat_clock(NULL);
	for (i = 0; i < state->st_nreasons; i++)
		tell_reason(state, i, &triggers[i]);
	if (i < n)
		tell_oopses(state, &triggers[i]);
	io->asked = state->st_asked;
	state->st_asked = io->time;
	dfr_mutex_unlock(&state->st_lock);
	for (*seen = 0, i = 0; i < n; i++)
		*seen += triggers[i].count;
	return 0;
}
