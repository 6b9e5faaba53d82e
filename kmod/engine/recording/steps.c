// SPDX-License-Identifier: GPL-2.0
/*
 * An ECB in the general form: predicate, room for the record, the plan's steps in
 * order, commit; and ERROR if one of them faults. Probe context: no lock, no sleep, no
 * allocation; interrupts are off, this CPU is the only writer.
 *
 * A clause that plain.c could run comes here only if its predicate must run as DIF, its
 * work must be charged, or it is on BEGIN, END or ERROR; then plain.c does the rest
 * (ec_body). The kernel is built without jump tables, so run_steps() asks for the most
 * likely steps first.
 */
#include "kmod/engine/recording/encode.h"
#include "kmod/engine/recording/fire.h"
#include "kmod/engine/dif/machine.h"

enum outcome { RUN_OK, RUN_DROP, RUN_FAULT };

/* What the steps of one ECB share. */
struct run {
	struct dfr_firing *firing;
	struct dfr_share *share;
	struct dfr_machine *machine;
	const struct dfr_ecb *ecb;
	struct dfr_writer w;
};

/* Values. */

static u64 other_value(struct run *run, const struct dfr_step *step)
{
	switch (step->sp_source) {
	case DFR_SRC_PID: return dfr_plat_pid(run->firing);
	case DFR_SRC_TID: return dfr_plat_tid(run->firing);
	case DFR_SRC_CPU: return run->firing->fr_cpu;
	case DFR_SRC_TIMESTAMP: return dfr_firing_time(run->firing);
	case DFR_SRC_PROBE_ID: return run->firing->fr_probe->pb_id;
	case DFR_SRC_SELF: return dfr_self_load(run->machine->m_vars, run->firing, step->sp_from.number);
	case DFR_SRC_SINCE:
		return dfr_firing_time(run->firing) -
		       dfr_self_load(run->machine->m_vars, run->firing, step->sp_from.number);
	default: return 0;
	}
}

dfr_hot u64 step_value(struct run *run, const struct dfr_step *step)
{
	if (step->sp_source == DFR_SRC_ARG)
		return dfr_firing_arg(run->firing, step->sp_from.arg);
	if (step->sp_source == DFR_SRC_DIF)
		return dfr_dif_run(step->sp_difo, run->machine);
	if (step->sp_source == DFR_SRC_CONST)
		return step->sp_from.constant;
	return other_value(run, step);
}

/* Cuts the value to its declared width and extends it by its declared sign. */
dfr_hot u64 declared(const struct dfr_step *step, u64 value)
{
	value <<= step->sp_shift;
	return step->sp_flags & DFR_SP_SIGNED ? (u64)((s64)value >> step->sp_shift) : value >> step->sp_shift;
}

dfr_hot enum outcome machine_state(const struct dfr_machine *machine)
{
	if (dfr_unlikely(machine->m_fault))
		return RUN_FAULT;
	return dfr_unlikely(machine->m_flags & DFR_M_DROP) ? RUN_DROP : RUN_OK;
}

static dfr_cold enum outcome fault(struct dfr_machine *machine, u32 code, u64 value)
{
	machine->m_fault = code + 1;
	machine->m_fault_pc = ~0u;
	machine->m_fault_addr = value;
	return RUN_FAULT;
}

/* A fault of a captured field becomes a note, and the record goes on. false: the clause must stop. */
static dfr_cold bool capture_forgives(struct run *run, const struct dfr_step *step)
{
	struct dfr_machine *machine = run->machine;

	if (!(step->sp_flags & DFR_SP_CAPTURE) || !machine->m_fault || machine->m_flags & DFR_M_DROP)
		return false;
	dfr_record_note(run->share, step->sp_field, machine->m_fault - 1, machine->m_fault_addr);
	machine->m_fault = 0;
	return true;
}

/* Fields. */

dfr_hot void put_int(struct dfr_writer *w, u64 value, bool is_signed)
{
	w->w_ptr = dfr_put_int(w->w_ptr, value, is_signed, &w->w_codes);
}

