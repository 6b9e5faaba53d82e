// SPDX-License-Identifier: GPL-2.0
/*
 * An ECB in the general form: predicate, room for the record, the plan's steps in
 * order, commit. Here are the steps that record and aggregate values; actions.c has those
 * that act, and ERROR. Probe context: no lock, no sleep, no allocation; interrupts are
 * off, this CPU is the only writer.
 *
 * A clause that plain.c could run comes here only if its predicate must run as DIF, its
 * work must be charged, or it is on BEGIN, END or ERROR; then plain.c does the rest
 * (ec_body). The kernel is built without jump tables, so run_steps() asks for the most
 * likely steps first.
 */
#include "kmod/engine/recording/run.h"

/* Values. */

u64 dfr_other_value(struct dfr_run *run, const struct dfr_step *step)
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

dfr_cold enum dfr_outcome dfr_run_fault(struct dfr_machine *machine, u32 code, u64 value)
{
	machine->m_fault = code + 1;
	machine->m_fault_pc = ~0u;
	machine->m_fault_addr = value;
	return DFR_RUN_FAULT;
}

/* Cuts the value to its declared width and extends it by its declared sign. */
dfr_hot u64 declared(const struct dfr_step *step, u64 value)
{
	value <<= step->sp_shift;
	return step->sp_flags & DFR_SP_SIGNED ? (u64)((s64)value >> step->sp_shift) : value >> step->sp_shift;
}

/* A fault of a captured field becomes a note, and the record goes on. false: the clause must stop. */
static dfr_cold bool capture_forgives(struct dfr_run *run, const struct dfr_step *step)
{
	struct dfr_machine *machine = run->machine;

	if (!(step->sp_flags & DFR_SP_CAPTURE) || !machine->m_fault || machine->m_flags & DFR_M_DROP)
		return false;
	dfr_record_note(run->share, step->sp_field, machine->m_fault - 1, machine->m_fault_addr);
	machine->m_fault = 0;
	return true;
}

/* Fields. */

dfr_hot enum dfr_outcome step_int(struct dfr_run *run, const struct dfr_step *step)
{
	u64 value = dfr_step_value(run, step);

	if (step->sp_source == DFR_SRC_DIF && dfr_unlikely(dfr_machine_state(run->machine) != DFR_RUN_OK)) {
		if (!capture_forgives(run, step))
			return dfr_machine_state(run->machine);
		value = 0;
	}
	dfr_write_int(&run->w, declared(step, value), step->sp_flags & DFR_SP_SIGNED);
	return DFR_RUN_OK;
}

dfr_hot void step_args(struct dfr_run *run, const struct dfr_step *step)
{
	u32 i;

	for (i = 0; i < step->sp_do.count; i++)
		dfr_write_int(&run->w, dfr_firing_arg(run->firing, i), true);
}

static long copy_name(struct dfr_run *run, const struct dfr_step *step, u8 *to)
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

/* Copies a string to `to`: its length with the NUL, or negative: dfr_machine_state() says why. */
static long copy_string(struct dfr_run *run, const struct dfr_step *step, u8 *to, bool *cut)
{
	u64 address;

	if (step->sp_flags & DFR_SP_NAME)
		return copy_name(run, step, to);
	address = dfr_step_value(run, step);
	if (dfr_machine_state(run->machine) != DFR_RUN_OK)
		return -1;
	return dfr_machine_copy_str(run->machine, (char *)to, address, step->sp_do.data.size,
				    step->sp_flags & DFR_SP_USER, cut);
}

static enum dfr_outcome step_string(struct dfr_run *run, const struct dfr_step *step)
{
	bool cut = false;
	long n;

	if (step->sp_source == DFR_SRC_EXECNAME) {
		run->w.w_ptr += dfr_copy_comm(run->firing, run->w.w_ptr);
		return DFR_RUN_OK;
	}
	n = copy_string(run, step, run->w.w_ptr, &cut);
	if (dfr_unlikely(n < 1)) {
		if (!capture_forgives(run, step))
			return run->machine->m_fault ? DFR_RUN_FAULT : DFR_RUN_DROP;
		*run->w.w_ptr = '\0';
		n = 1;
	} else if (cut && step->sp_flags & DFR_SP_CAPTURE) {
		dfr_record_note(run->share, step->sp_field, DFR_NOTE_CUT, 0);
	}
	run->w.w_ptr += n;
	return DFR_RUN_OK;
}

