/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the recording half: engine.c, state.c, enable.c, plan.c, form.c, fire.c,
 * work.c, steps.c, plain.c, governor.c, past.c, visit.c, record.c, ring.c, agg.c, spec.c, catalog.c.
 * Nobody else includes it: providers see provider.h, consumers of the engine engine.h. It is long
 * because these files work on the same few structures, which refer to one another.
 *
 * The structures, from the outside in:
 *
 *   dfr_engine   all probes and providers, all states, one dfr_cpu per CPU
 *   dfr_cpu      the firing that runs on this CPU now, its clock, its guard
 *   dfr_state    one consumer's programs and everything they record
 *   dfr_share    a state's share of one CPU: ring, aggregation halves, speculation
 *                lists, machines, counters. Written by that CPU alone, with
 *                interrupts off; process context reaches it by dfr_visit_cpu()
 *   dfr_clause   (exec.h) what the program says for one probe description
 *   dfr_plan     a clause compiled for recording: its layout and its steps. One
 *                plan serves all ECBs of a clause (one per number of arguments
 *                where the layout depends on it)
 *   dfr_ecb      a plan at a probe: the element of a probe's chain
 *
 * Counters that others read while their CPU writes are written with dfr_count().
 */
#ifndef DFR_ENGINE_STORE_H
#define DFR_ENGINE_STORE_H

#include "formats/abi/anchor.h"
#include "formats/abi/spec.h"
#include "kmod/engine/dif/exec.h"
#include "kmod/engine/engine.h"

#define DFR_PROBE_BEGIN 1
#define DFR_PROBE_END	2
#define DFR_PROBE_ERROR 3
#define DFR_ERROR_NARGS 6

/* Plans. */

/* Where a step's value comes from. All but DFR_SRC_DIF are found without running DIF. */
enum dfr_source {
	DFR_SRC_NONE,
	DFR_SRC_DIF,
	DFR_SRC_ARG,   /* sp_from.arg */
	DFR_SRC_CONST, /* sp_from.constant */
	DFR_SRC_PID,
	DFR_SRC_TID,
	DFR_SRC_CPU,
	DFR_SRC_TIMESTAMP,
	DFR_SRC_PROBE_ID,
	DFR_SRC_EXECNAME,
	DFR_SRC_SELF, /* sp_from.number: a thread-local number */
	DFR_SRC_SINCE /* timestamp - self->number (sp_from.number) */
};

enum dfr_step_op {
	DFR_STEP_INT,  /* integer field */
	DFR_STEP_ARGS, /* sp_do.count integer fields: arguments 0, 1, ... */
	DFR_STEP_STRING,
	DFR_STEP_AGG,  /* sp_do.agg: its key steps follow, then a weight step if DFR_SP_WEIGHT */
	DFR_STEP_EVAL, /* evaluated for its side effects; records nothing */
	DFR_STEP_SELF, /* stores the value in thread-local number sp_do.number */
	DFR_STEP_TEXT, /* text of the probe: nothing in a record, the probe's id in a key */
	DFR_STEP_BYTES,
	DFR_STEP_VARBYTES, /* as many bytes as sp_do.data.length says; NULL: as the memref's pair says */
	DFR_STEP_STACK,
	DFR_STEP_USTACK,
	DFR_STEP_USYM,
	DFR_STEP_EXIT, /* records an integer field too */
	DFR_STEP_SPECULATE,
	DFR_STEP_COMMIT,
	DFR_STEP_DISCARD,
	DFR_STEP_DESTRUCTIVE /* sp_do.kind: the action's */
};

/* sp_flags */
#define DFR_SP_SIGNED  0x1
#define DFR_SP_CAPTURE 0x2  /* evaluated by itself: a fault becomes a note in the record, not an ERROR */
#define DFR_SP_USER    0x4  /* the value is an address in user memory */
#define DFR_SP_WEIGHT  0x8  /* aggregation: a weight step follows the keys */
#define DFR_SP_NAME    0x10 /* probe text as a string; sp_do.data.name says which of the four */

/* Shapes of keys that plain.c keeps in registers; all but DFR_KEY_ANY. */
enum dfr_key_shape {
	DFR_KEY_ANY,
	DFR_KEY_NONE,
	DFR_KEY_NAME, /* execname */
	DFR_KEY_ONE,  /* one integer, or text of the probe */
	DFR_KEY_TWO
};

struct dfr_step {
	u8 sp_op;     /* enum dfr_step_op */
	u8 sp_source; /* enum dfr_source */
	u8 sp_flags;
	u8 sp_shift;   /* integers: 64 - declared bits */
	u16 sp_action; /* ERROR's arg2: index of the action, from 1 */
	u16 sp_field;  /* index in the layout */
	const struct dfr_difo *sp_difo;
	/* What its source needs. */
	union {
		u32 arg;
		u32 number; /* id of a thread-local number */
		u64 constant;
	} sp_from;
	/* What its op needs. */
	union {
		struct {
			u32 kind; /* of the action */
			u32 varid;
			u16 keys;
			u16 words;
			u32 shape;	/* enum dfr_key_shape */
			u64 hash;	/* start value of the hash of a key */
			u64 parameters; /* of lquantize() and llquantize() */
		} agg;			/* DFR_STEP_AGG */
		struct {
			u32 size; /* most bytes */
			u32 name; /* text of the probe: which of the four */
			const struct dfr_difo *length;
		} data;	    /* DFR_STEP_STRING, _BYTES, _VARBYTES, _TEXT */
		u32 count;  /* DFR_STEP_ARGS */
		u32 frames; /* DFR_STEP_STACK, _USTACK: most of them */
		u32 number; /* DFR_STEP_SELF */
		u32 kind;   /* DFR_STEP_DESTRUCTIVE: of the action */
	} sp_do;
};

