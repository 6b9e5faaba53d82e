// SPDX-License-Identifier: GPL-2.0
/*
 * The steps that act: exit(), destructive actions, speculations, and ERROR, which fires when
 * a step faults. Probe context: interrupts are off, this CPU is the only writer.
 */
#include "kmod/engine/recording/run.h"

/* Too late: the state has ended. What is dropped with it lies after its end, also if the firing began before. */
static dfr_cold enum dfr_outcome exit_too_late(struct dfr_run *run)
{
	dfr_cut_off(run->ecb->ec_state, run->firing);
	return DFR_RUN_DROP;
}

/* The first exit() wins, and ends recording on all CPUs; the others are dropped. */
enum dfr_outcome dfr_take_exit(struct dfr_run *run, const struct dfr_step *step, s32 *taken)
{
	struct dfr_state *state = run->ecb->ec_state;
	u64 status = dfr_step_value(run, step);
	u32 before;

	if (step->sp_source == DFR_SRC_DIF && dfr_machine_state(run->machine) != DFR_RUN_OK)
		return dfr_machine_state(run->machine);
	before = dfr_read_once(&state->st_activity);
	if (before == DFR_WARMUP || before == DFR_ACTIVE) {
		if (!dfr_becomes_over(state, before, DFR_DRAINING, dfr_firing_time(run->firing)))
			return exit_too_late(run);
	} else if (before != DFR_COOLDOWN) {
		return exit_too_late(run);
	}
	dfr_write_once(&state->st_exit_status, (s32)status);
	dfr_store_release(&state->st_exited, 1);
	dfr_plat_wake(state);
	*taken = (s32)status;
	return DFR_RUN_OK;
}

enum dfr_outcome dfr_step_exit(struct dfr_run *run, const struct dfr_step *step)
{
	s32 status;
	enum dfr_outcome outcome = dfr_take_exit(run, step, &status);

	if (outcome == DFR_RUN_OK)
		dfr_write_int(&run->w, (u64)(s64)status, true);
	return outcome;
}

#define CHILL_WINDOW 1000000000ULL
#define CHILL_MAX    500000000ULL

/* At most half a second in each second. */
static enum dfr_outcome do_chill(struct dfr_run *run, u64 ns)
{
	struct dfr_share *share = run->share;
	u64 now = dfr_firing_time(run->firing);

	if (now - share->sh_chill_start > CHILL_WINDOW) {
		share->sh_chill_start = now;
		share->sh_chilled = 0;
	}
	if (ns > CHILL_MAX || share->sh_chilled + ns > CHILL_MAX)
		return dfr_run_fault(run->machine, DIF_FAULT_ILLOP, ns);
	share->sh_chilled += ns;
	dfr_plat_chill(ns);
	dfr_work_waited(run->firing, ns);
	return DFR_RUN_OK;
}

enum dfr_outcome dfr_step_destructive(struct dfr_run *run, const struct dfr_step *step)
{
	u64 value = dfr_step_value(run, step);

	if (step->sp_source == DFR_SRC_DIF && dfr_machine_state(run->machine) != DFR_RUN_OK)
		return dfr_machine_state(run->machine);
	if (!(run->machine->m_flags & DFR_M_DESTRUCTIVE))
		return dfr_run_fault(run->machine, DIF_FAULT_ILLOP, 0);
	switch (step->sp_do.kind) {
	case DFR_ACT_STOP: dfr_plat_stop(run->firing); break;
	case DFR_ACT_RAISE: dfr_plat_raise(run->firing, (int)value); break;
	case DFR_ACT_BREAKPOINT: dfr_plat_breakpoint(); break;
	case DFR_ACT_PANIC: dfr_plat_panic(); break;
	case DFR_ACT_CHILL: return do_chill(run, value);
	}
	return DFR_RUN_OK;
}

static dfr_cold enum dfr_outcome spec_outcome(struct dfr_run *run, enum dfr_spec_result result, u64 id)
{
	if (result == DFR_SPEC_ILLOP)
		return dfr_run_fault(run->machine, DIF_FAULT_ILLOP, id);
	return result == DFR_SPEC_OK ? DFR_RUN_OK : DFR_RUN_DROP;
}

enum dfr_outcome dfr_speculate_on(struct dfr_run *run, u64 id)
{
	struct dfr_speclist *list;
	enum dfr_spec_result result = dfr_spec_trace(run->share, id, &list);

	if (result != DFR_SPEC_OK)
		return spec_outcome(run, result, id);
	if (run->ecb->ec_flags & DFR_EC_SPLIT)
		run->share->sh_split_spec = id;
	return dfr_begin_record(run, &list->sl_stream, list) ? DFR_RUN_OK : DFR_RUN_DROP;
}

