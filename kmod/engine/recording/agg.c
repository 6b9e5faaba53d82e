// SPDX-License-Identifier: GPL-2.0
/*
 * Aggregation tables (formats/abi/aggtab.h): the update that a firing makes
 * (probe context), and the snapshot that retires the halves of all CPUs into the
 * state's base table (process context).
 *
 * A half is written by its CPU alone. A snapshot switches the CPU to its other,
 * empty half with interrupts off there; from then on nobody writes the retired
 * one, so it is merged at leisure and emptied for the next turn. The base
 * table's generation is the last snapshot that it holds whole; a reader of a
 * dead memory adds the halves of later generations.
 */
#include "formats/abi/anchor.h"
#include "kmod/engine/recording/store.h"

#define AGG_MIN 4096u
#define AGG_MAX (1u << 30)

static u32 *buckets_of(struct dfr_aggtab *table)
{
	return (u32 *)(table + 1);
}

static u64 *key_of(struct dfr_aggent *entry)
{
	return (u64 *)(entry + 1);
}

static u64 *values_of(struct dfr_aggent *entry)
{
	return (u64 *)((u8 *)(entry + 1) + entry->key_size);
}

static u32 entry_bytes(const struct dfr_aggent *entry)
{
	return (u32)sizeof(*entry) + entry->key_size + entry->words * 8u;
}

/* Values. */

/*
 * The value's bucket, as an index behind the parameter word: 0 below the base, the last one above
 * the highest level. The difference is taken with all 64 bits, so that values far away land in these
 * two.
 */
static u32 lquantize_bucket(u64 arg, u64 raw)
{
	s64 value = (s64)raw;
	s64 base = DFR_LQUANTIZE_BASE(arg);
	u64 level;

	if (value < base)
		return 0;
	level = ((u64)value - (u64)base) / DFR_LQUANTIZE_STEP(arg);
	return level < DFR_LQUANTIZE_LEVELS(arg) ? 1 + (u32)level : 1u + DFR_LQUANTIZE_LEVELS(arg);
}

/*
 * Bucket 0 is below factor^low, the last one is at or above factor^(high+1). Each order in between
 * ends at end = factor^(order+1) and has n = min(nsteps, end) steps of equal width; the lowest
 * n/factor of them belong to the orders below and have no bucket here.
 */
static u32 llquantize_bucket(u64 arg, u64 raw)
{
	u64 factor = DFR_LLQUANTIZE_FACTOR(arg);
	u64 value = (s64)raw < 0 ? 0 : raw;
	u64 end = 1;
	u64 n;
	u32 order;
	u32 bucket = 1;

	for (order = 0; order < DFR_LLQUANTIZE_LOW(arg); order++)
		end *= factor;
	if ((s64)raw < 0 || value < end)
		return 0;
	for (order = DFR_LLQUANTIZE_LOW(arg); order <= DFR_LLQUANTIZE_HIGH(arg); order++) {
		end *= factor;
		n = end < DFR_LLQUANTIZE_NSTEPS(arg) ? end : DFR_LLQUANTIZE_NSTEPS(arg);
		if (value < end)
			return bucket + (u32)(value / (end / n) - n / factor);
		bucket += (u32)(n - n / factor);
	}
	return bucket;
}

static void add_square(u64 *low_high, u64 raw)
{
	u64 magnitude = (s64)raw < 0 ? 0 - raw : raw;
	unsigned __int128 sum = ((unsigned __int128)low_high[1] << 64) | low_high[0];

	sum += (unsigned __int128)magnitude * magnitude;
	low_high[0] = (u64)sum;
	low_high[1] = (u64)(sum >> 64);
}

static dfr_cold void update_rare(u64 *values, u32 kind, u64 value, u64 weight)
{
	switch (kind) {
	case DFR_ACT_MIN:
		if ((s64)value < (s64)values[0])
			values[0] = value;
		break;
	case DFR_ACT_MAX:
		if ((s64)value > (s64)values[0])
			values[0] = value;
		break;
	case DFR_ACT_AVG:
		values[0]++;
		values[1] += value;
		break;
	case DFR_ACT_STDDEV:
		values[0]++;
		values[1] += value;
		add_square(values + 2, value);
		break;
	case DFR_ACT_LQUANTIZE: values[1 + lquantize_bucket(values[0], value)] += weight; break;
	case DFR_ACT_LLQUANTIZE: values[1 + llquantize_bucket(values[0], value)] += weight; break;
	}
}

