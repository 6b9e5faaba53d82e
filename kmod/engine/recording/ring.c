// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's ring of blocks: opening, closing and recycling them (probe context, by their CPU alone),
 * and the consumer's side: taking blocks exactly, by swapping.
 *
 *   slots   [ closed ][ closed ][ open ][ empty ][ empty ]     rg_nslots
 *              |         |        ^ head
 *   refs    every block of the CPU has a number for good: it is in a slot, taken
 *           by a consumer, or spare
 *
 * A consumer takes closed blocks, oldest first, and each is replaced in its slot by a spare one. The
 * swap runs on the ring's CPU with interrupts off, so the writer needs no atomic operation and never
 * waits. Spares are made as they are needed, up to 8 more than there are slots.
 *
 * The policy says what happens when the next slot is not empty: `ring` overwrites it, `fill` stops
 * for good because it has gone round once, `switch` drops the record.
 */
#include "formats/abi/anchor.h"
#include "kmod/engine/recording/store.h"

#define PIECE_MAX (1024u * 1024)
#define RING_PAGE 4096u

/* Memory, process context. */

static void anchor_piece(struct dfr_state *state, const struct dfr_share *share,
			 const struct dfr_piece *piece)
{
	dfr_state_anchor(state, DFR_ANCHOR_RING, share->sh_cpu, 0, piece->pi_memory, piece->pi_size,
			 share->sh_ring.rg_block_size);
}

/*
 * Allocates one more piece of up to `want` blocks as spares; less if memory is so scattered that it
 * cannot be had. The caller lists it in an anchor.
 */
static int add_piece(struct dfr_state *state, struct dfr_share *share, u32 want)
{
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_piece *piece = dfr_plat_alloc(sizeof(*piece));
	u32 per_page = ring->rg_block_size < RING_PAGE ? RING_PAGE / ring->rg_block_size : 1;
	u32 most = PIECE_MAX / ring->rg_block_size;
	u32 count, i;
	u8 *p;

	if (!piece)
		return -ENOMEM;
	for (count = want < most ? want : most;; count /= 2) {
		count = (count + per_page - 1) / per_page * per_page;
		piece->pi_size = (size_t)count * ring->rg_block_size;
		piece->pi_memory = dfr_plat_alloc_pages(dfr_state_reserved(state), piece->pi_size);
		if (piece->pi_memory || count <= per_page)
			break;
	}
	if (!piece->pi_memory) {
		dfr_plat_free(piece);
		return -ENOMEM;
	}
	piece->pi_next = ring->rg_pieces;
	ring->rg_pieces = piece;
	p = piece->pi_memory;
	/* So that a reader of a dead memory can tell one that was never used from one that was wiped out. */
	for (i = 0; i < count && dfr_plat_examined(); i++)
		((struct dfr_block *)(p + (size_t)i * ring->rg_block_size))->magic = DFR_BLOCK_FRESH;
	for (i = 0; i < count && ring->rg_nrefs < ring->rg_maxrefs; i++, p += ring->rg_block_size) {
		ring->rg_refs[ring->rg_nrefs].br_block = (struct dfr_block *)p;
		ring->rg_spare[ring->rg_nspare++] = ring->rg_nrefs;
		dfr_store_release(&ring->rg_nrefs, ring->rg_nrefs + 1); /* for dfr_state_block() */
	}
	return 0;
}

/* Most bytes that a ring may come to take, with all the spares that a consumer can make it allocate. */
u64 dfr_ring_bytes(const struct dfr_state *state)
{
	u64 slots = state->st_nblocks + state->st_keep_slots, refs = 2 * slots + 8;

	return refs * (state->st_block_size + sizeof(struct dfr_blockref) + sizeof(u32)) +
	       slots * sizeof(struct dfr_ringslot);
}