dfr_hot enum outcome step_int(struct run *run, const struct dfr_step *step)
{
	u64 value = step_value(run, step);

	if (step->sp_source == DFR_SRC_DIF && dfr_unlikely(machine_state(run->machine) != RUN_OK)) {
		if (!capture_forgives(run, step))
			return machine_state(run->machine);
		value = 0;
	}
	put_int(&run->w, declared(step, value), step->sp_flags & DFR_SP_SIGNED);
	return RUN_OK;
}

dfr_hot void step_args(struct run *run, const struct dfr_step *step)
{
	u32 i;

	for (i = 0; i < step->sp_do.count; i++)
		put_int(&run->w, dfr_firing_arg(run->firing, i), true);
}

static long copy_name(struct run *run, const struct dfr_step *step, u8 *to)
{
	const struct dfr_probe *probe = run->firing->fr_probe;
	const char *text = step->sp_do.data.name == 0	? probe->pb_provider->pv_name
			   : step->sp_do.data.name == 1 ? probe->pb_module
			   : step->sp_do.data.name == 2 ? probe->pb_function
							: probe->pb_name;
	size_t n = strlen(text);

	if (n > step->sp_do.data.size - 1)
		n = step->sp_do.data.size - 1;
	memcpy(to, text, n);
	to[n] = '\0';
	return (long)n + 1;
}

/* Copies a string to `to`: its length with the NUL, or negative: machine_state() says why. */
static long copy_string(struct run *run, const struct dfr_step *step, u8 *to, bool *cut)
{
	u64 address;

	if (step->sp_flags & DFR_SP_NAME)
		return copy_name(run, step, to);
	address = step_value(run, step);
	if (machine_state(run->machine) != RUN_OK)
		return -1;
	return dfr_machine_copy_str(run->machine, (char *)to, address, step->sp_do.data.size,
				    step->sp_flags & DFR_SP_USER, cut);
}

static enum outcome step_string(struct run *run, const struct dfr_step *step)
{
	bool cut = false;
	long n;

	if (step->sp_source == DFR_SRC_EXECNAME) {
		run->w.w_ptr += dfr_copy_comm(run->firing, run->w.w_ptr);
		return RUN_OK;
	}
	n = copy_string(run, step, run->w.w_ptr, &cut);
	if (dfr_unlikely(n < 1)) {
		if (!capture_forgives(run, step))
			return run->machine->m_fault ? RUN_FAULT : RUN_DROP;
		*run->w.w_ptr = '\0';
		n = 1;
	} else if (cut && step->sp_flags & DFR_SP_CAPTURE) {
		dfr_record_note(run->share, step->sp_field, DFR_NOTE_CUT, 0);
	}
	run->w.w_ptr += n;
	return RUN_OK;
}

/* Copies `n` bytes from an address that the step has computed; a capture that faults is zeros and a note. */
static enum outcome copy_bytes(struct run *run, const struct dfr_step *step, u8 *to, u64 address, u32 n)
{
	if (machine_state(run->machine) == RUN_OK &&
	    !dfr_machine_copy(run->machine, to, address, n, step->sp_flags & DFR_SP_USER))
		return RUN_OK;
	if (!capture_forgives(run, step))
		return run->machine->m_fault ? RUN_FAULT : RUN_DROP;
	memset(to, 0, n);
	return RUN_OK;
}

static enum outcome step_bytes(struct run *run, const struct dfr_step *step)
{
	u64 address = step_value(run, step);
	enum outcome outcome = copy_bytes(run, step, run->w.w_ptr, address, step->sp_do.data.size);

	run->w.w_ptr += step->sp_do.data.size;
	return outcome;
}

/* tracemem() with a size that a DIFO computes, or printm()'s {address, length}. */
static enum outcome step_varbytes(struct run *run, const struct dfr_step *step)
{
	u64 address = step_value(run, step);
	u64 n = 0;
	u64 pair[2];
	enum outcome outcome = machine_state(run->machine);

