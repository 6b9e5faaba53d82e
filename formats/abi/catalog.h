/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The catalog of a state, as the engine writes it: an append-only log of entries
 * that say how to read the state's blocks (probes, record layouts, the programs,
 * clocks, the machine). It consists of extents of whole pages, which anchors list,
 * so readers get the same bytes live (DFR_IOC_CATALOG) and from a dead memory.
 * The engine commits an entry before it writes the first record that needs it.
 * Readers parse the catalog with formats/trace/catalog.h, which trusts nothing.
 *
 *   extent 0: [ dfr_catalog ][ entry ][ entry ] ...
 *   extent n: [ entry ][ entry ] ...      entries never straddle extents:
 *                                         a FILL entry pads to the extent's end
 *   entry:    [ dfr_cat_entry ][ as its type says ][ zeros ][ dfr_cat_tail ]
 *
 * From go on the log stands twice in memory, the second time in extents of the same sizes that
 * were allocated behind the rings; the anchors of that one have half 1. Each entry ends with its
 * place in the log and a checksum, so a reader of a damaged memory takes it from whichever of the
 * two has it whole, and finds the next one behind a hole.
 */
#ifndef DFR_ABI_CATALOG_H
#define DFR_ABI_CATALOG_H

#include "formats/abi/base.h"

#define DFR_CATALOG_MAGIC 0x54414344u /* "DCAT" */
#define DFR_CATALOG_VERSION 2

struct dfr_catalog {
	__u32 magic;
	__u32 version; /* DFR_CATALOG_VERSION */
	__u64 state_id;
	__u8 boot_id[16];
	__u64 committed; /* bytes from the start of extent 0, all extents laid end to end; release */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_catalog) == 40, "catalog head");

struct dfr_cat_entry {
	__u32 type; /* DFR_CAT_* */
	__u32 size; /* of the entry with this head and its tail, 8-aligned */
};

/* The last 8 bytes of each entry but FILL, which has none. */
struct dfr_cat_tail {
	__u32 place;    /* the entry's offset in the log, in units of 8 bytes */
	__u32 checksum; /* CRC32C of all that stands before it in the entry */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_cat_tail) == 8, "catalog tail");

enum dfr_cat_type {
	DFR_CAT_FILL = 1, /* nothing */
	DFR_CAT_STATE,    /* dfr_cat_state */
	DFR_CAT_MACHINE,  /* text: key=value lines (release, host, clocksource, bootid, cmdline ...);
			   * confined=UID: only this user's tasks are seen */
	DFR_CAT_CLOCK,    /* dfr_cat_clock; at start, when the clocks have gone apart, and now and then */
	DFR_CAT_DOF,      /* u32 dof number (from 0), u32 bytes, then the loadable DOF */
	DFR_CAT_PROBE,    /* dfr_cat_probe */
	DFR_CAT_LAYOUT,   /* dfr_cat_layout */
	DFR_CAT_ECB,      /* dfr_cat_ecb */
	DFR_CAT_AGG,      /* dfr_cat_agg */
	DFR_CAT_MODULE,   /* dfr_cat_module */
	DFR_CAT_EVENT,    /* dfr_cat_event: start, stop, exit status ... */
	DFR_CAT_MEMORY    /* dfr_cat_memory: what the anchors list, so that a reader knows what is gone */
};

struct dfr_cat_state {
	struct dfr_cat_entry head;
	__u64 state_id;
	char name[64];
	__u32 cpus; /* CPU ids are below this */
	__u32 block_size;
	__u32 blocks; /* per CPU */
	__u32 policy; /* DFR_BUFPOLICY_* */
	__u32 strsize;
	__u32 flags; /* 1: anonymous */
};

struct dfr_cat_clock {
	struct dfr_cat_entry head;
	__u64 mono; /* the clock of all records */
	__u64 real;
	__u64 boot;
};

/* In nargs: several functions of one name share the probe, so its arguments have no single type. */
#define DFR_CAT_SHARED 0x40000000

struct dfr_cat_probe {
	struct dfr_cat_entry head;
	__u32 id;
	__u32 nargs; /* number of arguments; 0xffffffff: not known; listings may add DFR_CAT_SHARED */
	             /* char names[]: provider, module, function, name, each with its NUL */
};