dfr_hot void update(u64 *values, u32 kind, u64 value, u64 weight)
{
	if (kind == DFR_ACT_COUNT)
		values[0]++;
	else if (kind == DFR_ACT_SUM)
		values[0] += value;
	else if (kind == DFR_ACT_QUANTIZE)
		values[dfr_quantize_bucket(value)] += weight;
	else
		update_rare(values, kind, value, weight);
}

static void initial(u64 *values, u32 kind, u32 words, u64 arg)
{
	memset(values, 0, words * 8u);
	if (kind == DFR_ACT_MIN)
		values[0] = (u64)LLONG_MAX;
	else if (kind == DFR_ACT_MAX)
		values[0] = (u64)LLONG_MIN;
	else if (kind == DFR_ACT_LQUANTIZE || kind == DFR_ACT_LLQUANTIZE)
		values[0] = arg;
}

/* Tables. */

dfr_hot u32 key_hash(const struct dfr_step *step, u64 factor, const u64 *key, u32 key_size)
{
	const u64 *end = (const u64 *)((const u8 *)key + key_size);
	u64 hash = step->sp_do.agg.hash;

	for (; key < end; key++)
		hash = dfr_hash_word(hash, *key, factor);
	return dfr_hash_end(hash, factor);
}

dfr_hot bool same_key(struct dfr_aggent *entry, const u64 *key, u32 key_size)
{
	const u64 *mine = key_of(entry);
	const u64 *end = (const u64 *)((const u8 *)mine + key_size);

	for (; mine < end; mine++, key++)
		if (*mine != *key)
			return false;
	return true;
}

/* The key that find() looks for, and what insert() needs to make its entry. */
struct wanted {
	const u64 *key;
	u32 key_size;
	u32 varid;
	u32 hash;
	u32 kind;
	u32 words;
	u64 arg;
};

/*
 * insert() refuses to make a chain longer than this. With keyed hashes nobody can choose keys that
 * reach it (a full table has about six entries a bucket), and a user who works out his own state's
 * secret harms only that state. So a look-up, and a snapshot, which makes one look-up for each
 * entry, takes bounded time.
 */
#define CHAIN_MAX 64u
#define STEP_WORK 16u /* guest instructions of a step, about */

/* How far a look-up went. */
struct walk {
	u32 steps;
	u32 words; /* of keys that were compared */
};

static u32 walk_work(const struct walk *walk)
{
	return walk->steps * STEP_WORK + walk->words * 4;
}

/*
 * The entry is complete before it can be seen: key, values, varid, then `used`, then the bucket.
 * NULL: the table or the chain is full.
 */
static dfr_cold struct dfr_aggent *insert(struct dfr_aggtab *table, const struct wanted *wanted,
					  const struct walk *walk)
{
	u32 *bucket = &buckets_of(table)[wanted->hash & (table->nbuckets - 1)];
	struct dfr_aggent *entry = (struct dfr_aggent *)((u8 *)table + table->used);
	u64 bytes = sizeof(*entry) + wanted->key_size + wanted->words * 8u;

	if (bytes > table->size - table->used || walk->steps >= CHAIN_MAX) {
		table->drops++;
		return NULL;
	}
	entry->next = *bucket;
	entry->hash = wanted->hash;
	entry->kind = (u16)wanted->kind;
	entry->words = (u16)wanted->words;
	entry->key_size = wanted->key_size;
	entry->clear_gen = 0;
	memcpy(key_of(entry), wanted->key, wanted->key_size);
	initial(values_of(entry), wanted->kind, wanted->words, wanted->arg);
	dfr_store_release(&entry->varid, wanted->varid);
	*bucket = (u32)table->used;
	dfr_store_release(&table->used, table->used + bytes);
	table->entries++;
	return entry;
}

dfr_hot struct dfr_aggent *first_of(struct dfr_aggtab *table, u32 hash)
{
	u32 offset = buckets_of(table)[hash & (table->nbuckets - 1)];

	return offset ? (struct dfr_aggent *)((u8 *)table + offset) : NULL;
}

