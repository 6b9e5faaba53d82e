// SPDX-License-Identifier: GPL-2.0
/*
 * Thread-local scalars (self->x of a number): one slot for each that is not 0.
 *
 *   | key | value | key | value | key | value | key | value |    a bucket: 64 bytes
 *
 * A key is all of {variable, thread key} in one word, so to compare that word is
 * enough. Its home is one slot. If that is taken, the key may be in any other slot
 * of its two buckets and is counted in se_away; if both are full, the store is a
 * counted loss. Probe context: only the thread itself, on the one CPU where it runs,
 * ever reads or writes the slot of its key, so a slot is taken by one
 * compare-and-swap and given back by one store: no lists, no cleaning.
 *
 * Thread-locals that have a size (strings, structs, arrays) are in dynvar.c.
 */
#include "kmod/engine/dif/self.h"

#define BUCKET_SLOTS 4u

/* Process context. Takes up to a quarter of the dynamic variables' budget, once for the state. */
int dfr_self_layout(struct dfr_vars *vars)
{
	struct dfr_selfvars *self = &vars->va_self;
	u64 size = BUCKET_SLOTS * sizeof(struct dfr_selfslot);

	if (self->se_lost)
		return 0;
	self->se_factor = vars->va_hash.hk_factor;
	self->se_lost = dfr_plat_alloc(dfr_plat_ncpus() * sizeof(*self->se_lost));
	if (!self->se_lost)
		return -ENOMEM;
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
	dfr_plat_free(vars->va_self.se_lost);
	vars->va_self.se_slots = NULL;
	vars->va_self.se_lost = NULL;
}

u64 dfr_self_losses(const struct dfr_vars *vars)
{
	u64 lost = 0;
	u32 cpu;

	for (cpu = 0; vars->va_self.se_lost && cpu < dfr_plat_ncpus(); cpu++)
		lost += dfr_read_once(&vars->va_self.se_lost[cpu]);
	return lost;
}

/* The second bucket of a key; the same as the first if there is only one. */
dfr_hot struct dfr_selfslot *second_of(const struct dfr_selfvars *self, u64 key)
{
	u64 hash = dfr_self_hash(self, key);

	return &self->se_slots[(hash >> 32 ^ hash >> 12 ^ BUCKET_SLOTS) &
			       self->se_mask / sizeof(struct dfr_selfslot) & ~(BUCKET_SLOTS - 1)];
}

dfr_hot struct dfr_selfslot *bucket_of(const struct dfr_selfvars *self, const struct dfr_selfslot *slot)
{
	return &self->se_slots[(u32)(slot - self->se_slots) & ~(BUCKET_SLOTS - 1)];
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

struct dfr_selfslot *dfr_self_find_away(const struct dfr_selfvars *self, u64 key)
{
	struct dfr_selfslot *slot = in_bucket(bucket_of(self, dfr_self_home(self, key)), key);

	return slot ? slot : in_bucket(second_of(self, key), key);
}

struct dfr_selfslot *dfr_self_insert_away(struct dfr_selfvars *self, u32 cpu, u64 key, u64 value)
{
	struct dfr_selfslot *slot = NULL;

	if (self->se_slots) {
		slot = take(bucket_of(self, dfr_self_home(self, key)), key);
		if (!slot)
			slot = take(second_of(self, key), key);
	}
	if (!slot) {
		if (self->se_lost)
			dfr_count(&self->se_lost[cpu], 1);
		return NULL;
	}
	if (slot != dfr_self_home(self, key))
		dfr_atomic_add(&self->se_away, 1);
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
	struct dfr_selfref ref = dfr_self_find(&vars->va_self, dfr_self_key(firing, id));

	return dfr_self_get(&ref);
}

bool dfr_self_store(struct dfr_vars *vars, struct dfr_firing *firing, u32 id, u64 value)
{
	struct dfr_selfref ref = dfr_self_find(&vars->va_self, dfr_self_key(firing, id));

	return dfr_self_set(&vars->va_self, firing->fr_cpu, &ref, value);
}
