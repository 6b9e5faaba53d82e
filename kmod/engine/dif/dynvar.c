// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic variables: associative arrays and thread-locals that have a size, in a
 * hash table of equal chunks. Thread-local numbers are in self.c.
 *
 *   free ─▶ in a bucket ─▶ dirty ─▶ rinsing ─▶ clean ─▶ free
 *        store      store of 0   cleaner   cleaner   when free is empty
 *
 * Probe context, except layout and cleaning. Look-ups take no lock: an unlinked
 * chunk keeps its dv_next, and the cleaner waits between rinsing and clean until
 * every firing that could still read it is over. Only linking and unlinking take
 * the bucket's spin bit. Its holder is running, because its interrupts are off;
 * the spin is bounded all the same.
 *
 * Lists of free chunks change by compare-and-swap of their heads, because other
 * CPUs may steal. There is no ABA problem: a chunk comes back to a free list only
 * through the cleaner (one that lost a race goes to dirty, too), and that waits for
 * every firing that has seen the chunk as a head.
 */
#include "formats/abi/block.h"
#include "kmod/engine/dif/vars.h"

#define HURRY_PART    8	 /* one in so many chunks is rinsed: the cleaner hurries */
#define HURRY_LEAST   64 /* chunks: with fewer a chunk or two would do, and each hurry interrupts all CPUs */
#define SPIN_MAX      (1u << 18)
#define SPINS_CHARGED 64u /* that are charged at a time, */
#define SPIN_WORK     8u  /* and the guest instructions of one */

/* ---- Layout and cleaning (process context) ---- */

void dfr_dyn_free(struct dfr_vars *vars)
{
	struct dfr_dynvars *dyn = &vars->va_dyn;

	if (dyn->dy_cpus)
		dfr_plat_free(dyn->dy_cpus[0].dc_key);
	dfr_plat_free(dyn->dy_cpus);
	dfr_plat_free(dyn->dy_buckets);
	dfr_plat_free(dyn->dy_chunks);
	dyn->dy_cpus = NULL;
	dyn->dy_buckets = NULL;
	dyn->dy_chunks = NULL;
	dyn->dy_chunks_size = 0;
}

static struct dfr_dynvar *chunk_at(const struct dfr_dynvars *dyn, u64 n)
{
	return (struct dfr_dynvar *)(dyn->dy_chunks + n * dyn->dy_chunk);
}

/* Deals the chunks evenly to the CPUs that are online; one that comes online later steals. */
static void deal_chunks(struct dfr_dynvars *dyn)
{
	u32 cpu, n, online = 0, share, at = 0;

	for (cpu = 0; cpu < dyn->dy_ncpus; cpu++)
		online += dfr_plat_cpu_online(cpu);
	if (!online)
		online = 1;
	share = (dyn->dy_nchunks + online - 1) / online;
	for (cpu = 0; cpu < dyn->dy_ncpus; cpu++) {
		if (!dfr_plat_cpu_online(cpu) && cpu)
			continue;
		for (n = 0; n < share && at < dyn->dy_nchunks; n++, at++) {
			chunk_at(dyn, at)->dv_free = dyn->dy_cpus[cpu].dc_free;
			dyn->dy_cpus[cpu].dc_free = chunk_at(dyn, at);
		}
	}
	for (; at < dyn->dy_nchunks; at++) {
		chunk_at(dyn, at)->dv_free = dyn->dy_cpus[0].dc_free;
		dyn->dy_cpus[0].dc_free = chunk_at(dyn, at);
	}
}

