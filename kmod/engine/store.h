/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the recording half share: engine.c, state.c, enable.c,
 * plan.c, form.c, fire.c, work.c, steps.c, plain.c, governor.c, past.c, visit.c, record.c, ring.c, agg.c,
 * spec.c, catalog.c. Nobody else includes it: providers see provider.h, consumers of the engine engine.h.
 * It is long because they work on the same few structures, which refer to one another.
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
#include "kmod/engine/engine.h"

#define dfr_likely(x)		       __builtin_expect(!!(x), 1)
#define dfr_unlikely(x)		       __builtin_expect(!!(x), 0)
#define dfr_cold		       __attribute__((__noinline__, __cold__))
#define dfr_noinline		       __attribute__((__noinline__))
#define dfr_hot			       static inline __attribute__((__always_inline__))
#define dfr_container(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

#define DFR_PROBE_BEGIN 1
#define DFR_PROBE_END	2
#define DFR_PROBE_ERROR 3
#define DFR_ERROR_NARGS 6

/* Plans. */

/* Where a step's value comes from: the usual ones need no DIF. */
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
	DFR_SRC_SINCE /* timestamp - such a number */
};

enum dfr_step_op {
	DFR_STEP_INT,  /* integer field */
	DFR_STEP_ARGS, /* sp_do.count integer fields: arguments 0, 1, ... */
	DFR_STEP_STRING,
	DFR_STEP_AGG,  /* sp_do.agg: its key steps follow, then a weight step if DFR_SP_WEIGHT */
	DFR_STEP_EVAL, /* for its side effects; records nothing */
	DFR_STEP_SELF, /* the value becomes that of thread-local number sp_do.number */
	DFR_STEP_TEXT, /* text of the probe: nothing in a record, the probe's id in a key */
	DFR_STEP_BYTES,
	DFR_STEP_VARBYTES, /* sp_do.data.length: how many; NULL: a memref's pair says it */
	DFR_STEP_STACK,
	DFR_STEP_USTACK,
	DFR_STEP_USYM,
	DFR_STEP_EXIT, /* an integer field too */
	DFR_STEP_SPECULATE,
	DFR_STEP_COMMIT,
	DFR_STEP_DISCARD,
	DFR_STEP_DESTRUCTIVE /* sp_do.kind: the action's */
};

/* sp_flags */
#define DFR_SP_SIGNED  0x1
#define DFR_SP_CAPTURE 0x2  /* evaluated by itself: a fault is a note, not an ERROR */
#define DFR_SP_USER    0x4  /* by user reference */
#define DFR_SP_WEIGHT  0x8  /* aggregation: a weight step follows the keys */
#define DFR_SP_NAME    0x10 /* probe text as a string; sp_do.data.name says which of the four */

/* Keys that plain.c keeps in registers. */
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
			u64 hash;	/* what the hash of a key starts with */
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
#define DFR_PN_CONTEXT	  0x8 /* some step without record needs the context */
#define DFR_PN_COMMITS	  0x10
#define DFR_PN_ARGS	  0x20 /* may look at arguments */

/*
 * Which way a clause takes through a firing. form.c finds it when the ECB is put on its
 * probe; fire.c goes by it, and nothing else asks again. All but the general one run no DIF
 * and cannot fault (plain.c).
 */
enum dfr_form {
	DFR_FORM_GENERAL,    /* steps.c: charged; the predicate as DIF, then ec_body */
	DFR_FORM_COUNT,	     /* a count whose keys are names and numbers of who fires and of the probe */
	DFR_FORM_TIME,	     /* a thread-local number is set to the time, and that is all */
	DFR_FORM_SINCE,	     /* if one is not 0: the time since it is aggregated, and it is set to 0 */
	DFR_FORM_REGISTERS,  /* DFR_FORM_ARGS at a DFR_PB_REGISTERS */
	DFR_FORM_AGG,	     /* one aggregation over integers, execname, text of the probe */
	DFR_FORM_ARGS,	     /* one to four arguments, signed and whole, and nothing else */
	DFR_FORM_STEPS,	     /* aggregations like DFR_FORM_AGG, and thread-local numbers are set */
	DFR_FORM_RECORD,     /* a record of integers, execname and text of the probe */
	DFR_FORM_TESTED = 16 /* or'ed to one of these: ec_test is asked first */
};

/* What a form needs to know besides the plan. */
union dfr_facts {
	struct {
		u32 which; /* a byte for each argument, the first lowest: its number + 1 */
		u16 need;  /* the plan's pn_need */
		u8 passed; /* so many arguments must have been passed */
		u8 shift;  /* where the size codes end up in their byte */
	} fa_args;	   /* DFR_FORM_ARGS, _REGISTERS */
	u64 fa_self;	   /* _TIME, _SINCE, _STEPS: DFR_SELF_KEY() of the number that comes first; 0: none */
};

