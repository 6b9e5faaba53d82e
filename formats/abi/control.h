/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control interface of /dev/dfr. An open descriptor holds at most one state,
 * which the first ENABLE creates or CLAIM takes by name.
 *
 * Blocks are not copied. TAKE hands out closed blocks by number and puts spare ones
 * into the ring in their place. The reader maps the device (read-only) and finds
 * block n of CPU c at offset DFR_MAP_OFFSET(c, n), plus (n * size) % 4096 where
 * blocks are smaller than a page. RELEASE gives the block back. User space cannot
 * write to any of this memory.
 *
 * Every structure starts with its own size; unknown trailing bytes must be 0.
 */
#ifndef DFR_ABI_CONTROL_H
#define DFR_ABI_CONTROL_H

#include "formats/abi/base.h"
#include "formats/abi/block.h"
#include "formats/abi/dof.h"
#include <linux/ioctl.h>

/* 1: blocks of version 1; 2: catalogs of version 1; 3 and 4: fewer causes of loss */
#define DFR_CONTROL_VERSION 5
#define DFR_DEVICE "/dev/dfr"
#define DFR_NAME_MAX 64
#define DFR_MARK_MAX 256 /* bytes, with the NUL */

#define DFR_MAP_OFFSET(cpu, block) (((__u64)(cpu) << 40) | ((__u64)(block) << 18))

struct dfr_ioc_info {
	__u32 size;
	__u32 version; /* DFR_CONTROL_VERSION */
	__u32 cpus;    /* ids are below this */
	__u32 probes;
	__u32 states;
	__u32 flags; /* DFR_INFO_* */
	__u8 boot_id[16];
};
#define DFR_INFO_ANONYMOUS 0x1 /* an anonymous state exists */
#define DFR_INFO_JIT 0x2
#define DFR_INFO_DESTRUCTIVE 0x4
#define DFR_INFO_CONFINED 0x8 /* a user without privilege has opened it: he may trace only his own tasks */

/* Verify and load a DOF, match its probes. On EINVAL: section, offset, reason. */
struct dfr_ioc_enable {
	__u32 size;
	__u32 flags; /* DFR_ENABLE_* */
	__u64 dof;
	__u64 dof_size;
	__u32 matched;       /* out: probes */
	__u32 error_section; /* out: or 0xffffffff */
	__u64 error_offset;  /* out: in the DOF */
	char reason[128];    /* out */
};
#define DFR_ENABLE_ZERO_OK 0x1 /* dtrace -Z: a description may match no probe */

struct dfr_ioc_go {
	__u32 size;
	__u32 cpu; /* out: where BEGIN (GO) or END (STOP) fired */
};

/* What the state is doing. */
enum dfr_activity {
	DFR_INACTIVE,
	DFR_WARMUP,
	DFR_ACTIVE,
	DFR_DRAINING,
	DFR_COOLDOWN,
	DFR_STOPPED,
	DFR_KILLED
};

struct dfr_ioc_status {
	__u32 size;
	__u32 activity;
	__u32 exited; /* exit() was called */
	__s32 exit_status;
	__u64 filled; /* CPUs whose ring is full (policy fill) */
	__u64 errors;
	__u64 shadow; /* hits inside functions that the engine itself called; not a loss */
	__u64 records;
	__u64 loss[DFR_LOSS_MAX];
};

struct dfr_ioc_taken {
	__u32 cpu;
	__u32 block;
	__u64 seq;
};

/*
 * flags 0: take closed blocks only. FLUSH: first close the open blocks that hold records. ORPHANS: only blocks that an owner
 * before this one took and did not release, which every TAKE hands out first. Out: LEFT, if a CPU's blocks
 * were left there, also the open one, because it has no spare for their place: release some and ask again.
 */
struct dfr_ioc_take {
	__u32 size;
	__u32 flags; /* in: 0, FLUSH or ORPHANS; out: also LEFT */
	__u64 taken; /* struct dfr_ioc_taken[] */
	__u32 count; /* in: room; out: how many */
	__u32 cpu;   /* take from this CPU only; 0xffffffff: from all */
};
#define DFR_TAKE_FLUSH 0x1
#define DFR_TAKE_LEFT 0x2
#define DFR_TAKE_ORPHANS 0x4