int dfr_dyn_layout(struct dfr_vars *vars, u32 chunk)
{
	struct dfr_dynvars *dyn = &vars->va_dyn;
	u64 buckets = 1, per;
	u64 *keys;
	u32 cpu;

	chunk = (chunk + 7) & ~7u;
	if (dyn->dy_cpus && chunk <= dyn->dy_chunk)
		return 0;
	if (dfr_read_once(&dyn->dy_touched))
		return -EBUSY;
	dfr_dyn_free(vars);
	dyn->dy_chunk = chunk;
	dyn->dy_ncpus = dfr_plat_ncpus();
	per = chunk + sizeof(struct dfr_dynbucket);
	while (buckets * 2 * per <= dyn->dy_budget && buckets < (1u << 30))
		buckets *= 2;
	dyn->dy_mask = (u32)(buckets - 1);
	dyn->dy_nchunks = 0;
	if (dyn->dy_budget > buckets * sizeof(struct dfr_dynbucket))
		dyn->dy_nchunks = (u32)((dyn->dy_budget - buckets * sizeof(struct dfr_dynbucket)) / chunk);
	dyn->dy_chunks_size = (u64)dyn->dy_nchunks * chunk;
	dyn->dy_cpus = dfr_plat_alloc((dyn->dy_ncpus + 1) * sizeof(*dyn->dy_cpus));
	dyn->dy_buckets = dfr_plat_alloc(buckets * sizeof(*dyn->dy_buckets));
	dyn->dy_chunks = dfr_plat_alloc(dyn->dy_chunks_size + 8);
	keys = dfr_plat_alloc((size_t)dyn->dy_ncpus * chunk);
	if (!dyn->dy_cpus || !dyn->dy_buckets || !dyn->dy_chunks || !keys) {
		dfr_plat_free(keys);
		dfr_dyn_free(vars);
		return -ENOMEM;
	}
	for (cpu = 0; cpu < dyn->dy_ncpus; cpu++)
		dyn->dy_cpus[cpu].dc_key = keys + (size_t)cpu * chunk / 8;
	deal_chunks(dyn);
	return 0;
}

/* Takes a whole list. A swap fails only because another CPU's has succeeded, so the loop ends. */
static struct dfr_dynvar *take_all(struct dfr_dynvar **head)
{
	struct dfr_dynvar *seen = dfr_load_acquire(head), *was;

	while (seen) {
		was = dfr_cmpxchg(head, seen, (struct dfr_dynvar *)NULL);
		if (was == seen)
			break;
		seen = was;
	}
	return seen;
}

/* Puts a list, whose last chunk is `tail`, in front of the list at *head. */
static void put_all(struct dfr_dynvar **head, struct dfr_dynvar *list, struct dfr_dynvar *tail)
{
	struct dfr_dynvar *seen = dfr_load_acquire(head), *was;

	for (;;) {
		dfr_write_once(&tail->dv_free, seen);
		was = dfr_cmpxchg(head, seen, list);
		if (was == seen)
			return;
		seen = was;
	}
}

static struct dfr_dynvar *last_of(struct dfr_dynvar *list)
{
	struct dfr_dynvar *next;

	while ((next = dfr_read_once(&list->dv_free)))
		list = next;
	return list;
}

/* Moves all dirty chunks to rinsing; returns how many. */
static u64 begin_rinsing(struct dfr_vars *vars)
{
	struct dfr_dynvars *dyn = &vars->va_dyn;
	struct dfr_dynvar *list;
	u64 n = 0;
	u32 cpu;

	for (cpu = 0; cpu < dyn->dy_ncpus; cpu++) {
		struct dfr_dyncpu *dc = &dyn->dy_cpus[cpu];

		list = take_all(&dc->dc_dirty);
		if (!list)
			continue;
		dfr_store_release(&dc->dc_rinsing, list);
		for (; list; list = dfr_read_once(&list->dv_free))
			n++;
	}
	for (cpu = 0; n && vars->va_engine && cpu < dyn->dy_ncpus; cpu++)
		dyn->dy_cpus[cpu].dc_stamp = dfr_cpu_stamp(vars->va_engine, cpu);
	return n;
}

static void end_rinsing(struct dfr_dynvars *dyn)
{
	struct dfr_dynvar *list;
	u32 cpu;

	for (cpu = 0; cpu < dyn->dy_ncpus; cpu++) {
		struct dfr_dyncpu *dc = &dyn->dy_cpus[cpu];

		list = dfr_read_once(&dc->dc_rinsing);
		if (!list)
			continue;
		put_all(&dc->dc_clean, list, last_of(list));
		dfr_store_release(&dc->dc_rinsing, (struct dfr_dynvar *)NULL);
	}
}

static bool firings_over(const struct dfr_vars *vars)
{
	const struct dfr_dynvars *dyn = &vars->va_dyn;
	u32 cpu;

	if (dyn->dy_nchunks >= HURRY_LEAST && dyn->dy_rinsing >= dyn->dy_nchunks / HURRY_PART)
		dfr_plat_grace_hurry();
	else if (!dfr_plat_grace_over(dyn->dy_grace))
		return false;
	for (cpu = 0; vars->va_engine && cpu < dyn->dy_ncpus; cpu++)
		if (dfr_cpu_still(vars->va_engine, cpu, dyn->dy_cpus[cpu].dc_stamp))
			return false;
	return true;
}

