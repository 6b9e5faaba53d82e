/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running DIF, and the variables of a state: what this room offers to recording, and at
 * the end what it asks of recording. It knows nothing of rings and records.
 *
 * dfr_dif_run() and everything below it is probe context: no allocation, no lock, no
 * sleep, bounded work.
 */
#ifndef DFR_ENGINE_EXEC_H
#define DFR_ENGINE_EXEC_H

#include "kmod/engine/loading/program.h"

#ifdef __cplusplus
extern "C" {
#endif

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
	const struct dfr_state *vc_state; /* whose they are: pays for work, and has the losses */
};
int dfr_vars_create(struct dfr_engine *engine, const struct dfr_vars_config *config, struct dfr_vars **out);
int dfr_vars_declare(struct dfr_vars *vars, const struct dfr_program *pg, struct dfr_refusal *why);
void dfr_vars_free(struct dfr_vars *vars);
u64 dfr_vars_bytes(const struct dfr_vars *vars); /* of all copies of static variables */
void dfr_vars_clean(struct dfr_vars *vars); /* process context, at cleanrate: dirty -> rinsing -> clean */

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
 * scratch lives until the machine is set up for the next clause (steps.c): the parts of one that
 * `if` splits share it.
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

	u8 *m_scratch_ptr; /* the next allocation; what lies before it may be written */
	u8 *m_scratch_top; /* what lies before it was zeroed for this clause, and may be read */
	u32 m_fault;	   /* enum dif_fault + 1, 0: none */
	u32 m_fault_pc;	   /* byte offset, or ~0 */
	u64 m_fault_addr;
	u64 m_strtok; /* current position, 0: none; reset for each firing */
	u64 m_strtok_end;

	/* For the interpreter alone; here, because the kernel's stack is small. */
	const struct dfr_difo *m_difo; /* runs, or ran last: its string table is readable */
	u64 m_regs[DIF_NREGS];
	u64 m_tuple[DIF_NTUPLE];
	u64 m_tuple_size[DIF_NTUPLE]; /* 0: by value; DFR_TUPLE_TEXT: of a text, with its NUL */
	u32 m_ntuple;
};
#define DFR_M_DROP	    0x1 /* abandon this ECB's record; the code that set this has counted the loss */
#define DFR_M_LOCALS_ZEROED 0x2 /* this firing has zeroed the state's clause-locals on this CPU */
#define DFR_M_DESTRUCTIVE   0x4
#define DFR_M_SILENT	    0x8 /* the clause has no room: its copyout() does nothing, and is no fault */

#define DFR_TUPLE_TEXT (1ull << 63)

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

/* Probe context: charges work to the firing before it is done. false: too much, it must not be done. */
static inline bool dfr_firing_work(struct dfr_firing *firing, const struct dfr_state *state, u64 n)
{
	if (__builtin_expect(n > DFR_WORK_CHUNK - firing->fr_work, 0))
		return dfr_work_more(firing, state, n);
	firing->fr_work += (u32)n;
	return true;
}

/* Frees all scratch memory: another clause begins. */
static inline void dfr_machine_reset_scratch(struct dfr_machine *m)
{
	m->m_scratch_ptr = m->m_scratch;
	m->m_scratch_top = m->m_scratch;
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

/* ---- What recording answers, besides dfr_work_more() ---- */

u64 dfr_firing_time(struct dfr_firing *firing); /* probe context; the same for all ECBs of all states */

/*
 * Process context. dfr_cpu_stamp(): the firing that runs on a CPU, or ran there last.
 * dfr_cpu_still(): does the firing still run that ran at that time? The platform's grace
 * period is not enough, because it does not wait for firings in idle tasks.
 */
u64 dfr_cpu_stamp(const struct dfr_engine *engine, u32 cpu);
bool dfr_cpu_still(const struct dfr_engine *engine, u32 cpu, u64 stamp);

/* A store of the state's found no room: DFR_LOSS_DYNVAR, _DIRTY or _RINSING. Probe context. */
void dfr_store_lost(const struct dfr_state *state, const struct dfr_firing *firing, u32 cause);

/* speculation(): the id, or 0 if none is free, which it counts. Probe context. */
u64 dfr_spec_create(struct dfr_state *state, struct dfr_firing *firing);

#ifdef __cplusplus
}
#endif

#endif