dfr_hot bool is_it(struct dfr_aggent *entry, u32 varid, u32 hash, const u64 *key, u32 key_size)
{
	return entry->hash == hash && entry->varid == varid && entry->key_size == key_size &&
	       same_key(entry, key, key_size);
}

static struct dfr_aggent *find(struct dfr_aggtab *table, const struct wanted *wanted, struct walk *walk)
{
	struct dfr_aggent *entry = first_of(table, wanted->hash);

	while (entry && walk->steps < CHAIN_MAX) {
		walk->steps++;
		walk->words += entry->hash == wanted->hash ? wanted->key_size / 8 : 0;
		if (is_it(entry, wanted->varid, wanted->hash, wanted->key, wanted->key_size))
			return entry;
		entry = entry->next ? (struct dfr_aggent *)((u8 *)table + entry->next) : NULL;
	}
	return NULL;
}

/*
 * The key is not the first of its chain, so dfr_agg_values() must walk: the walk is charged to the
 * firing.
 */
static dfr_cold u64 *values_further(struct dfr_firing *firing, struct dfr_share *share,
				    const struct dfr_step *step, u32 key_size, u32 hash)
{
	struct wanted wanted = { .key = share->sh_key,
				 .key_size = key_size,
				 .varid = step->sp_do.agg.varid,
				 .hash = hash,
				 .kind = step->sp_do.agg.kind,
				 .words = step->sp_do.agg.words,
				 .arg = step->sp_do.agg.parameters };
	struct walk walk = { 0, 0 };
	struct dfr_aggent *entry = find(share->sh_agg, &wanted, &walk);

	if (!dfr_firing_work(firing, share->sh_state, walk_work(&walk)))
		return NULL;
	if (!entry && dfr_firing_work(firing, share->sh_state, key_size + wanted.words * 8u))
		entry = insert(share->sh_agg, &wanted, &walk);
	return entry ? values_of(entry) : NULL;
}

u64 *dfr_agg_values(struct dfr_firing *firing, struct dfr_share *share, const struct dfr_step *step,
		    u32 key_size, u32 hash)
{
	struct dfr_aggent *entry = first_of(share->sh_agg, hash);

	if (dfr_likely(entry && is_it(entry, step->sp_do.agg.varid, hash, share->sh_key, key_size)))
		return values_of(entry);
	return values_further(firing, share, step, key_size, hash);
}

void dfr_agg_update(u64 *values, u32 kind, u64 value, u64 weight)
{
	update(values, kind, value, weight);
}

bool dfr_agg_add(struct dfr_firing *firing, struct dfr_share *share, const struct dfr_step *step,
		 u32 key_size, u64 value, u64 weight)
{
	u64 *values = dfr_agg_values(firing, share, step, key_size,
				     key_hash(step, share->sh_factor, share->sh_key, key_size));

	if (dfr_unlikely(!values))
		return false;
	update(values, step->sp_do.agg.kind, value, weight);
	return true;
}

static u64 entries_at(const struct dfr_aggtab *table)
{
	return sizeof(*table) + (u64)table->nbuckets * 4;
}

/* Empties the buckets of the entries below `used`. A large table has few entries for its buckets. */
static void unlink_all(struct dfr_aggtab *table, u64 used)
{
	struct dfr_aggent *entry;
	u64 offset;

	for (offset = entries_at(table); offset < used; offset += entry_bytes(entry)) {
		entry = (struct dfr_aggent *)((u8 *)table + offset);
		buckets_of(table)[entry->hash & (table->nbuckets - 1)] = 0;
	}
}

static void empty(struct dfr_aggtab *table)
{
	u64 used = table->used;

	/* `used` first, because a scanner of a dead memory then sees no half-removed entry. */
	dfr_store_release(&table->used, entries_at(table));
	table->entries = 0;
	unlink_all(table, used);
	memset((u8 *)table + entries_at(table), 0, used - entries_at(table));
}

static u32 buckets_for(size_t size)
{
	u32 n = 16;

	/* A power of two: one bucket for 128 to 256 bytes. */
	while (n < size / 256)
		n *= 2;
	return n;
}