/* pn_flags */
#define DFR_PN_RECORDS	  0x1 /* writes a record, maybe one without fields */
#define DFR_PN_SPECULATES 0x2
#define DFR_PN_MACHINE	  0x4 /* some step runs DIF or copies through the machine */
#define DFR_PN_CONTEXT	  0x8 /* some step that records nothing needs the context */
#define DFR_PN_COMMITS	  0x10
#define DFR_PN_ARGS	  0x20 /* may look at arguments */

/*
 * Which way a clause takes through a firing. form.c decides it when the ECB is put on its probe;
 * fire.c switches on it and tests nothing else. All forms but the general one run no DIF and cannot
 * fault (plain.c).
 */
enum dfr_form {
	DFR_FORM_GENERAL,    /* steps.c: charged for its work; runs the predicate's DIF, then ec_body */
	DFR_FORM_COUNT,	     /* count() with keys of the task that fires and of the probe */
	DFR_FORM_TIME,	     /* sets a thread-local number to the time, and does no more */
	DFR_FORM_SINCE,	     /* if a thread-local number is not 0: aggregates the time since, sets it to 0 */
	DFR_FORM_REGISTERS,  /* DFR_FORM_ARGS at a probe with DFR_PB_REGISTERS */
	DFR_FORM_AGG,	     /* one aggregation over integers, execname, text of the probe */
	DFR_FORM_ARGS,	     /* one to four arguments, signed and whole, and nothing else */
	DFR_FORM_STEPS,	     /* aggregations like DFR_FORM_AGG, and thread-local numbers are set */
	DFR_FORM_RECORD,     /* a record of integers, execname and text of the probe */
	DFR_FORM_TESTED = 16 /* or'ed to one of these: ec_test is tested first */
};

/* What a form needs to know besides the plan. */
union dfr_facts {
	struct {
		u32 which; /* a byte for each argument, the first lowest: its number + 1 */
		u16 need;  /* the plan's pn_need */
		u8 passed; /* as many arguments must have been passed */
		u8 shift;  /* how far the size codes are shifted in their byte */
	} fa_args;	   /* DFR_FORM_ARGS, _REGISTERS */
	u64 fa_self;	   /* _TIME, _SINCE, _STEPS: DFR_SELF_KEY() of the first number used; 0: none */
};

struct dfr_plan {
	struct dfr_plan *pn_next; /* of the same clause: other numbers of arguments */
	const struct dfr_clause *pn_clause;
	u32 pn_flags;
	u32 pn_need;  /* most bytes that a record can take, notes included */
	u32 pn_codes; /* bytes of size codes */
	u32 pn_nsteps;
	u32 pn_nargs;  /* the variant of the plan for CAPTURE_ARGS of so many arguments */
	u32 pn_layout; /* layout id in the catalog */
	u32 pn_nfields;
	u32 pn_fallible;	 /* captured fields that may need a note */
	u32 pn_work;		 /* instructions of its steps, estimated, without those of DIF */
	u32 pn_key_max;		 /* most bytes of a key that its aggregations build */
	u32 pn_classic;		 /* bytes that DTrace would reserve: END's reserve is computed with it */
	struct dfr_test pn_test; /* te_kind 0: the predicate is no such test */
	struct dfr_field *pn_fields;
	struct dfr_step pn_steps[];
};

/* ec_flags */
#define DFR_EC_PURE	    0x1 /* predicate is pure */
#define DFR_EC_CONTINUATION 0x2 /* a later part of a clause that `if` splits */
#define DFR_EC_SPLIT	    0x4 /* part of a clause that has several */
#define DFR_EC_IF_SET	    0x8 /* DFR_FORM_SINCE, _STEPS: only if the number of ec_facts is not 0 */

struct dfr_ecb {
	struct dfr_ecb *ec_next; /* of the probe */
	struct dfr_state *ec_state;
	struct dfr_share **ec_live; /* the state's st_live */
	const struct dfr_difo *ec_pred;
	const struct dfr_test *ec_test; /* the same as ec_pred, if idiom.c knew it; else NULL */
	const struct dfr_plan *ec_plan;
	u32 ec_epid;
	u8 ec_flags;
	u8 ec_form;  /* enum dfr_form */
	u8 ec_body;  /* DFR_FORM_GENERAL, if the predicate holds: _GENERAL (steps), _AGG, _STEPS or _RECORD */
	u8 ec_marks; /* DFR_MARK_*: changed by process context alone, under the engine's lock */
	union dfr_facts ec_facts;
	struct dfr_probe *ec_probe;
	struct dfr_ecb *ec_sibling; /* of the state, by EPID */
	u64 ec_cost;		    /* governor: ns that its firings took, and their number */
	u64 ec_fired;
};

#define DFR_MARK_LINKED	  0x1 /* in the probe's chain */
#define DFR_MARK_DETACHED 0x2 /* the governor has unlinked it */

