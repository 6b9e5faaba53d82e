// SPDX-License-Identifier: GPL-2.0
/*
 * Sealing of closed blocks: the checksums of formats/abi/block.h, so that a reader of a dead memory
 * or of a file can verify them. Process context; no firing computes one. A block that stays in the
 * ring may be recycled while its checksums are computed, so they are stored on the ring's CPU, if
 * the block is still the same.
 */
#include "kmod/engine/recording/store.h"

struct checksums {
	u32 cs_block;
	u32 cs_interval[DFR_BLOCK_MAX / DFR_RESTART_BYTES];
};

static u32 finished(u32 crc)
{
	return ~crc ? ~crc : 1;
}

/* What an interval's checksum has of the block and of the context that holds where it begins. */
static u32 context_checksum(const struct dfr_block *block, u64 seq, u32 at, u32 end)
{
	u32 crc = dfr_plat_crc32c(~0u, &seq, sizeof(seq));

	if (at && at < end)
		crc = dfr_plat_crc32c(crc, (const u8 *)block + at,
				      end - at < DFR_CONTEXT_MAX ? end - at : DFR_CONTEXT_MAX);
	return finished(crc);
}

/*
 * `end`: where the records end. Header and entries are copied, because a block in the ring may be
 * recycled meanwhile. Then the result means nothing and is not stored; here it matters that nothing
 * beyond `end` is read.
 */
static void compute(const struct dfr_block *block, u64 seq, u32 hdr_size, u32 end, struct checksums *sums)
{
	const struct dfr_restart *table = (const struct dfr_restart *)(block + 1);
	struct dfr_block head = *block;
	struct dfr_restart entry;
	u32 context = ~0u; /* `of_context` is of the context there */
	u32 of_context = 0;
	u32 first = end;
	u32 crc, i;

	for (i = (hdr_size - (u32)sizeof(*block)) / (u32)sizeof(*table); i-- > 0;) {
		entry = table[i];
		sums->cs_interval[i] = 0;
		if (entry.record < hdr_size || entry.record >= first)
			continue;
		if (entry.context != context) {
			context = entry.context;
			of_context = context_checksum(block, seq, context, end);
		}
		entry.checksum = of_context;
		crc = dfr_plat_crc32c(~0u, &entry, sizeof(entry));
		sums->cs_interval[i] = finished(
			dfr_plat_crc32c(crc, (const u8 *)block + entry.record, first - entry.record));
		first = entry.record;
	}
	head.checksum = 0;
	head.flags = DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED;
	crc = dfr_plat_crc32c(~0u, &head, sizeof(head));
	sums->cs_block = finished(dfr_plat_crc32c(crc, (const u8 *)block + hdr_size, first - hdr_size));
}

static void store(struct dfr_block *block, const struct checksums *sums)
{
	struct dfr_restart *table = (struct dfr_restart *)(block + 1);
	u32 count = (block->hdr_size - (u32)sizeof(*block)) / (u32)sizeof(*table);
	u32 i;

	for (i = 0; i < count; i++)
		table[i].checksum = sums->cs_interval[i];
	block->checksum = sums->cs_block;
	dfr_store_release(&block->flags, DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED);
}

/* For a block that nobody writes or recycles. */
void dfr_block_seal(struct dfr_block *block)
{
	struct checksums sums;

	compute(block, block->seq, block->hdr_size, block->hdr_size + block->committed, &sums);
	store(block, &sums);
}

/* Blocks that stay in the ring. */

struct sealing {
	struct dfr_share *sn_share;
	struct dfr_block *sn_block;
	u64 sn_seq;
	u32 sn_end; /* of its records; copied, because the block may be recycled meanwhile */
	struct checksums sn_sums;
};

static void seal_compute(struct sealing *sealing)
{
	compute(sealing->sn_block, sealing->sn_seq, sealing->sn_share->sh_ring.rg_hdr_size, sealing->sn_end,
		&sealing->sn_sums);
}

/*
 * Finds the oldest closed block without a checksum. Interrupts are off, so it computes the slot
 * instead of searching: closed blocks are numbered without gaps up to the newest.
 */
static void seal_find(struct sealing *sealing)
{
	struct dfr_ring *ring = &sealing->sn_share->sh_ring;
	u64 newest = ring->rg_seq - (ring->rg_block ? 1 : 0);
	u64 behind = newest - ring->rg_sealed; /* closed since the last sealed one */
	u32 back = behind < ring->rg_closed ? (u32)behind : ring->rg_closed;
	struct dfr_block *block;

	sealing->sn_block = NULL;
	if (!back)
		return;
	block = dfr_ring_block(ring, (ring->rg_head + ring->rg_nslots - back) % ring->rg_nslots);
	dfr_write_once(&ring->rg_sealed, block->seq);
	sealing->sn_seq = block->seq;
	sealing->sn_block = block;
	sealing->sn_end = ring->rg_hdr_size + block->committed;
#ifndef __KERNEL__
	/* In user space only this CPU's lock, which is held here, keeps its writer away. */
	seal_compute(sealing);
#endif
}

static void seal_store(const struct sealing *sealing)
{
	if (sealing->sn_block->seq == sealing->sn_seq && sealing->sn_block->flags & DFR_BLOCK_CLOSED)
		store(sealing->sn_block, &sealing->sn_sums);
}

/* On the ring's CPU, once for each block: stores the checksums of the last block and finds the next one. */
static void seal_next(void *arg)
{
	struct sealing *sealing = arg;

	if (sealing->sn_block)
		seal_store(sealing);
	seal_find(sealing);
}

/*
 * Does a block wait to be sealed? Read from another CPU, so that a CPU without one is not
 * interrupted. A block that is closed meanwhile waits for the next turn.
 */
static bool any_unsealed(const struct dfr_ring *ring)
{
	return dfr_read_once(&ring->rg_closed) &&
	       dfr_read_once(&ring->rg_sealed) + (dfr_read_once(&ring->rg_block) ? 1 : 0) <
		       dfr_read_once(&ring->rg_seq);
}

void dfr_ring_seal(struct dfr_state *state)
{
	struct sealing sealing;
	u32 i;

	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		sealing.sn_share = state->st_shares[i];
		sealing.sn_block = NULL;
		if (!sealing.sn_share || !any_unsealed(&sealing.sn_share->sh_ring))
			continue;
		do {
			dfr_visit_cpu(state->st_engine, sealing.sn_share->sh_cpu, seal_next, &sealing);
#ifdef __KERNEL__
			if (sealing.sn_block)
				seal_compute(&sealing);
#endif
		} while (sealing.sn_block);
	}
}
