/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The block: the unit of everything that is recorded. Rings and crash images consist
 * of blocks as they are here; a .dfr file has the same header and a compressed body.
 *
 *   0                 hdr_size                            size
 *   [ dfr_block | restart table ][ record record record ... ]
 *                                 |<--- committed -------->|
 *
 * One CPU writes a block, with interrupts off. It writes bytes beyond
 * `committed`, then publishes them with a release store of `committed`, so anybody
 * can read a block at any instant. `seq` is 0 while the block is being recycled, so
 * a reader copies the block first and then reads `seq` again.
 *
 * RECORD: unaligned, little endian,
 *
 *   short  u32 { id:11, level:2, delta:19 }         delta: ns since the last record's time
 *   long   u32 { 0x7ff, level:2, 0:19 } u32 id, u64 time
 *          first record of a block, id > DFR_REC_ID_SHORT_MAX, delta > DFR_REC_DELTA_MAX,
 *          or a time before the last record's
 *   then   ceil(n/4) bytes of size codes, 2 bits each, lowest bits first, one for each of
 *          the layout's n integer fields in field order: 0, 1, 2, 3 = 1, 2, 4, 8 bytes
 *   then   the fields in order, each as its layout says (struct dfr_field in catalog.h):
 *          integer  as many bytes as its size code says, sign as the field declares
 *          string   bytes up to and with a NUL
 *          bytes    exactly `size` bytes
 *          stack    u8 n, then n u64 (a user stack: u32 pid first)
 *          varbytes u16 n, then n bytes
 *
 * An id is an EPID, unique in a state; its layout comes from the catalog. Id 0
 * is a control record: after the short or long head comes u8 kind, then its
 * payload (below). Control records do not count as records.
 *
 * INTERVALS: used entry i of the restart table (`record` is not 0) is of the first place in
 * KiB i of the block where decoding may start anew. Its interval ends where the next used
 * entry's begins, the last one at hdr_size + committed.
 *
 * CHECKSUMS are CRC32C (Castagnoli, reflected, starts at ~0, inverted at the end: "123456789"
 * gives e3069283) and are made when the block is sealed. 0 as a result is stored as 1.
 *   an interval's: of its entry, with another checksum in the place of `checksum`, and of
 *     its bytes. The other one is of the block's `seq` and of DFR_CONTEXT_MAX bytes (or up
 *     to hdr_size + committed) from the entry's `context` on, unless that is 0. So what an
 *     earlier use of this memory has left is not taken for sound, nor is an interval whose
 *     context is lost.
 *   the block's: of the header with `checksum` 0 and `flags` as they stand in the sealed
 *     block (CLOSED | SEALED set), and of records that stand before the first interval.
 *
 * TIME: a firing has one time, unique on its CPU (the clock never gives one CPU
 * the same value for two firings). So records of one CPU and state with equal times
 * (delta 0) belong to one firing. The records of one firing may stand in two blocks:
 * then `before` of the second one is their time. So if a CPU's earlier blocks are
 * gone, what is left of it is whole after `before` of the first block that is there:
 * each later firing is in this block or behind it, or was counted as lost.
 */
#ifndef DFR_ABI_BLOCK_H
#define DFR_ABI_BLOCK_H

#include "formats/abi/base.h"

#define DFR_BLOCK_MAGIC 0x4b4c4246u /* "FBLK" */
#define DFR_BLOCK_FRESH 0x48534652u /* "RFSH": the magic of one that was never opened */
#define DFR_BLOCK_VERSION 3
#define DFR_BLOCK_MIN 512
#define DFR_BLOCK_MAX (256 * 1024)
#define DFR_RESTART_BYTES 1024

struct dfr_restart {
	__u64 time;    /* time of the last record before this restart (base of its delta) */
	__u32 record;  /* offset in the block of a record's head; 0: none. Never inside a GROUP,
			* never between a NOTE and its record */
	__u32 context; /* offset of the context record that holds here; 0: records from here begin with one */
	__u32 records; /* records in the block before this restart */
	__u32 checksum; /* of the interval that begins here; 0 until sealed */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_restart) == 24, "restart");

struct dfr_block {
	__u32 magic;
	__u16 version;
	__u16 cpu;
	__u32 size;        /* of the whole block, a power of two */
	__u32 hdr_size;    /* where records start; 8-aligned */
	__u64 state_id;    /* the boot's first four bytes of its id above a number that is unique in it */
	__u64 seq;         /* 1, 2, ... per CPU and state; 0: it is being opened */
	__u64 first_time;  /* lowest time of a record here, committed speculations included */
	__u64 last_time;   /* highest; written when the block is closed */
	__u64 lost;        /* records lost on this CPU before this block, all causes, cumulative */
	__u64 record_base; /* records committed on this CPU before this block, cumulative */
	__u64 before; /* time of the last record of the block before this one; 0: this is the first block */
	__u64 open_time; /* when the block was opened: nothing was recorded after `before` until then */
	__u32 records;   /* committed in this block; exact once closed */
	__u32 checksum;  /* of the header, and of records before the first interval; 0 until sealed */
	__u32 flags;     /* DFR_BLOCK_* */
	__u32 committed; /* bytes of records; published with release */
	                 /* struct dfr_restart restart[size / DFR_RESTART_BYTES]; */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_block) == 96, "block header");
