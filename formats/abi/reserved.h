/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reserved memory: a region of physical memory that no kernel uses for itself (memmap=SIZE$ADDRESS on the
 * kernel's command line), so that a warm reset leaves it as it is. Two areas of one size:
 *
 *   region  [ area 0 ][ area 1 ]
 *   area    [ head ][ 2 anchors of a panic ][ its texts ][ once more ][ what anchors list, and anchors ... ][ head ]
 *
 * Each part is whole pages. A boot that records there takes the area that was taken longest ago and leaves the
 * other one, which its readers get. The two heads of an area say the same, so that one which is damaged costs
 * nothing; they are erased before anything else in the area is changed and written when it is empty, so the area
 * of the boot before is known by its own heads whatever becomes of these.
 *
 * Readers are given the other area as an ELF core with one segment (DFR_RESERVED_DEVICE), and look for anchors
 * (anchor.h) in it.
 */
#ifndef DFR_ABI_RESERVED_H
#define DFR_ABI_RESERVED_H

#include "formats/abi/base.h"

#define DFR_RESERVED_DEVICE "/dev/dfr-reserved"

#define DFR_RESERVED_MAGIC 0x64667241726561f1ULL
#define DFR_RESERVED_VERSION 1
struct dfr_reserved_head {
	__u64 magic;
	__u32 version;
	__u32 area;    /* 0, 1 */
	__u64 address; /* of the region */
	__u64 bytes;
	__u64 turn; /* one more with each area that is taken; behind all ones comes 0 */
	__u8 boot_id[16];
	__u32 written_back; /* below */
	__u32 checksum;     /* CRC32C of this structure with this field 0 */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_reserved_head) == 64, "head of an area: one line of a cache");

/*
 * Whether a reset has lost what stood in caches only. The heads get the second value when the area is taken, and the first by a
 * panic or before a restart, behind all else that is written back; one head that has it is enough. A module of before says
 * neither but 0, and there a panic's record tells it. That record tells nothing of an area that has the second value, because
 * a crash kernel starts when it is there and before anything is written back.
 */
#define DFR_RESERVED_WRITTEN_BACK 1
#define DFR_RESERVED_WILL_SAY 2

/* Behind the first head. */
#define DFR_RESERVED_RECORDS 2
#define DFR_RESERVED_RECORD_PAGES 2
#define DFR_RESERVED_TEXT_PAGES 8

#endif
