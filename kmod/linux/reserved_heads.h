/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The heads of the areas of reserved memory (formats/abi/reserved.h): which area is whose. What stands there was
 * left by another boot, or by nobody, so it is checked. No kernel in here: tests/unit/reserved_test.cc tries it.
 */
#ifndef DFR_KMOD_LINUX_RESERVED_HEADS_H
#define DFR_KMOD_LINUX_RESERVED_HEADS_H

#include "formats/abi/reserved.h"
#include "kmod/engine/platform.h"

#define DFR_RESERVED_AREAS 2

struct dfr_reserved_areas {
	u64 ra_address;
	u64 ra_bytes;
	u8 ra_boot_id[16]; /* of this boot */
	u32 ra_mine;	   /* the area that this boot takes, or has taken before */
	s32 ra_old;	   /* the area of the last boot that took one; -1: there is none */
	u64 ra_turn;	   /* the latest */
};

static inline u32 dfr_reserved_checksum(const struct dfr_reserved_head *head)
{
	struct dfr_reserved_head copy = *head;

	copy.checksum = 0;
	return ~dfr_plat_crc32c(~0u, &copy, sizeof(copy));
}

/* Takes a copy of what stands at `at`; false: it is no head of this area. */
static inline bool dfr_reserved_read(const struct dfr_reserved_areas *areas, u32 area, const void *at,
				     struct dfr_reserved_head *head)
{
	memcpy(head, at, sizeof(*head));
	return head->magic == DFR_RESERVED_MAGIC && head->version == DFR_RESERVED_VERSION &&
	       head->area == area && head->address == areas->ra_address && head->bytes == areas->ra_bytes &&
	       head->checksum == dfr_reserved_checksum(head);
}

static inline struct dfr_reserved_head dfr_reserved_head_of(const struct dfr_reserved_areas *areas)
{
	struct dfr_reserved_head head;

	memset(&head, 0, sizeof(head));
	head.magic = DFR_RESERVED_MAGIC;
	head.version = DFR_RESERVED_VERSION;
	head.area = areas->ra_mine;
	head.address = areas->ra_address;
	head.bytes = areas->ra_bytes;
	head.turn = areas->ra_turn + 1;
	memcpy(head.boot_id, areas->ra_boot_id, sizeof(head.boot_id));
	head.written_back = DFR_RESERVED_WILL_SAY;
	head.checksum = dfr_reserved_checksum(&head);
	return head;
}

/* The same when all of the area is written back. */
static inline struct dfr_reserved_head dfr_reserved_last_head_of(const struct dfr_reserved_areas *areas)
{
	struct dfr_reserved_head head = dfr_reserved_head_of(areas);

	head.written_back = DFR_RESERVED_WRITTEN_BACK;
	head.checksum = dfr_reserved_checksum(&head);
	return head;
}

/* By their difference, so that no head which somebody has forged can have a turn that nothing follows. */
static inline bool dfr_reserved_later(u64 turn, u64 than)
{
	return (s64)(turn - than) > 0;
}

/*
 * at[area][copy]: where the heads stand. Sets what is known of the areas. An area without a head is free, so it is
 * taken before any other; else the one whose turn was earlier.
 */
static inline void dfr_reserved_find(struct dfr_reserved_areas *areas,
				     const void *const at[DFR_RESERVED_AREAS][2])
{
	u64 turn[DFR_RESERVED_AREAS] = { 0, 0 };
	bool there[DFR_RESERVED_AREAS] = { false, false }, own[DFR_RESERVED_AREAS] = { false, false };
	struct dfr_reserved_head head;
	u32 area, copy, latest;

	for (area = 0; area < DFR_RESERVED_AREAS; area++)
		for (copy = 0; copy < 2; copy++) {
			if (!dfr_reserved_read(areas, area, at[area][copy], &head) ||
			    (there[area] && dfr_reserved_later(turn[area], head.turn)))
				continue;
			there[area] = true;
			turn[area] = head.turn;
			own[area] = !memcmp(head.boot_id, areas->ra_boot_id, sizeof(head.boot_id));
		}
	latest = there[1] && (!there[0] || dfr_reserved_later(turn[1], turn[0]));
	areas->ra_mine = own[0] || own[1] ? own[1] : there[latest] && !latest;
	areas->ra_old = there[!areas->ra_mine] ? !areas->ra_mine : -1;
	areas->ra_turn = turn[latest];
}

#endif