#define DFR_BLOCK_CLOSED 0x1 /* the writer adds no more records */
#define DFR_BLOCK_SEALED 0x2 /* the checksums are valid */
#define DFR_BLOCK_CUT 0x4 /* a tool, no engine, has taken records out: the next block's record_base is more */
#define DFR_CONTEXT_MAX 64 /* bytes that a context record takes at most */

#define DFR_BLOCK_HDR_SIZE(size)                                                                             \
	((__u32)(sizeof(struct dfr_block) + ((size) / DFR_RESTART_BYTES) * sizeof(struct dfr_restart)))

#define DFR_REC_ID_LONG 0x7ffu
#define DFR_REC_ID_SHORT_MAX 0x7feu
#define DFR_REC_DELTA_MAX 0x7ffffu
#define DFR_REC_HEAD(id, level, delta) ((__u32)(id) | ((__u32)(level) << 11) | ((__u32)(delta) << 13))
#define DFR_REC_ID(head) ((head)&0x7ffu)
#define DFR_REC_LEVEL(head) (((head) >> 11) & 3u)
#define DFR_REC_DELTA(head) ((head) >> 13)

enum dfr_level { DFR_LEVEL_TASK, DFR_LEVEL_SOFTIRQ, DFR_LEVEL_IRQ, DFR_LEVEL_NMI };

/*
 * Control records (id 0).
 *
 * CONTEXT  2 bytes of codes, as a record with five integers has them, then task
 *          word, pid, tid, nspid, cgroup, then execname with NUL. Holds for the
 *          records after it in this block. The task word is tid, or the CPU for
 *          its idle task; with `level` it is the thread key. nspid is the process
 *          number in the process's own pid namespace, cgroup the id of the task's
 *          cgroup in the unified hierarchy (its directory's inode; 0: not known).
 * NOTE     u8 field, u8 code, u64 value: about one field of the next record: a
 *          fault (code = enum dif_fault, value = address) or DFR_NOTE_CUT.
 * GROUP    u32 speculation id, u32 bytes, u64 commit time: the next `bytes`
 *          bytes are records of a committed speculation with their own times and
 *          contexts; the first has a long head. The next record behind them has a
 *          context record before it, and its delta counts from the GROUP's time.
 * LOSS     u8 cause (enum dfr_loss), u32 probe id or 0, u64 count, u64 from, u64 to.
 *          Cause DFR_LOSS_THINNED is no counter's: the clauses of a priority (enum
 *          dfr_priority) were off on this CPU for a stretch, because the budget was short.
 *          In place of the probe: DFR_THINNED(); count: firings that were left out; to 0: they
 *          are off yet. A stretch is told when it begins, in each block that is begun
 *          meanwhile, and when it is over; `from` says which one it is.
 */
enum dfr_control { DFR_CONTROL_CONTEXT = 1, DFR_CONTROL_NOTE, DFR_CONTROL_GROUP, DFR_CONTROL_LOSS };
#define DFR_NOTE_CUT 0x80
#define DFR_NOTE_FIELDS 256 /* a NOTE can tell of a field below it; no clause has a CAPTURE behind so many */
#define DFR_LOSS_THINNED 0x40
#define DFR_THINNED(priority, flags) ((__u32)(priority) | (flags))
#define DFR_THINNED_PRIORITY(word) ((word)&0xff)
#define DFR_THINNED_DETACHED 0x100 /* for a part of it probes were detached: more firings may be left out */
#define DFR_THINNED_KNOWN (0xff | DFR_THINNED_DETACHED)

/*
 * Causes of loss, each with a counter. The engine's own shadow hits (sh_shadow in
 * kmod/engine/recording/state.h) are counted, too, but are not a loss.
 */
enum dfr_loss {
	DFR_LOSS_PRINCIPAL,   /* no room in the ring (policies fill, switch), or the record was too large */
	DFR_LOSS_AGGREGATION, /* table full */
	DFR_LOSS_SPEC,        /* speculation full */
	DFR_LOSS_SPEC_BUSY,   /* speculation(): all in use, some of them being committed or discarded */
	DFR_LOSS_SPEC_UNAVAILABLE, /* speculation(): all in use */
	DFR_LOSS_DYNVAR,
	DFR_LOSS_DYNVAR_DIRTY,
	DFR_LOSS_DYNVAR_RINSING,
	DFR_LOSS_NMI,          /* an NMI's firing nested in another */
	DFR_LOSS_RETURN_POOL,  /* no free node for a return probe */
	DFR_LOSS_THROTTLE,     /* governor */
	DFR_LOSS_HOTPLUG,      /* no ring for a CPU that came online */
	DFR_LOSS_DOUBLE_ERROR, /* fault inside ERROR */
	DFR_LOSS_STKSTR,
	DFR_LOSS_OVERWRITTEN, /* a block was overwritten, because a consumer that wanted it found no spare */
	DFR_LOSS_RCU_IDLE,    /* firing on a CPU that RCU was not watching */
	/* the kernel told the provider too late: a kprobe hit in another one's handler, a timer late by several periods */
	DFR_LOSS_MISSED,
	DFR_LOSS_DETACHED, /* the governor had detached the probe: an estimate, by its rate before, because nobody counts these */
	DFR_LOSS_MAX
};

#endif