/* Copies `n` bytes from an address that the step has computed; a capture that faults is zeros and a note. */
static enum dfr_outcome copy_bytes(struct dfr_run *run, const struct dfr_step *step, u8 *to, u64 address,
				   u32 n)
{
	if (dfr_machine_state(run->machine) == DFR_RUN_OK &&
	    !dfr_machine_copy(run->machine, to, address, n, step->sp_flags & DFR_SP_USER))
		return DFR_RUN_OK;
	if (!capture_forgives(run, step))
		return run->machine->m_fault ? DFR_RUN_FAULT : DFR_RUN_DROP;
	memset(to, 0, n);
	return DFR_RUN_OK;
}

static enum dfr_outcome step_bytes(struct dfr_run *run, const struct dfr_step *step)
{
	u64 address = dfr_step_value(run, step);
	enum dfr_outcome outcome = copy_bytes(run, step, run->w.w_ptr, address, step->sp_do.data.size);

	run->w.w_ptr += step->sp_do.data.size;
	return outcome;
}

/*
 * printm() of more than its size. The record is lost, as in DTrace, because a part of the bytes would look like
 * all of them. What goes to a speculation that was discarded (the void list) is missed by nobody.
 */
static dfr_cold enum dfr_outcome memref_too_long(struct dfr_run *run)
{
	const struct dfr_speclist *list = run->w.w_list;

	if (!list)
		dfr_lost_here(run->share, run->firing, DFR_LOSS_PRINCIPAL, 1);
	else if (list != dfr_spec_void(run->share))
		dfr_lost_here(run->share, run->firing, DFR_LOSS_SPEC, 1);
	return DFR_RUN_DROP;
}

/* tracemem() whose third argument, a DIFO, limits it; or printm()'s {address, length}. */
static enum dfr_outcome step_varbytes(struct dfr_run *run, const struct dfr_step *step)
{
	u64 address = dfr_step_value(run, step);
	u64 n = 0;
	u64 pair[2];
	enum dfr_outcome outcome = dfr_machine_state(run->machine);

	if (outcome != DFR_RUN_OK)
		return outcome;
	if (step->sp_do.data.length) {
		n = dfr_dif_run(step->sp_do.data.length, run->machine);
		if (n > step->sp_do.data.size)
			n = step->sp_do.data.size;
	} else {
		if (dfr_machine_copy(run->machine, pair, address, sizeof(pair), false))
			return run->machine->m_fault ? DFR_RUN_FAULT : DFR_RUN_DROP;
		address = pair[0];
		n = pair[1];
		if (dfr_unlikely(n > step->sp_do.data.size))
			return memref_too_long(run);
	}
	outcome = copy_bytes(run, step, run->w.w_ptr + 2, address, (u32)n);
	run->w.w_ptr[0] = (u8)n;
	run->w.w_ptr[1] = (u8)(n >> 8);
	run->w.w_ptr += 2 + n;
	return outcome;
}

static u32 read_stack(struct dfr_run *run, const struct dfr_step *step, u64 *pcs)
{
	bool user = step->sp_op != DFR_STEP_STACK;
	u32 n;

	/* A walk in user space may end with a fault. The kernel's 20 frames stay below a chunk, whose end costs 300 instructions. */
	if (!dfr_work(run->machine, (u64)step->sp_do.frames * DFR_WORK_FRAME + (user ? DFR_WORK_FAULT : 0)))
		return 0;
	n = user ? dfr_plat_ustack(run->firing, pcs, step->sp_do.frames)
		 : dfr_plat_stack(run->firing, pcs, step->sp_do.frames);
	return n < step->sp_do.frames ? n : step->sp_do.frames;
}

static enum dfr_outcome step_stack(struct dfr_run *run, const struct dfr_step *step)
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
	return dfr_machine_state(run->machine);
}

static enum dfr_outcome step_usym(struct dfr_run *run, const struct dfr_step *step)
{
	u64 address = dfr_step_value(run, step);

	if (step->sp_source == DFR_SRC_DIF && dfr_machine_state(run->machine) != DFR_RUN_OK)
		return dfr_machine_state(run->machine);
	dfr_put64(run->w.w_ptr, dfr_firing_context(run->firing)->cx_pid);
	dfr_put64(run->w.w_ptr + 8, address);
	run->w.w_ptr += 16;
	return DFR_RUN_OK;
}

