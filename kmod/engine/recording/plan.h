/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a clause does, decided before it runs: its plan (plan.c, idiom.c), its form (form.c)
 * and its ECBs, one at each probe (build.c).
 */
#ifndef DFR_ENGINE_PLAN_H
#define DFR_ENGINE_PLAN_H

#include "kmod/engine/dif/exec.h"
#include "kmod/engine/engine.h"

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
	DFR_STEP_DESTRUCTIVE, /* sp_do.kind: the action's */
	DFR_STEP_TRIGGER      /* snapshot(): counts one of the state's reasons, sp_do.reason */
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
		u32 reason; /* DFR_STEP_TRIGGER */
	} sp_do;
};

/* pn_flags */
#define DFR_PN_RECORDS	  0x1 /* writes a record, maybe one without fields */
#define DFR_PN_SPECULATES 0x2
#define DFR_PN_MACHINE	  0x4 /* some step runs DIF or copies through the machine */
#define DFR_PN_CONTEXT	  0x8 /* some step that records nothing needs the context */
#define DFR_PN_COMMITS	  0x10
#define DFR_PN_ARGS	  0x20 /* may look at arguments */
#define DFR_PN_ROOMLESS	  0x40 /* has an exit() or a snapshot(), which act even if the record finds no room */

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
#define DFR_EC_PURE	    0x1	 /* predicate is pure */
#define DFR_EC_CONTINUATION 0x2	 /* a later part of a clause that `if` splits */
#define DFR_EC_SPLIT	    0x4	 /* part of a clause that has several */
#define DFR_EC_IF_SET	    0x8	 /* DFR_FORM_SINCE, _STEPS: only if the number of ec_facts is not 0 */
#define DFR_EC_FAULT_HOLDS  0x10 /* a predicate that faults counts as true */

/* What the later parts of a clause that `if` splits do in this firing. */
enum dfr_split {
	DFR_SPLIT_OVER, /* nothing: the clause's predicate was false, or one part has stopped */
	DFR_SPLIT_RUNS,
	DFR_SPLIT_NO_ROOM, /* one part's record found no room: only exit() and what it may depend on */
};

struct dfr_ecb {
	struct dfr_ecb *ec_next;   /* of the probe */
	struct dfr_ecb *ec_before; /* of the probe, while it is linked: the one before this, or NULL */
	struct dfr_state *ec_state;
	struct dfr_share **ec_live; /* the state's st_live, of the clause's priority */
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
	u64 ec_detached; /* when the governor unlinked it, if it did, */
	u64 ec_counted;	 /* and how long ec_fired had been counted until then */
	u64 ec_missed;	 /* what pv_ops->missed() said last, or when it was linked; under the state's lock */
	bool ec_tells;	 /* of what its probe misses: one ECB of a state at a probe does */
	bool ec_off;	 /* the catalog was told that its probe hears of no hit */
};

#define DFR_MARK_LINKED	  0x1 /* in the probe's chain */
#define DFR_MARK_DETACHED 0x2 /* the governor has unlinked it */
#define DFR_MARK_THINNED  0x4 /* unlinked while its priority is off */
#define DFR_MARK_CHOSEN	  0x8 /* is about to be detached */

static inline u32 dfr_ecb_priority(const struct dfr_ecb *ecb)
{
	return DFR_ECBUARG_PRIORITY(ecb->ec_plan->pn_clause->cl_uarg);
}

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

#endif