	if (outcome != RUN_OK)
		return outcome;
	if (step->sp_do.data.length) {
		n = dfr_dif_run(step->sp_do.data.length, run->machine);
	} else {
		if (dfr_machine_copy(run->machine, pair, address, sizeof(pair), false))
			return run->machine->m_fault ? RUN_FAULT : RUN_DROP;
		address = pair[0];
		n = pair[1];
	}
	if (n > step->sp_do.data.size)
		n = step->sp_do.data.size;
	outcome = copy_bytes(run, step, run->w.w_ptr + 2, address, (u32)n);
	run->w.w_ptr[0] = (u8)n;
	run->w.w_ptr[1] = (u8)(n >> 8);
	run->w.w_ptr += 2 + n;
	return outcome;
}

static u32 read_stack(struct run *run, const struct dfr_step *step, u64 *pcs)
{
	u32 n;

	if (!dfr_work(run->machine, (u64)step->sp_do.frames * DFR_WORK_FRAME))
		return 0;
	n = step->sp_op == DFR_STEP_STACK ? dfr_plat_stack(run->firing, pcs, step->sp_do.frames)
					  : dfr_plat_ustack(run->firing, pcs, step->sp_do.frames);
	return n < step->sp_do.frames ? n : step->sp_do.frames;
}

static enum outcome step_stack(struct run *run, const struct dfr_step *step)
{
	u64 *pcs = run->share->sh_pcs;
	u32 n = read_stack(run, step, pcs);
	u8 *p = run->w.w_ptr;

	if (step->sp_op == DFR_STEP_USTACK) {
		dfr_put32(p, dfr_firing_context(run->firing)->cx_pid);
		p += 4;
	}
	*p++ = (u8)n;
	memcpy(p, pcs, n * 8);
	run->w.w_ptr = p + n * 8;
	return machine_state(run->machine);
}

static enum outcome step_usym(struct run *run, const struct dfr_step *step)
{
	u64 address = step_value(run, step);

	if (step->sp_source == DFR_SRC_DIF && machine_state(run->machine) != RUN_OK)
		return machine_state(run->machine);
	dfr_put64(run->w.w_ptr, dfr_firing_context(run->firing)->cx_pid);
	dfr_put64(run->w.w_ptr + 8, address);
	run->w.w_ptr += 16;
	return RUN_OK;
}

/* Aggregations. */

/* Fills the last word of the n bytes at key with zeros; returns the next word. */
dfr_hot u64 *pad_key(u64 *key, u32 n)
{
	if (n & 7)
		memset((u8 *)key + n, 0, 8 - (n & 7));
	return key + ((n + 7) >> 3);
}

static enum outcome key_other(struct run *run, const struct dfr_step *step, u64 **at)
{
	u64 *key = *at;
	u64 address;
	bool cut;
	long n;

	switch (step->sp_op) {
	case DFR_STEP_STRING:
		n = copy_string(run, step, (u8 *)key, &cut);
		if (n < 1)
			return run->machine->m_fault ? RUN_FAULT : RUN_DROP;
		*at = pad_key(key, (u32)n);
		return RUN_OK;
	case DFR_STEP_BYTES:
		address = step_value(run, step);
		*at = pad_key(key, step->sp_do.data.size);
		return copy_bytes(run, step, (u8 *)key, address, step->sp_do.data.size);
	case DFR_STEP_STACK:
	case DFR_STEP_USTACK:
		if (step->sp_op == DFR_STEP_USTACK)
			*key++ = dfr_firing_context(run->firing)->cx_pid;
		*key = read_stack(run, step, key + 1);
		*at = key + 1 + *key;
		return machine_state(run->machine);
	case DFR_STEP_USYM:
		key[0] = dfr_firing_context(run->firing)->cx_pid;
		key[1] = step_value(run, step);
		*at = key + 2;
		return step->sp_source == DFR_SRC_DIF ? machine_state(run->machine) : RUN_OK;
	default: return fault(run->machine, DIF_FAULT_ILLOP, 0);
	}
}

