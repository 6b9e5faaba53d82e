// SPDX-License-Identifier: GPL-2.0
/*
 * Speculations: the state machine, and the chunks that hold what is not yet
 * committed. Probe context, except memory and the cleaner.
 *
 * A speculation's records are a list of chunks on each CPU that traced to it,
 * from that CPU's pool: thousands may be open at once, and discarding costs the
 * ring nothing. Commit copies chunks into the ring behind a GROUP record, with
 * their own times and contexts. Chunks of other CPUs, and more than COPY_MAX
 * bytes, are left to the cleaner, which visits each CPU and only then frees the
 * speculation's number.
 *
 * Several CPUs may change spc_state, so they do it by compare-and-swap, and the one
 * that succeeds commits or discards. Only its own CPU touches a list. List 0 belongs
 * to no speculation and is never committed (`void` in the names here): when a clause
 * discards the speculation that it records to, the rest of its record is written to
 * list 0, and dfr_spec_end_void() throws that away when the clause has ended.
 */
#include "formats/abi/anchor.h"
#include "kmod/engine/recording/store.h"

#define GROUP_BYTES	 (16 + 1 + 4 + 4 + 8)
#define COPY_MAX	 (64u * 1024) /* in one firing, or one visit of the cleaner */
#define CHUNK_WORK	 64	      /* guest instructions for each chunk, without copying its bytes */
#define POOL_DEFAULT_MAX (4u * 1024 * 1024)
#define SPEC_PAGE	 4096u

static u8 *chunk_data(struct dfr_spec_chunk *chunk)
{
	return (u8 *)(chunk + 1);
}

static struct dfr_spec_chunk *chunk_next(const struct dfr_spec_chunk *chunk)
{
	return (struct dfr_spec_chunk *)(unsigned long)chunk->next;
}

/* Memory, process context. */

static bool calls_speculation(const struct dfr_difo *difo)
{
	u32 i;

	for (i = 0; i < difo->di_len; i++)
		if (DIF_OP(difo->di_text[i]) == DIF_OP_CALL &&
		    DIF_WIDE(difo->di_text[i]) == DIF_SUBR_SPECULATION)
			return true;
	return false;
}

/* True also for programs without speculate(): speculation(), commit() and discard() need the numbers. */
static bool uses_speculations(const struct dfr_state *state)
{
	const struct dfr_enabling *enabling;
	const struct dfr_program *program;
	u32 i;

	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next) {
		program = enabling->eb_program;
		for (i = 0; i < program->pg_nacts; i++)
			if (program->pg_acts[i].ac_kind >= DFR_ACT_SPECULATE &&
			    program->pg_acts[i].ac_kind <= DFR_ACT_DISCARD)
				return true;
		for (i = 0; i < program->pg_ndifos; i++)
			if (calls_speculation(&program->pg_difos[i]))
				return true;
	}
	return false;
}

/* Called before rings are sized, because a whole chunk must fit into a block (st_need_max). */
int dfr_spec_setup(struct dfr_state *state)
{
	u32 size = DFR_SPEC_CHUNK_MIN;
	u32 need = state->st_spec_need + DFR_CONTEXT_BYTES + (u32)sizeof(struct dfr_spec_chunk);
	u64 pool = (u64)dfr_option(state, DFR_OPT_SPECPOOL);
	u64 limit = (u64)dfr_option(state, DFR_OPT_SPECSIZE);

	if (!uses_speculations(state))
		return 0;
	if (need > DFR_BLOCK_MAX)
		return -ENOSPC;
	while (size < need)
		size *= 2;
	state->st_chunk_size = size;
	state->st_nspec = (u32)dfr_option(state, DFR_OPT_NSPEC); /* 0: speculation() finds none */
	state->st_spec_limit = limit > size ? (u32)(limit < 0x40000000 ? limit : 0x40000000) : size;
	if ((s64)pool <= 0) {
		pool = (u64)state->st_nspec * state->st_spec_limit;
		if (pool > POOL_DEFAULT_MAX)
			pool = POOL_DEFAULT_MAX;
	}
	if (pool > 0x40000000)
		pool = 0x40000000;
	state->st_chunks = (u32)(pool / size) ? (u32)(pool / size) : 1;
	if (state->st_need_max < size + GROUP_BYTES)
		state->st_need_max = size + GROUP_BYTES;
	state->st_specs = dfr_plat_alloc((state->st_nspec + 1) * sizeof(state->st_specs[0]));
	return state->st_specs ? 0 : -ENOMEM;
}