static struct dfr_aggtab *create_table(struct dfr_state *state, size_t size, u32 cpu, u32 half)
{
	struct dfr_aggtab *table = dfr_plat_alloc_pages(dfr_state_reserved(state), size);

	if (!table)
		return NULL;
	table->version = 1;
	table->state_id = state->st_id;
	table->cpu = cpu;
	table->half = half;
	table->size = size;
	table->nbuckets = buckets_for(size);
	table->used = entries_at(table);
	dfr_store_release(&table->magic, DFR_AGGTAB_MAGIC);
	return table;
}

static void anchor_table(struct dfr_state *state, struct dfr_aggtab *table)
{
	dfr_state_anchor(state, DFR_ANCHOR_AGG, table->cpu, table->half, table, (size_t)table->size,
			 (size_t)table->size);
}

static size_t half_size(const struct dfr_state *state)
{
	u64 size = (u64)dfr_option(state, DFR_OPT_AGGSIZE) / 2;

	if (size < AGG_MIN)
		size = AGG_MIN;
	if (size > AGG_MAX)
		size = AGG_MAX;
	return (size_t)(size & ~(u64)(AGG_MIN - 1));
}

/* Bytes of one CPU's two halves; the base table is as large as both. */
u64 dfr_agg_bytes(const struct dfr_state *state)
{
	return state->st_aggvars ? 2 * (u64)half_size(state) : 0;
}

/* aggsize is the size of one CPU's two halves together; the base table is at least as large as both. */
int dfr_agg_create(struct dfr_state *state)
{
	if (!state->st_aggvars)
		return 0;
	state->st_agg_size = half_size(state);
	state->st_agg_generation = 1;
	state->st_agg_time = state->st_agg_shown = dfr_plat_clock(NULL);
	state->st_agg_base =
		create_table(state, dfr_plat_agg_base(2 * state->st_agg_size), DFR_AGGTAB_BASE_CPU, 0);
	if (!state->st_agg_base)
		return -ENOMEM;
	anchor_table(state, state->st_agg_base);
	return 0;
}

int dfr_agg_share(struct dfr_state *state, struct dfr_share *share)
{
	u32 half;

	if (!state->st_agg_base)
		return 0;
	for (half = 0; half < 2; half++) {
		share->sh_half[half] = create_table(state, state->st_agg_size, share->sh_cpu, half);
		if (!share->sh_half[half])
			return -ENOMEM;
	}
	share->sh_half[0]->generation = state->st_agg_generation;
	share->sh_agg = share->sh_half[0];
	share->sh_factor = state->st_hash.hk_factor;
	return 0;
}

void dfr_agg_anchor(struct dfr_state *state, const struct dfr_share *share)
{
	if (!share->sh_agg)
		return;
	anchor_table(state, share->sh_half[0]);
	anchor_table(state, share->sh_half[1]);
}

void dfr_agg_free(struct dfr_state *state)
{
	if (state->st_agg_base)
		dfr_plat_free_pages(state->st_agg_base, (size_t)state->st_agg_base->size);
	state->st_agg_base = NULL;
}

void dfr_agg_free_share(struct dfr_share *share)
{
	u32 half;

	for (half = 0; half < 2; half++)
		if (share->sh_half[half])
			dfr_plat_free_pages(share->sh_half[half], (size_t)share->sh_half[half]->size);
	share->sh_half[0] = NULL;
	share->sh_half[1] = NULL;
	share->sh_agg = NULL;
}

/* Snapshots. */

static void merge_values(u64 *to, const u64 *from, u32 kind, u32 words)
{
	unsigned __int128 sum;
	u32 i;

	switch (kind) {
	case DFR_ACT_MIN:
		if ((s64)from[0] < (s64)to[0])
			to[0] = from[0];
		return;
	case DFR_ACT_MAX:
		if ((s64)from[0] > (s64)to[0])
			to[0] = from[0];
		return;
	case DFR_ACT_STDDEV:
		to[0] += from[0];
		to[1] += from[1];
		sum = (((unsigned __int128)to[3] << 64) | to[2]) +
		      (((unsigned __int128)from[3] << 64) | from[2]);
		to[2] = (u64)sum;
		to[3] = (u64)(sum >> 64);
		return;
	}
	i = kind == DFR_ACT_LQUANTIZE || kind == DFR_ACT_LLQUANTIZE ? 1 : 0;
	for (; i < words; i++)
		to[i] += from[i];
}