struct dfr_plan {
	struct dfr_plan *pn_next; /* of the same clause: other numbers of arguments */
	const struct dfr_clause *pn_clause;
	u32 pn_flags;
	u32 pn_need;  /* most bytes that a record can take, notes included */
	u32 pn_codes; /* bytes of size codes */
	u32 pn_nsteps;
	u32 pn_nargs;  /* variant: CAPTURE_ARGS records so many */
	u32 pn_layout; /* layout id in the catalog */
	u32 pn_nfields;
	u32 pn_fallible;	 /* captured fields that may need a note */
	u32 pn_work;		 /* guest instructions of its steps, about, without what DIF does */
	u32 pn_key_max;		 /* most bytes of a key that its aggregations build */
	u32 pn_classic;		 /* bytes that DTrace would reserve: END's reserve is counted so */
	struct dfr_test pn_test; /* te_kind 0: the predicate is of no such kind */
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
	const struct dfr_test *ec_test; /* what ec_pred says, if it is of that kind */
	const struct dfr_plan *ec_plan;
	u32 ec_epid;
	u8 ec_flags;
	u8 ec_form; /* enum dfr_form */
	u8 ec_body; /* DFR_FORM_GENERAL, when the predicate holds: steps (_GENERAL), or _AGG, _STEPS, _RECORD */
	u8 ec_marks; /* DFR_MARK_*: changed by process context alone, under the engine's lock */
	union dfr_facts ec_facts;
	struct dfr_probe *ec_probe;
	struct dfr_ecb *ec_sibling; /* of the state, by EPID */
	u64 ec_cost;		    /* governor: ns that its firings took, and how many they were */
	u64 ec_fired;
};

#define DFR_MARK_LINKED	  0x1 /* in the probe's chain */
#define DFR_MARK_DETACHED 0x2 /* by the governor */

static inline bool dfr_ecb_marked(const struct dfr_ecb *ecb, u8 mark)
{
	return dfr_read_once(&ecb->ec_marks) & mark;
}

static inline void dfr_ecb_mark(struct dfr_ecb *ecb, u8 mark, bool on)
{
	dfr_write_once(&ecb->ec_marks, (u8)(on ? ecb->ec_marks | mark : ecb->ec_marks & ~mark));
}

/* What an ECB was whose probe has gone: if that comes back, so does the EPID, which the catalog knows. */
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
	u64 eb_matched_to;	    /* probes born up to then have been matched */
};

/* Rings. */

/*
 * Where records go: the CPU's open block, or the last chunk of a speculation on
 * this CPU. `sm_soft` is where the fast path ends: the lowest of the end, the
 * next restart point and, where anything is to be done first (a context, a
 * ledger entry), the beginning.
 */
struct dfr_stream {
	u8 *sm_ptr;
	u8 *sm_soft;
	u64 sm_time; /* of the last head */
	u64 sm_who;  /* whose context holds: dfr_plat_who(), dfr_plat_comm() */
	u64 sm_comm[2];
	u32 sm_tid;
	u32 sm_context; /* offset of the context record that holds; 0: none yet */
};

enum dfr_slot_state { DFR_SLOT_EMPTY, DFR_SLOT_OPEN, DFR_SLOT_CLOSED };

/* A block and where it is. */
struct dfr_blockref {
	struct dfr_block *br_block;
	u64 br_taken;	/* sequence it was handed out with; 0: it is in the ring or spare */
	bool br_orphan; /* taken by a consumer that has gone: the next one gets it first */
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
	u32 rg_closed; /* slots that a consumer could take: those behind the head */
	u32 rg_keep;   /* fill: so many slots are END's own */
	bool rg_full;  /* fill: this CPU has stopped recording */
	bool rg_full_told;
	u64 rg_full_time; /* of the last record before that */
	bool rg_wanted;	  /* a consumer found no spare for what it wanted */
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

/* A loss that no ledger record tells of yet. */
struct dfr_pending {
	u64 pe_count;
	u64 pe_from;
	u64 pe_to;
	u32 pe_probe;
};

/* What is to be said about a captured field of the record being written. */
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

/* Counts what was started lately: limits.c. */
struct dfr_starts {
	u64 sts_since;
	u32 sts_count;
};

/* What may be spent on one CPU: governor.c. Times in ns; that CPU alone touches it. */
struct dfr_purse {
	u64 pu_time;   /* settled up to here; 0: never yet */
	s64 pu_credit; /* that may be spent */
	u64 pu_spent;  /* since pu_time */
	u64 pu_sunk;   /* credit has been at its floor since then; 0: it is not */
	u64 pu_stamp;  /* a user's: firing that ran his clauses last, */
	u32 pu_work;   /* and what work they have done in it */
	u16 pu_chunks;
};

/*
 * A user without privilege: what all his states take together (limits.c). He is
 * forgotten when he has none and has had none for as long as his purses remember:
 * so who ends a state and begins another does not begin with a full one.
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

/* Of a state that has ended: past.c. */
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
	u64 gv_usual;		   /* what an ECB takes as a rule */
	u64 gv_sample;		   /* to which the hook's time was added */
	u64 gv_skip_stamp;	   /* firing that was counted last */
	u64 gv_skipped;		   /* firings left out that the ledger does not know of */
	u64 gv_from;		   /* since when */
	u32 gv_probe;
	u32 gv_throttled;
};