/*
 * Rinsed chunks become clean when all firings that could read them are over. Mostly
 * that is so in one of the next turns, and no CPU is disturbed for it. If so many chunks
 * wait that free ones may soon run out, firings_over() hurries the grace period.
 */
void dfr_dyn_clean(struct dfr_vars *vars)
{
	struct dfr_dynvars *dyn = &vars->va_dyn;

	if (!dyn->dy_cpus)
		return;
	if (!dyn->dy_rinsing) {
		dyn->dy_rinsing = begin_rinsing(vars);
		if (!dyn->dy_rinsing)
			return;
		dyn->dy_grace = dfr_plat_grace_begin();
	}
	if (!firings_over(vars))
		return;
	end_rinsing(dyn);
	dyn->dy_rinsing = 0;
}

/* ---- Probe context ---- */

static struct dfr_dyncpu *this_cpu(const struct dfr_machine *m)
{
	return &m->m_vars->va_dyn.dy_cpus[m->m_firing->fr_cpu];
}

/* A store is lost, and its ECB's record with it. */
static void lose(struct dfr_machine *m, u32 cause)
{
	dfr_store_lost(m->m_vars->va_self.se_state, m->m_firing, cause);
	m->m_flags |= DFR_M_DROP;
}

static u32 cause_of(const struct dfr_dynvars *dyn)
{
	u32 cpu, cause = DFR_LOSS_DYNVAR;

	for (cpu = 0; cpu < dyn->dy_ncpus; cpu++) {
		if (dfr_read_once(&dyn->dy_cpus[cpu].dc_rinsing))
			return DFR_LOSS_DYNVAR_RINSING;
		if (dfr_read_once(&dyn->dy_cpus[cpu].dc_dirty))
			cause = DFR_LOSS_DYNVAR_DIRTY;
	}
	return cause;
}

static struct dfr_dynvar *pop(struct dfr_dynvar **head)
{
	struct dfr_dynvar *seen = dfr_load_acquire(head), *was;

	while (seen) {
		was = dfr_cmpxchg(head, seen, dfr_read_once(&seen->dv_free));
		if (was == seen)
			break;
		seen = was;
	}
	return seen;
}

/* Takes a CPU's clean list, returns its first chunk and makes the rest the free list of this CPU, which
 * is empty; no other CPU adds to it. */
static struct dfr_dynvar *refill(struct dfr_dyncpu *mine, struct dfr_dyncpu *from)
{
	struct dfr_dynvar *list = take_all(&from->dc_clean);

	if (list)
		dfr_store_release(&mine->dc_free, dfr_read_once(&list->dv_free));
	return list;
}

#define STEAL_WORK 32 /* guest instructions for each CPU whose lists are tried */

static struct dfr_dynvar *allocate(struct dfr_machine *m)
{
	struct dfr_dynvars *dyn = &m->m_vars->va_dyn;
	struct dfr_dyncpu *mine = this_cpu(m);
	struct dfr_dynvar *chunk = pop(&mine->dc_free);
	u32 cpu;

	if (dfr_unlikely(!dfr_read_once(&dyn->dy_touched)))
		dfr_write_once(&dyn->dy_touched, 1);
	if (dfr_likely(chunk) || !dfr_work(m, (u64)dyn->dy_ncpus * STEAL_WORK))
		return chunk;
	chunk = refill(mine, mine);
	for (cpu = 0; !chunk && cpu < dyn->dy_ncpus; cpu++) {
		chunk = pop(&dyn->dy_cpus[cpu].dc_free);
		if (!chunk)
			chunk = refill(mine, &dyn->dy_cpus[cpu]);
	}
	if (!chunk)
		lose(m, cause_of(dyn));
	return chunk;
}

static void make_dirty(struct dfr_machine *m, struct dfr_dynvar *chunk)
{
	put_all(&this_cpu(m)->dc_dirty, chunk, chunk);
}

struct dfr_dynkey {
	u64 *ke_words; /* this CPU's buffer */
	u64 ke_hash;
	u32 ke_size; /* bytes, a multiple of 8 */
	u32 ke_var;
};

/*
 * Adds a tuple element: its size, then the value (size 0) or the bytes, padded with zeros. A text's
 * NUL is never copied: a text may end at its memory's end without one, and equals one that has it.
 */