dfr_hot enum outcome add_key(struct run *run, const struct dfr_step *step, u64 **at)
{
	u64 *key = *at;
	u32 n;

	if (step->sp_op == DFR_STEP_STRING && step->sp_source == DFR_SRC_EXECNAME) {
		n = dfr_copy_comm(run->firing, (u8 *)key); /* zero-padded as it is */
		*at = key + (n > 8 ? 2 : 1);
		return RUN_OK;
	}
	if (step->sp_op == DFR_STEP_TEXT) {
		*key = run->firing->fr_probe->pb_id;
		*at = key + 1;
		return RUN_OK;
	}
	if (step->sp_op == DFR_STEP_INT) {
		*key = declared(step, step_value(run, step));
		*at = key + 1;
		return step->sp_source == DFR_SRC_DIF ? machine_state(run->machine) : RUN_OK;
	}
	return key_other(run, step, at);
}

static dfr_cold void agg_lost(struct run *run)
{
	dfr_lost_here(run->share, run->firing, DFR_LOSS_AGGREGATION, 1);
}

/* Evaluates keys, then value, then weight: the program's order. */
dfr_hot enum outcome step_agg(struct run *run, const struct dfr_step *step)
{
	const struct dfr_step *key = step + 1;
	const struct dfr_step *end = key + step->sp_do.agg.keys;
	u64 *start = run->share->sh_key;
	u64 *at = start;
	u64 value = 0;
	u64 weight = 1;
	enum outcome outcome;

	for (; key < end; key++) {
		outcome = add_key(run, key, &at);
		if (dfr_unlikely(outcome != RUN_OK))
			return outcome;
	}
	if (step->sp_source != DFR_SRC_NONE) {
		value = declared(step, step_value(run, step));
		if (step->sp_source == DFR_SRC_DIF && dfr_unlikely(machine_state(run->machine) != RUN_OK))
			return machine_state(run->machine);
	}
	if (step->sp_flags & DFR_SP_WEIGHT) {
		weight = step_value(run, end);
		if (end->sp_source == DFR_SRC_DIF && dfr_unlikely(machine_state(run->machine) != RUN_OK))
			return machine_state(run->machine);
	}
	if (dfr_unlikely(!run->share->sh_agg || !dfr_agg_add(run->firing, run->share, step,
							     (u32)((u8 *)at - (u8 *)start), value, weight)))
		agg_lost(run);
	return RUN_OK;
}

/* Rare steps. */

/* The first exit() wins, and ends recording on all CPUs; the others are dropped. */
static enum outcome take_exit(struct run *run, const struct dfr_step *step, s32 *taken)
{
	struct dfr_state *state = run->ecb->ec_state;
	u64 status = step_value(run, step);
	u32 before;

	if (step->sp_source == DFR_SRC_DIF && machine_state(run->machine) != RUN_OK)
		return machine_state(run->machine);
	before = dfr_read_once(&state->st_activity);
	if (before == DFR_WARMUP || before == DFR_ACTIVE) {
		if (dfr_cmpxchg(&state->st_activity, before, (u32)DFR_DRAINING) != before)
			return RUN_DROP;
	} else if (before != DFR_COOLDOWN) {
		return RUN_DROP;
	}
	dfr_write_once(&state->st_exit_status, (s32)status);
	dfr_store_release(&state->st_exited, 1);
	dfr_plat_wake(state);
	*taken = (s32)status;
	return RUN_OK;
}

static enum outcome step_exit(struct run *run, const struct dfr_step *step)
{
	s32 status;
	enum outcome outcome = take_exit(run, step, &status);

	if (outcome == RUN_OK)
		put_int(&run->w, (u64)(s64)status, true);
	return outcome;
}

#define CHILL_WINDOW 1000000000ULL
#define CHILL_MAX    500000000ULL

/* At most half a second in each second. */
static enum outcome do_chill(struct run *run, u64 ns)
{
	struct dfr_share *share = run->share;
	u64 now = dfr_firing_time(run->firing);

	if (now - share->sh_chill_start > CHILL_WINDOW) {
		share->sh_chill_start = now;
		share->sh_chilled = 0;
	}
	if (ns > CHILL_MAX || share->sh_chilled + ns > CHILL_MAX)
		return fault(run->machine, DIF_FAULT_ILLOP, ns);
	share->sh_chilled += ns;
	dfr_plat_chill(ns);
	dfr_cpu_of(run->firing->fr_engine, run->firing->fr_cpu)->pc_dear_from += ns; /* a wait is no work */
	return RUN_OK;
}

