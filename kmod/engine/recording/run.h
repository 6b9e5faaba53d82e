/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What steps.c (the steps that record values) and actions.c (those that act) share of an
 * ECB's run in the general form. Probe context.
 */
#ifndef DFR_ENGINE_RUN_H
#define DFR_ENGINE_RUN_H

#include "kmod/engine/dif/machine.h"
#include "kmod/engine/recording/encode.h"
#include "kmod/engine/recording/fire.h"

enum dfr_outcome { DFR_RUN_OK, DFR_RUN_DROP, DFR_RUN_FAULT };

/* What the steps of one ECB share. */
struct dfr_run {
	struct dfr_firing *firing;
	struct dfr_share *share;
	struct dfr_machine *machine;
	const struct dfr_ecb *ecb;
	struct dfr_writer w;
};

/* Sets the state's machine up for this firing, if no clause of it has used the machine yet. */
dfr_hot void dfr_ready_for(struct dfr_share *share, struct dfr_firing *firing, u64 stamp)
{
	struct dfr_machine *machine = &share->sh_machine;

	if (share->sh_stamp == stamp)
		return;
	share->sh_stamp = stamp;
	machine->m_firing = firing;
	machine->m_flags &= DFR_M_DESTRUCTIVE;
	machine->m_strtok = 0;
	machine->m_strtok_end = 0;
}

u64 dfr_other_value(struct dfr_run *run, const struct dfr_step *step);
/* The machine faults with this code, outside of DIF. */
dfr_cold enum dfr_outcome dfr_run_fault(struct dfr_machine *machine, u32 code, u64 value);

/* actions.c */
enum dfr_outcome dfr_take_exit(struct dfr_run *run, const struct dfr_step *step, s32 *taken);
enum dfr_outcome dfr_step_exit(struct dfr_run *run, const struct dfr_step *step);
enum dfr_outcome dfr_step_destructive(struct dfr_run *run, const struct dfr_step *step);
dfr_cold enum dfr_outcome dfr_step_speculation(struct dfr_run *run, const struct dfr_step *step);
enum dfr_outcome dfr_speculate_on(struct dfr_run *run, u64 id);
/* A fault is counted, and fires ERROR in the state where it happened. */
dfr_cold void dfr_fire_error(struct dfr_run *run, u32 action);

dfr_hot u64 dfr_step_value(struct dfr_run *run, const struct dfr_step *step)
{
	if (step->sp_source == DFR_SRC_ARG)
		return dfr_firing_arg(run->firing, step->sp_from.arg);
	if (step->sp_source == DFR_SRC_DIF)
		return dfr_dif_run(step->sp_difo, run->machine);
	if (step->sp_source == DFR_SRC_CONST)
		return step->sp_from.constant;
	return dfr_other_value(run, step);
}

dfr_hot enum dfr_outcome dfr_machine_state(const struct dfr_machine *machine)
{
	if (dfr_unlikely(machine->m_fault))
		return DFR_RUN_FAULT;
	return dfr_unlikely(machine->m_flags & DFR_M_DROP) ? DFR_RUN_DROP : DFR_RUN_OK;
}

dfr_hot void dfr_write_int(struct dfr_writer *w, u64 value, bool is_signed)
{
	w->w_ptr = dfr_put_int(w->w_ptr, value, is_signed, &w->w_codes);
}

/* Makes room and writes the head. false: the record is lost, and dfr_record_slow() has counted it. */
dfr_hot bool dfr_begin_record(struct dfr_run *run, struct dfr_stream *stream, struct dfr_speclist *list)
{
	const struct dfr_plan *plan = run->ecb->ec_plan;
	struct dfr_firing *firing = run->firing;
	u64 time = firing->fr_time ? firing->fr_time : dfr_firing_time(firing);

	run->w.w_stream = stream;
	run->w.w_list = list;
	if (!dfr_stream_ready(stream, firing, plan->pn_need) &&
	    !dfr_record_slow(run->share, &run->w, firing, plan->pn_need))
		return false;
	run->w.w_start = stream->sm_ptr;
	run->w.w_codes.co_at =
		dfr_put_head(stream, stream->sm_ptr, run->ecb->ec_epid, dfr_plat_level_of(firing), time);
	run->w.w_codes.co_bits = 0;
	run->w.w_codes.co_n = 0;
	run->w.w_ptr = run->w.w_codes.co_at + plan->pn_codes;
	return true;
}

dfr_hot void dfr_commit_record(struct dfr_run *run)
{
	struct dfr_share *share = run->share;
	struct dfr_stream *stream = run->w.w_stream;

	dfr_put_last_codes(&run->w.w_codes);
	if (dfr_unlikely(share->sh_nnotes))
		dfr_record_add_notes(share, &run->w, run->firing);
	stream->sm_time = run->firing->fr_time;
	if (dfr_unlikely(run->w.w_list)) {
		stream->sm_ptr = run->w.w_ptr;
		dfr_spec_publish(share, run->w.w_list, run->firing->fr_time);
		return;
	}
	dfr_commit(share, run->w.w_ptr);
}

#endif
