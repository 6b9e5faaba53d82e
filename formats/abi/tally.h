/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one CPU has lost for a state since go, by cause. A DFR_ANCHOR_TALLY anchor lists its page, so
 * a harvester knows of losses that no record had told when the machine died:
 *
 *   [ magic, cpu, state_id ][ loss[0] loss[1] ... ] zeros up to the page's end
 */
#ifndef DFR_ABI_TALLY_H
#define DFR_ABI_TALLY_H

#include "formats/abi/base.h"
#include "formats/abi/block.h"

#define DFR_TALLY_MAGIC 0x594c4c54u /* "TLLY" */
#define DFR_TALLY_BYTES 4096

struct dfr_tally {
	__u32 magic;
	__u32 cpu;
	__u64 state_id;
	/* Each has one writer: that of DFR_LOSS_NMI is an NMI, of the others the CPU. */
	__u64 loss[DFR_LOSS_MAX];
};
DFR_STATIC_ASSERT(sizeof(struct dfr_tally) == 16 + 8 * DFR_LOSS_MAX, "tally");

#endif