static size_t pool_bytes(const struct dfr_state *state)
{
	size_t bytes = (size_t)state->st_chunks * state->st_chunk_size;

	return (bytes + SPEC_PAGE - 1) & ~(size_t)(SPEC_PAGE - 1);
}

u64 dfr_spec_bytes(const struct dfr_state *state)
{
	return state->st_specs ? pool_bytes(state) + (state->st_nspec + 1) * sizeof(struct dfr_speclist) : 0;
}

int dfr_spec_share(struct dfr_state *state, struct dfr_share *share)
{
	struct dfr_spec_chunk *chunk;
	u32 i;

	if (!state->st_specs)
		return 0;
	share->sh_specs = dfr_plat_alloc((state->st_nspec + 1) * sizeof(share->sh_specs[0]));
	share->sh_pool_memory = dfr_plat_alloc_pages(dfr_state_reserved(state), pool_bytes(state));
	if (!share->sh_specs || !share->sh_pool_memory)
		return -ENOMEM;
	for (i = state->st_chunks; i-- > 0;) {
		chunk = (struct dfr_spec_chunk *)((u8 *)share->sh_pool_memory +
						  (size_t)i * state->st_chunk_size);
		chunk->size = state->st_chunk_size;
		chunk->next = (unsigned long)share->sh_pool;
		share->sh_pool = chunk;
	}
	share->sh_spec_hint = share->sh_cpu * 7;
	return 0;
}

void dfr_spec_anchor(struct dfr_state *state, const struct dfr_share *share)
{
	if (share->sh_pool_memory)
		dfr_state_anchor(state, DFR_ANCHOR_SPEC, share->sh_cpu, 0, share->sh_pool_memory,
				 pool_bytes(state), state->st_chunk_size);
}

void dfr_spec_free_share(struct dfr_share *share)
{
	if (share->sh_pool_memory)
		dfr_plat_free_pages(share->sh_pool_memory, pool_bytes(share->sh_state));
	dfr_plat_free(share->sh_specs);
	share->sh_pool_memory = NULL;
	share->sh_pool = NULL;
	share->sh_specs = NULL;
}

void dfr_spec_free(struct dfr_state *state)
{
	dfr_plat_free(state->st_specs);
	state->st_specs = NULL;
}

/* Lists, on their CPU. */

bool dfr_spec_room(struct dfr_share *share, struct dfr_speclist *list, u32 need)
{
	struct dfr_state *state = share->sh_state;
	struct dfr_spec_chunk *last = list->sl_last;
	struct dfr_spec_chunk *chunk = share->sh_pool;

	if (last && need <= (size_t)((u8 *)last + last->size - list->sl_stream.sm_ptr))
		return true;
	if (!chunk || need > state->st_chunk_size - sizeof(*chunk) ||
	    (list->sl_chunks + 1) * (u64)state->st_chunk_size > state->st_spec_limit)
		return false;
	share->sh_pool = chunk_next(chunk);
	chunk->state_id = state->st_id;
	chunk->id = list->sl_id;
	chunk->cpu = share->sh_cpu;
	chunk->serial = list->sl_chunks++;
	chunk->used = 0;
	chunk->records = 0;
	chunk->flags = 0;
	chunk->first_time = 0;
	chunk->last_time = 0;
	chunk->commit_time = 0;
	chunk->next = 0;
	dfr_store_release(&chunk->magic, DFR_SPEC_MAGIC);
	if (last)
		last->next = (unsigned long)chunk;
	else
		list->sl_first = chunk;
	list->sl_last = chunk;
	list->sl_stream.sm_ptr = chunk_data(chunk);
	list->sl_stream.sm_soft = NULL;
	list->sl_stream.sm_time = DFR_STREAM_FRESH;
	list->sl_stream.sm_context = 0;
	return true;
}