static enum outcome step_destructive(struct run *run, const struct dfr_step *step)
{
	u64 value = step_value(run, step);

	if (step->sp_source == DFR_SRC_DIF && machine_state(run->machine) != RUN_OK)
		return machine_state(run->machine);
	if (!(run->machine->m_flags & DFR_M_DESTRUCTIVE))
		return fault(run->machine, DIF_FAULT_ILLOP, 0);
	switch (step->sp_do.kind) {
	case DFR_ACT_STOP: dfr_plat_stop(run->firing); break;
	case DFR_ACT_RAISE: dfr_plat_raise(run->firing, (int)value); break;
	case DFR_ACT_BREAKPOINT: dfr_plat_breakpoint(); break;
	case DFR_ACT_PANIC: dfr_plat_panic(); break;
	case DFR_ACT_CHILL: return do_chill(run, value);
	}
	return RUN_OK;
}

/* Makes room and writes the head. false: the record is lost, and dfr_record_slow() has counted it. */
dfr_hot bool begin_record(struct run *run, struct dfr_stream *stream, struct dfr_speclist *list)
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

dfr_hot void commit_record(struct run *run)
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

static dfr_cold enum outcome spec_outcome(struct run *run, enum dfr_spec_result result, u64 id)
{
	if (result == DFR_SPEC_ILLOP)
		return fault(run->machine, DIF_FAULT_ILLOP, id);
	return result == DFR_SPEC_OK ? RUN_OK : RUN_DROP;
}

static enum outcome speculate_on(struct run *run, u64 id)
{
	struct dfr_speclist *list;
	enum dfr_spec_result result = dfr_spec_trace(run->share, id, &list);

	if (result != DFR_SPEC_OK)
		return spec_outcome(run, result, id);
	if (run->ecb->ec_flags & DFR_EC_SPLIT)
		run->share->sh_split_spec = id;
	return begin_record(run, &list->sl_stream, list) ? RUN_OK : RUN_DROP;
}

static enum outcome commit_or_discard(struct run *run, u32 op, u64 id)
{
	/* Not dfr_work(): without a predicate and DFR_PN_MACHINE, the machine has not been set up. */
	if (!dfr_firing_work(run->firing, run->share->sh_state, dfr_spec_work(run->share, id)))
		return fault(run->machine, DIF_FAULT_ILLOP, id);
	/* Its number may now be given to another speculation, so later parts record to the void list. */
	if (run->ecb->ec_flags & DFR_EC_SPLIT && run->share->sh_split_spec == id)
		run->share->sh_split_spec = DFR_SPEC_VOID;
	if (op == DFR_STEP_COMMIT)
		return spec_outcome(run, dfr_spec_commit(run->share, run->firing, id), id);
	return spec_outcome(run, dfr_spec_discard(run->share, id, run->w.w_start ? &run->w : NULL), id);
}

static dfr_cold enum outcome step_speculation(struct run *run, const struct dfr_step *step)
{
	u64 id = step_value(run, step);
	enum outcome outcome = step->sp_source == DFR_SRC_DIF ? machine_state(run->machine) : RUN_OK;

	if (outcome != RUN_OK)
		return outcome;
	/* The verifier (check_order()) refuses records after a commit: what speculate() began is complete. */
	if (step->sp_op == DFR_STEP_COMMIT && run->w.w_start && run->w.w_list) {
		commit_record(run);
		run->w.w_start = NULL;
	}
	/*
	 * A commit or another speculate() would destroy an open record; the verifier
	 * refuses clauses that do that. A discard is allowed, because it does not touch
	 * the ring and keeps the chunk of the open record.
	 */
	if (run->w.w_start && step->sp_op != DFR_STEP_DISCARD)
		return fault(run->machine, DIF_FAULT_ILLOP, id);
	if (step->sp_op == DFR_STEP_SPECULATE)
		return speculate_on(run, id);
	return commit_or_discard(run, step->sp_op, id);
}

static enum outcome step_eval(struct run *run, const struct dfr_step *step)
{
	step_value(run, step);
	return step->sp_source == DFR_SRC_DIF ? machine_state(run->machine) : RUN_OK;
}