static inline bool dfr_ecb_marked(const struct dfr_ecb *ecb, u8 mark)
{
	return dfr_read_once(&ecb->ec_marks) & mark;
}

static inline void dfr_ecb_mark(struct dfr_ecb *ecb, u8 mark, bool on)
{
	dfr_write_once(&ecb->ec_marks, (u8)(on ? ecb->ec_marks | mark : ecb->ec_marks & ~mark));
}

/*
 * Remembers an ECB whose probe has gone. If the probe comes back, its ECB gets the same EPID, which
 * the catalog has already.
 */
struct dfr_gone_ecb {
	struct dfr_gone_ecb *ge_next;
	const struct dfr_plan *ge_plan;
	u32 ge_probe;
	u32 ge_epid;
};

/* A loaded DOF of a state, retained: matched again when probes come. */
struct dfr_enabling {
	struct dfr_enabling *eb_next;
	struct dfr_program *eb_program;
	struct dfr_plan **eb_plans; /* [clause]: list of variants */
	u32 eb_number;		    /* DOF number in the catalog */
	u64 eb_matched_to;	    /* probes with pb_born up to this have been matched */
};

/* Rings. */

/*
 * Where records go: the CPU's open block, or the last chunk of a speculation on this CPU. A record
 * that may reach beyond `sm_soft` takes the slow path. sm_soft is the lowest of the end and the next
 * restart point; where something must be written first (a context, a ledger entry), it is the
 * beginning.
 */
struct dfr_stream {
	u8 *sm_ptr;
	u8 *sm_soft;
	u64 sm_time; /* of the last head */
	u64 sm_who;  /* the task of the current context record: dfr_plat_who(), dfr_plat_comm() */
	u64 sm_comm[2];
	u32 sm_tid;
	u32 sm_context; /* offset of the current context record; 0: none yet */
};

enum dfr_slot_state { DFR_SLOT_EMPTY, DFR_SLOT_OPEN, DFR_SLOT_CLOSED };

/* A block of a ring and who has it. */
struct dfr_blockref {
	struct dfr_block *br_block;
	u64 br_taken;	/* its sequence when it was handed out; 0: in the ring or spare */
	bool br_orphan; /* taken by a consumer that has gone: the next consumer gets it first */
};

struct dfr_ringslot {
	u32 rs_number; /* index in rg_refs */
	u32 rs_state;
};

struct dfr_piece {
	struct dfr_piece *pi_next;
	void *pi_memory;
	size_t pi_size;
};

struct dfr_ring {
	struct dfr_block *rg_block; /* open, or NULL: the next record opens one */
	u8 *rg_end;		    /* of the open block */
	u32 rg_restart;		    /* offset in the block at which a restart entry is due */
	u32 rg_head;		    /* slot of the open block, or of the next one to open */
	u32 rg_nslots;
	u32 rg_policy;
	u32 rg_block_size;
	u32 rg_hdr_size;
	u8 *rg_first;  /* of the open block: where its records begin */
	u32 rg_closed; /* closed slots that a consumer can take: those behind the head */
	u32 rg_keep;   /* fill: so many slots are reserved for END */
	bool rg_full;  /* fill: this CPU has stopped recording */
	bool rg_full_told;
	u64 rg_full_time; /* of the last record before it was full */
	bool rg_wanted;	  /* a consumer left closed blocks because spares ran out */
	u64 rg_seq;	  /* of the newest block */
	u64 rg_sealed;	  /* blocks up to this one are sealed or gone */
	struct dfr_ringslot *rg_slots;
	struct dfr_blockref *rg_refs;
	u32 rg_nrefs;
	u32 rg_maxrefs;
	u32 *rg_spare; /* stack of spare block numbers; process context alone */
	u32 rg_nspare;
	struct dfr_piece *rg_pieces;
};

/* A loss that no ledger record tells yet. */
struct dfr_pending {
	u64 pe_count;
	u64 pe_from;
	u64 pe_to;
	u32 pe_probe;
};

/* A note on a captured field of the record that is being written. */
struct dfr_note {
	u32 no_field;
	u32 no_code;
	u64 no_value;
};

/* Speculations. */

struct dfr_spec {
	u32 spc_state;	   /* enum dfr_spec_state; changed with dfr_cmpxchg() */
	bool spc_cleaning; /* the cleaner's own */
	u64 spc_time;	   /* of the commit */
};

#define DFR_SPEC_VOID (~0ULL) /* above all numbers */

/* A speculation's part on one CPU. */
struct dfr_speclist {
	struct dfr_stream sl_stream;
	struct dfr_spec_chunk *sl_first;
	struct dfr_spec_chunk *sl_last;
	u32 sl_chunks;
	u32 sl_id;
};

/* Counts the states that were started lately: limits.c. */
struct dfr_starts {
	u64 sts_since;
	u32 sts_count;
};

/* A credit of time on one CPU: governor.c. Times in ns; touched by that CPU only. */
struct dfr_purse {
	u64 pu_time;   /* settled up to here; 0: never yet */
	s64 pu_credit; /* that may be spent */
	u64 pu_spent;  /* since pu_time */
	u64 pu_sunk;   /* credit has been at its floor since then; 0: it is above */
	u64 pu_stamp;  /* a user's purse: the last firing that ran his clauses */
	u32 pu_work;   /* and how much work they did in it */
	u16 pu_chunks;
};