static void give_back(struct dfr_share *share, struct dfr_spec_chunk *chunk)
{
	dfr_store_release(&chunk->magic, 0);
	chunk->next = (unsigned long)share->sh_pool;
	share->sh_pool = chunk;
}

/* Takes the first chunk off the list and gives it back. */
static void drop_first(struct dfr_share *share, struct dfr_speclist *list)
{
	struct dfr_spec_chunk *chunk = list->sl_first;

	list->sl_first = chunk_next(chunk);
	if (!list->sl_first) {
		list->sl_last = NULL;
		list->sl_chunks = 0;
		list->sl_stream.sm_ptr = NULL;
		list->sl_stream.sm_soft = NULL;
		list->sl_stream.sm_context = 0;
	}
	give_back(share, chunk);
}

static void drop_all(struct dfr_share *share, struct dfr_speclist *list)
{
	while (list->sl_first)
		drop_first(share, list);
}

static void spend(u32 *left, u32 work)
{
	*left -= work < *left ? work : *left;
}

/*
 * A clause discards the speculation that its open record is written to. The record goes
 * on in the void list, which keeps the record's chunk until the clause is finished.
 */
static void move_to_void(struct dfr_share *share, struct dfr_writer *open)
{
	struct dfr_speclist *list = open->w_list;

	while (list->sl_first != list->sl_last)
		drop_first(share, list);
	dfr_store_release(&list->sl_first->magic, 0); /* a harvest must not find it */
	open->w_list = dfr_spec_void(share);
	open->w_stream = &open->w_list->sl_stream;
	*open->w_list = *list;
	memset(list, 0, sizeof(*list));
}

void dfr_spec_end_void(struct dfr_share *share)
{
	if (share->sh_specs)
		drop_all(share, dfr_spec_void(share));
}

void dfr_spec_publish(struct dfr_share *share, struct dfr_speclist *list, u64 time)
{
	struct dfr_spec_chunk *chunk = list->sl_last;

	if (list == dfr_spec_void(share)) {
		dfr_spec_end_void(share);
		return;
	}
	if (!chunk->first_time)
		chunk->first_time = time;
	chunk->last_time = time;
	chunk->records++;
	dfr_store_release(&chunk->used, (u32)(list->sl_stream.sm_ptr - chunk_data(chunk)));
}

/* Committing. */

/* A commit in a firing, or by the cleaner, which has none. */
struct commit {
	struct dfr_share *share;
	const struct dfr_firing *firing;
	u64 now;
	u64 time; /* when commit() was called */
	u32 level;
	u32 id;
};

static void lost_in_commit(const struct commit *commit, struct dfr_speclist *list)
{
	struct dfr_share *share = commit->share;
	struct dfr_pending *pending = &share->sh_pending[DFR_LOSS_PRINCIPAL];
	const struct dfr_spec_chunk *chunk;
	u64 count = 0;
	u64 from = 0;

	for (chunk = list->sl_first; chunk; chunk = chunk_next(chunk)) {
		/* A full `fill` ring has stopped recording: what came later is not a loss. */
		if (share->sh_ring.rg_full && chunk->first_time > share->sh_ring.rg_full_time)
			continue;
		if (!count)
			from = chunk->first_time;
		count += chunk->records;
	}
	if (!count)
		return;
	dfr_count_lost(share, DFR_LOSS_PRINCIPAL, count);
	pending->pe_probe = 0;
	dfr_pending_add(pending, count, from, commit->now);
	share->sh_pending_mask |= 1u << DFR_LOSS_PRINCIPAL;
	share->sh_stream.sm_soft = NULL;
}

/* Makes room for a group, and tells of what was lost before it. false: there is none. */
static bool group_room(const struct commit *commit, u32 bytes)
{
	if (!dfr_ring_room(commit->share, GROUP_BYTES + bytes, commit->now, false))
		return false;
	dfr_record_untold(commit->share, commit->level, commit->now, GROUP_BYTES + bytes);
	return true;
}

