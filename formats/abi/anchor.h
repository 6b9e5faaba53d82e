/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The anchor: a page that says where in physical memory a part of a recording
 * is. To read a memory image, a harvester needs no symbols and no page tables: it
 * scans for pages that start with the magic, verifies them, and reads the page frames
 * that they list.
 *
 * Each anchor stands on two pages, which differ in self_pfn and checksum only, so that one that is
 * damaged costs nothing.
 *
 * Any process may fill its memory with pages that look like anchors, and some stand where they say. No
 * process is shown `load`, so readers keep apart what differs in it, as what differs in the boot.
 *
 * The engine writes an anchor once, the checksum last, with release, and never changes
 * it: what is added gets a new anchor with the next `part`. It erases the anchor before
 * it frees the anchor's page or the memory that the anchor lists. The magic is assembled
 * at run time, so that images of the module and of this header do not look like anchors.
 */
#ifndef DFR_ABI_ANCHOR_H
#define DFR_ABI_ANCHOR_H

#include "formats/abi/base.h"

/* The magic is the four words XORed with DFR_ANCHOR_KEY. */
#define DFR_ANCHOR_KEY 0x5aa5c33c96690ff0ULL
#define DFR_ANCHOR_WORD0 0x1e0b9d6ff34a7c21ULL
#define DFR_ANCHOR_WORD1 0x83d2640c5be91f77ULL
#define DFR_ANCHOR_WORD2 0x4f16a8d93027ceb5ULL
#define DFR_ANCHOR_WORD3 0xc961f07b8ead5342ULL

enum dfr_anchor_kind {
	DFR_ANCHOR_CATALOG = 1, /* extents of the catalog, in order over all parts */
	DFR_ANCHOR_RING,        /* blocks of one CPU's ring (and of the spares); any order */
	DFR_ANCHOR_AGG,         /* one table: extents in order; cpu, half as in the table's head */
	DFR_ANCHOR_SPEC,        /* speculation chunks */
	DFR_ANCHOR_PANIC,       /* the panic's record: reason and time, and where more about it stands */
	DFR_ANCHOR_TALLY        /* one CPU's counters of losses (tally.h) */
};

struct dfr_anchor_run {
	__u64 pfn;
	__u32 pages;  /* consecutive page frames */
	__u32 offset; /* RING: bytes of one block. The runs of one anchor, laid end to end, hold
			 * whole blocks; a block of scattered pages goes on in the next run */
};

struct dfr_anchor {
	__u64 magic[4];
	__u64 self_pfn;
	__u8 boot_id[16];
	__u64 state_id;
	__u32 kind;
	__u32 cpu;        /* DFR_ANCHOR_RING, AGG */
	__u32 half;       /* AGG; CATALOG: 1: of the second copy */
	__u32 part;       /* 0, 1, ... of this (state, kind, cpu, half) */
	__u64 generation; /* grows with every anchor of the boot, but for PANIC */
	__u32 runs;
	__u32 checksum; /* CRC32C of the page with this field 0 */
	__u64 load;     /* a random number of this load of the module; 0: an older module's */
	__u64 reserved;
	struct dfr_anchor_run run[];
};
DFR_STATIC_ASSERT(sizeof(struct dfr_anchor) == 112, "anchor");
#define DFR_ANCHOR_RUNS_MAX ((4096 - 112) / 16)

/*
 * What else is known of a panic, as texts, in pages that follow each other.
 *   REGISTERS  name=hexadecimal, with blanks between them, behind mode=kernel or mode=user: those of the
 *              last trap on the way to the panic
 *   STACK      a line for each frame of the CPU that panicked, the innermost first: the return address
 *              as 16 digits, a blank, and what the kernel calls it: name+0x10/0x20 [module]
 *   LOG        the end of the kernel's log, its lines
 */
enum dfr_panic_text { DFR_PANIC_REGISTERS, DFR_PANIC_STACK, DFR_PANIC_LOG, DFR_PANIC_TEXTS };
#define DFR_PANIC_TEXT_MAX (32 * 1024) /* all texts are within so many bytes from the first page on */
struct dfr_panic_texts {
	__u64 pfn; /* the first page; 0: there are no texts */
	__u32 at[DFR_PANIC_TEXTS];
	__u32 bytes[DFR_PANIC_TEXTS];
	__u32 checksum[DFR_PANIC_TEXTS]; /* CRC32C */
	__u32 pad;
};
DFR_STATIC_ASSERT(sizeof(struct dfr_panic_texts) == 48, "texts of a panic");

/*
 * An anchor of kind PANIC has this in place of runs; its `runs` and `state_id` are 0. It is written more than once:
 * the reason at once, the texts when they are made, the panic that an oops has led to. Each time one of the two pages
 * is whole, and the last has the highest generation. Two CPUs that die at once have an anchor each; their generations
 * are a number of their own, and the highest is that of the CPU whose panic the kernel has made its own.
 */
#define DFR_ANCHOR_REASON_MAX 1024
struct dfr_anchor_panic {
	__u64 time; /* the clock of all records */
	__u32 cpu;
	__u32 tid;
	char comm[16];
	char reason[DFR_ANCHOR_REASON_MAX]; /* NUL-terminated */
	struct dfr_panic_texts texts;
	/* since when an oops inside a firing may have cost records; 0: there was none, or the module is older */
	__u64 broken;
};
DFR_STATIC_ASSERT(sizeof(struct dfr_anchor_panic) == 1112, "panic's record");

#endif