static enum outcome step_self(struct run *run, const struct dfr_step *step)
{
	return dfr_self_store(run->machine->m_vars, run->firing, step->sp_do.number, step_value(run, step))
		       ? RUN_OK
		       : RUN_DROP;
}

static enum outcome rare_step(struct run *run, const struct dfr_step *step)
{
	switch (step->sp_op) {
	case DFR_STEP_BYTES: return step_bytes(run, step);
	case DFR_STEP_VARBYTES: return step_varbytes(run, step);
	case DFR_STEP_STACK:
	case DFR_STEP_USTACK: return step_stack(run, step);
	case DFR_STEP_USYM: return step_usym(run, step);
	case DFR_STEP_EXIT: return step_exit(run, step);
	case DFR_STEP_SPECULATE:
	case DFR_STEP_COMMIT:
	case DFR_STEP_DISCARD: return step_speculation(run, step);
	case DFR_STEP_DESTRUCTIVE: return step_destructive(run, step);
	default: /* DFR_STEP_TEXT: records nothing */ return RUN_OK;
	}
}

/* All steps in order; *failed: the one that stopped it. */
dfr_hot enum outcome run_steps(struct run *run, const struct dfr_step **failed)
{
	const struct dfr_step *step = run->ecb->ec_plan->pn_steps;
	const struct dfr_step *end = step + run->ecb->ec_plan->pn_nsteps;
	enum outcome outcome = RUN_OK;

	for (; step < end; step++) {
		if (step->sp_op == DFR_STEP_INT) {
			outcome = step_int(run, step);
		} else if (step->sp_op == DFR_STEP_AGG) {
			outcome = step_agg(run, step);
		} else if (step->sp_op == DFR_STEP_ARGS) {
			step_args(run, step);
		} else if (step->sp_op == DFR_STEP_STRING) {
			outcome = step_string(run, step);
		} else if (step->sp_op == DFR_STEP_EVAL) {
			outcome = step_eval(run, step);
		} else if (step->sp_op == DFR_STEP_SELF) {
			outcome = step_self(run, step);
		} else {
			outcome = rare_step(run, step);
		}
		if (dfr_unlikely(outcome != RUN_OK)) {
			*failed = step;
			return outcome;
		}
		if (step->sp_op == DFR_STEP_AGG)
			step += step->sp_do.agg.keys + (step->sp_flags & DFR_SP_WEIGHT ? 1 : 0);
	}
	return RUN_OK;
}

/* ECBs. */

/* Sets the machine up for this ECB and, before the state's first ECB in a firing, for the firing. */
dfr_hot void ready_machine(struct dfr_machine *machine, struct dfr_share *share, struct dfr_firing *firing,
			   const struct dfr_ecb *ecb, u64 stamp)
{
	if (machine == &share->sh_machine && share->sh_stamp != stamp) {
		share->sh_stamp = stamp;
		machine->m_firing = firing;
		machine->m_flags &= DFR_M_DESTRUCTIVE;
		machine->m_strtok = 0;
		machine->m_strtok_end = 0;
	}
	/* What the earlier parts of a clause have put into scratch memory lives on. */
	if (!(ecb->ec_flags & DFR_EC_CONTINUATION))
		dfr_machine_reset_scratch(machine);
	machine->m_fault = 0;
	machine->m_fault_pc = ~0u; /* what faults outside of DIF has no offset */
	machine->m_flags &= ~(u32)DFR_M_DROP;
	machine->m_epid = ecb->ec_epid;
	firing->fr_epid = ecb->ec_epid;
}

#define ERROR_WORK 1024

/* A fault is counted, and fires ERROR in the state where it happened. */
static dfr_cold void fire_error(struct run *run, u32 action)
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
	/* ERROR is part of the same firing: it shares clause-locals and strtok()'s position. */
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

static u64 clause_of(const struct dfr_ecb *ecb)
{
	return DFR_ECBUARG_CLAUSE(ecb->ec_plan->pn_clause->cl_uarg);
}

