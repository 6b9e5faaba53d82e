/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An aggregation table: keys and values in relocatable form (offsets, no
 * pointers), so the same bytes serve the engine, a live reader and a dead
 * memory. A state has two halves for each CPU and one base table: firings write
 * the active half; a snapshot retires it and merges it into the base table.
 *
 *   [ dfr_aggtab ][ u32 bucket[nbuckets] ][ entry ][ entry ] ... free
 *   |<-------------------- used ------------------------->|
 *
 * An entry is complete once its `varid` is not 0, because the engine stores the key
 * first, then the initial values, and `varid` last, with release. So a reader may walk
 * the entries from the end of the buckets to `used` at any instant.
 *
 * KEY: the elements of dfr_cat_agg.keys one after another, each a multiple of 8
 * bytes (catalog.h says how each kind stands in a key).
 * VALUES: count, sum, min, max 1 word; avg 2 (count, sum); stddev 4 (count, sum,
 * sum of squares low, high); quantize 127; lquantize 1 (its arg) + levels + 2;
 * llquantize 1 (its arg) + slots.
 */
#ifndef DFR_ABI_AGGTAB_H
#define DFR_ABI_AGGTAB_H

#include "formats/abi/base.h"

#define DFR_AGGTAB_MAGIC 0x42474744u /* "DGGB" */
#define DFR_AGGTAB_BASE_CPU 0xffffffffu

struct dfr_aggtab {
	__u32 magic;
	__u32 version; /* 1 */
	__u64 state_id;
	__u32 cpu;        /* DFR_AGGTAB_BASE_CPU: the base table */
	__u32 half;       /* 0, 1 */
	__u64 generation; /* base: the last one merged; a half that is above it is not merged yet */
	__u64 size;       /* bytes of the whole table */
	__u64 used;       /* published with release */
	__u32 nbuckets;   /* a power of two */
	__u32 entries;
	__u64 drops;
};
DFR_STATIC_ASSERT(sizeof(struct dfr_aggtab) == 64, "aggregation table");

struct dfr_aggent {
	__u32 next; /* offset in the table of the next entry of this bucket, 0: none */
	__u32 hash;
	__u32 varid; /* 0: not complete, or removed */
	__u16 kind;  /* DFR_ACT_COUNT ... */
	__u16 words; /* of the value */
	__u32 key_size;
	__u32 clear_gen; /* generation of clear()/trunc() that this value has seen */
	                 /* key, then value words */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_aggent) == 24, "aggregation entry");

#define DFR_QUANTIZE_BUCKETS 127
#define DFR_QUANTIZE_ZERO 63
#define DFR_LQUANTIZE_STEP(arg) ((__u16)((arg) >> 48))
#define DFR_LQUANTIZE_LEVELS(arg) ((__u16)((arg) >> 32))
#define DFR_LQUANTIZE_BASE(arg) ((__s32)(arg))
#define DFR_LLQUANTIZE_FACTOR(arg) ((__u16)((arg) >> 48))
#define DFR_LLQUANTIZE_LOW(arg) ((__u16)((arg) >> 32))
#define DFR_LLQUANTIZE_HIGH(arg) ((__u16)((arg) >> 16))
#define DFR_LLQUANTIZE_NSTEPS(arg) ((__u16)(arg))

#endif