static bool add_element(struct dfr_machine *m, struct dfr_dynkey *key, u32 i)
{
	bool text = m->m_tuple_size[i] & DFR_TUPLE_TEXT;
	u64 size = m->m_tuple_size[i] & ~DFR_TUPLE_TEXT, padded = (size + 7) & ~7ull;
	u64 *at = key->ke_words + key->ke_size / 8;
	u32 room = m->m_vars->va_dyn.dy_chunk - (u32)sizeof(struct dfr_dynvar) - key->ke_size;

	if (room < 16 || (size && (size > room || padded + 8 > room)))
		return false;
	at[0] = size;
	if (!size) {
		at[1] = m->m_tuple[i];
		key->ke_size += 16;
		return true;
	}
	at[padded / 8] = 0;
	if (!dfr_copy_in(m, (u8 *)(at + 1), m->m_tuple[i], size - text))
		return false;
	key->ke_size += 8 + (u32)padded;
	return true;
}

/* false: a fault, or a key that no chunk can hold. */
static bool make_key(struct dfr_machine *m, struct dfr_dynkey *key, u32 scope, u32 id, bool array)
{
	const struct dfr_hashkey *secret = &m->m_vars->va_hash;
	u32 i;

	key->ke_words = this_cpu(m)->dc_key;
	key->ke_var = id | scope << 16 | (u32)array << 18;
	key->ke_size = 0;
	if (scope == DIF_VS_THREAD) {
		key->ke_words[0] = dfr_plat_thread_key(m->m_firing);
		key->ke_size = 8;
	}
	for (i = 0; array && i < m->m_ntuple; i++) {
		if (!add_element(m, key, i))
			return false;
	}
	key->ke_hash = dfr_hash_word(secret->hk_start, key->ke_var, secret->hk_factor);
	for (i = 0; i < key->ke_size / 8; i++)
		key->ke_hash = dfr_hash_word(key->ke_hash, key->ke_words[i], secret->hk_factor);
	key->ke_hash = dfr_hash_word(key->ke_hash, 0, secret->hk_factor); /* one word: see dfr_hash_end() */
	if (key->ke_hash < DFR_DV_FIRST)
		key->ke_hash = DFR_DV_FIRST;
	return true;
}

static struct dfr_dynbucket *bucket_of(const struct dfr_dynvars *dyn, u64 hash)
{
	return &dyn->dy_buckets[(hash >> 20) & dyn->dy_mask];
}

static bool is_it(const struct dfr_dynvar *var, const struct dfr_dynkey *key)
{
	u32 i;

	if (dfr_read_once(&var->dv_hash) != key->ke_hash || var->dv_var != key->ke_var ||
	    var->dv_keysize != key->ke_size)
		return false;
	for (i = 0; i < key->ke_size / 8; i++) {
		if (var->dv_words[i] != key->ke_words[i])
			return false;
	}
	return true;
}

/*
 * The longest chain: a store of one variable more is lost. No chain gets that long by
 * chance, because there is a bucket for each one or two chunks, nor on purpose, because
 * the hash is keyed and nobody can choose keys that collide.
 */
#define CHAIN_MAX 64u
#define STEP_WORK 24u /* guest instructions of a step along a chain, about */

static dfr_cold struct dfr_dynvar *find_further(struct dfr_machine *m, struct dfr_dynvar *var,
						const struct dfr_dynkey *key)
{
	do {
		if (!dfr_work(m,
			      STEP_WORK + (dfr_read_once(&var->dv_hash) == key->ke_hash ? key->ke_size : 0)))
			return NULL;
		var = dfr_load_acquire(&var->dv_next);
	} while (var && !is_it(var, key));
	return var;
}

/* NULL: there is none, or the firing has done too much work, which is a fault. */
static struct dfr_dynvar *find(struct dfr_machine *m, const struct dfr_dynkey *key)
{
	struct dfr_dynvar *var = dfr_load_acquire(&bucket_of(&m->m_vars->va_dyn, key->ke_hash)->db_head);

	return dfr_likely(!var || is_it(var, key)) ? var : find_further(m, var, key);
}

/* Charges the longest walk before the bucket is locked, because the walk must not stop halfway. */
static bool may_walk(struct dfr_machine *m, const struct dfr_dynkey *key)
{
	return dfr_work(m, CHAIN_MAX * STEP_WORK + key->ke_size);
}

