// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses an ECB's form (enum dfr_form), which says what code runs it in a firing, and
 * collects the facts that this code needs. This happens once, when the ECB is put on
 * its probe. fire.c follows ec_form; the general form (steps.c) follows ec_body, after
 * the predicate if there is one. Process context.
 *
 * Every form records exactly what the general one would: tests run all clauses in the
 * general form too (dfr_engine_force()) and compare.
 */
#include "kmod/engine/recording/store.h"
#include "kmod/engine/dif/vars.h"

#define ARGS_MAX  4
#define STEPS_MAX 32 /* a clause with more takes the general form, which charges its work */

static bool has_value(const struct dfr_step *step)
{
	return step->sp_source != DFR_SRC_DIF;
}

static bool is_name(const struct dfr_step *step)
{
	return step->sp_op == DFR_STEP_STRING && step->sp_source == DFR_SRC_EXECNAME;
}

/* A field of a record, or a key, that needs no DIF and no copy through the machine. */
static bool is_plain(const struct dfr_step *step)
{
	return (step->sp_op == DFR_STEP_INT && has_value(step)) || step->sp_op == DFR_STEP_ARGS ||
	       step->sp_op == DFR_STEP_TEXT || is_name(step);
}

/* How plain.c looks up an aggregation's keys. */
u32 dfr_form_keys(const struct dfr_step *step)
{
	const struct dfr_step *key = step + 1;
	u32 i;

	if (!step->sp_do.agg.keys)
		return DFR_KEY_NONE;
	if (step->sp_do.agg.keys == 1 && is_name(key))
		return DFR_KEY_NAME;
	for (i = 0; i < step->sp_do.agg.keys; i++, key++)
		if (key->sp_op != DFR_STEP_TEXT && key->sp_op != DFR_STEP_INT)
			return DFR_KEY_ANY;
	return step->sp_do.agg.keys == 1   ? DFR_KEY_ONE
	       : step->sp_do.agg.keys == 2 ? DFR_KEY_TWO
					   : DFR_KEY_ANY;
}

/* Aggregations. */

/* Does the clause only aggregate plain values by plain keys, and set thread-local numbers? */
static bool is_steps(const struct dfr_plan *plan)
{
	const struct dfr_step *step;
	u32 i, keys = 0;

	for (i = 0; i < plan->pn_nsteps; i++) {
		step = &plan->pn_steps[i];
		if (keys) {
			keys--;
			if (!is_plain(step))
				return false;
			continue;
		}
		if (!has_value(step) || step->sp_flags & DFR_SP_WEIGHT)
			return false;
		if (step->sp_op == DFR_STEP_AGG)
			keys = step->sp_do.agg.keys;
		else if (step->sp_op != DFR_STEP_SELF)
			return false;
	}
	return plan->pn_nsteps && !(plan->pn_flags & (DFR_PN_RECORDS | DFR_PN_SPECULATES | DFR_PN_COMMITS));
}

/* A count() with no key, execname alone, or one or two of pid, tid and text of the probe? */
static bool is_count(const struct dfr_step *step)
{
	u32 i;

	if (step->sp_do.agg.kind != DFR_ACT_COUNT || step->sp_do.agg.shape == DFR_KEY_ANY)
		return false;
	for (i = 1; i <= step->sp_do.agg.keys && step->sp_do.agg.shape != DFR_KEY_NAME; i++)
		if (step[i].sp_op != DFR_STEP_TEXT && step[i].sp_source != DFR_SRC_PID &&
		    step[i].sp_source != DFR_SRC_TID)
			return false;
	return true;
}

/* Does the predicate ask whether a thread-local number is not 0? */
static bool asks_number(const struct dfr_plan *plan)
{
	return plan->pn_test.te_kind == DFR_TEST_SELF;
}