/* Writes a GROUP head for `bytes` bytes that follow. The caller has made room for both. */
static void group_head(const struct commit *commit, u32 bytes)
{
	struct dfr_stream *stream = &commit->share->sh_stream;
	u8 *p;

	dfr_ring_restart(commit->share);
	p = dfr_record_head(stream, stream->sm_ptr, 0, commit->level, commit->now);
	*p++ = DFR_CONTROL_GROUP;
	dfr_put32(p, commit->id);
	dfr_put32(p + 4, bytes);
	dfr_put64(p + 8, commit->time);
	stream->sm_ptr = p + 16;
	stream->sm_time = commit->now;
	/* The next record writes its context anew. */
	stream->sm_context = 0;
	stream->sm_soft = NULL;
}

static void cover_time(struct dfr_block *block, u64 time)
{
	if (time && (!block->first_time || time < block->first_time))
		block->first_time = time;
}

/* Copies as many chunks as fit into the open block, as one group. Bytes copied; 0: no room in the ring. */
static u32 copy_group(const struct commit *commit, struct dfr_speclist *list)
{
	struct dfr_share *share = commit->share;
	struct dfr_stream *stream = &share->sh_stream;
	struct dfr_spec_chunk *chunk = list->sl_first;
	u32 bytes = chunk->used;
	u32 count = 1;
	u32 i;
	u64 room;

	if (!group_room(commit, bytes))
		return 0;
	room = (u64)(share->sh_ring.rg_end - stream->sm_ptr);
	for (chunk = chunk_next(chunk); chunk && GROUP_BYTES + bytes + chunk->used <= room;
	     chunk = chunk_next(chunk)) {
		bytes += chunk->used;
		count++;
	}
	group_head(commit, bytes);
	for (i = 0, chunk = list->sl_first; i < count; i++, chunk = chunk_next(chunk)) {
		memcpy(stream->sm_ptr, chunk_data(chunk), chunk->used);
		stream->sm_ptr += chunk->used;
		cover_time(share->sh_ring.rg_block, chunk->first_time);
		dfr_count(&share->sh_records, chunk->records);
	}
	cover_time(share->sh_ring.rg_block, commit->now);
	dfr_record_publish(share);
	/* Only now, so that a harvest finds them in the pool or in the ring whenever the machine dies. */
	for (i = 0; i < count; i++)
		drop_first(share, list);
	return bytes ? bytes : 1;
}

/* This CPU's part, up to *left bytes. true: all of it is copied, or lost and counted. */
static bool copy_part(const struct commit *commit, struct dfr_speclist *list, u32 *left)
{
	u32 bytes;

	while (list->sl_first && *left) {
		bytes = copy_group(commit, list);
		if (!bytes) {
			spend(left, list->sl_chunks * CHUNK_WORK);
			lost_in_commit(commit, list);
			drop_all(commit->share, list);
			return true;
		}
		spend(left, bytes);
	}
	return !list->sl_first;
}

static bool drop_part(struct dfr_share *share, struct dfr_speclist *list, u32 *left)
{
	while (list->sl_first && *left) {
		drop_first(share, list);
		spend(left, CHUNK_WORK);
	}
	return !list->sl_first;
}

/* An empty group: this CPU has no chunks, but a harvest must learn that the others' were committed. */
static void copy_mark(const struct commit *commit)
{
	if (!group_room(commit, 0))
		return;
	group_head(commit, 0);
	cover_time(commit->share->sh_ring.rg_block, commit->now);
	dfr_record_publish(commit->share);
}

/* The state machine, probe context. */

#define NUMBER_WORK 8

u64 dfr_spec_work(const struct dfr_share *share, u64 id)
{
	const struct dfr_state *state = share->sh_state;
	u64 chunks, bytes;

	if (!id || id > state->st_nspec || !share->sh_specs)
		return 0;
	chunks = share->sh_specs[id].sl_chunks;
	bytes = chunks * state->st_chunk_size;
	return chunks * CHUNK_WORK + (bytes < COPY_MAX ? bytes : COPY_MAX);
}

