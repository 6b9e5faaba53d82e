// SPDX-License-Identifier: GPL-2.0
/*
 * Thread-local scalars (self->x of a number): one slot for each that is not 0.
 *
 *   | key | value | key | value | key | value | key | value |    a bucket: 64 bytes
 *
 * A key is {variable, thread key}, complete in its word, so nothing is compared
 * behind it. Its home is one slot; if that is taken it may be in any other of two
 * buckets, and is counted as away. Probe context: only the thread
 * itself, on the one CPU where it runs, ever reads or writes the slot of its
 * key, so a slot is taken by one compare-and-swap and given back by one store:
 * no lists, no cleaning. Both buckets full is a counted loss.
 *
 * Whatever has a size (strings, structs, arrays) is in dynvar.c.
 */
#include "kmod/engine/fire.h"
#include "kmod/engine/vars.h"

#define BUCKET_SLOTS 4u
#define SLOT_USED (1ULL << 63)
#define SLOT_ID_SHIFT 40

/* Process context: a quarter of what dynamic variables may take. Once there, the slots stay. */
int dfr_self_layout(struct dfr_vars *vars)
{
	struct dfr_selfvars *self = &vars->va_self;
	u64 size = BUCKET_SLOTS * sizeof(struct dfr_selfslot);

	if (self->se_lost)
		return 0;
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
	self->se_mask = (u32)(size / sizeof(struct dfr_selfslot)) - 1;
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

dfr_hot u64 key_of(struct dfr_firing *firing, u32 id)
{
	return dfr_plat_thread_key(firing) | (u64)id << SLOT_ID_SHIFT | SLOT_USED;
}

dfr_hot u64 hash_of(u64 key)
{
	return key * 0x9e3779b97f4a7c15ULL;
}

/* Where it is, as a rule: one slot of the first of its buckets. */
dfr_hot struct dfr_selfslot *home_of(const struct dfr_selfvars *self, u64 hash)
{
	return &self->se_slots[(hash >> 32) & self->se_mask];
}

/* The other bucket; a single one is both. */
dfr_hot struct dfr_selfslot *second_of(const struct dfr_selfvars *self, u64 hash)
{
	return &self->se_slots[(hash >> 32 ^ hash >> 12 ^ BUCKET_SLOTS) & self->se_mask & ~(BUCKET_SLOTS - 1)];
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

/* Not at home. While nothing at all is away from home, nothing is to be found there. */
static dfr_noinline struct dfr_selfslot *find_away(const struct dfr_selfvars *self, u64 key, u64 hash)
{
	struct dfr_selfslot *slot = in_bucket(bucket_of(self, home_of(self, hash)), key);

	return slot ? slot : in_bucket(second_of(self, hash), key);
}

dfr_hot struct dfr_selfslot *find(const struct dfr_selfvars *self, u64 key, u64 hash)
{
	struct dfr_selfslot *slot = home_of(self, hash);

	if (dfr_likely(dfr_read_once(&slot->ss_key) == key))
		return slot;
	return dfr_likely(!dfr_read_once(&self->se_away)) ? NULL : find_away(self, key, hash);
}

u64 dfr_self_load(const struct dfr_vars *vars, struct dfr_firing *firing, u32 id)
{
	u64 key = key_of(firing, id);
	struct dfr_selfslot *slot;

	if (dfr_unlikely(!vars->va_self.se_slots))
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

/* Home is taken by another key. */
static dfr_noinline bool insert_away(struct dfr_selfvars *self, u32 cpu, u64 key, u64 hash, u64 value)
{
	struct dfr_selfslot *slot = take(bucket_of(self, home_of(self, hash)), key);

	if (!slot)
		slot = take(second_of(self, hash), key);
	if (!slot)
		return lose(self, cpu);
	if (slot != home_of(self, hash))
		dfr_atomic_add(&self->se_away, 1);
	dfr_write_once(&slot->ss_value, value);
	return true;
}

static dfr_noinline void erase_away(struct dfr_selfvars *self, struct dfr_selfslot *slot)
{
	dfr_store_release(&slot->ss_key, 0ULL);
	dfr_atomic_add(&self->se_away, ~0ULL);
}

bool dfr_self_store(struct dfr_vars *vars, struct dfr_firing *firing, u32 id, u64 value)
{
	struct dfr_selfvars *self = &vars->va_self;
	u64 key = key_of(firing, id);
	u64 hash = hash_of(key);
	struct dfr_selfslot *slot;

	if (dfr_unlikely(!self->se_slots))
		return lose(self, firing->fr_cpu);
	slot = find(self, key, hash);
	if (!slot) {
		if (!value)
			return true;
		slot = home_of(self, hash);
		if (dfr_unlikely(dfr_read_once(&slot->ss_key) || dfr_cmpxchg(&slot->ss_key, 0ULL, key)))
			return insert_away(self, firing->fr_cpu, key, hash, value);
	} else if (!value) {
		if (dfr_likely(slot == home_of(self, hash)))
			dfr_store_release(&slot->ss_key, 0ULL);
		else
			erase_away(self, slot);
		return true;
	}
	dfr_write_once(&slot->ss_value, value);
	return true;
}