/* The clause that ends a measurement: `/self->t/ { @ = f(timestamp - self->t); self->t = 0; }`. */
static bool is_since(const struct dfr_plan *plan)
{
	const struct dfr_step *step = plan->pn_steps;
	const struct dfr_step *last = step + 1 + step->sp_do.agg.keys;

	return step->sp_op == DFR_STEP_AGG && plan->pn_nsteps == 2u + step->sp_do.agg.keys &&
	       step->sp_source == DFR_SRC_SINCE && last->sp_op == DFR_STEP_SELF &&
	       last->sp_source == DFR_SRC_CONST && !last->sp_from.constant &&
	       last->sp_do.number == step->sp_from.number && asks_number(plan) &&
	       plan->pn_test.te_index == step->sp_from.number;
}

/* Key of the thread-local number that plain.c looks up once for the whole clause; 0: none. */
static u64 first_number(const struct dfr_plan *plan)
{
	const struct dfr_step *step;

	if (asks_number(plan))
		return DFR_SELF_KEY(plan->pn_test.te_index);
	for (step = plan->pn_steps; step < plan->pn_steps + plan->pn_nsteps; step++)
		if (step->sp_op == DFR_STEP_SELF)
			return DFR_SELF_KEY(step->sp_do.number);
		else if (step->sp_source == DFR_SRC_SELF || step->sp_source == DFR_SRC_SINCE)
			return DFR_SELF_KEY(step->sp_from.number);
	return 0;
}

static u32 steps_form(const struct dfr_plan *plan, union dfr_facts *facts)
{
	const struct dfr_step *step = plan->pn_steps;

	if (plan->pn_nsteps == 1 && step->sp_op == DFR_STEP_SELF && step->sp_source == DFR_SRC_TIMESTAMP) {
		facts->fa_self = DFR_SELF_KEY(step->sp_do.number);
		return DFR_FORM_TIME;
	}
	if (step->sp_op == DFR_STEP_AGG && plan->pn_nsteps == 1u + step->sp_do.agg.keys)
		return is_count(step) ? DFR_FORM_COUNT : DFR_FORM_AGG;
	facts->fa_self = first_number(plan);
	return is_since(plan) ? DFR_FORM_SINCE : DFR_FORM_STEPS;
}

/* Records. */

/* The field with index `at` is argument n. */
static void add_arg(union dfr_facts *facts, u32 at, u32 n)
{
	facts->fa_args.which |= (n + 1) << 8 * at;
	if (facts->fa_args.passed < n + 1)
		facts->fa_args.passed = (u8)(n + 1);
}

/* Does the record consist of at most ARGS_MAX arguments, signed and 64 bits wide, and at least one? */
static bool is_args(const struct dfr_plan *plan, union dfr_facts *facts)
{
	const struct dfr_step *step;
	u32 from, upto, n = 0;

	for (step = plan->pn_steps; step < plan->pn_steps + plan->pn_nsteps; step++) {
		if (step->sp_op == DFR_STEP_TEXT)
			continue;
		if (step->sp_op != DFR_STEP_ARGS &&
		    (step->sp_op != DFR_STEP_INT || step->sp_source != DFR_SRC_ARG || step->sp_shift ||
		     !(step->sp_flags & DFR_SP_SIGNED)))
			return false;
		from = step->sp_op == DFR_STEP_ARGS ? 0 : step->sp_from.arg;
		upto = step->sp_op == DFR_STEP_ARGS ? step->sp_do.count : from + 1;
		for (; from < upto; from++, n++) {
			if (n == ARGS_MAX)
				return false;
			add_arg(facts, n, from);
		}
	}
	facts->fa_args.need = (u16)plan->pn_need;
	facts->fa_args.shift = (u8)(8 - 2 * n);
	return n && plan->pn_need <= 0xffff;
}

static u32 record_form(const struct dfr_ecb *ecb, union dfr_facts *facts)
{
	const struct dfr_plan *plan = ecb->ec_plan;

	if (ecb->ec_epid > DFR_REC_ID_SHORT_MAX || !is_args(plan, facts))
		return DFR_FORM_RECORD;
	if (ecb->ec_probe->pb_flags & DFR_PB_REGISTERS && facts->fa_args.passed <= ecb->ec_probe->pb_nargs)
		return DFR_FORM_REGISTERS;
	return DFR_FORM_ARGS;
}