/* Merges one entry into the base table. False: there is no room. */
static bool merge_entry(struct dfr_aggtab *base, struct dfr_aggent *from)
{
	struct wanted wanted = { .key = key_of(from),
				 .key_size = from->key_size,
				 .varid = from->varid,
				 .hash = from->hash,
				 .kind = from->kind,
				 .words = from->words,
				 .arg = values_of(from)[0] };
	struct walk walk = { 0, 0 };
	struct dfr_aggent *to = find(base, &wanted, &walk);

	if (!to)
		to = insert(base, &wanted, &walk);
	if (!to)
		return false;
	merge_values(values_of(to), values_of(from), from->kind, from->words);
	return true;
}

/* Of a distribution without weights. */
static u64 sum_of_buckets(struct dfr_aggent *entry)
{
	u64 sum = 0;
	u32 i;

	for (i = entry->kind == DFR_ACT_QUANTIZE ? 0 : 1; i < entry->words; i++)
		sum += values_of(entry)[i];
	return sum;
}

/* How many firings have made this entry: one at least, where its words do not tell. */
static u64 updates_of(const struct dfr_state *state, struct dfr_aggent *entry)
{
	const struct dfr_aggvar *var;

	switch (entry->kind) {
	case DFR_ACT_COUNT:
	case DFR_ACT_AVG:
	case DFR_ACT_STDDEV: return values_of(entry)[0];
	case DFR_ACT_QUANTIZE:
	case DFR_ACT_LQUANTIZE:
	case DFR_ACT_LLQUANTIZE:
		var = dfr_state_aggvar(state, entry->varid);
		return var && !var->av_weighted ? sum_of_buckets(entry) : 1;
	default: return 1;
	}
}

/* In a loop over a table's entries, which may be millions. A kill of who waits for it ends none of this. */
static void let_others_run(void)
{
	int killed = dfr_plat_proceed();

	(void)killed;
}

/* On the share's CPU: its other half, which is empty, becomes the active one. */
static void switch_half(void *arg)
{
	struct dfr_share *share = arg;
	struct dfr_aggtab *next = share->sh_half[share->sh_agg == share->sh_half[0]];

	dfr_store_release(&next->generation, share->sh_state->st_agg_generation + 1);
	share->sh_agg = next;
}

/* Entries that do not fit into the base table are lost; they were all made since the last snapshot. */
static void retire(struct dfr_state *state, struct dfr_share *share, bool views)
{
	struct dfr_untold lost = { .un_share = share,
				   .un_cause = DFR_LOSS_AGGREGATION,
				   .un_from = state->st_agg_time };
	struct dfr_aggtab *retired = share->sh_agg;
	struct dfr_aggent *entry;
	u64 offset;

	dfr_visit_cpu(state->st_engine, share->sh_cpu, switch_half, share);
	for (offset = entries_at(retired); offset < retired->used; offset += entry_bytes(entry)) {
		let_others_run();
		entry = (struct dfr_aggent *)((u8 *)retired + offset);
		if (!entry->varid)
			continue;
		if (!merge_entry(state->st_agg_base, entry))
			lost.un_count += updates_of(state, entry);
		else if (views)
			dfr_state_aggvar(state, entry->varid)->av_unshown += updates_of(state, entry);
	}
	/* The base table has these entries now: generation 0 tells a scanner not to add them again. */
	dfr_store_release(&retired->generation, 0);
	empty(retired);
	lost.un_to = dfr_plat_clock(NULL);
	dfr_tell_loss(&lost);
}

static void retire_all(struct dfr_state *state, bool views)
{
	u64 now = dfr_plat_clock(NULL);
	u32 i;

	for (i = 0; i < state->st_engine->en_ncpus; i++)
		if (state->st_shares[i] && state->st_shares[i]->sh_agg)
			retire(state, state->st_shares[i], views);
	state->st_agg_time = now;
	dfr_store_release(&state->st_agg_base->generation, state->st_agg_generation);
	state->st_agg_generation++;
}