int dfr_ring_create(struct dfr_state *state, struct dfr_share *share)
{
	struct dfr_ring *ring = &share->sh_ring;
	int error;
	u32 i;

	ring->rg_policy = (u32)dfr_option(state, DFR_OPT_BUFPOLICY);
	ring->rg_block_size = state->st_block_size;
	ring->rg_hdr_size = DFR_BLOCK_HDR_SIZE(state->st_block_size);
	ring->rg_keep = state->st_keep_slots;
	ring->rg_nslots = state->st_nblocks + state->st_keep_slots;
	ring->rg_maxrefs = 2 * ring->rg_nslots + 8;
	ring->rg_slots = dfr_plat_alloc(ring->rg_nslots * sizeof(ring->rg_slots[0]));
	ring->rg_refs = dfr_plat_alloc(ring->rg_maxrefs * sizeof(ring->rg_refs[0]));
	ring->rg_spare = dfr_plat_alloc(ring->rg_maxrefs * sizeof(ring->rg_spare[0]));
	if (!ring->rg_slots || !ring->rg_refs || !ring->rg_spare)
		return -ENOMEM;
	while (ring->rg_nrefs < ring->rg_nslots) {
		error = dfr_plat_proceed(); /* clearing gigabytes takes long */
		if (error)
			return error;
		if (add_piece(state, share, ring->rg_nslots - ring->rg_nrefs))
			return -ENOMEM;
	}
	for (i = 0; i < ring->rg_nslots; i++)
		ring->rg_slots[i].rs_number = ring->rg_spare[--ring->rg_nspare];
	return 0;
}

void dfr_ring_anchor(struct dfr_state *state, const struct dfr_share *share)
{
	const struct dfr_piece *piece;

	for (piece = share->sh_ring.rg_pieces; piece; piece = piece->pi_next)
		anchor_piece(state, share, piece);
}

void dfr_ring_free(struct dfr_share *share)
{
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_piece *piece, *next;
	u32 i;

	/* So that a reader of a dead memory takes no block for a ring's whose anchors are damaged. */
	for (i = 0; i < ring->rg_nrefs; i++)
		if (ring->rg_refs[i].br_block->magic)
			dfr_write_once(&ring->rg_refs[i].br_block->magic, 0);
	for (piece = ring->rg_pieces; piece; piece = next) {
		next = piece->pi_next;
		dfr_plat_free_pages(piece->pi_memory, piece->pi_size);
		dfr_plat_free(piece);
	}
	dfr_plat_free(ring->rg_slots);
	dfr_plat_free(ring->rg_refs);
	dfr_plat_free(ring->rg_spare);
	memset(ring, 0, sizeof(*ring));
}

/* The writer's side: probe context, on the ring's CPU. */

/*
 * Sets sm_soft, where the fast path ends: at the block's end or where a restart entry is due,
 * because the first record from there on must take the slow path. A record compares its start plus
 * the bytes it may need with sm_soft, so need - 1 is added to the restart's place: then even the
 * smallest record that starts there is caught.
 */
void dfr_ring_soft(struct dfr_share *share)
{
	struct dfr_ring *ring = &share->sh_ring;
	u32 need = share->sh_state->st_need_min;
	u8 *restart = (u8 *)ring->rg_block + ring->rg_restart + (need ? need - 1 : 0);

	share->sh_stream.sm_soft = restart < ring->rg_end ? restart : ring->rg_end;
}

static void open_block(struct dfr_share *share, u64 time)
{
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_ringslot *slot = &ring->rg_slots[ring->rg_head];
	struct dfr_block *block = dfr_ring_block(ring, ring->rg_head);

	dfr_write_once(&block->seq, 0);
	dfr_smp_wmb();
	block->magic = DFR_BLOCK_MAGIC;
	memset((u8 *)block + sizeof(block->magic), 0, ring->rg_hdr_size - sizeof(block->magic));
	block->version = DFR_BLOCK_VERSION;
	block->cpu = (u16)share->sh_cpu;
	block->size = ring->rg_block_size;
	block->hdr_size = ring->rg_hdr_size;
	block->state_id = share->sh_state->st_id;
	block->lost = share->sh_lost;
	block->record_base = share->sh_records;
	block->before = ring->rg_before;
	block->open_time = time;
	dfr_write_once(&ring->rg_seq, ring->rg_seq + 1);
	dfr_store_release(&block->seq, ring->rg_seq);
	slot->rs_state = DFR_SLOT_OPEN;
	dfr_write_once(&ring->rg_block, block);
	ring->rg_end = (u8 *)block + ring->rg_block_size;
	ring->rg_restart = ring->rg_block_size >= DFR_RESTART_BYTES ? 0 : ring->rg_block_size;
	ring->rg_first = (u8 *)block + ring->rg_hdr_size;
	share->sh_stream.sm_ptr = ring->rg_first;
	share->sh_stream.sm_soft = NULL;
	share->sh_stream.sm_time = DFR_STREAM_FRESH;
	share->sh_stream.sm_context = 0;
	if (dfr_thin_off(share))
		dfr_thin_tell(share);
}