u64 dfr_spec_create(struct dfr_state *state, struct dfr_firing *firing)
{
	struct dfr_share *share = state->st_shares[firing->fr_cpu];
	bool busy = false;
	u32 i, id, seen;

	if (!share || !share->sh_specs)
		return 0;
	for (i = 0; i < state->st_nspec && dfr_firing_work(firing, state, NUMBER_WORK); i++) {
		id = 1 + (share->sh_spec_hint + i) % state->st_nspec;
		seen = dfr_read_once(&state->st_specs[id].spc_state);
		if (seen >= DFR_SPEC_COMMITTING)
			busy = true;
		if (seen == DFR_SPEC_INACTIVE &&
		    dfr_cmpxchg(&state->st_specs[id].spc_state, (u32)DFR_SPEC_INACTIVE,
				(u32)DFR_SPEC_ACTIVE) == DFR_SPEC_INACTIVE) {
			share->sh_spec_hint = id % state->st_nspec;
			return id;
		}
	}
	dfr_lost_here(share, firing, busy ? DFR_LOSS_SPEC_BUSY : DFR_LOSS_SPEC_UNAVAILABLE, 1);
	return 0;
}

/* *list: where this CPU's records of the speculation go. */
enum dfr_spec_result dfr_spec_trace(struct dfr_share *share, u64 id, struct dfr_speclist **list)
{
	struct dfr_state *state = share->sh_state;
	struct dfr_speclist *mine;
	u32 *word;
	u32 seen, next;

	if (!id)
		return DFR_SPEC_DROP;
	if (id > state->st_nspec || !share->sh_specs)
		return DFR_SPEC_ILLOP;
	mine = &share->sh_specs[id];
	mine->sl_id = (u32)id;
	word = &state->st_specs[id].spc_state;
	for (;;) {
		seen = dfr_load_acquire(word);
		if (seen == DFR_SPEC_ACTIVE)
			next = DFR_SPEC_ACTIVEONE;
		else if (seen == DFR_SPEC_ACTIVEONE && !mine->sl_first)
			next = DFR_SPEC_ACTIVEMANY;
		else if (seen == DFR_SPEC_ACTIVEONE || seen == DFR_SPEC_ACTIVEMANY)
			break;
		else
			return DFR_SPEC_DROP;
		/* spc_state only moves forward here, so the loop ends after a few turns. */
		if (dfr_cmpxchg(word, seen, next) == seen)
			break;
	}
	*list = mine;
	return DFR_SPEC_OK;
}

static void commit_now(struct dfr_share *share, struct dfr_firing *firing, u32 id, bool only_here)
{
	struct dfr_spec *spec = &share->sh_state->st_specs[id];
	struct dfr_speclist *list = &share->sh_specs[id];
	struct commit commit = { .share = share, .firing = firing, .id = id };
	u32 left = COPY_MAX;
	bool done;

	commit.now = dfr_firing_time(firing);
	commit.time = commit.now;
	commit.level = dfr_firing_context(firing)->cx_level;
	spec->spc_time = commit.time;
	if (list->sl_first) {
		list->sl_first->commit_time = commit.time;
		list->sl_first->flags |= DFR_SPEC_CHUNK_COMMITTING;
		done = copy_part(&commit, list, &left);
	} else {
		if (!only_here)
			copy_mark(&commit);
		done = true;
	}
	dfr_store_release(&spec->spc_state,
			  only_here && done ? (u32)DFR_SPEC_INACTIVE : (u32)DFR_SPEC_COMMITTINGMANY);
}

/* All that an active speculation has is on this CPU. */
static bool is_here(const struct dfr_share *share, u64 id, u32 seen)
{
	return seen == DFR_SPEC_ACTIVEONE && share->sh_specs[id].sl_first;
}

/*
 * Of commit() and discard(): an active speculation enters the state `to`. But one that is discarded and is
 * here alone enters COMMITTING, which reserves the number until its chunks are freed. *was: the state before;
 * INACTIVE: it was not active, and there is nothing to do.
 */
static enum dfr_spec_result leave_active(struct dfr_share *share, u64 id, u32 to, u32 *was)
{
	struct dfr_state *state = share->sh_state;
	u32 seen, next;

	*was = DFR_SPEC_INACTIVE;
	if (!id)
		return DFR_SPEC_OK;
	if (id > state->st_nspec || !share->sh_specs)
		return DFR_SPEC_ILLOP;
	do {
		seen = dfr_load_acquire(&state->st_specs[id].spc_state);
		if (seen != DFR_SPEC_ACTIVE && seen != DFR_SPEC_ACTIVEONE && seen != DFR_SPEC_ACTIVEMANY)
			return DFR_SPEC_OK;
		next = is_here(share, id, seen) ? DFR_SPEC_COMMITTING : to;
	} while (dfr_cmpxchg(&state->st_specs[id].spc_state, seen, next) != seen);
	*was = seen;
	return DFR_SPEC_OK;
}