/* The consumer sees all that is in the base table. */
static void show(struct dfr_state *state)
{
	struct dfr_aggvar *var;

	for (var = state->st_aggvars; var; var = var->av_next)
		var->av_unshown = 0;
	state->st_agg_shown = state->st_agg_time;
}

static int snap(struct dfr_state *state, void *buffer, size_t room, u64 *bytes, bool views)
{
	struct dfr_aggtab *base = state->st_agg_base;

	*bytes = 0;
	if (!base)
		return 0;
	retire_all(state, views);
	*bytes = base->used;
	if (room < base->used)
		return -ENOSPC;
	if (!views)
		show(state);
	memcpy(buffer, base, (size_t)base->used);
	return 0;
}

int dfr_state_aggsnap(struct dfr_state *state, void *buffer, size_t room, u64 *bytes, bool views)
{
	int error;

	dfr_mutex_lock(&state->st_lock);
	error = snap(state, buffer, room, bytes, views);
	dfr_mutex_unlock(&state->st_lock);
	return error;
}

u64 dfr_state_aggsnap_most(struct dfr_state *state)
{
	u64 size;

	dfr_mutex_lock(&state->st_lock);
	size = state->st_agg_base ? state->st_agg_base->size : 0;
	dfr_mutex_unlock(&state->st_lock);
	return size;
}

/* Moves the remaining entries down over the removed ones and links them into their buckets again. */
static void compact(struct dfr_aggtab *table)
{
	struct dfr_aggent *entry;
	u64 offset = entries_at(table);
	u64 to = offset;
	u64 used = table->used;
	u32 bytes;
	u32 *bucket;

	dfr_store_release(&table->used, offset);
	unlink_all(table, used);
	table->entries = 0;
	for (; offset < used; offset += bytes) {
		let_others_run();
		entry = (struct dfr_aggent *)((u8 *)table + offset);
		bytes = entry_bytes(entry);
		if (!entry->varid)
			continue;
		memmove((u8 *)table + to, entry, bytes);
		entry = (struct dfr_aggent *)((u8 *)table + to);
		bucket = &buckets_of(table)[entry->hash & (table->nbuckets - 1)];
		entry->next = *bucket;
		*bucket = (u32)to;
		table->entries++;
		to += bytes;
	}
	memset((u8 *)table + to, 0, used - to);
	dfr_store_release(&table->used, to);
}

/* What somebody else's snapshot has merged since the consumer's last one goes with a clear() that did not mean it. */
static void tell_unshown(struct dfr_state *state, struct dfr_aggvar *var)
{
	struct dfr_untold lost = { .un_cause = DFR_LOSS_AGGREGATION,
				   .un_count = var->av_unshown,
				   .un_from = state->st_agg_shown,
				   .un_to = state->st_agg_time };
	u32 cpu;

	var->av_unshown = 0;
	for (cpu = 0; cpu < state->st_engine->en_ncpus && !lost.un_share; cpu++)
		lost.un_share = state->st_shares[cpu];
	dfr_tell_loss(&lost);
}

static int clear(struct dfr_state *state, u32 varid, bool remove)
{
	struct dfr_aggtab *base = state->st_agg_base;
	struct dfr_aggvar *var = dfr_state_aggvar(state, varid);
	struct dfr_aggent *entry;
	u64 offset;

	if (!var || !base)
		return -EINVAL;
	/*
	 * Only the base table is cleared, which is what the consumer's last snapshot showed, but for
	 * what a viewer's has merged since. The halves hold updates which the consumer has not seen:
	 * they stay, so counting over a clear() loses nothing.
	 */
	for (offset = entries_at(base); offset < base->used; offset += entry_bytes(entry)) {
		entry = (struct dfr_aggent *)((u8 *)base + offset);
		if (entry->varid != varid)
			continue;
		if (remove) {
			dfr_store_release(&entry->varid, 0);
			continue;
		}
		initial(values_of(entry), entry->kind, entry->words, var->av_arg);
		entry->clear_gen++;
	}
	if (remove)
		compact(base);
	tell_unshown(state, var);
	return 0;
}

int dfr_state_aggclear(struct dfr_state *state, u32 varid, bool remove)
{
	int error;

	dfr_mutex_lock(&state->st_lock);
	error = clear(state, varid, remove);
	dfr_mutex_unlock(&state->st_lock);
	return error;
}