/*
 * Parts of a clause that `if` split. The first part may always run; a later one
 * only if the first part's predicate held in this firing and none has faulted.
 */
static dfr_cold bool split_enter(struct dfr_share *share, struct dfr_machine *machine,
				 const struct dfr_ecb *ecb, u64 stamp)
{
	u64 clause = clause_of(ecb);

	if (ecb->ec_flags & DFR_EC_CONTINUATION)
		return share->sh_split_stamp == stamp && share->sh_split_clause == clause &&
		       share->sh_split != DFR_SPLIT_OVER;
	share->sh_split_stamp = stamp;
	share->sh_split_clause = clause;
	share->sh_split_spec = 0;
	share->sh_split = DFR_SPLIT_RUNS;
	dfr_machine_reset_scratch(machine); /* even if this part runs no DIF */
	return true;
}

static dfr_cold void split_failed(struct dfr_share *share, const struct dfr_ecb *ecb, bool predicate)
{
	/* A later part's predicate is its own `if`: when that is false, the other parts still run. */
	if (!predicate || !(ecb->ec_flags & DFR_EC_CONTINUATION))
		share->sh_split = DFR_SPLIT_OVER;
}

static dfr_cold void stopped(struct run *run, enum outcome outcome, u32 action)
{
	run->share->sh_nnotes = 0;
	dfr_spec_end_void(run->share);
	if (run->ecb->ec_flags & DFR_EC_SPLIT)
		split_failed(run->share, run->ecb, false);
	if (outcome == RUN_FAULT)
		fire_error(run, action);
}

/* A part of a clause that is split. Its record may go to the speculation that an earlier part has named. */
static dfr_cold bool begin_part(struct run *run)
{
	struct dfr_share *share = run->share;
	u32 flags = run->ecb->ec_plan->pn_flags;
	struct dfr_speclist *list;

	if (share->sh_split == DFR_SPLIT_NO_ROOM)
		return false;
	if ((flags & (DFR_PN_RECORDS | DFR_PN_SPECULATES)) != DFR_PN_RECORDS)
		return true;
	if (!share->sh_split_spec)
		return begin_record(run, &share->sh_stream, NULL);
	if (share->sh_split_spec != DFR_SPEC_VOID)
		return speculate_on(run, share->sh_split_spec) == RUN_OK;
	list = dfr_spec_void(share);
	return begin_record(run, &list->sl_stream, list);
}

/* Begins the record of an ECB, unless it records nothing or calls speculate() itself. false: no room */
dfr_hot bool begin_usual(struct run *run)
{
	if (dfr_unlikely(run->ecb->ec_flags & DFR_EC_SPLIT))
		return begin_part(run);
	if ((run->ecb->ec_plan->pn_flags & (DFR_PN_RECORDS | DFR_PN_SPECULATES)) != DFR_PN_RECORDS)
		return true;
	return begin_record(run, &run->share->sh_stream, NULL);
}

/* copyout() acts on the process, and no exit() depends on it. */
static bool copies_out(const struct dfr_step *step)
{
	return step->sp_source == DFR_SRC_DIF && step->sp_difo->di_flags & DFR_DIFO_DESTRUCTIVE;
}

/* Of an ECB without room: statements that are no actions, because exit() may depend on them, and exit(). */
static dfr_cold enum outcome silent_step(struct run *run, const struct dfr_step *step)
{
	s32 status;

	switch (step->sp_op) {
	case DFR_STEP_EVAL: return copies_out(step) ? RUN_OK : step_eval(run, step);
	case DFR_STEP_SELF: return step_self(run, step);
	case DFR_STEP_EXIT: return take_exit(run, step, &status);
	default: return RUN_OK;
	}
}

/* Is there an exit() in this ECB, or in a later part of its clause? */
static dfr_cold bool may_exit(const struct dfr_ecb *ecb)
{
	const struct dfr_ecb *part = ecb;

	do {
		if (part->ec_plan->pn_flags & DFR_PN_EXITS)
			return true;
		do
			part = dfr_load_acquire(&part->ec_next);
		while (part && part->ec_state != ecb->ec_state);
	} while (part && part->ec_flags & DFR_EC_CONTINUATION && clause_of(part) == clause_of(ecb));
	return false;
}

