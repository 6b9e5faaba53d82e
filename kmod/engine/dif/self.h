/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inlined fast path to thread-local numbers, for self.c and plain.c: most keys
 * are in their home slot. self.c says how the slots work. Probe context.
 */
#ifndef DFR_ENGINE_SELF_H
#define DFR_ENGINE_SELF_H

#include "kmod/engine/dif/vars.h"

/* Looks outside of the home slot. While se_away is 0, every key is in its home slot. */
struct dfr_selfslot *dfr_self_find_away(const struct dfr_selfvars *self, struct dfr_firing *firing, u64 key);
/* Gives a slot to a key that has none. NULL: no room, and counted. */
struct dfr_selfslot *dfr_self_insert_away(struct dfr_selfvars *self, struct dfr_firing *firing, u64 key,
					  u64 value);
void dfr_self_erase_away(struct dfr_selfvars *self, struct dfr_selfslot *slot);

dfr_hot u64 dfr_self_key(struct dfr_firing *firing, u32 id)
{
	return dfr_plat_thread_key(firing) | DFR_SELF_KEY(id);
}

/* Callers use the middle bits. se_factor is secret, so choosing a tid does not choose a slot. */
dfr_hot u64 dfr_self_hash(const struct dfr_selfvars *self, u64 key)
{
	return key * self->se_factor;
}

/* NULL: there are no slots. A sum of numbers, because C has none of a null pointer. */
dfr_hot struct dfr_selfslot *dfr_self_home(const struct dfr_selfvars *self, u64 key)
{
	return (struct dfr_selfslot *)((unsigned long)self->se_slots +
				       (dfr_self_hash(self, key) >> 28 & self->se_mask));
}

/* A thread's variable and its slot, as found by dfr_self_find() and kept up to date by dfr_self_set(). */
struct dfr_selfref {
	u64 sr_key;
	struct dfr_selfslot *sr_home; /* NULL: there are no slots */
	struct dfr_selfslot *sr_slot; /* NULL: the variable is 0 */
};

dfr_hot struct dfr_selfref dfr_self_find(const struct dfr_selfvars *self, struct dfr_firing *firing, u64 key)
{
	struct dfr_selfref ref = { key, NULL, NULL };

	if (dfr_unlikely(!self->se_slots))
		return ref;
	ref.sr_home = dfr_self_home(self, key);
	if (dfr_likely(dfr_read_once(&ref.sr_home->ss_key) == key))
		ref.sr_slot = ref.sr_home;
	else if (dfr_unlikely(dfr_read_once(&self->se_away)))
		ref.sr_slot = dfr_self_find_away(self, firing, key);
	return ref;
}

dfr_hot u64 dfr_self_get(const struct dfr_selfref *ref)
{
	return ref->sr_slot ? dfr_read_once(&ref->sr_slot->ss_value) : 0;
}

/* false: no room, and counted. */
dfr_hot bool dfr_self_set(struct dfr_selfvars *self, struct dfr_firing *firing, struct dfr_selfref *ref,
			  u64 value)
{
	struct dfr_selfslot *home = ref->sr_home;

	if (ref->sr_slot && value) {
		dfr_write_once(&ref->sr_slot->ss_value, value);
		return true;
	}
	if (ref->sr_slot) {
		if (dfr_likely(ref->sr_slot == home))
			dfr_store_release(&home->ss_key, 0ULL);
		else
			dfr_self_erase_away(self, ref->sr_slot);
		ref->sr_slot = NULL;
		return true;
	}
	if (!value)
		return true;
	if (dfr_likely(home && !dfr_read_once(&home->ss_key) &&
		       !dfr_cmpxchg(&home->ss_key, 0ULL, ref->sr_key))) {
		dfr_write_once(&home->ss_value, value);
		ref->sr_slot = home;
	} else {
		ref->sr_slot = dfr_self_insert_away(self, firing, ref->sr_key, value);
	}
	return ref->sr_slot != NULL;
}

#endif