static bool is_record(const struct dfr_plan *plan)
{
	u32 i;

	if ((plan->pn_flags & (DFR_PN_RECORDS | DFR_PN_SPECULATES)) != DFR_PN_RECORDS || plan->pn_codes > 8)
		return false;
	for (i = 0; i < plan->pn_nsteps; i++)
		if (!is_plain(&plan->pn_steps[i]))
			return false;
	return true;
}

/* ECBs. */

static bool is_forced(const struct dfr_ecb *ecb)
{
	return ecb->ec_state->st_engine->en_forced & DFR_FORCE_GENERAL;
}

/* The form for what the clause does, without regard to its predicate. */
static u32 form_of(const struct dfr_ecb *ecb, union dfr_facts *facts)
{
	const struct dfr_plan *plan = ecb->ec_plan;

	if (is_forced(ecb) || ecb->ec_flags & DFR_EC_SPLIT || plan->pn_nsteps > STEPS_MAX)
		return DFR_FORM_GENERAL;
	if (is_steps(plan))
		return steps_form(plan, facts);
	return is_record(plan) ? record_form(ecb, facts) : (u32)DFR_FORM_GENERAL;
}

/* The form that run_ecb() may use after a predicate has held: it records the same, less quickly. */
static u32 body_of(u32 form)
{
	switch (form) {
	case DFR_FORM_COUNT:
	case DFR_FORM_AGG: return DFR_FORM_AGG;
	case DFR_FORM_TIME:
	case DFR_FORM_SINCE:
	case DFR_FORM_STEPS: return DFR_FORM_STEPS;
	case DFR_FORM_REGISTERS:
	case DFR_FORM_ARGS:
	case DFR_FORM_RECORD: return DFR_FORM_RECORD;
	default: return DFR_FORM_GENERAL;
	}
}

/* What is tested first: for a confined state the task's owner, else the predicate if it is a simple test. */
static const struct dfr_test *test_of(const struct dfr_ecb *ecb)
{
	if (dfr_state_confined(ecb->ec_state))
		return &ecb->ec_state->st_owner;
	if (is_forced(ecb) || ecb->ec_flags & DFR_EC_SPLIT || !ecb->ec_plan->pn_test.te_kind)
		return NULL;
	return &ecb->ec_plan->pn_test;
}

void dfr_form_find(struct dfr_ecb *ecb, bool crowded)
{
	union dfr_facts facts = { .fa_self = 0 };
	u32 form = form_of(ecb, &facts);
	bool confined = dfr_state_confined(ecb->ec_state);

	ecb->ec_facts = facts;
	ecb->ec_body = (u8)body_of(form);
	ecb->ec_test = test_of(ecb);
	ecb->ec_flags &= (u8)~DFR_EC_IF_SET;
	if ((form == DFR_FORM_SINCE || form == DFR_FORM_STEPS) && !confined && asks_number(ecb->ec_plan))
		ecb->ec_flags |= DFR_EC_IF_SET;
	/* A confined state's ec_test is the owner's, so its predicate must run as DIF. */
	if (crowded || (ecb->ec_pred && (confined || !ecb->ec_test)))
		form = DFR_FORM_GENERAL;
	if (ecb->ec_test && !(ecb->ec_flags & DFR_EC_IF_SET))
		form |= DFR_FORM_TESTED;
	ecb->ec_form = (u8)form;
}

/* May this ECB read fr_args? If no ECB on a probe does, its provider need not fetch the arguments. */
bool dfr_form_reads_args(const struct dfr_ecb *ecb)
{
	u32 form = ecb->ec_form & ~(u32)DFR_FORM_TESTED;

	return form == DFR_FORM_GENERAL ||
	       (ecb->ec_plan->pn_flags & DFR_PN_ARGS && form != DFR_FORM_REGISTERS) ||
	       (ecb->ec_test && ecb->ec_test->te_kind == DFR_TEST_ARG);
}
