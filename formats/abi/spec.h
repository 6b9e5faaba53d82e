/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A chunk of a speculation: records of one CPU that have been neither committed nor
 * discarded yet. Each CPU has a pool of chunks. A DFR_ANCHOR_SPEC anchor lists the
 * pool, with the chunk as its unit, so a harvester finds open speculations in a dead
 * memory without following pointers:
 *
 *   [ dfr_spec_chunk ][ record record ... ]  size
 *                     |<---- used ------>|
 *
 * Records are as in a block (block.h). A chunk decodes alone: it starts with a
 * long context record. The chunks of one (speculation, CPU), by `serial`, are
 * its records in order of time.
 */
#ifndef DFR_ABI_SPEC_H
#define DFR_ABI_SPEC_H

#include "formats/abi/base.h"

#define DFR_SPEC_MAGIC 0x4b484353u /* "SCHK" */
#define DFR_SPEC_CHUNK_MIN 256

enum dfr_spec_state {
	DFR_SPEC_INACTIVE,
	DFR_SPEC_ACTIVE,
	DFR_SPEC_ACTIVEONE,
	DFR_SPEC_ACTIVEMANY,
	DFR_SPEC_COMMITTING,
	DFR_SPEC_COMMITTINGMANY,
	DFR_SPEC_DISCARDING
};

struct dfr_spec_chunk {
	__u32 magic; /* 0 while it is free */
	__u32 size;
	__u64 state_id;
	__u32 id; /* of the speculation, from 1 */
	__u32 cpu;
	__u32 serial; /* order among the chunks of this speculation on this CPU */
	__u32 used;   /* bytes of records; release */
	__u32 records;
	__u32 flags; /* DFR_SPEC_CHUNK_* */
	__u64 first_time;
	__u64 last_time;
	__u64 commit_time; /* with COMMITTING */
	__u64 next;        /* the engine's own; readers ignore it */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_spec_chunk) == 72, "speculation chunk");
#define DFR_SPEC_CHUNK_COMMITTING 0x1 /* commit() has been called: harvesters take it as committed */

#endif