/* Aggregations. */

/* Fills the last word of the n bytes at key with zeros; returns the next word. */
dfr_hot u64 *pad_key(u64 *key, u32 n)
{
	if (n & 7)
		memset((u8 *)key + n, 0, 8 - (n & 7));
	return key + ((n + 7) >> 3);
}

static enum dfr_outcome key_other(struct dfr_run *run, const struct dfr_step *step, u64 **at)
{
	u64 *key = *at;
	u64 address;
	bool cut;
	long n;

	switch (step->sp_op) {
	case DFR_STEP_STRING:
		n = copy_string(run, step, (u8 *)key, &cut);
		if (n < 1)
			return run->machine->m_fault ? DFR_RUN_FAULT : DFR_RUN_DROP;
		*at = pad_key(key, (u32)n);
		return DFR_RUN_OK;
	case DFR_STEP_BYTES:
		address = dfr_step_value(run, step);
		*at = pad_key(key, step->sp_do.data.size);
		return copy_bytes(run, step, (u8 *)key, address, step->sp_do.data.size);
	case DFR_STEP_STACK:
	case DFR_STEP_USTACK:
		if (step->sp_op == DFR_STEP_USTACK)
			*key++ = dfr_firing_context(run->firing)->cx_pid;
		*key = read_stack(run, step, key + 1);
		*at = key + 1 + *key;
		return dfr_machine_state(run->machine);
	case DFR_STEP_USYM:
		key[0] = dfr_firing_context(run->firing)->cx_pid;
		key[1] = dfr_step_value(run, step);
		*at = key + 2;
		return step->sp_source == DFR_SRC_DIF ? dfr_machine_state(run->machine) : DFR_RUN_OK;
	default: return dfr_run_fault(run->machine, DIF_FAULT_ILLOP, 0);
	}
}

dfr_hot enum dfr_outcome add_key(struct dfr_run *run, const struct dfr_step *step, u64 **at)
{
	u64 *key = *at;
	u32 n;

	if (step->sp_op == DFR_STEP_STRING && step->sp_source == DFR_SRC_EXECNAME) {
		n = dfr_copy_comm(run->firing, (u8 *)key); /* zero-padded as it is */
		*at = key + (n > 8 ? 2 : 1);
		return DFR_RUN_OK;
	}
	if (step->sp_op == DFR_STEP_TEXT) {
		*key = run->firing->fr_probe->pb_id;
		*at = key + 1;
		return DFR_RUN_OK;
	}
	if (step->sp_op == DFR_STEP_INT) {
		*key = declared(step, dfr_step_value(run, step));
		*at = key + 1;
		return step->sp_source == DFR_SRC_DIF ? dfr_machine_state(run->machine) : DFR_RUN_OK;
	}
	return key_other(run, step, at);
}

static dfr_cold void agg_lost(struct dfr_run *run)
{
	dfr_lost_here(run->share, run->firing, DFR_LOSS_AGGREGATION, 1);
}

/* Evaluates keys, then value, then weight: the program's order. */
dfr_hot enum dfr_outcome step_agg(struct dfr_run *run, const struct dfr_step *step)
{
	const struct dfr_step *key = step + 1;
	const struct dfr_step *end = key + step->sp_do.agg.keys;
	u64 *start = run->share->sh_key;
	u64 *at = start;
	u64 value = 0;
	u64 weight = 1;
	enum dfr_outcome outcome;

	for (; key < end; key++) {
		outcome = add_key(run, key, &at);
		if (dfr_unlikely(outcome != DFR_RUN_OK))
			return outcome;
	}
	if (step->sp_source != DFR_SRC_NONE) {
		value = declared(step, dfr_step_value(run, step));
		if (step->sp_source == DFR_SRC_DIF &&
		    dfr_unlikely(dfr_machine_state(run->machine) != DFR_RUN_OK))
			return dfr_machine_state(run->machine);
	}
	if (step->sp_flags & DFR_SP_WEIGHT) {
		weight = dfr_step_value(run, end);
		if (end->sp_source == DFR_SRC_DIF &&
		    dfr_unlikely(dfr_machine_state(run->machine) != DFR_RUN_OK))
			return dfr_machine_state(run->machine);
	}
	if (dfr_unlikely(!run->share->sh_agg || !dfr_agg_add(run->firing, run->share, step,
							     (u32)((u8 *)at - (u8 *)start), value, weight)))
		agg_lost(run);
	return DFR_RUN_OK;
}

