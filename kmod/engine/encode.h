/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a record is written: its head, its integers with their size codes, and the
 * commit. The plain forms, the steps and the engine's own records (context, loss) use these
 * inlines and no others, so that all of them write the same bytes. formats/abi/block.h
 * has the layout. Probe context.
 */
#ifndef DFR_ENGINE_ENCODE_H
#define DFR_ENGINE_ENCODE_H

#include "kmod/engine/store.h"

/* Heads. */

dfr_hot bool dfr_is_short_delta(u64 delta)
{
	return dfr_likely(delta <= DFR_REC_DELTA_MAX);
}

/* id and delta go into 32 bits. */
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

/* The head that this record takes behind the last one of its stream. */
dfr_hot u8 *dfr_put_head(const struct dfr_stream *stream, u8 *p, u32 id, u32 level, u64 time)
{
	u64 delta = time - stream->sm_time;

	if (dfr_likely(id <= DFR_REC_ID_SHORT_MAX) && dfr_is_short_delta(delta))
		return dfr_put_short_head(p, id, level, delta);
	return dfr_put_long_head(p, id, level, time);
}

/* Integers. */

/*
 * Of an integer whose highest bit is bit i: its size, and the code for that, at the
 * top of a byte.
 */
#define DFR_FROM_1_TO_8(one, two, four, eight)                                                     \
	{                                                                                          \
		[0 ... 7] = one, [8 ... 15] = two, [16 ... 31] = four, [32 ... 63] = eight         \
	}
static const u8 dfr_int_sizes[64] = DFR_FROM_1_TO_8(1, 2, 4, 8);
static const u8 dfr_int_codes[64] = DFR_FROM_1_TO_8(0x00, 0x40, 0x80, 0xc0);

/* The highest bit that counts: a signed integer has one more than its magnitude, its sign. */
dfr_hot u64 dfr_unsigned_top(u64 value)
{
	return dfr_plat_top_bit(value | 1);
}

dfr_hot u64 dfr_signed_top(u64 value)
{
	return dfr_plat_top_bit(2 * (value ^ (u64)((s64)value >> 63)) + 1);
}

/* The value, in as many bytes as it takes; its code comes on top of those in `bits`. Writes up to 8 bytes. */
dfr_hot u8 *dfr_put_value(u8 *p, u64 value, u64 top, u32 *bits)
{
	dfr_put64(p, value);
	*bits = *bits >> 2 | dfr_int_codes[top];
	return p + dfr_int_sizes[top];
}

/* And each code where it belongs. */
dfr_hot u8 *dfr_put_int(u8 *p, u64 value, bool is_signed, struct dfr_codes *codes)
{
	p = dfr_put_value(p, value, is_signed ? dfr_signed_top(value) : dfr_unsigned_top(value), &codes->co_bits);
	if (!(++codes->co_n & 3)) {
		*codes->co_at++ = (u8)codes->co_bits;
		codes->co_bits = 0;
	}
	return p;
}

/* Behind the last integer: the byte of codes that is not full. */
dfr_hot void dfr_put_last_codes(const struct dfr_codes *codes)
{
	if (codes->co_n & 3)
		*codes->co_at = (u8)(codes->co_bits >> (8 - 2 * (codes->co_n & 3)));
}

/* Commit. */

/* Readers may have what the open block holds up to p. */
dfr_hot void dfr_publish(struct dfr_share *share, const u8 *p)
{
	struct dfr_block *block = share->sh_ring.rg_block;

	dfr_store_release(&block->committed, (u32)(p - share->sh_ring.rg_first));
}

/* The record that ends at p is recorded. */
dfr_hot void dfr_commit(struct dfr_share *share, u8 *p)
{
	share->sh_stream.sm_ptr = p;
	dfr_count(&share->sh_records, 1);
	dfr_publish(share, p);
}

#endif