/*
 * A user without privilege: what all his states take together (limits.c). His entry is freed only
 * when he has had no state for as long as a purse takes to fill, so that ending a state and starting
 * another does not give him a full purse.
 */
#define DFR_GOVERNOR_BURST 10000000000ULL /* ns of budget that a purse holds */
struct dfr_user {
	struct dfr_user *us_next;
	u32 us_uid;
	u32 us_states;
	u32 us_ecbs;
	u64 us_left; /* when the last state ended */
	struct dfr_starts us_starts;
	struct dfr_purse us_purses[]; /* [cpu] */
};

/* The purses of a state that has ended: past.c. */
struct dfr_past {
	struct dfr_past *pa_next;
	u64 pa_left; /* when it ended */
	char pa_name[DFR_NAME_MAX];
	struct dfr_purse pa_purses[]; /* [cpu] */
};

/* The governor's view of a share: governor.c. Times in ns. */
struct dfr_governor {
	struct dfr_purse gv_purse; /* the state's */
	struct dfr_purse *gv_user; /* and its user's; NULL: it is not confined */
	u64 gv_usual;		   /* average time of an ECB in a firing */
	u64 gv_sample;		   /* sample to which the hook's time was added last */
	u64 gv_skip_stamp;	   /* firing that was counted last */
	u64 gv_skipped;		   /* firings left out and not in the ledger yet */
	u64 gv_from;		   /* begin of the time in which they were left out */
	u32 gv_probe;
	u32 gv_throttled;
};

/* States. */

struct dfr_share {
	/* hot */
	struct dfr_stream sh_stream;
	struct dfr_ring sh_ring;
	u32 sh_cpu;
	u64 sh_stamp; /* firing that sh_machine is set up for */
	u64 sh_records;
	struct dfr_aggtab *sh_agg; /* active half; NULL: none */
	u64 sh_factor;		   /* hk_factor for hashes of its keys */
	u64 *sh_key;		   /* room for the largest key, and for a stack */
	u64 *sh_pcs;
	struct dfr_state *sh_state;
	struct dfr_machine sh_machine;

	/* a clause that `if` has split, in this firing */
	u64 sh_split_stamp;
	u64 sh_split_clause;
	u64 sh_split_spec; /* speculation it records to; DFR_SPEC_VOID: discarded */
	u32 sh_split_ok;

	u32 sh_nnotes;
	struct dfr_note *sh_notes;

	struct dfr_machine sh_error_machine;
	struct dfr_aggtab *sh_half[2];
	struct dfr_speclist *sh_specs;
	struct dfr_spec_chunk *sh_pool; /* free chunks */
	void *sh_pool_memory;
	u32 sh_spec_hint; /* where to look for a free number */

	/* counters; each has one writer */
	u64 sh_loss[DFR_LOSS_MAX];
	u64 sh_lost; /* sum of the losses that this CPU's writer counted */
	u32 sh_pending_mask;
	struct dfr_pending sh_pending[DFR_LOSS_MAX];
	u64 sh_errors;
	u64 sh_nmi;    /* nested hits: an NMI's */
	u64 sh_shadow; /* and the engine's own */
	u64 sh_nmi_told;
	u64 sh_chill_start;
	u64 sh_chilled;
	struct dfr_governor sh_governor;
	struct dfr_share *sh_next_dead; /* half-made shares: kept until the state is freed */
};

#define DFR_PROBES_SEVERAL (~0u)
#define DFR_NOPTS_CLASSIC  DFR_OPT_CLASSIC_MAX
#define DFR_NOPTS	   (DFR_OPT_CLASSIC_MAX + (DFR_OPT_OURS_MAX - DFR_OPT_SPECPOOL))
#define DFR_SIZE_LEAST	   4096 /* no buffer or table is lowered below it */

/* An aggregation variable of a state. */
struct dfr_aggvar {
	struct dfr_aggvar *av_next;
	u32 av_varid;
	u32 av_kind;
	u64 av_arg;
	u32 av_words;
	u32 av_nkeys;
	u32 av_flags;
	bool av_told; /* the catalog has it */
	u16 *av_keys; /* enum dfr_field_kind of each */
};

struct dfr_catlog_extent {
	struct dfr_catlog_extent *ce_next;
	u8 *ce_memory;
	size_t ce_size;
	u64 ce_start; /* offset of its first byte in the log */
};

/*
 * Programs, ECBs, variables and shares of a state, and which ECBs are armed, change under the
 * engine's lock only; after go, under st_lock as well wherever housekeeping or a consumer reads
 * them. What these two change (blocks, snapshots, catalog, clocks, losses, activity) is under
 * st_lock, which is inside the engine's lock and is not held while a provider arms or disarms.
 */
struct dfr_state {
	u32 st_activity;	    /* enum dfr_activity; in probe context only exit() and deadman() set it */
	struct dfr_share **st_live; /* [cpu]; NULL: that CPU does not record for this state now */
	struct dfr_share **st_shares; /* [cpu]; NULL: that CPU has none */
	struct dfr_engine *st_engine;
	struct dfr_state *st_next;
	u64 st_id;
	void *st_host;
	char st_name[DFR_NAME_MAX];
	bool st_anonymous;
	bool st_has_error; /* some ECB is on ERROR */
	bool st_armed;	   /* under the engine's lock */
	bool st_exit_logged;
	u32 st_exited;
	s32 st_exit_status;