/* How one value is kept, in a record or as an aggregation's key. */
enum dfr_field_kind {
	DFR_FIELD_INT = 1,  /* size 1, 2, 4, 8 as declared; 8 bytes in a key */
	DFR_FIELD_STRING,   /* up to `size` bytes with NUL; zero-padded to 8 in a key */
	DFR_FIELD_BYTES,    /* exactly `size` bytes (struct, array, tracemem); padded to 8 in a key */
	DFR_FIELD_VARBYTES, /* up to `size` (tracemem with a dynamic size, printm) */
	DFR_FIELD_STACK,    /* up to `size` frames; in a key u64 n, then PCs */
	DFR_FIELD_USTACK,   /* u32 pid, then as STACK; in a key u64 pid, u64 n, PCs */
	DFR_FIELD_USYM,     /* 16 bytes: pid, address */
	DFR_FIELD_PROBETEXT /* text of the probe; size says which (0 provider, 1 module, 2 function,
			     * 3 name). Nothing in a record; the probe's id (u64) in a key */
};
#define DFR_VARBYTES_MAX 0xffff /* a VARBYTES has its length before it, in two bytes */
#define DFR_FIELD_SIGNED 0x1
#define DFR_FIELD_USERDATA 0x2 /* it comes from user memory (copyin() and the like) */

struct dfr_field {
	__u16 kind;
	__u16 flags;
	__u32 size;
	__u16 action;   /* index in the clause's ACTDESC */
	__s16 argument; /* CAPTURE_ARGS: which argN; else -1 */
};
DFR_STATIC_ASSERT(sizeof(struct dfr_field) == 12, "field");

struct dfr_cat_layout {
	struct dfr_cat_entry head;
	__u32 layout;
	__u32 dof;    /* DOF number */
	__u32 clause; /* index of the ECBDESC among the DOF's ECBDESCs */
	__u32 nfields;
	struct dfr_field fields[];
};

struct dfr_cat_ecb {
	struct dfr_cat_entry head;
	__u32 epid;
	__u32 probe;
	__u32 layout;
	__u32 priority; /* of its clause: enum dfr_priority */
};

/* An aggregation variable, with the kind and keys of its first use in the state. */
struct dfr_cat_agg {
	struct dfr_cat_entry head;
	__u32 varid;
	__u32 kind;  /* DFR_ACT_COUNT ... */
	__u64 arg;   /* encoded parameters of lquantize, llquantize */
	__u32 flags; /* DFR_FIELD_SIGNED: of the aggregated value */
	__u32 nkeys;
	struct dfr_field keys[];
};

struct dfr_cat_module {
	struct dfr_cat_entry head;
	__u64 time; /* when the module was loaded or first seen; if `gone` is set, when it went */
	__u64 base;
	__u64 bytes;
	__u32 gone;
	__u32 pad;
	/* char name[], NUL */
};

/* Memory that anchors list; kind 0: none of what was named before it does any more. */
struct dfr_cat_memory {
	struct dfr_cat_entry head;
	__u32 kind; /* enum dfr_anchor_kind */
	__u32 cpu;
	__u32 half;
	__u32 pages;
};

enum dfr_event {
	DFR_EVENT_GO = 1, /* value: CPU of BEGIN */
	DFR_EVENT_STOP,   /* value: CPU of END; -1: it did not fire. time: what fired before it is recorded */
	/* value: status given to exit(); the last event counts. time: what fired before it is recorded; of one in END:
	   when the engine told */
	DFR_EVENT_EXIT,
	DFR_EVENT_PANIC,
	DFR_EVENT_DETACHED, /* the governor detached a probe that cost too much; its id; -n: n (more), in a lasting overload */
	DFR_EVENT_ATTACHED, /* the governor attached it again, or it is gone; its id; -n: all n that are counted only */
	DFR_EVENT_KILLED, /* value: enum dfr_killed */
	/* Probes could not be armed, or not even be made. value: the probe's id; -n: n probes; 0: the provider could
	   not say which, but text, if it is not empty, is a description of them. error: why (EPERM: their
	   arguments may not be shown; ECANCELED: they did not fire from the event's time on, or since a
	   moment ago, because kprobes are off) */
	DFR_EVENT_UNARMED,
	DFR_EVENT_FULL,    /* value: a CPU whose ring is full (policy fill); time: of its last record */
	DFR_EVENT_MARK,    /* a person's remark: the text stands behind the entry, with NUL */
	DFR_EVENT_SNAPSHOT /* in a snapshot's file only: its trigger's time, and text as of MARK: why */
};

/* Why the kernel ended a state. time: what fired before it is recorded, or counted as lost. */
enum dfr_killed {
	DFR_KILLED_COST,     /* the deadman: probes took too much */
	DFR_KILLED_CONSUMER, /* likewise: the consumer was gone */
	/* The kernel oopsed inside a firing. time: of the last firing on its CPU whose time is known, or of go. What
	   fired there after it, before the kernel told of the oops too, may be in no record and no counter. */
	DFR_KILLED_OOPS
};

struct dfr_cat_event {
	struct dfr_cat_entry head;
	__u32 event;
	__s32 value;
	__u64 time;
	__s32 error; /* errno, or 0 */
	__u32 pad;
	/* char text[], NUL: of DFR_EVENT_MARK, and of DFR_EVENT_UNARMED. Entries of older engines may end before it */
};

#endif