static enum dfr_outcome step_eval(struct dfr_run *run, const struct dfr_step *step)
{
	dfr_step_value(run, step);
	return step->sp_source == DFR_SRC_DIF ? dfr_machine_state(run->machine) : DFR_RUN_OK;
}

static enum dfr_outcome step_self(struct dfr_run *run, const struct dfr_step *step)
{
	return dfr_self_store(run->machine->m_vars, run->firing, step->sp_do.number,
			      dfr_step_value(run, step))
		       ? DFR_RUN_OK
		       : DFR_RUN_DROP;
}

static enum dfr_outcome rare_step(struct dfr_run *run, const struct dfr_step *step)
{
	switch (step->sp_op) {
	case DFR_STEP_BYTES: return step_bytes(run, step);
	case DFR_STEP_VARBYTES: return step_varbytes(run, step);
	case DFR_STEP_STACK:
	case DFR_STEP_USTACK: return step_stack(run, step);
	case DFR_STEP_USYM: return step_usym(run, step);
	case DFR_STEP_EXIT: return dfr_step_exit(run, step);
	case DFR_STEP_SPECULATE:
	case DFR_STEP_COMMIT:
	case DFR_STEP_DISCARD: return dfr_step_speculation(run, step);
	case DFR_STEP_DESTRUCTIVE: return dfr_step_destructive(run, step);
	case DFR_STEP_TRIGGER:
		dfr_trigger_fire(run->share, run->firing, step->sp_do.reason);
		return DFR_RUN_OK;
	default: /* DFR_STEP_TEXT: records nothing */ return DFR_RUN_OK;
	}
}

/* All steps in order; *failed: the one that stopped it. */
dfr_hot enum dfr_outcome run_steps(struct dfr_run *run, const struct dfr_step **failed)
{
	const struct dfr_step *step = run->ecb->ec_plan->pn_steps;
	const struct dfr_step *end = step + run->ecb->ec_plan->pn_nsteps;
	enum dfr_outcome outcome = DFR_RUN_OK;

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
		if (dfr_unlikely(outcome != DFR_RUN_OK)) {
			*failed = step;
			return outcome;
		}
		if (step->sp_op == DFR_STEP_AGG)
			step += step->sp_do.agg.keys + (step->sp_flags & DFR_SP_WEIGHT ? 1 : 0);
	}
	return DFR_RUN_OK;
}

/* ECBs. */