	struct dfr_enabling *st_enablings;
	struct dfr_ecb *st_ecbs;
	struct dfr_ecb *st_ecb_last;
	struct dfr_gone_ecb *st_gone_ecbs; /* oldest first: probes mostly come back in that order */
	struct dfr_gone_ecb **st_gone_last;
	u32 st_nepids;
	u32 st_nlayouts;
	u32 st_ndofs;
	u8 *st_told; /* bitmap by probe id: the catalog has it */
	u32 st_told_bits;
	struct dfr_aggvar *st_aggvars;
	struct dfr_hashkey st_hash; /* of aggregations */

	struct dfr_test st_owner; /* te_kind 0: the state is not confined */
	u64 st_memory;		  /* confined: bytes that it may take, */
	struct dfr_user *st_user; /* and its user */
	s64 st_options[DFR_NOPTS];
	struct dfr_vars *st_vars;
	u32 st_strsize;
	u32 st_scratch;
	u32 st_key_max;
	u32 st_need_max;
	u32 st_need_min; /* of records that go directly to the ring; 0: there are none */
	u32 st_notes_max;
	u32 st_spec_need;
	u32 st_block_size;
	u32 st_nblocks;
	u32 st_keep_slots;

	struct dfr_aggtab *st_agg_base;
	u64 st_agg_generation;
	size_t st_agg_size;
	u64 st_agg_time; /* of the last snapshot */

	struct dfr_spec *st_specs;
	u32 st_nspec;
	u32 st_chunk_size;
	u32 st_chunks;	   /* per CPU */
	u32 st_spec_limit; /* bytes of one speculation on one CPU */

	struct dfr_catlog_extent *st_extents;
	struct dfr_catlog_extent *st_extent_last;
	u64 st_catalog_end;
	const struct dfr_cat_clock *st_clock; /* its last entry about the clocks; NULL: none yet */

	struct dfr_share *st_dead_shares;
	u64 st_hotplug_lost;  /* firings on CPUs without a share, of all CPUs and levels: atomic */
	u32 st_hotplug_probe; /* their probe, until told; 0: none, or DFR_PROBES_SEVERAL */

	/* how much of these, and of the variables' losses, the ledger has; used by housekeeping only */
	u64 st_hotplug_told;
	u64 st_dynvar_told[3];
	u64 st_told_time;

	/* governor: times; 0: none */
	u64 st_cost_since;  /* ec_cost and ec_fired count from here */
	u64 st_detach_time; /* probes are detached since then, */
	u64 st_attach_wait; /* for so long a time */
	u64 st_attached;    /* when they were last attached again */

	struct dfr_mutex st_lock;
	bool st_ended; /* no CPU records for it any more; dfr_state_settle() disarms it */
};

/* The engine. */

struct dfr_cpu {
	struct dfr_firing pc_firing;
	u32 pc_busy;
	u64 pc_last;	 /* time of the last firing */
	u64 pc_stamp;	 /* counts firings */
	u64 pc_left;	 /* firings until the next sample; 0: never sample */
	u32 pc_distance; /* distance of that sample from the last */
	u64 pc_samples;	 /* number of samples, refused and pure firings included */
	u32 pc_refusals; /* refused firings that their next sample stands for */
	u64 pc_pure;	 /* counts firings that a pure predicate ended; may miss one at an interrupt */
	u64 pc_pure_sample;
	u64 pc_random;
	u64 pc_spent; /* governor: ns that probes took since pc_judged */
	u64 pc_judged;
	u32 pc_bad_quarters; /* bad quarters of a second in a row */
	u64 pc_dear_stamp;   /* the last firing that filled a chunk of work (work.c), */
	u64 pc_dear_from;    /* its start, */
	u64 pc_dear_seen;    /* the time up to which the governor was told, */
	u64 pc_dear_done;    /* and the work done by then */
	u64 pc_exact;	     /* part of the sample's time that was charged exactly (dfr_governor_dear()) */
	struct dfr_firing pc_error;
};

struct dfr_string {
	struct dfr_string *ds_next;
	u32 ds_hash;
	u32 ds_size;
	char ds_text[];
};

/*
 * The names that a group of probes with neighbouring ids has. Functions come in tens of thousands
 * and have two names, so a search for another name skips such groups; a search for a user without
 * privilege skips groups that have no probe for him.
 */
#define DFR_GROUP_PROBES 256
#define DFR_GROUP_NAMES	 3
struct dfr_namegroup {
	const char *ng_names[DFR_GROUP_NAMES]; /* interned; NULL: end */
	bool ng_more;			       /* it has more names than fit */
	bool ng_confined;		       /* users without privilege may use some provider in it */
};