/* Closes the open block: no record is added to it any more. */
void dfr_ring_close(struct dfr_share *share)
{
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_block *block = ring->rg_block;
	u64 last = share->sh_stream.sm_time;

	if (last == DFR_STREAM_FRESH) /* dfr_record_flush() closes one without records */
		last = block->first_time = block->open_time;
	block->records = (u32)(share->sh_records - block->record_base);
	block->last_time = ring->rg_before = last;
	dfr_store_release(&block->flags, DFR_BLOCK_CLOSED);
	ring->rg_slots[ring->rg_head].rs_state = DFR_SLOT_CLOSED;
	ring->rg_head = ring->rg_head + 1 < ring->rg_nslots ? ring->rg_head + 1 : 0;
	dfr_write_once(&ring->rg_block, NULL);
	share->sh_stream.sm_ptr = NULL;
	share->sh_stream.sm_soft = NULL;
	dfr_write_once(&ring->rg_closed, ring->rg_closed + 1);
	dfr_plat_wake(share->sh_state);
}

/*
 * A ring may overwrite blocks by design, which the horizon tells readers. But a consumer has asked
 * for this block and found no spare to take it (rg_wanted), so its records count as lost.
 */
static void count_overwritten(struct dfr_share *share, const struct dfr_block *block)
{
	struct dfr_pending *pending = &share->sh_pending[DFR_LOSS_OVERWRITTEN];

	dfr_count_lost(share, DFR_LOSS_OVERWRITTEN, block->records);
	dfr_pending_add(pending, block->records, block->first_time, block->last_time);
	share->sh_pending_mask |= 1u << DFR_LOSS_OVERWRITTEN;
}

/* May the next block be opened? */
static bool next_free(struct dfr_share *share, bool is_end)
{
	struct dfr_ring *ring = &share->sh_ring;

	if (ring->rg_policy == DFR_BUFPOLICY_FILL) {
		if (ring->rg_seq < ring->rg_nslots - (is_end ? 0 : ring->rg_keep))
			return true;
		if (!is_end) {
			ring->rg_full_time = ring->rg_before;
			dfr_write_once(&share->sh_tally->over, ring->rg_full_time);
			dfr_store_release(&ring->rg_full, true);
		}
		return false;
	}
	if (ring->rg_slots[ring->rg_head].rs_state == DFR_SLOT_EMPTY)
		return true;
	if (ring->rg_policy == DFR_BUFPOLICY_SWITCH)
		return false;
	if (dfr_read_once(&ring->rg_wanted))
		count_overwritten(share, dfr_ring_block(ring, ring->rg_head));
	dfr_write_once(&ring->rg_closed, ring->rg_closed - 1);
	return true;
}

bool dfr_ring_room(struct dfr_share *share, u32 need, u64 time, bool is_end)
{
	struct dfr_ring *ring = &share->sh_ring;

	if (dfr_unlikely(!ring->rg_nslots || need > ring->rg_block_size - ring->rg_hdr_size))
		return false;
	if (ring->rg_full && !is_end)
		return false;
	if (ring->rg_block) {
		if (need <= (size_t)(ring->rg_end - share->sh_stream.sm_ptr))
			return true;
		dfr_ring_close(share);
	}
	if (!next_free(share, is_end))
		return false;
	open_block(share, time);
	return true;
}