/* Sets the machine up for this ECB and, before the state's first ECB in a firing that uses it, for the firing. */
dfr_hot void ready_machine(struct dfr_machine *machine, struct dfr_share *share, struct dfr_firing *firing,
			   const struct dfr_ecb *ecb, u64 stamp)
{
	if (machine == &share->sh_machine)
		dfr_ready_for(share, firing, stamp);
	/* What the earlier parts of a clause have put into scratch memory lives on. */
	if (!(ecb->ec_flags & DFR_EC_CONTINUATION))
		dfr_machine_reset_scratch(machine);
	machine->m_fault = 0;
	machine->m_fault_pc = ~0u; /* what faults outside of DIF has no offset */
	machine->m_flags &= ~(u32)(DFR_M_DROP | DFR_M_SILENT);
	machine->m_epid = ecb->ec_epid;
	firing->fr_epid = ecb->ec_epid;
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

static dfr_cold void stopped(struct dfr_run *run, enum dfr_outcome outcome, u32 action)
{
	run->share->sh_nnotes = 0;
	dfr_spec_end_void(run->share);
	if (run->ecb->ec_flags & DFR_EC_SPLIT)
		split_failed(run->share, run->ecb, false);
	if (outcome == DFR_RUN_FAULT)
		dfr_fire_error(run, action);
}

/* A part of a clause that is split. Its record may go to the speculation that an earlier part has named. */
static dfr_cold bool begin_part(struct dfr_run *run)
{
	struct dfr_share *share = run->share;
	u32 flags = run->ecb->ec_plan->pn_flags;
	struct dfr_speclist *list;

	if (share->sh_split == DFR_SPLIT_NO_ROOM)
		return false;
	if ((flags & (DFR_PN_RECORDS | DFR_PN_SPECULATES)) != DFR_PN_RECORDS)
		return true;
	if (!share->sh_split_spec)
		return dfr_begin_record(run, &share->sh_stream, NULL);
	if (share->sh_split_spec != DFR_SPEC_VOID)
		return dfr_speculate_on(run, share->sh_split_spec) == DFR_RUN_OK;
	list = dfr_spec_void(share);
	return dfr_begin_record(run, &list->sl_stream, list);
}

/* Begins the record of an ECB, unless it records nothing or calls speculate() itself. false: no room */
dfr_hot bool begin_usual(struct dfr_run *run)
{
	if (dfr_unlikely(run->ecb->ec_flags & DFR_EC_SPLIT))
		return begin_part(run);
	if ((run->ecb->ec_plan->pn_flags & (DFR_PN_RECORDS | DFR_PN_SPECULATES)) != DFR_PN_RECORDS)
		return true;
	return dfr_begin_record(run, &run->share->sh_stream, NULL);
}

/*
 * Of an ECB without room: statements that are no actions, because exit() may depend on them, exit() and
 * snapshot().
 */
static dfr_cold enum dfr_outcome silent_step(struct dfr_run *run, const struct dfr_step *step)
{
	s32 status;

	switch (step->sp_op) {
	case DFR_STEP_EVAL: return step_eval(run, step);
	case DFR_STEP_SELF: return step_self(run, step);
	case DFR_STEP_EXIT: return dfr_take_exit(run, step, &status);
	case DFR_STEP_TRIGGER:
		dfr_trigger_fire(run->share, run->firing, step->sp_do.reason);
		return DFR_RUN_OK;
	default: return DFR_RUN_OK;
	}
}

/* Is there an exit() or a snapshot() in this ECB, or in a later part of its clause? */
static dfr_cold bool acts_roomless(const struct dfr_ecb *ecb)
{
	const struct dfr_ecb *part = ecb;

	do {
		if (part->ec_plan->pn_flags & DFR_PN_ROOMLESS)
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
 * still be able to end; so does a snapshot(), because what is in memory is worth it all the more. Nothing else of the clause happens but what exit() may depend on; copyout()
 * within that does nothing, because it acts on the process.
 */
static dfr_cold void run_without_room(struct dfr_run *run)
{
	const struct dfr_ecb *ecb = run->ecb;
	const struct dfr_step *step = ecb->ec_plan->pn_steps;
	const struct dfr_step *end = step + ecb->ec_plan->pn_nsteps;
	bool split = ecb->ec_flags & DFR_EC_SPLIT;
	enum dfr_outcome outcome;

	if (!(split && run->share->sh_split == DFR_SPLIT_NO_ROOM) && !acts_roomless(ecb)) {
		if (split)
			run->share->sh_split = DFR_SPLIT_OVER;
		return;
	}
	if (split)
		run->share->sh_split = DFR_SPLIT_NO_ROOM;
	run->machine->m_flags |= DFR_M_SILENT;
	for (; step < end; step++) {
		outcome = silent_step(run, step);
		if (outcome != DFR_RUN_OK) {
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
	struct dfr_run run;
	enum dfr_outcome outcome;
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
		stopped(&run, dfr_run_fault(machine, DIF_FAULT_ILLOP, 0), 0);
		return;
	}
	if (ecb->ec_pred) {
		holds = dfr_dif_run(ecb->ec_pred, machine);
		if (dfr_unlikely(machine->m_fault)) {
			if (!(ecb->ec_flags & DFR_EC_FAULT_HOLDS)) {
				stopped(&run, DFR_RUN_FAULT, 0);
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
	if (dfr_unlikely(outcome != DFR_RUN_OK)) {
		stopped(&run, outcome, failed->sp_action);
		return;
	}
	if (run.w.w_start)
		dfr_commit_record(&run);
}

void dfr_plat_direct dfr_run_ecb(struct dfr_firing *firing, struct dfr_ecb *ecb, struct dfr_share *share,
				 struct dfr_machine *machine, u64 stamp)
{
	u16 chunks = firing->fr_chunks;

	run_ecb(firing, ecb, share, machine, stamp);
	if (dfr_unlikely(firing->fr_chunks != chunks))
		dfr_work_seen(firing, share->sh_state);
}