struct dfr_engine {
	void *en_host;
	struct dfr_mutex en_lock;
	struct dfr_mutex en_provide_lock; /* inside en_lock: list of providers, held while they provide */
	struct dfr_mutex en_probe_lock;	  /* inside both: probe lists, strings */
	struct dfr_cpu **en_cpus;
	u32 en_ncpus;
	struct dfr_provider *en_providers;
	struct dfr_provider en_dtrace;
	u64 en_hook_time;			       /* what a firing costs outside of the engine, ns */
	struct dfr_probe **en_byid;		       /* [id]; grows: not for probe context */
	struct dfr_probe *en_own[DFR_PROBE_ERROR + 1]; /* BEGIN, END, ERROR */
	struct dfr_namegroup *en_groups;	       /* [id / DFR_GROUP_PROBES] */
	u32 en_nprobes;				       /* the largest id */
	u64 en_births;
	struct dfr_probe **en_gone; /* hash chains as en_byname: gone probes, whose ids are kept */
	u32 en_room;
	struct dfr_probe **en_byname; /* by function name: hash chains */
	u32 en_byname_size;
	struct dfr_string **en_strings;
	u32 en_strings_size;
	u32 en_nstrings;
	struct dfr_state *en_states;
	struct dfr_state *en_arming; /* the state whose probes are being armed */
	u64 en_state_ids;
	struct dfr_user *en_users;
	struct dfr_past *en_pasts;
	struct dfr_starts en_starts; /* of all users without privilege */
	u32 en_forced;		     /* DFR_FORCE_* */
	char en_machine[2048];
	size_t en_machine_size;
};

/* Probes that are about to be removed. */
struct dfr_going {
	const struct dfr_provider *go_provider;
	bool (*go_goes)(const struct dfr_probe *probe, void *arg);
	void *go_arg;
};

static inline bool dfr_probe_goes(const struct dfr_going *going, const struct dfr_probe *probe)
{
	return probe->pb_provider == going->go_provider && going->go_goes(probe, going->go_arg);
}

/* The state belongs to a user without privilege and sees only his own tasks. */
static inline bool dfr_state_confined(const struct dfr_state *state)
{
	return state->st_owner.te_kind != 0;
}

/* limits.c: limits of confined states. Functions return a reason or NULL, 0 or an error. */
#define DFR_CONFINED_BUDGET	      5 /* percent of each CPU: for one state, and for all of a user's */
#define DFR_CONFINED_CLAUSES_ON_PROBE 64
const char *dfr_limits_check(const struct dfr_state *state, const struct dfr_program *program);
u64 dfr_limits_variables(const struct dfr_state *state);
bool dfr_limits_more_ecbs(const struct dfr_state *state);
bool dfr_limits_may_start(struct dfr_state *state);
void dfr_limits_leave(struct dfr_state *state);	   /* its user has one state less */
void dfr_limits_forget(struct dfr_engine *engine); /* frees all users; there are no states any more */
int dfr_limits_sizes(struct dfr_state *state);
u32 dfr_limits_key(const struct dfr_state *state); /* any state: most bytes of an aggregation's key */

/* engine.c */
int dfr_engine_match(struct dfr_engine *engine, const struct dfr_clause *clause, u32 from, bool provide,
		     int (*visit)(struct dfr_probe *probe, void *arg), void *arg);
bool dfr_engine_host_matches(const struct dfr_engine *engine, const char *glob);

/* enable.c */
void dfr_state_unlink_probes(struct dfr_state *state, const struct dfr_going *going);
void dfr_state_match_new(struct dfr_state *state);
void dfr_state_free_enablings(struct dfr_state *state);
int dfr_state_build(struct dfr_state *state);
void dfr_state_arm(struct dfr_state *state);
void dfr_state_disarm(struct dfr_state *state);
struct dfr_aggvar *dfr_state_aggvar(const struct dfr_state *state, u32 varid);

/* idiom.c: recognises simple DIF, so that it need not run. Process context. */
void dfr_idiom_value(struct dfr_step *step, const struct dfr_difo *difo);
bool dfr_idiom_store(struct dfr_step *step, const struct dfr_difo *difo);
void dfr_idiom_test(struct dfr_test *test, const struct dfr_difo *difo);

/* plan.c */
int dfr_plan_make(struct dfr_state *state, const struct dfr_enabling *enabling, u32 clause, u32 nargs,
		  struct dfr_plan **out);
void dfr_plan_free(struct dfr_plan *plan);
u32 dfr_plan_nargs(const struct dfr_clause *clause, const struct dfr_probe *probe);
int dfr_plan_probe_text(const struct dfr_difo *difo); /* which of the probe's four names it is; -1: none */
bool dfr_plan_reads_user(const struct dfr_difo *difo);
u32 dfr_plan_agg_keys(const struct dfr_clause *clause, u32 action,
		      u32 *end); /* the first; *end: behind the last */

/* form.c */
void dfr_form_find(struct dfr_ecb *ecb, bool crowded); /* crowded: charge it for its work */
u32 dfr_form_keys(const struct dfr_step *step);	       /* of an aggregation's step: enum dfr_key_shape */
bool dfr_form_reads_args(const struct dfr_ecb *ecb);

/* aggvar.c */
extern const char dfr_no_memory[]; /* the reason of dfr_plan_aggvars() for -ENOMEM */
const char *dfr_plan_aggvars(struct dfr_state *state, const struct dfr_program *program);
int dfr_plan_tell_aggvars(struct dfr_state *state, const struct dfr_program *program);
u32 dfr_agg_words(u32 kind, u64 arg);

void dfr_state_attach(struct dfr_state *state);
u32 dfr_state_detach(struct dfr_state *state);

/* governor.c; on the CPU */
u32 dfr_governor_weight(struct dfr_cpu *pc);
void dfr_governor_charge(struct dfr_cpu *pc, struct dfr_ecb *ecb, u32 cpu, u64 from, u64 now, u32 weight);
void dfr_governor_judge(struct dfr_cpu *pc, struct dfr_ecb *ecb, u64 now);
void dfr_governor_dear(struct dfr_cpu *pc, const struct dfr_state *state, const struct dfr_firing *firing,
		       u64 time, u64 now);