/*
 * Called where decoding may start anew: writes a restart entry for this place, one for each KiB of
 * the block.
 */
void dfr_ring_restart(struct dfr_share *share)
{
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_stream *stream = &share->sh_stream;
	u32 at = (u32)(stream->sm_ptr - (u8 *)ring->rg_block);
	struct dfr_restart *table = (struct dfr_restart *)(ring->rg_block + 1);
	u32 entry = at / DFR_RESTART_BYTES;

	if (at < ring->rg_restart)
		return;
	table[entry].time = stream->sm_time == DFR_STREAM_FRESH ? 0 : stream->sm_time;
	table[entry].context = stream->sm_context;
	table[entry].records = (u32)(share->sh_records - ring->rg_block->record_base);
	dfr_store_release(&table[entry].record, at);
	ring->rg_restart = (entry + 1) * DFR_RESTART_BYTES;
}

/* The consumer's side: process context. */

struct take {
	struct dfr_share *tk_share;
	struct dfr_ioc_taken *tk_taken;
	u32 tk_room;
	u32 tk_count;
	bool tk_flush;
	bool tk_orphans; /* and nothing else */
	bool tk_short;	 /* closed blocks are left because spares ran out */
};

/* On the ring's CPU: takes closed blocks, oldest first, and puts a spare one in the place of each. */
static void swap_closed(struct take *take)
{
	struct dfr_share *share = take->tk_share;
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_ringslot *slot;
	struct dfr_ioc_taken *taken;
	u32 number;

	take->tk_short = false;
	while (ring->rg_closed && take->tk_count < take->tk_room) {
		if (!ring->rg_nspare) {
			take->tk_short = true;
			return;
		}
		slot = &ring->rg_slots[(ring->rg_head + ring->rg_nslots - ring->rg_closed) % ring->rg_nslots];
		number = slot->rs_number;
		taken = &take->tk_taken[take->tk_count++];
		taken->cpu = share->sh_cpu;
		taken->block = number;
		taken->seq = ring->rg_refs[number].br_block->seq;
		ring->rg_refs[number].br_taken = taken->seq;
		slot->rs_number = ring->rg_spare[--ring->rg_nspare];
		slot->rs_state = DFR_SLOT_EMPTY;
		dfr_write_once(&ring->rg_closed, ring->rg_closed - 1);
	}
}

/*
 * On the ring's CPU. Takes closed blocks before it flushes, because the flush may need their room
 * for what it writes.
 */
static void take_closed(void *arg)
{
	struct take *take = arg;
	struct dfr_share *share = take->tk_share;

	swap_closed(take);
	if (take->tk_flush && !take->tk_short) {
		dfr_record_flush(share);
		swap_closed(take);
	}
	share->sh_ring.rg_wanted = take->tk_short;
}

/*
 * Hands out again the blocks that a consumer which has gone had taken, the oldest ones, in order of sequence. In one pass:
 * there may be tens of thousands, and mostly they lie in that order.
 */
static void take_orphans(struct take *take)
{
	struct dfr_ring *ring = &take->tk_share->sh_ring;
	struct dfr_ioc_taken *taken = take->tk_taken + take->tk_count;
	u32 room = take->tk_room - take->tk_count;
	u32 count = 0, number, at;

	for (number = 0; number < ring->rg_nrefs; number++) {
		u64 seq = ring->rg_refs[number].br_taken;

		if (!ring->rg_refs[number].br_orphan || !room ||
		    (count == room && taken[count - 1].seq < seq))
			continue;
		count += count < room;
		for (at = count - 1; at && taken[at - 1].seq > seq; at--)
			taken[at] = taken[at - 1];
		taken[at].cpu = take->tk_share->sh_cpu;
		taken[at].block = number;
		taken[at].seq = seq;
	}
	for (at = 0; at < count; at++)
		ring->rg_refs[taken[at].block].br_orphan = false;
	take->tk_count += count;
}

