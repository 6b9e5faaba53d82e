// SPDX-License-Identifier: GPL-2.0
/*
 * Thread-local scalars (self->x of a number): one slot for each that is not 0.
 *
 *   | key | value | key | value | key | value | key | value |    a bucket: 64 bytes
 *
 * A key is {variable, thread key}, complete in its word, so nothing is compared
 * behind it. It may live in one of two buckets. Probe context: only the thread
 * itself, on the one CPU where it runs, ever reads or writes the slot of its
 * key, so a slot is taken by one compare-and-swap and given back by one store:
 * no lists, no cleaning. Both buckets full is a counted loss.
 *
 * Whatever has a size (strings, structs, arrays) is in dynvar.c.
 */
#include "kmod/engine/fire.h"
#include "kmod/engine/vars.h"

#define SLOT_USED (1ULL << 63)
#define SLOT_ID_SHIFT 40

/* Process context: a quarter of what dynamic variables may take. Once there, the slots stay. */
int dfr_self_layout(struct dfr_vars *vars)
{
	struct dfr_selfvars *self = &vars->va_self;
	u64 size = sizeof(struct dfr_selfbucket);

	if (self->se_lost)
		return 0;
	self->se_lost = dfr_plat_alloc(dfr_plat_ncpus() * sizeof(*self->se_lost));
	if (!self->se_lost)
		return -ENOMEM;
	if (size > vars->va_dyn.dy_budget)
		return 0; /* every store is a loss */
	while (size * 2 <= vars->va_dyn.dy_budget / 4 && size < (1ULL << 30))
		size *= 2;
	self->se_buckets = dfr_plat_alloc((size_t)size);
	if (!self->se_buckets)
		return -ENOMEM;
	self->se_mask = (u32)(size / sizeof(struct dfr_selfbucket)) - 1;
	vars->va_dyn.dy_budget -= size;
	return 0;
}

void dfr_self_free(struct dfr_vars *vars)
{
	dfr_plat_free(vars->va_self.se_buckets);
	dfr_plat_free(vars->va_self.se_lost);
	vars->va_self.se_buckets = NULL;
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

dfr_hot u64 key_of(struct dfr_firing *firing, u32 id)
{
	return dfr_plat_thread_key(firing) | (u64)id << SLOT_ID_SHIFT | SLOT_USED;
}

dfr_hot u64 hash_of(u64 key)
{
	return key * 0x9e3779b97f4a7c15ULL;
}

/* Both are below 2^32 buckets; a single one is both. */
dfr_hot struct dfr_selfbucket *first_of(const struct dfr_selfvars *self, u64 hash)
{
	return &self->se_buckets[(hash >> 32) & self->se_mask];
}

dfr_hot struct dfr_selfbucket *second_of(const struct dfr_selfvars *self, u64 hash)
{
	return &self->se_buckets[((hash >> 32 ^ hash >> 12 ^ 1) & self->se_mask)];
}

dfr_hot struct dfr_selfslot *in_bucket(struct dfr_selfbucket *bucket, u64 key)
{
	u32 i;

	for (i = 0; i < DFR_SELF_SLOTS; i++)
		if (dfr_read_once(&bucket->sb_slot[i].ss_key) == key)
			return &bucket->sb_slot[i];
	return NULL;
}

static struct dfr_selfslot *take(struct dfr_selfbucket *bucket, u64 key)
{
	u32 i;

	for (i = 0; i < DFR_SELF_SLOTS; i++)
		if (!dfr_read_once(&bucket->sb_slot[i].ss_key) && !dfr_cmpxchg(&bucket->sb_slot[i].ss_key, 0ULL, key))
			return &bucket->sb_slot[i];
	return NULL;
}

dfr_hot struct dfr_selfslot *find(const struct dfr_selfvars *self, u64 key, u64 hash)
{
	struct dfr_selfslot *slot = in_bucket(first_of(self, hash), key);

	return dfr_likely(slot) ? slot : in_bucket(second_of(self, hash), key);
}

u64 dfr_self_load(const struct dfr_vars *vars, struct dfr_firing *firing, u32 id)
{
	u64 key = key_of(firing, id);
	struct dfr_selfslot *slot;

	if (dfr_unlikely(!vars->va_self.se_buckets))
		return 0;
	slot = find(&vars->va_self, key, hash_of(key));
	return slot ? dfr_read_once(&slot->ss_value) : 0;
}

static dfr_cold bool lose(struct dfr_selfvars *self, u32 cpu)
{
	if (self->se_lost)
		dfr_count(&self->se_lost[cpu], 1);
	return false;
}

bool dfr_self_store(struct dfr_vars *vars, struct dfr_firing *firing, u32 id, u64 value)
{
	struct dfr_selfvars *self = &vars->va_self;
	u64 key = key_of(firing, id);
	u64 hash = hash_of(key);
	struct dfr_selfslot *slot;

	if (dfr_unlikely(!self->se_buckets))
		return lose(self, firing->fr_cpu);
	slot = find(self, key, hash);
	if (!value) {
		if (slot)
			dfr_store_release(&slot->ss_key, 0ULL);
		return true;
	}
	if (!slot)
		slot = take(first_of(self, hash), key);
	if (dfr_unlikely(!slot))
		slot = take(second_of(self, hash), key);
	if (dfr_unlikely(!slot))
		return lose(self, firing->fr_cpu);
	dfr_write_once(&slot->ss_value, value);
	return true;
}