/*
 * There is no room for the record of this ECB, or there was none for an earlier part of its clause. If the
 * clause has an exit(), this takes effect all the same, because a program whose records are dropped must
 * still be able to end. Nothing else of the clause happens but what exit() may depend on.
 */
static dfr_cold void run_without_room(struct run *run)
{
	const struct dfr_ecb *ecb = run->ecb;
	const struct dfr_step *step = ecb->ec_plan->pn_steps;
	const struct dfr_step *end = step + ecb->ec_plan->pn_nsteps;
	bool split = ecb->ec_flags & DFR_EC_SPLIT;
	enum outcome outcome;

	if (!(split && run->share->sh_split == DFR_SPLIT_NO_ROOM) && !may_exit(ecb)) {
		if (split)
			run->share->sh_split = DFR_SPLIT_OVER;
		return;
	}
	if (split)
		run->share->sh_split = DFR_SPLIT_NO_ROOM;
	for (; step < end; step++) {
		outcome = silent_step(run, step);
		if (outcome != RUN_OK) {
			stopped(run, outcome, step->sp_action);
			return;
		}
		if (step->sp_op == DFR_STEP_AGG)
			step += step->sp_do.agg.keys + (step->sp_flags & DFR_SP_WEIGHT ? 1 : 0);
	}
}

dfr_hot void run_ecb(struct dfr_firing *firing, struct dfr_ecb *ecb, struct dfr_share *share,
		     struct dfr_machine *machine, u64 stamp)
{
	const struct dfr_plan *plan = ecb->ec_plan;
	const struct dfr_step *failed;
	struct run run;
	enum outcome outcome;
	u64 holds;

	run.firing = firing;
	run.share = share;
	run.machine = machine;
	run.ecb = ecb;
	run.w.w_start = NULL;
	if (dfr_unlikely(ecb->ec_flags & DFR_EC_SPLIT) && !split_enter(share, machine, ecb, stamp))
		return;
	if (ecb->ec_pred || plan->pn_flags & DFR_PN_MACHINE)
		ready_machine(machine, share, firing, ecb, stamp);
	if (dfr_unlikely(!dfr_firing_work(firing, share->sh_state, plan->pn_work))) {
		stopped(&run, fault(machine, DIF_FAULT_ILLOP, 0), 0);
		return;
	}
	if (ecb->ec_pred) {
		holds = dfr_dif_run(ecb->ec_pred, machine);
		if (dfr_unlikely(machine->m_fault)) {
			if (!(ecb->ec_flags & DFR_EC_FAULT_HOLDS)) {
				stopped(&run, RUN_FAULT, 0);
				return;
			}
			machine->m_fault = 0;
			holds = 1;
		}
		if (!holds) {
			if (dfr_unlikely(ecb->ec_flags & DFR_EC_SPLIT))
				split_failed(share, ecb, true);
			return;
		}
	}
	if (ecb->ec_body != DFR_FORM_GENERAL) {
		if (ecb->ec_body == DFR_FORM_AGG)
			dfr_plain_agg(firing, ecb, share);
		else if (ecb->ec_body == DFR_FORM_STEPS)
			dfr_plain_steps(firing, ecb, share);
		else
			dfr_plain_record(firing, ecb, share);
		return;
	}
	if (dfr_unlikely(!begin_usual(&run))) {
		run_without_room(&run);
		return;
	}
	outcome = run_steps(&run, &failed);
	if (dfr_unlikely(outcome != RUN_OK)) {
		stopped(&run, outcome, failed->sp_action);
		return;
	}
	if (run.w.w_start)
		commit_record(&run);
}

void dfr_plat_direct dfr_run_ecb(struct dfr_firing *firing, struct dfr_ecb *ecb, struct dfr_share *share,
				 struct dfr_machine *machine, u64 stamp)
{
	u16 chunks = firing->fr_chunks;

	run_ecb(firing, ecb, share, machine, stamp);
	if (dfr_unlikely(firing->fr_chunks != chunks))
		dfr_work_seen(firing, share->sh_state);
}
