/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one CPU has lost for a state since go, by cause. A DFR_ANCHOR_TALLY anchor lists its page, so
 * a harvester knows of losses that no record had told when the machine died:
 *
 *   [ magic, cpu, state_id ][ loss[0] loss[1] ... ][ thinned ][ over, killed ] zeros up to the page's end
 *
 * One page of a state, with DFR_TALLY_NO_CPU, counts the firings on CPUs for which it has no ring (DFR_LOSS_HOTPLUG);
 * what housekeeping has told of them is counted by the CPU whose ledger told it, and taken away here. It also says when
 * recording has ended, before the catalog does. A page of before `thinned` or `over` came has zeros there, which say
 * that nothing is thinned, and that recording has not ended.
 *
 * MARKS: a checksum would have to follow each count. Instead all counters, and `detached` of each stretch, bear
 * DFR_TALLY_MARK in their highest bits from the start, so each line (64 bytes) that says something has one: a line that
 * is lost does not say 0. Who adds to a counter leaves the mark as it is. A page of before they came has another magic.
 */
#ifndef DFR_ABI_TALLY_H
#define DFR_ABI_TALLY_H

#include "formats/abi/base.h"
#include "formats/abi/block.h"

#define DFR_TALLY_MAGIC 0x4d594c54u       /* "TLYM" */
#define DFR_TALLY_MAGIC_PLAIN 0x594c4c54u /* "TLLY": without marks */
#define DFR_TALLY_MARK 0xd7f7000000000000ULL
#define DFR_TALLY_MARK_BITS 0xffff000000000000ULL
#define DFR_TALLY_VALUE(word) ((word) & ~DFR_TALLY_MARK_BITS)
#define DFR_TALLY_BYTES 4096
#define DFR_TALLY_CAUSES 64
#define DFR_TALLY_NO_CPU 0xffffffffu
#define DFR_TALLY_PRIORITIES 2 /* DFR_PRIORITY_NORMAL and DFR_PRIORITY_LOW: high ones are never thinned */

/* A stretch in which a priority's clauses were off on the CPU. */
struct dfr_stretch {
	__u64 from;     /* 0: there is none */
	__u64 to;       /* 0: they are off yet */
	__u64 left;     /* firings that were left out */
	__u64 detached; /* mark, and 1: probes were detached for a part of it */
};

struct dfr_tally_thinned {
	struct dfr_stretch now;
	struct dfr_stretch over; /* the last one, until a block tells of it */
};

struct dfr_tally {
	__u32 magic;
	__u32 cpu;
	__u64 state_id;
	/* Marked. Each has one writer: that of DFR_LOSS_NMI is an NMI, of the others the CPU. */
	__u64 loss[DFR_LOSS_MAX];
	__u64 unused[DFR_TALLY_CAUSES - DFR_LOSS_MAX]; /* the mark */
	struct dfr_tally_thinned thinned[DFR_TALLY_PRIORITIES];
	/*
	 * Time: what fired before it is recorded or counted. DFR_TALLY_NO_CPU: of the state, 0: it records, or has not
	 * begun. Of a CPU: its ring is full (DFR_BUFPOLICY_FILL), 0: it is not.
	 */
	__u64 over;
	__u64 killed; /* DFR_TALLY_NO_CPU; 1: it was the deadman */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_tally) == 16 + 8 * DFR_TALLY_CAUSES + 64 * DFR_TALLY_PRIORITIES + 16,
                  "tally");

#endif
