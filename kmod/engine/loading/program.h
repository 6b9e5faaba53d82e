/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the loader makes of a DOF: a program of clauses, actions and verified DIF
 * objects. dif runs it, recording makes ECBs of it. Process context; once loaded, a
 * program does not change.
 */
#ifndef DFR_ENGINE_PROGRAM_H
#define DFR_ENGINE_PROGRAM_H

#include "formats/abi/dif.h"
#include "formats/abi/dof.h"
#include "kmod/engine/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dfr_machine;

/* Why a DOF was refused: names section and offset. */
struct dfr_refusal {
	u32 rf_section; /* 0xffffffff: the header */
	u64 rf_offset;	/* in the DOF */
	char rf_reason[128];
};

/* For names from a program, which get into refusals and the kernel's log: '?' for all but printable ASCII. */
static inline char dfr_printable(char c)
{
	return c >= ' ' && c <= '~' ? c : '?';
}

/* Is it one of DTrace's options, or of ours? */
static inline bool dfr_option_known(u32 option)
{
	return option < DFR_OPT_CLASSIC_MAX || (option >= DFR_OPT_SPECPOOL && option < DFR_OPT_OURS_MAX);
}

/* A verified DIF object. Tables point into the program's private copy of the DOF. */
struct dfr_difo {
	const u32 *di_text;
	const u64 *di_ints;
	const char *di_strs;
	const struct dif_var *di_vars;
	u32 di_len;
	u32 di_nints;
	u32 di_strsz;
	u32 di_nvars;
	struct dif_type di_rtype;
	u32 di_section; /* DIFOHDR's index */
	u32 di_flags;	/* DFR_DIFO_* */
	/* Native code, where the platform makes it: dfr_dif_run() then runs that. */
	u64 (*di_run)(struct dfr_machine *m);
	void *di_native;
};
#define DFR_DIFO_PURE	     0x1 /* only execname pid tid cpu arg0-5, constants: may run before the guard */
#define DFR_DIFO_DESTRUCTIVE 0x2 /* copyout, copyoutstr */
#define DFR_DIFO_PROBETEXT   0x4 /* exactly `ldgs probeprov..probename; ret` */
#define DFR_DIFO_STACK	     0x8
#define DFR_DIFO_RESTRICTED  0x10 /* loaded without kernel reads: only the machine's own memory can be read */
#define DFR_DIFO_ARGS	     0x20 /* reads the probe's arguments */
#define DFR_DIFO_CONFINED    0x40 /* of a user without privilege: never gets a kernel address as a number */

struct dfr_act {
	u16 ac_kind; /* enum dfr_action */
	u16 ac_ntuple;
	u32 ac_flags;		  /* DFR_AC_* */
	struct dfr_difo *ac_difo; /* or NULL */
	u64 ac_arg;		  /* DFR_ACT_SNAPSHOT: index in pg_reasons */
	u64 ac_uarg;
};

#define DFR_AC_KEY    0x1 /* an element of the key of the aggregating action that follows */
#define DFR_AC_WEIGHT 0x2 /* the weight of the aggregating action that follows */

/* One ECBDESC. */
struct dfr_clause {
	u32 cl_index; /* among the DOF's ECBDESCs */
	u32 cl_nacts;
	const char *cl_pattern[4]; /* provider, module, function, name */
	const char *cl_host;	   /* glob over host name, vmname, OS release; "": all */
	bool cl_foreign;	   /* compiled for other kernel types than are here: it matches nothing */
	bool cl_confined;	   /* it matches only probes that confined programs may use */
	u32 cl_probe_id;	   /* 0, or match by id */
	u64 cl_uarg;
	struct dfr_difo *cl_pred; /* or NULL */
	struct dfr_act *cl_acts;
};

/* The clause's probe description, cut to `room` bytes; '?' for characters that do not print. */
void dfr_clause_text(const struct dfr_clause *clause, char *text, size_t room);

struct dfr_progopt {
	u32 po_option;
	s64 po_value;
};

/* A loaded DOF. */
struct dfr_program {
	void *pg_dof; /* private copy: the caller's memory is not read again */
	size_t pg_dof_size;
	u32 pg_nclauses;
	u32 pg_noptions;
	struct dfr_clause *pg_clauses;
	struct dfr_progopt *pg_options;
	struct dfr_difo *pg_difos;
	u32 pg_ndifos;
	bool pg_destructive;
	bool pg_restricted; /* loaded without kernel reads */
	bool pg_confined;
	struct dfr_act *pg_acts; /* of all ACTDESC sections; clauses of one section share theirs */
	u32 pg_nacts;
	const char *pg_reasons[DFR_REASONS_MAX]; /* of its snapshot() actions, each once; in pg_dof */
	u32 pg_nreasons;
};

#define DFR_CONFINED_DOF_MAX (256u * 1024)
/* Clauses of a confined state, because each is matched with all probes under the engine's lock. */
#define DFR_CONFINED_CLAUSES_MAX 256

struct dfr_load_limits {
	/* false: loads become restricted ones, kernel stacks are refused, and a probe with arguments of
	 * the kernel is not armed for clauses that read them */
	bool ll_kernel_reads;
	bool ll_destructive;
	u64 (*ll_types)(void); /* digest of the kernel's types, 0: none; NULL: not compared */
	bool ll_confined;      /* for a user without privilege: confine.c */
};

/*
 * 0, or with a refusal -EINVAL, -E2BIG (too large), -EACCES (destructive, and
 * limits forbid it), -EPERM (not in a confined program), -ENOENT (a kernel symbol
 * is not there); without one -ENOMEM, -EINTR (the caller has been killed). Call it
 * without any lock: it is slow, and uses no engine. `dof` may be freed or change
 * afterwards. A DOF that passes can neither hang nor overrun nor fault in probe
 * context, even if its author wants it to.
 */
int dfr_program_load(const void *dof, size_t size, const struct dfr_load_limits *limits,
		     struct dfr_program **out, struct dfr_refusal *why);
void dfr_program_free(struct dfr_program *pg);
void dfr_program_interpret(struct dfr_program *pg); /* frees its native code; no firing may run it */

#ifdef __cplusplus
}
#endif

#endif