static bool lock_bucket(struct dfr_machine *m, struct dfr_dynbucket *bucket)
{
	u64 seen;
	u32 spins;

	for (spins = 0; spins < SPIN_MAX; spins++) {
		if (spins && !(spins % SPINS_CHARGED) && !dfr_work(m, SPINS_CHARGED * SPIN_WORK))
			return false;
		seen = dfr_read_once(&bucket->db_lock);
		if (!(seen & 1) && dfr_cmpxchg(&bucket->db_lock, seen, seen + 1) == seen)
			return true;
		dfr_relax();
	}
	return false;
}

static void unlock_bucket(struct dfr_dynbucket *bucket)
{
	dfr_store_release(&bucket->db_lock, dfr_read_once(&bucket->db_lock) + 1);
}

static u8 *data_of(struct dfr_dynvar *var)
{
	return (u8 *)var->dv_words + var->dv_keysize;
}

static bool write_data(struct dfr_machine *m, struct dfr_dynvar *var, const struct dfr_vardesc *desc,
		       u64 value)
{
	if (!(desc->vd_flags & DFR_VD_BYREF)) {
		dfr_write_once((u64 *)data_of(var), value);
		return true;
	}
	if (desc->vd_flags & DFR_VD_STRING)
		return dfr_copy_in_str(m, data_of(var), value, desc->vd_size);
	return dfr_copy_in(m, data_of(var), value, desc->vd_size);
}

/* The hash comes last: until then dfr_dyn_room() refuses pointers into the chunk. */
static bool fill(struct dfr_machine *m, struct dfr_dynvar *var, const struct dfr_dynkey *key,
		 const struct dfr_vardesc *desc, u64 value)
{
	var->dv_var = key->ke_var;
	var->dv_keysize = key->ke_size;
	var->dv_datasize = desc->vd_size;
	memcpy(var->dv_words, key->ke_words, key->ke_size);
	if (!write_data(m, var, desc, value))
		return false;
	dfr_store_release(&var->dv_hash, key->ke_hash);
	return true;
}

/* *full: it is not there, and the chain has CHAIN_MAX variables already. */
static struct dfr_dynvar *find_locked(struct dfr_dynbucket *bucket, const struct dfr_dynkey *key, bool *full)
{
	struct dfr_dynvar *var = dfr_read_once(&bucket->db_head);
	u32 steps = 0;

	for (; var && !is_it(var, key); var = dfr_read_once(&var->dv_next))
		steps++;
	*full = !var && steps >= CHAIN_MAX;
	return var;
}

static void insert(struct dfr_machine *m, const struct dfr_dynkey *key, const struct dfr_vardesc *desc,
		   u64 value)
{
	struct dfr_dynvars *dyn = &m->m_vars->va_dyn;
	struct dfr_dynbucket *bucket = bucket_of(dyn, key->ke_hash);
	struct dfr_dynvar *var, *other;
	bool full;

	if ((u64)key->ke_size + ((desc->vd_size + 7) & ~7ull) > dyn->dy_chunk - sizeof(struct dfr_dynvar)) {
		lose(m, DFR_LOSS_DYNVAR);
		return;
	}
	var = allocate(m);
	if (!var)
		return;
	if (!fill(m, var, key, desc, value)) {
		make_dirty(m, var);
		return;
	}
	if (!may_walk(m, key) || !lock_bucket(m, bucket)) {
		dfr_write_once(&var->dv_hash, DFR_DV_FREE);
		make_dirty(m, var);
		lose(m, DFR_LOSS_DYNVAR);
		return;
	}
	other = find_locked(bucket, key, &full);
	if (!other && !full) {
		dfr_write_once(&var->dv_next, dfr_read_once(&bucket->db_head));
		dfr_store_release(&bucket->db_head, var);
	}
	unlock_bucket(bucket);
	if (!other && !full)
		return;
	if (full)
		lose(m, DFR_LOSS_DYNVAR);
	/* Full, or another CPU was first: then its chunk takes the value. */
	dfr_write_once(&var->dv_hash, DFR_DV_FREE);
	make_dirty(m, var);
	if (other)
		write_data(m, other, desc, value);
}

static void erase(struct dfr_machine *m, const struct dfr_dynkey *key)
{
	struct dfr_dynbucket *bucket = bucket_of(&m->m_vars->va_dyn, key->ke_hash);
	struct dfr_dynvar **link, *var;

	if (!may_walk(m, key) || !lock_bucket(m, bucket)) {
		lose(m, DFR_LOSS_DYNVAR);
		return;
	}
	for (link = &bucket->db_head; (var = dfr_load_acquire(link)); link = &var->dv_next) {
		if (is_it(var, key)) {
			dfr_store_release(link, dfr_read_once(&var->dv_next));
			break;
		}
	}
	unlock_bucket(bucket);
	if (!var)
		return;
	dfr_write_once(&var->dv_hash, DFR_DV_FREE);
	make_dirty(m, var);
}