/* States. */

struct dfr_share {
	/* hot */
	struct dfr_stream sh_stream;
	struct dfr_ring sh_ring;
	u32 sh_cpu;
	u64 sh_stamp; /* firing that the machine is set up for */
	u64 sh_records;
	struct dfr_aggtab *sh_agg; /* active half; NULL: none */
	u64 sh_factor;		   /* of the hashes of its keys */
	u64 *sh_key;		   /* room for the largest key, and for a stack */
	u64 *sh_pcs;
	struct dfr_state *sh_state;
	struct dfr_machine sh_machine;

	/* the clause that `if` split, in this firing */
	u64 sh_split_stamp;
	u64 sh_split_clause;
	u64 sh_split_spec; /* it speculates: to this number, or to none any more: DFR_SPEC_VOID */
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
	u64 sh_lost; /* sum of what this CPU's writer counted */
	u32 sh_pending_mask;
	struct dfr_pending sh_pending[DFR_LOSS_MAX];
	u64 sh_errors;
	u64 sh_nmi;    /* nested hits: an NMI's */
	u64 sh_shadow; /* and the engine's own */
	u64 sh_nmi_told;
	u64 sh_chill_start;
	u64 sh_chilled;
	struct dfr_governor sh_governor;
	struct dfr_share *sh_next_dead; /* half-made: kept until the state goes */
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
 * What a state is made of (programs, ECBs, variables, shares) and what of it is armed
 * changes under the engine's lock alone; once it has gone, under st_lock besides where
 * housekeeping or a consumer looks. What these do to it (blocks, snapshots, catalog,
 * clocks, losses, activity) is under st_lock, which is inside the engine's, and not held
 * while a provider arms or disarms.
 */
struct dfr_state {
	u32 st_activity;	      /* enum dfr_activity; probe context changes it by exit() alone */
	struct dfr_share **st_live;   /* [cpu]; NULL: that CPU does not record for this state now */
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
	struct dfr_gone_ecb *st_gone_ecbs; /* as they went, by and large as they will come */
	struct dfr_gone_ecb **st_gone_last;
	u32 st_nepids;
	u32 st_nlayouts;
	u32 st_ndofs;
	u8 *st_told; /* bitmap by probe id: the catalog has it */
	u32 st_told_bits;
	struct dfr_aggvar *st_aggvars;
	struct dfr_hashkey st_hash; /* of aggregations */

	struct dfr_test st_owner; /* te_kind 0: the state is not confined */
	u64 st_memory;		  /* if it is: bytes that it may take, */
	struct dfr_user *st_user; /* and whose it is */
	s64 st_options[DFR_NOPTS];
	struct dfr_vars *st_vars;
	u32 st_strsize;
	u32 st_scratch;
	u32 st_key_max;
	u32 st_need_max;
	u32 st_need_min; /* of records that go to the ring themselves; 0: there are none */
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
	const struct dfr_cat_clock *st_clock; /* what it says of the clocks last; NULL: nothing yet */

	struct dfr_share *st_dead_shares;
	u64 st_hotplug_lost;  /* firings on CPUs without a share, all CPUs' and levels': atomic */
	u32 st_hotplug_probe; /* of those not told yet; 0: none, DFR_PROBES_SEVERAL */

	/* what has been counted above, and by variables, and is in the ledger: housekeeping's own */
	u64 st_hotplug_told;
	u64 st_dynvar_told[3];
	u64 st_told_time;

	/* governor: times; 0: there is none */
	u64 st_cost_since;  /* ECBs' costs are of the time from here */
	u64 st_detach_time; /* some are detached since then, */
	u64 st_attach_wait; /* for so long */
	u64 st_attached;    /* when that last ended */