void dfr_governor_skipped(struct dfr_share *share, const struct dfr_firing *firing);
void dfr_governor_release(struct dfr_share *share, u64 now);
/* process context; the state's lock is held */
u32 dfr_governor_budget(const struct dfr_state *state); /* percent of each CPU; 0: only the deadman */
void dfr_governor_end(struct dfr_state *state, u64 now);

/* work.c: dfr_work_more() is in exec.h */
/* Probe context, inside the guard: call it when a clause that has filled a chunk has ended. */
void dfr_work_seen(const struct dfr_firing *firing, const struct dfr_state *state);

/* past.c */
void dfr_past_keep(const struct dfr_state *state);
void dfr_past_recall(struct dfr_state *state);
void dfr_past_forget(struct dfr_engine *engine);

/* fire.c; probe context */
void dfr_fire_dtrace(struct dfr_state *state, u32 probe_id, u32 cpu);
void dfr_lost_here(struct dfr_share *share, const struct dfr_firing *firing, u32 cause, u64 count);
/* Notes a loss that has been counted; the next block that is written tells it. Interrupts off. */
void dfr_ledger(struct dfr_share *share, u32 cause, u32 probe, u64 count, u64 from, u64 to);

/*
 * visit.c; process context. Runs fn on the CPU as its writer, interrupts off; if that CPU is away,
 * runs it here.
 */
void dfr_visit_cpu(struct dfr_engine *engine, u32 cpu, void (*fn)(void *arg), void *arg);

/* A loss that was not counted in a firing on its share's CPU. */
struct dfr_untold {
	struct dfr_share *un_share; /* whose ledger tells of it */
	u32 un_cause;
	u32 un_probe; /* 0: several, or not known */
	u64 un_count;
	u64 un_from;
	u64 un_to;
};
void dfr_tell_loss(struct dfr_untold *loss);

/* record.c; probe context */
#define DFR_CONTEXT_BYTES 48	       /* most that a context record takes */
#define DFR_STREAM_FRESH  (1ULL << 63) /* sm_time before the first head: far from any time */

/* The size codes of a record so far: four to a byte, the first lowest (encode.h). */
struct dfr_codes {
	u8 *co_at;
	u32 co_bits; /* bits of the unfinished byte, kept at the top */
	u32 co_n;
};

/* A record being written. */
struct dfr_writer {
	struct dfr_stream *w_stream;
	struct dfr_speclist *w_list; /* NULL: the ring */
	u8 *w_start;
	u8 *w_ptr;
	struct dfr_codes w_codes;
};
bool dfr_record_slow(struct dfr_share *share, struct dfr_writer *w, struct dfr_firing *firing, u32 need);
u8 *dfr_record_head(struct dfr_stream *stream, u8 *p, u32 id, u32 level, u64 time);
void dfr_record_note(struct dfr_share *share, u32 field, u32 code, u64 value);
void dfr_record_add_notes(struct dfr_share *share, struct dfr_writer *w, struct dfr_firing *firing);
void dfr_record_losses(struct dfr_share *share, u32 level, u64 time, u32 keep);
void dfr_record_flush(struct dfr_share *share, u64 time);
void dfr_record_publish(struct dfr_share *share);

/* ring.c */
u64 dfr_ring_bytes(
	const struct dfr_state *state); /* of one CPU; likewise dfr_agg_bytes(), dfr_spec_bytes() */
int dfr_ring_create(struct dfr_state *state, struct dfr_share *share);
void dfr_ring_free(struct dfr_share *share);
/* Probe context: make the ring's stream ready for `need` bytes; false: the policy says drop. */
bool dfr_ring_room(struct dfr_share *share, u32 need, bool is_end);
void dfr_ring_close(struct dfr_share *share);
void dfr_ring_soft(struct dfr_share *share);
void dfr_ring_seal(struct dfr_state *state);
void dfr_ring_restart(struct dfr_share *share);

/* agg.c */
int dfr_agg_create(struct dfr_state *state);
u64 dfr_agg_bytes(const struct dfr_state *state);
int dfr_agg_share(struct dfr_state *state, struct dfr_share *share);
void dfr_agg_free(struct dfr_state *state);
void dfr_agg_free_share(struct dfr_share *share);
/* Probe context. key_size is a multiple of 8. */
/*
 * The value words of this key; a new key gets an entry. NULL: there is no room, or the firing has
 * done too much.
 */
u64 *dfr_agg_values(struct dfr_firing *firing, struct dfr_share *share, const struct dfr_step *step,
		    u32 key_size, u32 hash);
void dfr_agg_update(u64 *values, u32 kind, u64 value, u64 weight);
/* The key is in sh_key. */
bool dfr_agg_add(struct dfr_firing *firing, struct dfr_share *share, const struct dfr_step *step,
		 u32 key_size, u64 value, u64 weight);

/* spec.c */
int dfr_spec_setup(struct dfr_state *state);
u64 dfr_spec_bytes(const struct dfr_state *state);
int dfr_spec_share(struct dfr_state *state, struct dfr_share *share);
void dfr_spec_free(struct dfr_state *state);
void dfr_spec_free_share(struct dfr_share *share);
/* Probe context. */
enum dfr_spec_result { DFR_SPEC_OK, DFR_SPEC_DROP, DFR_SPEC_ILLOP };
u64 dfr_spec_work(const struct dfr_share *share,
		  u64 id); /* of commit or discard: guest instructions, estimated */