static const struct dfr_vardesc *describe(const struct dfr_vars *vars, u32 scope, u32 id)
{
	const struct dfr_scope *sc = &vars->va_scopes[scope];
	u32 n = id - DIF_VAR_USER_FIRST;

	if (dfr_unlikely(id < DIF_VAR_USER_FIRST || n >= sc->sc_nvars || !sc->sc_vars[n].vd_flags))
		return NULL;
	return &sc->sc_vars[n];
}

/* Is it a thread-local number, not an array? */
static bool is_scalar(const struct dfr_vars *vars, u32 id)
{
	const struct dfr_vardesc *desc = describe(vars, DIF_VS_THREAD, id);

	return desc && !(desc->vd_flags & (DFR_VD_BYREF | DFR_VD_ARRAY));
}

/* A look-up of a number that leaves its home slot may be long, and self.c cannot stop it: so it must not begin. */
static bool self_refused(struct dfr_machine *m)
{
	return dfr_unlikely(dfr_read_once(&m->m_vars->va_self.se_away)) && !dfr_work(m, 1);
}

u64 dfr_thread_load(struct dfr_machine *m, u32 id)
{
	if (dfr_likely(is_scalar(m->m_vars, id)))
		return self_refused(m) ? 0 : dfr_self_load(m->m_vars, m->m_firing, id);
	return dfr_dyn_load(m, DIF_VS_THREAD, id, false);
}

void dfr_thread_store(struct dfr_machine *m, u32 id, u64 value)
{
	if (dfr_unlikely(!is_scalar(m->m_vars, id)))
		dfr_dyn_store(m, DIF_VS_THREAD, id, false, value);
	else if (self_refused(m))
		return;
	else if (dfr_unlikely(!dfr_self_store(m->m_vars, m->m_firing, id, value)))
		m->m_flags |= DFR_M_DROP;
}

u64 dfr_dyn_load(struct dfr_machine *m, u32 scope, u32 id, bool array)
{
	const struct dfr_vardesc *desc = describe(m->m_vars, scope, id);
	struct dfr_dynvar *var;
	struct dfr_dynkey key;

	if (!desc || !m->m_vars->va_dyn.dy_cpus || !make_key(m, &key, scope, id, array))
		return 0;
	var = find(m, &key);
	if (!var)
		return 0;
	if (desc->vd_flags & DFR_VD_BYREF)
		return dfr_address(data_of(var));
	return dfr_read_once((u64 *)data_of(var));
}

void dfr_dyn_store(struct dfr_machine *m, u32 scope, u32 id, bool array, u64 value)
{
	const struct dfr_vardesc *desc = describe(m->m_vars, scope, id);
	struct dfr_dynvar *var;
	struct dfr_dynkey key;

	if (!desc || !m->m_vars->va_dyn.dy_cpus)
		return;
	if (!make_key(m, &key, scope, id, array)) {
		if (!m->m_fault)
			lose(m, DFR_LOSS_DYNVAR);
		return;
	}
	var = find(m, &key);
	if (dfr_unlikely(m->m_fault))
		return;
	if (!value) {
		if (var)
			erase(m, &key);
	} else if (var) {
		write_data(m, var, desc, value);
	} else {
		insert(m, &key, desc, value);
	}
}

/* Bytes from addr to the end of the value that it lies in. */
u64 dfr_dyn_room(const struct dfr_dynvars *dyn, u64 addr)
{
	u64 at = addr - dfr_address(dyn->dy_chunks);
	struct dfr_dynvar *var;
	u64 start;

	if (!dyn->dy_chunks || addr < dfr_address(dyn->dy_chunks) || at >= dyn->dy_chunks_size)
		return 0;
	var = chunk_at(dyn, at / dyn->dy_chunk);
	if (dfr_load_acquire(&var->dv_hash) < DFR_DV_FIRST)
		return 0;
	at %= dyn->dy_chunk;
	start = sizeof(*var) + var->dv_keysize;
	if (at < start || at - start >= var->dv_datasize)
		return 0;
	return var->dv_datasize - (at - start);
}
