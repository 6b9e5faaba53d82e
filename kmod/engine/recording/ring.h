/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A CPU's ring of blocks (ring.c) and the records that are written to it or to a
 * speculation (record.c, encode.h). Probe context writes, consumers take closed blocks.
 */
#ifndef DFR_ENGINE_RING_H
#define DFR_ENGINE_RING_H

#include "formats/abi/spec.h"
#include "formats/abi/tally.h"
#include "kmod/engine/engine.h"

struct dfr_share;

/*
 * Where records go: the CPU's open block, or the last chunk of a speculation on this CPU. A record
 * that may reach beyond `sm_soft` takes the slow path (dfr_record_slow()). So sm_soft is where the
 * block ends or its next restart entry is due, whichever comes first. It is NULL when something
 * must be written before the next record (a context, a loss): then the next record takes the slow
 * path in any case.
 */
struct dfr_stream {
	u8 *sm_ptr;
	u8 *sm_soft;
	u64 sm_time; /* of the last head */
	u64 sm_who;  /* the task of the current context record: dfr_plat_who(), dfr_plat_comm() */
	u64 sm_comm[2];
	u64 sm_cgroups; /* dfr_plat_cgroups() of that task */
	u32 sm_tid;
	u32 sm_context; /* offset of the current context record; 0: none yet */
};

enum dfr_slot_state { DFR_SLOT_EMPTY, DFR_SLOT_OPEN, DFR_SLOT_CLOSED };

/* A block of a ring and who has it. */
struct dfr_blockref {
	struct dfr_block *br_block;
	u64 br_taken;	/* its sequence when it was handed out; 0: in the ring or spare */
	bool br_orphan; /* taken by a consumer that has gone: the next consumer gets it first */
};

struct dfr_ringslot {
	u32 rs_number; /* index in rg_refs */
	u32 rs_state;
};

struct dfr_piece {
	struct dfr_piece *pi_next;
	void *pi_memory;
	size_t pi_size;
};

struct dfr_ring {
	struct dfr_block *rg_block; /* open, or NULL: the next record opens one */
	u8 *rg_end;		    /* of the open block */
	u32 rg_restart;		    /* offset in the block at which a restart entry is due */
	u32 rg_head;		    /* slot of the open block, or of the next one to open */
	u32 rg_nslots;
	u32 rg_policy;
	u32 rg_block_size;
	u32 rg_hdr_size;
	u8 *rg_first;  /* of the open block: where its records begin */
	u32 rg_closed; /* closed slots that a consumer can take: those behind the head */
	u32 rg_keep;   /* fill: so many slots are reserved for END */
	bool rg_full;  /* fill: this CPU has stopped recording */
	bool rg_full_told;
	u64 rg_full_time; /* of the last record before it was full */
	bool rg_parted;	  /* a consumer has gone: the next one gets a block, if only to see `before` */
	bool rg_wanted;	  /* a consumer left closed blocks because spares ran out */
	u64 rg_seq;	  /* of the newest block */
	u64 rg_before;	  /* last_time of the block that was closed last; 0: none was */
	u64 rg_sealed;	  /* blocks up to this one are sealed or gone */
	struct dfr_ringslot *rg_slots;
	struct dfr_blockref *rg_refs;
	u32 rg_nrefs;
	u32 rg_maxrefs;
	u32 *rg_spare; /* stack of spare block numbers; process context alone */
	u32 rg_nspare;
	struct dfr_piece *rg_pieces;
};

/* A loss that no ledger record tells yet. */
struct dfr_pending {
	u64 pe_count;
	u64 pe_from;
	u64 pe_to;
	u32 pe_probe;
};

/* Its span covers all that it counts: a loss that is told late may lie before one that is here already. */
static inline void dfr_pending_add(struct dfr_pending *pending, u64 count, u64 from, u64 to)
{
	if (!pending->pe_count || from < pending->pe_from)
		pending->pe_from = from;
	if (to > pending->pe_to)
		pending->pe_to = to;
	pending->pe_count += count;
}

/* A note on a captured field of the record that is being written. */
struct dfr_note {
	u32 no_field;
	u32 no_code;
	u64 no_value;
};

/* record.c; probe context */
#define DFR_CONTEXT_BYTES DFR_CONTEXT_MAX
#define DFR_STREAM_FRESH  (1ULL << 63) /* sm_time before the first head: far from any time */

/* The size codes of a record so far: four to a byte, the first lowest (encode.h). */
struct dfr_codes {
	u8 *co_at;
	u32 co_bits; /* bits of the unfinished byte, kept at the top */
	u32 co_n;
};

/* A record being written. */
struct dfr_writer {
	struct dfr_stream *w_stream;
	struct dfr_speclist *w_list; /* NULL: the ring */
	u8 *w_start;
	u8 *w_ptr;
	struct dfr_codes w_codes;
};
bool dfr_record_slow(struct dfr_share *share, struct dfr_writer *w, struct dfr_firing *firing, u32 need);
u8 *dfr_record_head(struct dfr_stream *stream, u8 *p, u32 id, u32 level, u64 time);
void dfr_record_note(struct dfr_share *share, u32 field, u32 code, u64 value);
void dfr_record_add_notes(struct dfr_share *share, struct dfr_writer *w, struct dfr_firing *firing);
void dfr_record_untold(struct dfr_share *share, u32 level, u64 time, u32 keep);
u64 dfr_telling_time(const struct dfr_share *share); /* of what no firing writes */
void dfr_record_tell(struct dfr_share *share);
void dfr_record_flush(struct dfr_share *share);
void dfr_record_publish(struct dfr_share *share);

/* ring.c */
#define DFR_SPARES_FIRST 2 /* made at once for the first consumer; each later piece is larger */
u64 dfr_ring_bytes(
	const struct dfr_state *state); /* of one CPU; likewise dfr_agg_bytes(), dfr_spec_bytes() */
int dfr_ring_create(struct dfr_state *state, struct dfr_share *share);
void dfr_ring_anchor(struct dfr_state *state, const struct dfr_share *share);
void dfr_ring_free(struct dfr_share *share);
/* Probe context: make the ring's stream ready for `need` bytes; false: the policy says drop. */
bool dfr_ring_room(struct dfr_share *share, u32 need, u64 time, bool is_end);
void dfr_ring_close(struct dfr_share *share);
void dfr_ring_soft(struct dfr_share *share);
void dfr_ring_restart(struct dfr_share *share);

/* seal.c; process context */
void dfr_block_seal(struct dfr_block *block);
void dfr_ring_seal(struct dfr_state *state);

static inline struct dfr_block *dfr_ring_block(const struct dfr_ring *ring, u32 slot)
{
	return ring->rg_refs[ring->rg_slots[slot].rs_number].br_block;
}

/* Unaligned little-endian stores; on x86 one instruction each. */
dfr_hot void dfr_put32(u8 *p, u32 v)
{
	memcpy(p, &v, sizeof(v));
}

dfr_hot void dfr_put64(u8 *p, u64 v)
{
	memcpy(p, &v, sizeof(v));
}

#endif