void dfr_state_disown(struct dfr_state *state)
{
	u32 cpu, i;

	dfr_mutex_lock(&state->st_lock);
	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++) {
		struct dfr_share *share = state->st_shares[cpu];

		if (!share)
			continue;
		for (i = 0; i < share->sh_ring.rg_nrefs; i++)
			share->sh_ring.rg_refs[i].br_orphan = share->sh_ring.rg_refs[i].br_taken != 0;
		share->sh_ring.rg_parted = share->sh_ring.rg_seq != 0;
		dfr_write_once(&share->sh_ring.rg_wanted, false);
	}
	dfr_mutex_unlock(&state->st_lock);
}

/*
 * Adds as many spares as were made so far, and DFR_SPARES_FIRST more: a consumer that takes few blocks has few
 * made for it.
 */
static int add_spares(struct dfr_state *state, struct dfr_share *share)
{
	const struct dfr_ring *ring = &share->sh_ring;
	u32 want = ring->rg_maxrefs - ring->rg_nrefs;
	u32 made = ring->rg_nrefs - ring->rg_nslots;
	int error;

	if (want > made + DFR_SPARES_FIRST)
		want = made + DFR_SPARES_FIRST;
	error = want ? add_piece(state, share, want) : -ENOSPC;
	if (!error)
		anchor_piece(state, share, ring->rg_pieces);
	return error;
}

static void take_from(struct dfr_state *state, struct take *take)
{
	struct dfr_share *share = take->tk_share;
	struct dfr_ring *ring = &share->sh_ring;
	struct dfr_block *block;
	u32 first = take->tk_count;

	take_orphans(take);
	if (take->tk_orphans)
		return;
	if (!take->tk_flush && !dfr_read_once(&ring->rg_closed) && !dfr_read_once(&ring->rg_wanted))
		return; /* a visit interrupts the CPU */
	do {
		dfr_visit_cpu(state->st_engine, share->sh_cpu, take_closed, take);
	} while (take->tk_short && !add_spares(state, share));
	/* Nobody writes a taken block, so it can be sealed here. */
	for (; first < take->tk_count; first++) {
		block = ring->rg_refs[take->tk_taken[first].block].br_block;
		if (!(block->flags & DFR_BLOCK_SEALED))
			dfr_block_seal(block);
	}
}

static void take_each(struct dfr_state *state, u32 cpu, struct take *take, bool *left)
{
	u32 i;

	*left = false;
	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		take->tk_share = state->st_shares[i];
		if (!take->tk_share || (cpu != DFR_ALL_CPUS && cpu != i))
			continue;
		take->tk_short = false;
		take_from(state, take);
		*left |= take->tk_short;
	}
}

int dfr_state_take(struct dfr_state *state, u32 cpu, u32 flags, struct dfr_ioc_taken *taken, u32 room,
		   u32 *count, bool *left)
{
	struct take take = { .tk_taken = taken, .tk_room = room, .tk_orphans = flags & DFR_TAKE_ORPHANS };

	*count = 0;
	*left = false;
	if (cpu != DFR_ALL_CPUS && cpu >= state->st_engine->en_ncpus)
		return -EINVAL;
	dfr_mutex_lock(&state->st_lock);
	take.tk_flush = flags & DFR_TAKE_FLUSH && !state->st_specs;
	take_each(state, cpu, &take, left);
	/* What was committed comes behind the closed blocks, because it may need their room. */
	if (flags & DFR_TAKE_FLUSH && state->st_specs) {
		dfr_spec_clean(state);
		take.tk_flush = true;
		take_each(state, cpu, &take, left);
	}
	dfr_state_notice_end(state);
	dfr_mutex_unlock(&state->st_lock);
	*count = take.tk_count;
	return 0;
}

static struct dfr_share *share_of(const struct dfr_state *state, u32 cpu)
{
	return cpu < state->st_engine->en_ncpus ? state->st_shares[cpu] : NULL;
}

