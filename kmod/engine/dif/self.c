// SPDX-License-Identifier: GPL-2.0
/*
 * Thread-local scalars (self->x of a number): one slot for each that is not 0.
 *
 *   | key | value | key | value | key | value | key | value |    a bucket: 64 bytes
 *
 * A key is all of {variable, thread key} in one word, so to compare that word is
 * enough. Its home is one slot. If that is taken, the key is counted in se_away and
 * may be in any slot of its buckets, which are tried in order: that of its home, then
 * others (bucket_at()). Only if all BUCKETS_MAX are full, the store is a counted loss: by
 * trial, there are enough of them for any factor while half of the slots are free.
 * se_reach is how many of its buckets any key has needed so far, mostly two; it never shrinks, so after one crowded
 * moment a look-up of a number that is 0 tries many, and each is charged to the firing's work.
 *
 * The others must be independent of the home. One product with a secret factor makes
 * the home, because most look-ups cost no more than that; but keys in a regular order,
 * as tids are, then fill a part of all buckets to the brim for one factor in ten.
 *
 * Probe context: only the thread itself, on the one CPU where it runs,
 * ever reads or writes the slot of its key, so a slot is taken by one
 * compare-and-swap and given back by one store: no lists, no cleaning.
 *
 * Thread-locals that have a size (strings, structs, arrays) are in dynvar.c.
 */
#include "formats/abi/block.h"
#include "kmod/engine/dif/self.h"

#define BUCKET_SLOTS 4u
#define BUCKETS_MAX  16u
#define BUCKET_WORK  32u /* guest instructions of a look into a bucket, about */

/* Process context. Takes up to a quarter of the dynamic variables' budget, once for the state. */
int dfr_self_layout(struct dfr_vars *vars)
{
	struct dfr_selfvars *self = &vars->va_self;
	u64 size = BUCKET_SLOTS * sizeof(struct dfr_selfslot);

	if (self->se_laid_out)
		return 0;
	self->se_laid_out = true;
	self->se_factor = vars->va_hash.hk_factor;
	if (size > vars->va_dyn.dy_budget)
		return 0; /* every store is a loss */
	while (size * 2 <= vars->va_dyn.dy_budget / 4 && size < (1ULL << 30))
		size *= 2;
	self->se_slots = dfr_plat_alloc((size_t)size);
	if (!self->se_slots)
		return -ENOMEM;
	self->se_mask = (u32)(size - sizeof(struct dfr_selfslot));
	vars->va_dyn.dy_budget -= size;
	return 0;
}

void dfr_self_free(struct dfr_vars *vars)
{
	dfr_plat_free(vars->va_self.se_slots);
	vars->va_self.se_slots = NULL;
}

/*
 * The nth bucket of a key; callers ask for 0, 1, 2 ... in order and keep *mix for it. Each step of
 * the keyed hash serves two buckets.
 */
static struct dfr_selfslot *bucket_at(const struct dfr_selfvars *self, u64 key, u32 n, u64 *mix)
{
	u32 mask = self->se_mask / (u32)sizeof(struct dfr_selfslot) & ~(BUCKET_SLOTS - 1);

	if (!n) {
		*mix = dfr_self_hash(self, key);
		return &self->se_slots[(u32)(dfr_self_home(self, key) - self->se_slots) & mask];
	}
	if (n & 1)
		*mix = dfr_hash_word(*mix, key, self->se_factor);
	return &self->se_slots[(n & 1 ? *mix : *mix >> 32) & mask];
}

/*
 * Charges a look into a bucket. It is done even if that is refused, because a key whose slot is not found would take a
 * second one; what runs DIF asks again for each access (dynvar.c), so it stops after one such walk.
 */
static void charge_bucket(const struct dfr_selfvars *self, struct dfr_firing *firing)
{
	dfr_firing_work(firing, self->se_state, BUCKET_WORK);
}

static struct dfr_selfslot *in_bucket(struct dfr_selfslot *bucket, u64 key)
{
	u32 i;

	for (i = 0; i < BUCKET_SLOTS; i++)
		if (dfr_read_once(&bucket[i].ss_key) == key)
			return &bucket[i];
	return NULL;
}

static struct dfr_selfslot *take(struct dfr_selfslot *bucket, u64 key)
{
	u32 i;

	for (i = 0; i < BUCKET_SLOTS; i++)
		if (!dfr_read_once(&bucket[i].ss_key) && !dfr_cmpxchg(&bucket[i].ss_key, 0ULL, key))
			return &bucket[i];
	return NULL;
}

struct dfr_selfslot *dfr_self_find_away(const struct dfr_selfvars *self, struct dfr_firing *firing, u64 key)
{
	u32 n, reach = dfr_read_once(&self->se_reach);
	struct dfr_selfslot *slot = NULL;
	u64 mix = 0;

	for (n = 0; n < reach && !slot; n++) {
		charge_bucket(self, firing);
		slot = in_bucket(bucket_at(self, key, n, &mix), key);
	}
	return slot;
}

/* Other CPUs raise it too, so each failed swap means that it is higher now: at most BUCKETS_MAX turns. */
static void raise_reach(struct dfr_selfvars *self, u32 reach)
{
	u32 seen = dfr_read_once(&self->se_reach), was;

	for (; seen < reach; seen = was) {
		was = dfr_cmpxchg(&self->se_reach, seen, reach);
		if (was == seen)
			return;
	}
}

struct dfr_selfslot *dfr_self_insert_away(struct dfr_selfvars *self, struct dfr_firing *firing, u64 key,
					  u64 value)
{
	struct dfr_selfslot *slot = NULL;
	u64 mix = 0;
	u32 n;

	for (n = 0; self->se_slots && n < BUCKETS_MAX && !slot; n++) {
		charge_bucket(self, firing);
		slot = take(bucket_at(self, key, n, &mix), key);
	}
	if (!slot) {
		dfr_store_lost(self->se_state, firing, DFR_LOSS_DYNVAR);
		return NULL;
	}
	if (slot != dfr_self_home(self, key)) {
		raise_reach(self, n);
		dfr_atomic_add(&self->se_away, 1);
	}
	dfr_write_once(&slot->ss_value, value);
	return slot;
}

void dfr_self_erase_away(struct dfr_selfvars *self, struct dfr_selfslot *slot)
{
	dfr_store_release(&slot->ss_key, 0ULL);
	dfr_atomic_add(&self->se_away, ~0ULL);
}

u64 dfr_self_load(const struct dfr_vars *vars, struct dfr_firing *firing, u32 id)
{
	struct dfr_selfref ref = dfr_self_find(&vars->va_self, firing, dfr_self_key(firing, id));

	return dfr_self_get(&ref);
}

bool dfr_self_store(struct dfr_vars *vars, struct dfr_firing *firing, u32 id, u64 value)
{
	struct dfr_selfref ref = dfr_self_find(&vars->va_self, firing, dfr_self_key(firing, id));

	return dfr_self_set(&vars->va_self, firing, &ref, value);
}