struct dfr_ioc_release {
	__u32 size;
	__u32 count;
	__u64 taken;
};

/* Copy catalog bytes from `offset`; out: bytes copied and committed bytes in all. */
struct dfr_ioc_catalog {
	__u32 size;
	__u32 pad;
	__u64 offset;
	__u64 buffer;
	__u64 bytes;
	__u64 committed;
};

/* Merge all CPUs' active halves into the base table and copy that out. ENOSPC: `bytes` is the room needed. */
struct dfr_ioc_aggsnap {
	__u32 size;
	__u32 pad;
	__u64 buffer;
	__u64 bytes;
};

struct dfr_ioc_aggclear {
	__u32 size;
	__u32 varid;
	__u32 remove; /* 0: clear() zeroes values, 1: trunc() removes keys */
	__u32 pad;
};

struct dfr_ioc_name {
	__u32 size;
	__u32 pad;
	char name[DFR_NAME_MAX];
};

/* Probes whose id is at least `id` and that match the pattern; entries are dfr_cat_probe. */
struct dfr_ioc_probes {
	__u32 size;
	__u32 id; /* in: first id; out: where to go on, 0: all done */
	__u64 buffer;
	__u64 bytes; /* in: room; out: written */
	char pattern[4][128];
};

/* One line of text for each state: name, id, activity, holder. */
struct dfr_ioc_states {
	__u32 size;
	__u32 pad;
	__u64 buffer;
	__u64 bytes;
};

/*
 * For a descriptor with a VIEW: the blocks of a CPU that hold records at this moment, from number
 * `block` on, in no order. One that is read while its CPU begins it anew has another `seq` by then.
 */
struct dfr_ioc_seen {
	__u32 block;
	__u32 committed; /* bytes of records */
	__u64 seq;
	__u64 last_time; /* 0: the block is open */
};

struct dfr_ioc_blocks {
	__u32 size;
	__u32 cpu;
	__u32 block; /* in: first number; out: where to go on, 0xffffffff: all done */
	__u32 count; /* in: room; out: how many */
	__u64 seen;  /* struct dfr_ioc_seen[] */
	/* out: of the CPU, at the beginning of this call */
	__u64 newest;  /* seq of its newest block; 0: it has had none */
	__u64 records; /* that it has committed */
	__u64 lost;    /* as a block's `lost` */
	__u64 last;    /* time of its last record; 0: it has none */
};

/* A line of a person's, with its time, into the catalog of every state that records. */
struct dfr_ioc_mark {
	__u32 size;
	__u32 states; /* out, with ENOSPC too: how many have it */
	__u64 time;   /* out */
	char text[DFR_MARK_MAX];
};

/*
 * What has asked for a snapshot: one entry for each reason in the state's programs, fired or not, and
 * one for the oopses of the kernel. Counts begin at GO and only grow, so a reader that keeps them knows
 * what is new to it. Times are as in records.
 */
struct dfr_ioc_trigger {
	char reason[DFR_REASON_MAX];
	__u64 count;
	__u64 first; /* of those since anybody asked last; 0: none */
	__u64 last;  /* 0: none at all */
	__u32 flags; /* DFR_TRIGGER_* */
	__u32 pad;
};
#define DFR_TRIGGER_OOPS 0x1 /* an oops of the kernel, not the program's snapshot("oops") */

/* For a descriptor with a VIEW, or the owner's, after GO. ENOSPC: `count` is the room needed; nothing was asked. */
struct dfr_ioc_triggers {
	__u32 size;
	__u32 count;    /* in: room; out: how many */
	__u64 triggers; /* struct dfr_ioc_trigger[] */
	__u64 asked;    /* out: when somebody asked last before this; 0: nobody has */
	__u64 time;     /* out: of this call */
};

/* Value of a runtime option (DFR_OPT_*) in force in the held state, after GO. */
struct dfr_ioc_option {
	__u32 size;
	__u32 option;
	__s64 value; /* out */
};

/*
 * What a state's probes cost lately, and what its budget says to that, by CPU that it has a ring on. Of a state of a
 * user without privilege: what they cost in his own tasks. Times: of the records' clock.
 */
