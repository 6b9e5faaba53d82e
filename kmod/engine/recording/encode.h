/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a record is written: its head, its integers with their size codes, and the
 * commit. plain.c, steps.c and the engine's own records (context, loss) use these
 * inline functions and no others, so that all of them write the same bytes.
 * formats/abi/block.h has the layout. Probe context.
 */
#ifndef DFR_ENGINE_ENCODE_H
#define DFR_ENGINE_ENCODE_H

#include "kmod/engine/recording/store.h"

/* Heads. */

dfr_hot bool dfr_is_short_delta(u64 delta)
{
	return dfr_likely(delta <= DFR_REC_DELTA_MAX);
}

/* For an id and a delta that fit into the 32 bits. */
dfr_hot u8 *dfr_put_short_head(u8 *p, u32 id, u32 level, u64 delta)
{
	dfr_put32(p, DFR_REC_HEAD(id, level, delta));
	return p + 4;
}

dfr_hot u8 *dfr_put_long_head(u8 *p, u32 id, u32 level, u64 time)
{
	dfr_put32(p, DFR_REC_HEAD(DFR_REC_ID_LONG, level, 0));
	dfr_put32(p + 4, id);
	dfr_put64(p + 8, time);
	return p + 16;
}

/* The short head if the id and the time since the last head of the stream fit into it, else the long one. */
dfr_hot u8 *dfr_put_head(const struct dfr_stream *stream, u8 *p, u32 id, u32 level, u64 time)
{
	u64 delta = time - stream->sm_time;

	if (dfr_likely(id <= DFR_REC_ID_SHORT_MAX) && dfr_is_short_delta(delta))
		return dfr_put_short_head(p, id, level, delta);
	return dfr_put_long_head(p, id, level, time);
}

/* Integers. */

/*
 * Indexed by the number of an integer's highest bit: its size in bytes, and the code
 * for that size, in the top two bits of a byte.
 */
#define DFR_FROM_1_TO_8(one, two, four, eight)                                                               \
	{                                                                                                    \
		[0 ... 7] = (one), [8 ... 15] = (two), [16 ... 31] = (four), [32 ... 63] = (eight)           \
	}
static const u8 dfr_int_sizes[64] = DFR_FROM_1_TO_8(1, 2, 4, 8);
static const u8 dfr_int_codes[64] = DFR_FROM_1_TO_8(0x00, 0x40, 0x80, 0xc0);

/* Number of the highest bit that must be stored. A signed integer needs one bit more, for its sign. */
dfr_hot u64 dfr_unsigned_top(u64 value)
{
	return dfr_plat_top_bit(value | 1);
}

dfr_hot u64 dfr_signed_top(u64 value)
{
	return dfr_plat_top_bit(2 * (value ^ (u64)((s64)value >> 63)) + 1);
}

/* Writes the value and advances by its size (8 bytes are stored); `bits` takes its code in at the top. */
dfr_hot u8 *dfr_put_value(u8 *p, u64 value, u64 top, u32 *bits)
{
	dfr_put64(p, value);
	*bits = *bits >> 2 | dfr_int_codes[top];
	return p + dfr_int_sizes[top];
}

/* Like dfr_put_value(); also stores each byte of codes when its four codes are complete. */
dfr_hot u8 *dfr_put_int(u8 *p, u64 value, bool is_signed, struct dfr_codes *codes)
{
	p = dfr_put_value(p, value, is_signed ? dfr_signed_top(value) : dfr_unsigned_top(value),
			  &codes->co_bits);
	if (!(++codes->co_n & 3)) {
		*codes->co_at++ = (u8)codes->co_bits;
		codes->co_bits = 0;
	}
	return p;
}

/* After the last integer: stores the byte of codes that is not full. */
dfr_hot void dfr_put_last_codes(const struct dfr_codes *codes)
{
	if (codes->co_n & 3)
		*codes->co_at = (u8)(codes->co_bits >> (8 - 2 * (codes->co_n & 3)));
}

/* Commit. */

/* Readers may now read the open block up to p. */
dfr_hot void dfr_publish(struct dfr_share *share, const u8 *p)
{
	struct dfr_block *block = share->sh_ring.rg_block;

	dfr_store_release(&block->committed, (u32)(p - share->sh_ring.rg_first));
}

/* Commits the record that ends at p. */
dfr_hot void dfr_commit(struct dfr_share *share, u8 *p)
{
	share->sh_stream.sm_ptr = p;
	dfr_count(&share->sh_records, 1);
	dfr_publish(share, p);
}

#endif