static int release(struct dfr_state *state, u32 cpu, u32 block, u64 seq)
{
	struct dfr_share *share = share_of(state, cpu);
	struct dfr_ring *ring;

	if (!share)
		return -EINVAL;
	ring = &share->sh_ring;
	if (block >= ring->rg_nrefs || !seq || ring->rg_refs[block].br_taken != seq)
		return -EINVAL;
	ring->rg_refs[block].br_taken = 0;
	ring->rg_refs[block].br_orphan = false;
	/* From here on a scanner of a dead memory takes the block for empty. */
	dfr_store_release(&ring->rg_refs[block].br_block->seq, 0);
	ring->rg_spare[ring->rg_nspare++] = block;
	return 0;
}

int dfr_state_release(struct dfr_state *state, u32 cpu, u32 block, u64 seq)
{
	int error;

	dfr_mutex_lock(&state->st_lock);
	error = release(state, cpu, block, seq);
	dfr_mutex_unlock(&state->st_lock);
	return error;
}

const struct dfr_block *dfr_state_block(const struct dfr_state *state, u32 cpu, u32 block)
{
	const struct dfr_share *share =
		cpu < state->st_engine->en_ncpus ? dfr_load_acquire(&state->st_shares[cpu]) : NULL;

	return share && block < dfr_load_acquire(&share->sh_ring.rg_nrefs)
		       ? share->sh_ring.rg_refs[block].br_block
		       : NULL;
}

u32 dfr_state_block_size(const struct dfr_state *state)
{
	return state->st_block_size;
}

bool dfr_state_readable(const struct dfr_state *state)
{
	const struct dfr_share *share;
	u32 i;

	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		share = dfr_load_acquire(&state->st_shares[i]);
		if (share && dfr_read_once(&share->sh_ring.rg_closed))
			return true;
	}
	return false;
}

/* The block's CPU may be writing it, or be recycling it: then `seq` differs before and after, or is 0. */
static bool look_at(const struct dfr_block *block, struct dfr_ioc_seen *seen)
{
	seen->seq = dfr_load_acquire((u64 *)&block->seq);
	if (!seen->seq)
		return false;
	seen->committed = dfr_load_acquire((u32 *)&block->committed);
	seen->last_time = dfr_load_acquire((u32 *)&block->flags) & DFR_BLOCK_CLOSED
				  ? dfr_read_once((u64 *)&block->last_time)
				  : 0;
	dfr_smp_rmb();
	return dfr_read_once((u64 *)&block->seq) == seen->seq && (seen->committed || seen->last_time);
}

struct tail {
	const struct dfr_share *tl_share;
	struct dfr_ioc_blocks *tl_io;
};

/* On the CPU, where no firing is under way. */
static void read_tail(void *arg)
{
	struct tail *tail = arg;
	const struct dfr_share *share = tail->tl_share;
	const struct dfr_ring *ring = &share->sh_ring;
	bool open = ring->rg_block && ring->rg_block->committed;

	/* A block is open without a record if the firing that was to write it died in an oops. */
	tail->tl_io->newest = ring->rg_seq - (ring->rg_block && !open ? 1 : 0);
	tail->tl_io->records = share->sh_records;
	tail->tl_io->lost = share->sh_lost;
	tail->tl_io->last = open ? share->sh_stream.sm_time : ring->rg_before;
}

void dfr_state_blocks(struct dfr_state *state, struct dfr_ioc_blocks *io, struct dfr_ioc_seen *seen)
{
	struct tail tail = { .tl_io = io };
	const struct dfr_block *block;
	u32 room = io->count;

	io->count = 0;
	io->newest = io->records = io->lost = io->last = 0;
	dfr_mutex_lock(&state->st_lock);
	if (!io->block)
		dfr_spec_clean(state);
	tail.tl_share = share_of(state, io->cpu);
	if (tail.tl_share)
		dfr_visit_cpu(state->st_engine, io->cpu, read_tail, &tail);
	dfr_state_notice_end(state);
	dfr_mutex_unlock(&state->st_lock);
	for (; (block = dfr_state_block(state, io->cpu, io->block)); io->block++) {
		if (io->count == room)
			return;
		seen[io->count].block = io->block;
		io->count += look_at(block, &seen[io->count]);
	}
	io->block = ~0u;
}