enum dfr_spec_result dfr_spec_trace(struct dfr_share *share, u64 id, struct dfr_speclist **list);
enum dfr_spec_result dfr_spec_commit(struct dfr_share *share, struct dfr_firing *firing, u64 id);
enum dfr_spec_result dfr_spec_discard(struct dfr_share *share, u64 id, struct dfr_writer *open);
/* List 0 is of no speculation: it takes what a clause records after its own discard. */
static inline struct dfr_speclist *dfr_spec_void(const struct dfr_share *share)
{
	return &share->sh_specs[0];
}
void dfr_spec_end_void(struct dfr_share *share);
bool dfr_spec_room(struct dfr_share *share, struct dfr_speclist *list, u32 need);
void dfr_spec_publish(struct dfr_share *share, struct dfr_speclist *list, u64 time);
void dfr_spec_clean(struct dfr_state *state);

/* catalog.c; the state's lock is held */
int dfr_catalog_create(struct dfr_state *state);
void dfr_catalog_free(struct dfr_state *state);
void dfr_catalog_anchor(struct dfr_state *state); /* lists all extents in new anchors */
int dfr_catalog_state(struct dfr_state *state);
int dfr_catalog_dof(struct dfr_state *state, u32 number, const void *dof, u32 size);
int dfr_catalog_probe(struct dfr_state *state, const struct dfr_probe *probe);
int dfr_catalog_layout(struct dfr_state *state, const struct dfr_plan *plan, u32 dof);
int dfr_catalog_ecb(struct dfr_state *state, const struct dfr_ecb *ecb);
int dfr_catalog_agg(struct dfr_state *state, const struct dfr_aggvar *var, const struct dfr_field *keys);
int dfr_catalog_event(struct dfr_state *state, u32 event, s32 value, u64 time);
int dfr_catalog_unarmed(struct dfr_state *state, s32 which, int error); /* as DFR_EVENT_UNARMED's value */
void dfr_catalog_clock(struct dfr_state *state);

static inline struct dfr_cpu *dfr_cpu_of(const struct dfr_engine *engine, u32 cpu)
{
	return engine->en_cpus[cpu];
}

/* The index of a known option in st_options. */
static inline u32 dfr_option_index(u32 option)
{
	return option < DFR_NOPTS_CLASSIC ? option : option - DFR_OPT_SPECPOOL + DFR_NOPTS_CLASSIC;
}

static inline s64 dfr_option(const struct dfr_state *state, u32 option)
{
	return state->st_options[dfr_option_index(option)];
}

/* bufresize=auto: sizes are lowered until they fit into memory. */
static inline bool dfr_state_resizes(const struct dfr_state *state)
{
	return dfr_option(state, DFR_OPT_BUFRESIZE) <= 0;
}

/*
 * Marks this CPU's writer as at work, with interrupts off: a probe that fires on this CPU until
 * dfr_cpu_leave(), from an NMI or a traced function, is nested. The barriers order these stores for
 * an NMI on this CPU, for which the compiler's order would be enough. dfr_cpu_still() reads the mark
 * from other CPUs.
 *
 * dfr_cpu_leave() forgets what the firing knew of its task, and its work, while the mark is still
 * set. So whoever enters next finds pc_firing without them, and so does a nested hit that comes
 * before the next firing has set anything: it must not take the last firing's level for this one's.
 */
dfr_hot void dfr_cpu_enter(struct dfr_cpu *pc)
{
	dfr_write_once(&pc->pc_busy, 1);
	dfr_smp_wmb();
}

dfr_hot void dfr_cpu_leave(struct dfr_cpu *pc)
{
	pc->pc_firing.fr_flags = 0;
	pc->pc_firing.fr_chunks = 0;
	pc->pc_firing.fr_work = 0;
	dfr_smp_wmb();
	dfr_write_once(&pc->pc_busy, 0);
}

/* Probe context: this CPU's part of the engine. */
dfr_hot struct dfr_cpu *dfr_this_cpu(const struct dfr_engine *engine)
{
#ifdef DFR_PLAT_ONE_ENGINE
	(void)engine;
	return dfr_plat_cpu_slot();
#else
	return dfr_cpu_of(engine, dfr_plat_cpu());
#endif
}

/* The bucket that quantize() counts a value in. */
dfr_hot u32 dfr_quantize_bucket(u64 raw)
{
	u64 magnitude = (s64)raw < 0 ? 0 - raw : raw;
	u32 order;

	if (!raw)
		return DFR_QUANTIZE_ZERO;
	order = 64 - (u32)__builtin_clzll(magnitude);
	if (order > DFR_QUANTIZE_ZERO)
		order = DFR_QUANTIZE_ZERO;
	return (s64)raw < 0 ? DFR_QUANTIZE_ZERO - order : DFR_QUANTIZE_ZERO + order;
}

/* Unaligned little-endian stores; on x86 one instruction each. */
dfr_hot void dfr_put32(u8 *p, u32 v)
{
	memcpy(p, &v, sizeof(v));
}

dfr_hot void dfr_put64(u8 *p, u64 v)
{
	memcpy(p, &v, sizeof(v));
}

#endif