enum dfr_spec_result dfr_spec_commit(struct dfr_share *share, struct dfr_firing *firing, u64 id)
{
	u32 was;
	enum dfr_spec_result result = leave_active(share, id, DFR_SPEC_COMMITTING, &was);

	if (was != DFR_SPEC_INACTIVE)
		commit_now(share, firing, (u32)id, was == DFR_SPEC_ACTIVE || is_here(share, id, was));
	return result;
}

/* open: the record being written, or NULL. If it is in this speculation, it goes on in the void list. */
enum dfr_spec_result dfr_spec_discard(struct dfr_share *share, u64 id, struct dfr_writer *open)
{
	u32 was;
	enum dfr_spec_result result = leave_active(share, id, DFR_SPEC_DISCARDING, &was);
	bool here;

	if (was == DFR_SPEC_INACTIVE)
		return result;
	here = is_here(share, id, was);
	if (open && open->w_list == &share->sh_specs[id])
		move_to_void(share, open);
	drop_all(share, &share->sh_specs[id]);
	if (here)
		dfr_store_release(&share->sh_state->st_specs[id].spc_state, (u32)DFR_SPEC_INACTIVE);
	return result;
}

/* The cleaner: process context, and its visits to the CPUs. */

struct cleaning {
	struct dfr_state *cg_state;
	struct dfr_share *cg_share;
	u32 cg_next; /* those before are done on this CPU */
};

/* On the share's CPU: COPY_MAX bytes, of one speculation or of several. */
static void clean_cpu(void *arg)
{
	struct cleaning *cleaning = arg;
	struct dfr_share *share = cleaning->cg_share;
	struct dfr_state *state = cleaning->cg_state;
	struct commit commit = { .share = share, .level = DFR_LEVEL_TASK };
	struct dfr_speclist *list;
	u32 left = COPY_MAX;
	bool done = true;
	u32 id;

	for (id = cleaning->cg_next; id <= state->st_nspec && done; id++) {
		list = &share->sh_specs[id];
		spend(&left, 1);
		if (!state->st_specs[id].spc_cleaning || !list->sl_first)
			continue;
		commit.id = id;
		commit.time = state->st_specs[id].spc_time;
		if (dfr_load_acquire(&state->st_specs[id].spc_state) == DFR_SPEC_DISCARDING) {
			done = drop_part(share, list, &left);
		} else {
			commit.now = dfr_telling_time(share);
			done = copy_part(&commit, list, &left);
		}
	}
	cleaning->cg_next = done ? id : id - 1;
}

static bool mark_finished(struct dfr_state *state)
{
	bool any = false;
	u32 id, seen;

	for (id = 1; id <= state->st_nspec; id++) {
		seen = dfr_load_acquire(&state->st_specs[id].spc_state);
		state->st_specs[id].spc_cleaning =
			seen == DFR_SPEC_COMMITTINGMANY || seen == DFR_SPEC_DISCARDING;
		any |= state->st_specs[id].spc_cleaning;
	}
	return any;
}

void dfr_spec_clean(struct dfr_state *state)
{
	struct cleaning cleaning = { .cg_state = state };
	u32 i;

	if (!state->st_specs || !mark_finished(state))
		return;
	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		cleaning.cg_share = state->st_shares[i];
		if (!cleaning.cg_share || !cleaning.cg_share->sh_specs)
			continue;
		for (cleaning.cg_next = 1; cleaning.cg_next <= state->st_nspec;)
			dfr_visit_cpu(state->st_engine, i, clean_cpu, &cleaning);
	}
	for (i = 1; i <= state->st_nspec; i++) {
		if (!state->st_specs[i].spc_cleaning)
			continue;
		state->st_specs[i].spc_cleaning = false;
		dfr_store_release(&state->st_specs[i].spc_state, (u32)DFR_SPEC_INACTIVE);
	}
}