static enum dfr_outcome commit_or_discard(struct dfr_run *run, u32 op, u64 id)
{
	/* Not dfr_work(): without a predicate and DFR_PN_MACHINE, the machine has not been set up. */
	if (!dfr_firing_work(run->firing, run->share->sh_state, dfr_spec_work(run->share, id)))
		return dfr_run_fault(run->machine, DIF_FAULT_ILLOP, id);
	/* Its number may now be given to another speculation, so later parts record to the void list. */
	if (id && run->ecb->ec_flags & DFR_EC_SPLIT && run->share->sh_split_spec == id)
		run->share->sh_split_spec = DFR_SPEC_VOID;
	if (op == DFR_STEP_COMMIT)
		return spec_outcome(run, dfr_spec_commit(run->share, run->firing, id), id);
	return spec_outcome(run, dfr_spec_discard(run->share, id, run->w.w_start ? &run->w : NULL), id);
}

dfr_cold enum dfr_outcome dfr_step_speculation(struct dfr_run *run, const struct dfr_step *step)
{
	u64 id = dfr_step_value(run, step);
	enum dfr_outcome outcome =
		step->sp_source == DFR_SRC_DIF ? dfr_machine_state(run->machine) : DFR_RUN_OK;

	if (outcome != DFR_RUN_OK)
		return outcome;
	/* The verifier (check_order()) refuses records after a commit: what speculate() began is complete. */
	if (step->sp_op == DFR_STEP_COMMIT && run->w.w_start && run->w.w_list) {
		dfr_commit_record(run);
		run->w.w_start = NULL;
	}
	/*
	 * A commit or another speculate() would destroy an open record; the verifier
	 * refuses clauses that do that. A discard is allowed, because it does not touch
	 * the ring and keeps the chunk of the open record.
	 */
	if (run->w.w_start && step->sp_op != DFR_STEP_DISCARD)
		return dfr_run_fault(run->machine, DIF_FAULT_ILLOP, id);
	if (step->sp_op == DFR_STEP_SPECULATE)
		return dfr_speculate_on(run, id);
	return commit_or_discard(run, step->sp_op, id);
}

#define ERROR_WORK 1024

dfr_cold void dfr_fire_error(struct dfr_run *run, u32 action)
{
	struct dfr_firing *firing = run->firing;
	struct dfr_share *share = run->share;
	struct dfr_machine *machine = run->machine;
	struct dfr_machine *error = &share->sh_error_machine;
	struct dfr_engine *engine = firing->fr_engine;
	struct dfr_cpu *pc = dfr_cpu_of(engine, firing->fr_cpu);
	struct dfr_firing *inner = &pc->pc_error;
	struct dfr_ecb *ecb;

	dfr_count(&share->sh_errors, 1);
	share->sh_nnotes = 0;
	if (firing->fr_probe->pb_id == DFR_PROBE_ERROR) {
		dfr_lost_here(share, firing, DFR_LOSS_DOUBLE_ERROR, 1);
		return;
	}
	if (!run->ecb->ec_state->st_has_error)
		return;
	dfr_firing_time(firing);
	*inner = *firing;
	inner->fr_probe = engine->en_own[DFR_PROBE_ERROR];
	if (!dfr_firing_work(inner, run->ecb->ec_state, ERROR_WORK)) {
		dfr_lost_here(share, firing, DFR_LOSS_DOUBLE_ERROR, 1);
		return;
	}
	inner->fr_error[0] = 0;
	inner->fr_error[1] = run->ecb->ec_epid;
	inner->fr_error[2] = action;
	inner->fr_error[3] = machine->m_fault_pc == ~0u ? ~0ULL : machine->m_fault_pc;
	inner->fr_error[4] = machine->m_fault - 1;
	inner->fr_error[5] = machine->m_fault_addr;
	inner->fr_args = inner->fr_error;
	inner->fr_nargs = DFR_ERROR_NARGS;
	error->m_firing = inner;
	/*
	 * ERROR is part of the same firing: it shares clause-locals and strtok()'s position. A clause
	 * that faulted outside of DIF may have left the machine as the last firing did.
	 */
	dfr_ready_for(share, firing, pc->pc_stamp);
	error->m_flags = machine->m_flags & (DFR_M_LOCALS_ZEROED | DFR_M_DESTRUCTIVE);
	error->m_strtok = machine->m_strtok;
	error->m_strtok_end = machine->m_strtok_end;
	for (ecb = dfr_load_acquire((struct dfr_ecb **)&inner->fr_probe->pb_ecbs); ecb;
	     ecb = dfr_load_acquire(&ecb->ec_next))
		if (ecb->ec_state == run->ecb->ec_state)
			dfr_run_ecb(inner, ecb, share, error, 0);
	/* ERROR's work counts as this firing's. */
	firing->fr_chunks = inner->fr_chunks;
	firing->fr_work = inner->fr_work;
	machine->m_flags |= error->m_flags & DFR_M_LOCALS_ZEROED;
	machine->m_strtok = error->m_strtok;
	machine->m_strtok_end = error->m_strtok_end;
}
