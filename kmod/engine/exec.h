/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Execution: loading a DOF (verify, then trust), running DIF, and the variables
 * of a state. Files: dof.c, verify.c, interp.c, subr*.c, builtin.c, softfloat.c,
 * vars.c, dynvar.c. This half of the engine knows nothing of rings and records; the
 * other half (engine.h) calls it.
 *
 * Loading runs in process context. dfr_dif_run() and everything below it is
 * probe context: no allocation, no lock, no sleep, bounded work.
 */
#ifndef DFR_ENGINE_EXEC_H
#define DFR_ENGINE_EXEC_H

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
	u64 ac_arg;
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
};

#define DFR_CONFINED_DOF_MAX (256u * 1024)

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
void dfr_program_free(struct dfr_program *program);

/*
 * The variables of a state: global and clause-local statics, thread-locals and
 * associative arrays (dynamic variables), strtok state. Ids are the program's;
 * programs of one state share scopes by id, so a later program must agree on
 * kind and size (-EINVAL).
 */
struct dfr_vars;
struct dfr_vars_config {
	size_t vc_dynvarsize;
	u32 vc_strsize;
};
int dfr_vars_create(struct dfr_engine *engine, const struct dfr_vars_config *config, struct dfr_vars **out);
int dfr_vars_declare(struct dfr_vars *vars, const struct dfr_program *program, struct dfr_refusal *why);
void dfr_vars_free(struct dfr_vars *vars);
u64 dfr_vars_bytes(const struct dfr_vars *vars); /* of all copies of static variables */
void dfr_vars_clean(struct dfr_vars *vars); /* process context, at cleanrate: dirty -> rinsing -> clean */

/* Losses of dynamic variables so far: DFR_LOSS_DYNVAR, _DIRTY, _RINSING. */
void dfr_vars_losses(const struct dfr_vars *vars, u64 losses[3]);

/* Is it a thread-local number (kept by self.c)? */
static inline bool dfr_var_is_self(const struct dif_var *var)
{
	return var->id >= DIF_VAR_USER_FIRST && var->scope == DIF_VS_THREAD && var->kind == DIF_VK_SCALAR &&
	       !(var->type.flags & DIF_TF_BYREF);
}
/* Probe context; false: no room, and counted. */
u64 dfr_self_load(const struct dfr_vars *vars, struct dfr_firing *firing, u32 id);
bool dfr_self_store(struct dfr_vars *vars, struct dfr_firing *firing, u32 id, u64 value);

/*
 * Runs DIF for one state in one firing on one CPU. Each share has two: sh_machine
 * and, for ERROR inside a firing, sh_error_machine. The caller fills the first part;
 * scratch lives until the machine is set up for the next ECB (steps.c).
 */
struct dfr_machine {
	struct dfr_firing *m_firing;
	struct dfr_vars *m_vars;
	struct dfr_state *m_state;
	u8 *m_scratch;
	u8 *m_scratch_end;
	u32 m_strsize;
	u32 m_epid;
	u32 m_flags; /* DFR_M_* */

	u8 *m_scratch_ptr;
	u32 m_fault;	/* enum dif_fault + 1, 0: none */
	u32 m_fault_pc; /* byte offset, or ~0 */
	u64 m_fault_addr;
	u64 m_strtok; /* current position, 0: none; reset for each firing */
	u64 m_strtok_end;

	/* For the interpreter alone; here, because the kernel's stack is small. */
	const struct dfr_difo *m_difo; /* runs, or ran last: its string table is readable */
	u64 m_regs[DIF_NREGS];
	u64 m_tuple[DIF_NTUPLE];
	u64 m_tuple_size[DIF_NTUPLE]; /* 0: by value */
	u32 m_ntuple;
};
/*
 * Work of a firing (work.c), in estimated guest instructions. The limits, in chunks, are
 * for all clauses and ERRORs of one account in one firing: about ten million
 * instructions for root, one million for a user without privilege.
 */
#define DFR_WORK_CHUNK	  16384u
#define DFR_WORK_ROOT	  610u
#define DFR_WORK_CONFINED 61u
#define DFR_WORK_ERRORS	  8u /* of these, reserved for ERROR */

/* dfr_firing_work() calls it when a chunk is full. state: whose account; NULL: root's. */
bool dfr_work_more(struct dfr_firing *firing, const struct dfr_state *state, u64 n);

/* Probe context, inside the guard: call it when a clause that has filled a chunk has ended. */
void dfr_work_seen(const struct dfr_firing *firing, const struct dfr_state *state);

/* Probe context: charges work to the firing before it is done. false: too much, it must not be done. */
static inline bool dfr_firing_work(struct dfr_firing *firing, const struct dfr_state *state, u64 n)
{
	if (__builtin_expect(n > DFR_WORK_CHUNK - firing->fr_work, 0))
		return dfr_work_more(firing, state, n);
	firing->fr_work += (u32)n;
	return true;
}

#define DFR_M_DROP	    0x1 /* abandon this ECB's record; the code that set this has counted the loss */
#define DFR_M_LOCALS_ZEROED 0x2 /* this firing has zeroed the state's clause-locals on this CPU */
#define DFR_M_DESTRUCTIVE   0x4

/* Frees all scratch memory of an ECB that is finished. */
static inline void dfr_machine_reset_scratch(struct dfr_machine *m)
{
	m->m_scratch_ptr = m->m_scratch;
}

/*
 * Runs a DIFO; m_fault and m_fault_pc are set anew by each run. A DFR_DIFO_PURE
 * one uses neither scratch nor variables and may run before the guard on a
 * machine of its own: if it faults there, it must be run again inside the guard.
 * Returns the DIFO's value, or 0 if m_fault was set. By-reference results are addresses
 * that dfr_machine_readable() accepts or others of the kernel (DIF_TF_BYUREF: of user space).
 */
u64 dfr_dif_run(const struct dfr_difo *difo, struct dfr_machine *m);

/* Is [addr, addr+size) memory of the machine's own (scratch, variables, string tables, probe names)? */
bool dfr_machine_readable(const struct dfr_machine *m, u64 addr, size_t size);

/* Copy a by-reference value to dst: strings up to room with NUL (returns length with NUL),
 * bytes exactly n. Negative: a fault, which is set in m. */
long dfr_machine_copy_str(struct dfr_machine *m, char *dst, u64 addr, size_t room, bool user, bool *cut);
int dfr_machine_copy(struct dfr_machine *m, void *dst, u64 addr, size_t n, bool user);

/* DIF_SUBR_F_*: integer instructions alone. */
u64 dfr_softfloat(u32 subr, u64 a, u64 b);

/*
 * Process context. dfr_cpu_stamp(): the firing that runs on a CPU, or ran there last.
 * dfr_cpu_still(): does the firing still run that ran at that time? The platform's grace
 * period is not enough, because it does not wait for firings in idle tasks.
 */
u64 dfr_cpu_stamp(const struct dfr_engine *engine, u32 cpu);
bool dfr_cpu_still(const struct dfr_engine *engine, u32 cpu, u64 stamp);

/* speculation(), in spec.c: the id, or 0 if none is free, which it counts. Probe context. */
u64 dfr_spec_create(struct dfr_state *state, struct dfr_firing *firing);

#ifdef __cplusplus
}
#endif

#endif