	struct dfr_mutex st_lock;
	bool st_ended; /* no CPU records for it any more, and none will; what is armed is left to dfr_state_settle() */
};

/* The engine. */

struct dfr_cpu {
	struct dfr_firing pc_firing;
	u32 pc_busy;
	u64 pc_last;	 /* time of the last firing */
	u64 pc_stamp;	 /* counts firings */
	u64 pc_left;	 /* firings up to the next that is timed; 0: never */
	u32 pc_distance; /* from the last one timed */
	u64 pc_samples;	 /* of firings, and of those that ended before they were one */
	u32 pc_refusals; /* that the next sample of these stands for */
	u64 pc_pure;	 /* counts firings that a pure predicate ended; an interrupt may cost it one */
	u64 pc_pure_sample;
	u64 pc_random;
	u64 pc_spent; /* governor: ns that probes took since pc_judged */
	u64 pc_judged;
	u32 pc_bad_quarters; /* in a row, in which that was too much */
	u64 pc_dear_stamp;   /* firing that filled a chunk of work last (work.c), */
	u64 pc_dear_from;    /* since when, */
	u64 pc_dear_seen;    /* and up to when the governor knows of it, */
	u64 pc_dear_done;    /* with so much work done */
	u64 pc_exact;	     /* of the time that is being measured, what it knows of so */
	struct dfr_firing pc_error;
};

struct dfr_string {
	struct dfr_string *ds_next;
	u32 ds_hash;
	u32 ds_size;
	char ds_text[];
};

/*
 * Which names the probes of neighbouring ids have. Functions come in tens of
 * thousands and have two: who looks for another name passes over them, and so does
 * a user without privilege, who may not have them.
 */
#define DFR_GROUP_PROBES 256
#define DFR_GROUP_NAMES	 3
struct dfr_namegroup {
	const char *ng_names[DFR_GROUP_NAMES]; /* interned; NULL: no more */
	bool ng_more;			       /* than there is room for */
	bool ng_confined; /* some provider among them is open to users without privilege */
};

struct dfr_engine {
	void *en_host;
	struct dfr_mutex en_lock;
	struct dfr_mutex en_provide_lock; /* inside en_lock: the providers, also while they provide */
	struct dfr_mutex en_probe_lock;	  /* inside both: probe lists, strings */
	struct dfr_cpu **en_cpus;
	u32 en_ncpus;
	struct dfr_provider *en_providers;
	struct dfr_provider en_dtrace;
	u64 en_hook_time;			       /* what a firing costs outside of the engine, ns */
	struct dfr_probe **en_byid;		       /* [id]; grows: not for probe context */
	struct dfr_probe *en_own[DFR_PROBE_ERROR + 1]; /* BEGIN, END, ERROR: those are */
	struct dfr_namegroup *en_groups;	       /* [id / DFR_GROUP_PROBES] */
	u32 en_nprobes;				       /* the largest id */
	u64 en_births;
	struct dfr_probe **en_gone; /* [en_byname_size], as en_byname: probes whose ids are kept for them */
	u32 en_room;
	struct dfr_probe **en_byname; /* by function name: hash chains */
	u32 en_byname_size;
	struct dfr_string **en_strings;
	u32 en_strings_size;
	u32 en_nstrings;
	struct dfr_state *en_states;
	struct dfr_state *en_arming; /* whose probes are being armed */
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

/* Of a user without privilege: it sees his own tasks alone. */
static inline bool dfr_state_confined(const struct dfr_state *state)
{
	return state->st_owner.te_kind != 0;
}

/* limits.c: of confined states. A reason, or NULL; 0 or an error. */
#define DFR_CONFINED_BUDGET	      5 /* percent of each CPU: of a state, and of all of a user's */
#define DFR_CONFINED_CLAUSES_ON_PROBE 64
const char *dfr_limits_check(const struct dfr_state *state, const struct dfr_program *program);
u64 dfr_limits_variables(const struct dfr_state *state);
bool dfr_limits_more_ecbs(const struct dfr_state *state);
bool dfr_limits_may_start(struct dfr_state *state);
void dfr_limits_leave(struct dfr_state *state);	   /* its user has a state less */
void dfr_limits_forget(struct dfr_engine *engine); /* all users: there are no states any more */
int dfr_limits_sizes(struct dfr_state *state);
u32 dfr_limits_key(const struct dfr_state *state); /* of any state: most bytes of an aggregation's key */

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

/* idiom.c: what the usual DIF says, so that it need not run. Process context. */
void dfr_idiom_value(struct dfr_step *step, const struct dfr_difo *difo);
bool dfr_idiom_store(struct dfr_step *step, const struct dfr_difo *difo);
void dfr_idiom_test(struct dfr_test *test, const struct dfr_difo *difo);

/* plan.c */
int dfr_plan_make(struct dfr_state *state, const struct dfr_enabling *enabling, u32 clause, u32 nargs,
		  struct dfr_plan **out);
void dfr_plan_free(struct dfr_plan *plan);
u32 dfr_plan_nargs(const struct dfr_clause *clause, const struct dfr_probe *probe);
int dfr_plan_probe_text(const struct dfr_difo *difo); /* which of the probe's four names it gives; -1: none */
bool dfr_plan_reads_user(const struct dfr_difo *difo);
u32 dfr_plan_agg_keys(const struct dfr_clause *clause, u32 action,
		      u32 *end); /* the first; *end: behind the last */

/* form.c */
void dfr_form_find(struct dfr_ecb *ecb, bool crowded); /* crowded: it is to be charged for what it does */
u32 dfr_form_keys(const struct dfr_step *step);	       /* of an aggregation's step: enum dfr_key_shape */
bool dfr_form_reads_args(const struct dfr_ecb *ecb);

/* aggvar.c */
extern const char dfr_no_memory[]; /* among the reasons that this gives: */
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
u32 dfr_governor_budget(const struct dfr_state *state); /* percent of each CPU; 0: no bound but the deadman */
void dfr_governor_end(struct dfr_state *state, u64 now);

/* past.c */
void dfr_past_keep(const struct dfr_state *state);
void dfr_past_recall(struct dfr_state *state);
void dfr_past_forget(struct dfr_engine *engine);

/* fire.c; probe context */
void dfr_fire_dtrace(struct dfr_state *state, u32 probe_id, u32 cpu);
void dfr_lost_here(struct dfr_share *share, const struct dfr_firing *firing, u32 cause, u64 count);
/* What has been counted is to be told: the next block writer does. Interrupts off. */
void dfr_ledger(struct dfr_share *share, u32 cause, u32 probe, u64 count, u64 from, u64 to);

/* visit.c; process context. fn runs on the CPU as its writer, interrupts off; for a CPU that is away, here. */
void dfr_visit_cpu(struct dfr_engine *engine, u32 cpu, void (*fn)(void *arg), void *arg);

/* A loss that no firing could count where its share's CPU does. */
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
#define DFR_STREAM_FRESH  (1ULL << 63) /* sm_time before the first head: any time is far from it */

/* The size codes of a record so far: four to a byte, the first lowest (encode.h). */
struct dfr_codes {
	u8 *co_at;
	u32 co_bits; /* of the byte that is not full yet, pushed down from the top */
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
/* The value words of this key, made if it is new; NULL: there is no room for it, or the firing has done too much. */
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
		  u64 id); /* of commit or discard: guest instructions, about */
enum dfr_spec_result dfr_spec_trace(struct dfr_share *share, u64 id, struct dfr_speclist **list);
enum dfr_spec_result dfr_spec_commit(struct dfr_share *share, struct dfr_firing *firing, u64 id);
enum dfr_spec_result dfr_spec_discard(struct dfr_share *share, u64 id, struct dfr_writer *open);
/* Records of no speculation: for what a clause records after it has discarded its own. */
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
void dfr_catalog_anchor(struct dfr_state *state); /* all extents anew */
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

/* Where an option that is known is in st_options. */
static inline u32 dfr_option_index(u32 option)
{
	return option < DFR_NOPTS_CLASSIC ? option : option - DFR_OPT_SPECPOOL + DFR_NOPTS_CLASSIC;
}

static inline s64 dfr_option(const struct dfr_state *state, u32 option)
{
	return state->st_options[dfr_option_index(option)];
}

/* bufresize=auto: sizes that memory does not suffice for are lowered. */
static inline bool dfr_state_resizes(const struct dfr_state *state)
{
	return dfr_option(state, DFR_OPT_BUFRESIZE) <= 0;
}

/*
 * From here on this CPU's writer is at work, interrupts off: whatever fires meanwhile is
 * nested. The barriers are for an NMI's eyes; the compiler's order is all it takes.
 */
dfr_hot void dfr_cpu_enter(struct dfr_cpu *pc)
{
	dfr_write_once(&pc->pc_busy, 1);
	dfr_smp_wmb();
}

dfr_hot void dfr_cpu_leave(struct dfr_cpu *pc)
{
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

/* Which bucket a value of quantize() counts in. */
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