struct dfr_ioc_cpu_cost {
	__u32 cpu;
	__u32 spent;  /* of the CPU's time, in the last seconds: millionths, estimated from samples */
	__s64 credit; /* ns that may yet be spent; 0 with a budget of 0 */
	__s64 most;   /* ns of credit that can gather */
	__u64 throttled_since;  /* it records nothing since then; 0: it records */
	__u64 thinned_since[4]; /* by enum dfr_priority: its clauses are off since then; 0: they are on */
	__u64 thinned_left[4];  /* firings left out since then, as far as they were counted */
	__u64 thinned_firings;  /* left out of clauses that were off, all that were counted */
};

struct dfr_ioc_cost {
	__u32 size;
	__u32 budget;   /* out: percent of each CPU; 0: none, only the deadman */
	__u32 detached; /* out: 1 << priority: the probes of its clauses are detached */
	__u32 cpu;      /* in: first CPU; out: where to go on, 0xffffffff: all done */
	__u32 count;    /* in: room; out: how many */
	__u32 pad;
	__u64 costs; /* struct dfr_ioc_cpu_cost[] */
};

/* What a state with the option memory=reserved takes of that memory when it starts, and what was left: after a GO that failed. */
struct dfr_ioc_room {
	__u32 size;
	__u32 pad;
	__u64 wanted; /* out: bytes; 0: it did not come to that */
	__u64 left;   /* out */
};

#define DFR_IOC_INFO _IOWR('F', 1, struct dfr_ioc_info)
#define DFR_IOC_ENABLE _IOWR('F', 2, struct dfr_ioc_enable)
#define DFR_IOC_GO _IOWR('F', 3, struct dfr_ioc_go)
#define DFR_IOC_STOP _IOWR('F', 4, struct dfr_ioc_go)
#define DFR_IOC_STATUS _IOWR('F', 5, struct dfr_ioc_status)
#define DFR_IOC_TAKE _IOWR('F', 6, struct dfr_ioc_take)
#define DFR_IOC_RELEASE _IOWR('F', 7, struct dfr_ioc_release)
#define DFR_IOC_CATALOG _IOWR('F', 8, struct dfr_ioc_catalog)
#define DFR_IOC_AGGSNAP _IOWR('F', 9, struct dfr_ioc_aggsnap)
#define DFR_IOC_AGGCLEAR _IOWR('F', 10, struct dfr_ioc_aggclear)
#define DFR_IOC_KEEP _IOWR('F', 11, struct dfr_ioc_name)  /* make the held state kept, with this name */
#define DFR_IOC_CLAIM _IOWR('F', 12, struct dfr_ioc_name) /* take a kept state; "" = the anonymous one */
#define DFR_IOC_END _IOWR('F', 13, struct dfr_ioc_name)   /* end a kept state by name (dfr stop NAME) */
#define DFR_IOC_PROBES _IOWR('F', 14, struct dfr_ioc_probes)
#define DFR_IOC_STATES _IOWR('F', 15, struct dfr_ioc_states)
#define DFR_IOC_OPTION _IOWR('F', 16, struct dfr_ioc_option)

/*
 * Look at a kept state without owning it, whoever does: status, option, catalog, aggregations, BLOCKS,
 * mapping and TRIGGERS work as for its owner, and nothing that changes it. The state's memory stays until
 * the descriptor is closed. poll() tells what there is; it wakes a viewer for triggers (see TRIGGERS) and when
 * the state has ended, not for blocks. "" = the anonymous one.
 */
#define DFR_IOC_VIEW _IOWR('F', 17, struct dfr_ioc_name)
#define DFR_IOC_BLOCKS _IOWR('F', 18, struct dfr_ioc_blocks)
#define DFR_IOC_MARK _IOWR('F', 19, struct dfr_ioc_mark)
/*
 * Triggers. poll() reports POLLPRI while there are some that this descriptor has not asked for, and wakes who
 * waits for POLLPRI at the first of them.
 */
#define DFR_IOC_TRIGGERS _IOWR('F', 20, struct dfr_ioc_triggers)

#define DFR_IOC_COST _IOWR('F', 21, struct dfr_ioc_cost)
#define DFR_IOC_ROOM _IOWR('F', 22, struct dfr_ioc_room)

#define DFR_ANONYMOUS_NAME "anonymous"

#endif
