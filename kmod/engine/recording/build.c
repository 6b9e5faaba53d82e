// SPDX-License-Identifier: GPL-2.0
/*
 * Building: at go, a state's enablings become plans, ECBs and their catalog entries, in the
 * order of DOFs, clauses and probe ids; later, the same for probes that come while it
 * records, each probe once. Process context under the engine's lock and the state's.
 */
#include "kmod/engine/recording/store.h"

struct build {
	struct dfr_state *bu_state;
	struct dfr_enabling *bu_enabling;
	u64 bu_upto; /* probes that are born later are matched next time */
	u32 bu_clause;
	bool bu_come;		  /* the probes have come later */
	u8 bu_flags;		  /* ec_flags of its ECBs */
	struct dfr_ecb *bu_first; /* the first ECB made in this build */
	u32 bu_withheld;	  /* probes of the clause that dfr_may_look() refused */
	const struct dfr_probe *bu_withheld_first;
};

static int plan_for(struct build *build, const struct dfr_probe *probe, const struct dfr_plan **out)
{
	struct dfr_plan **list = &build->bu_enabling->eb_plans[build->bu_clause];
	struct dfr_plan *plan;
	u32 nargs = dfr_plan_nargs(&build->bu_enabling->eb_program->pg_clauses[build->bu_clause], probe);
	int error;

	for (plan = *list; plan; plan = plan->pn_next) {
		if (plan->pn_nargs == nargs) {
			*out = plan;
			return 0;
		}
	}
	error = dfr_plan_make(build->bu_state, build->bu_enabling, build->bu_clause, nargs, &plan);
	if (error)
		return error;
	plan->pn_layout = ++build->bu_state->st_nlayouts;
	error = dfr_catalog_layout(build->bu_state, plan, build->bu_enabling->eb_number);
	if (error) {
		dfr_plan_free(plan);
		return error;
	}
	plan->pn_next = *list;
	*list = plan;
	*out = plan;
	return 0;
}

/* Do several ECBDESCs carry this clause's number: is it split by `if`? */
static bool is_split(const struct dfr_program *program, u32 clause)
{
	u64 number = DFR_ECBUARG_CLAUSE(program->pg_clauses[clause].cl_uarg);
	u32 i;

	for (i = 0; i < program->pg_nclauses; i++)
		if (DFR_ECBUARG_CLAUSE(program->pg_clauses[i].cl_uarg) == number &&
		    program->pg_clauses[i].cl_uarg & DFR_ECBUARG_CONTINUATION)
			return true;
	return false;
}

static u8 ecb_flags(const struct build *build)
{
	const struct dfr_program *program = build->bu_enabling->eb_program;
	const struct dfr_clause *clause = &program->pg_clauses[build->bu_clause];
	u8 flags = 0;

	if (clause->cl_pred && clause->cl_pred->di_flags & DFR_DIFO_PURE)
		flags |= DFR_EC_PURE;
	if (is_split(program, build->bu_clause))
		flags |= DFR_EC_SPLIT;
	if (clause->cl_uarg & DFR_ECBUARG_CONTINUATION)
		flags |= DFR_EC_CONTINUATION;
	if (clause->cl_uarg & DFR_ECBUARG_FAULT_HOLDS)
		flags |= DFR_EC_FAULT_HOLDS;
	return flags;
}

/*
 * No state begins on a probe with so many clauses, because a firing would take long merely
 * to pass them.
 */
#define CLAUSES_ON_PROBE 32768

/* The EPID that this plan had at this probe before the probe went; 0: it had none. */
static u32 take_epid(struct dfr_state *state, const struct dfr_probe *probe, const struct dfr_plan *plan)
{
	struct dfr_gone_ecb **link = &state->st_gone_ecbs;
	struct dfr_gone_ecb *gone;
	u32 epid;

	while ((gone = *link) && (gone->ge_probe != probe->pb_id || gone->ge_plan != plan))
		link = &gone->ge_next;
	if (!gone)
		return 0;
	*link = gone->ge_next;
	if (state->st_gone_last == &gone->ge_next)
		state->st_gone_last = link;
	epid = gone->ge_epid;
	dfr_plat_free(gone);
	return epid;
}

/* Keeps the EPID for the case that the probe comes back. If there is no memory, it gets a new one then. */
void dfr_ecb_keep_epid(struct dfr_state *state, const struct dfr_ecb *ecb)
{
	struct dfr_gone_ecb *gone = dfr_plat_alloc(sizeof(*gone));

	if (!gone)
		return;
	gone->ge_plan = ecb->ec_plan;
	gone->ge_probe = ecb->ec_probe->pb_id;
	gone->ge_epid = ecb->ec_epid;
	if (!state->st_gone_ecbs)
		state->st_gone_last = &state->st_gone_ecbs;
	*state->st_gone_last = gone;
	state->st_gone_last = &gone->ge_next;
}

/* Gives the ECB a new EPID and writes its catalog entry. */
static int number_ecb(struct dfr_state *state, struct dfr_ecb *ecb)
{
	int error = dfr_catalog_probe(state, ecb->ec_probe);

	ecb->ec_epid = state->st_nepids + 1;
	if (!error)
		error = dfr_catalog_ecb(state, ecb);
	if (error)
		return error;
	state->st_nepids++;
	if (state->st_user)
		state->st_user->us_ecbs++;
	return 0;
}

static int make_ecb(struct dfr_probe *probe, void *arg)
{
	struct build *build = arg;
	struct dfr_state *state = build->bu_state;
	struct dfr_ecb *ecb;
	const struct dfr_plan *plan;
	int error;

	if (probe->pb_born > build->bu_upto)
		return 0;
	if (!dfr_may_look(build->bu_enabling->eb_program,
			  &build->bu_enabling->eb_program->pg_clauses[build->bu_clause], probe)) {
		if (!build->bu_withheld++)
			build->bu_withheld_first = probe;
		return 0;
	}
	if (probe->pb_armed >= CLAUSES_ON_PROBE)
		return -E2BIG;
	error = plan_for(build, probe, &plan);
	if (error)
		return error;
	ecb = dfr_plat_alloc(sizeof(*ecb));
	if (!ecb)
		return -ENOMEM;
	ecb->ec_epid = take_epid(state, probe, plan);
	ecb->ec_state = state;
	ecb->ec_plan = plan;
	ecb->ec_live = dfr_live(state, dfr_ecb_priority(ecb), 0);
	ecb->ec_pred = plan->pn_clause->cl_pred;
	ecb->ec_probe = probe;
	ecb->ec_flags = build->bu_flags;
	if (!ecb->ec_epid)
		error = dfr_limits_more_ecbs(state) ? number_ecb(state, ecb) : -E2BIG;
	if (error) {
		dfr_plat_free(ecb);
		return error;
	}
	dfr_write_once(&state->st_priorities, state->st_priorities | 1u << dfr_ecb_priority(ecb));
	if (probe->pb_id == DFR_PROBE_ERROR)
		state->st_has_error = true;
	if (probe->pb_provider->pv_ops->missed)
		state->st_misses = true;
	if (state->st_ecb_last)
		state->st_ecb_last->ec_sibling = ecb;
	else
		state->st_ecbs = ecb;
	state->st_ecb_last = ecb;
	if (!build->bu_first)
		build->bu_first = ecb;
	return 0;
}

/*
 * Writes to the catalog which probes of a clause dfr_may_look() refused: a single one by its id, several
 * as their number only, because fbt::: has tens of thousands.
 */
static int tell_withheld(struct build *build)
{
	struct dfr_state *state = build->bu_state;
	u32 n = build->bu_withheld;
	int error;

	build->bu_withheld = 0;
	if (!n)
		return 0;
	if (n > 1)
		return dfr_catalog_unarmed(state, -(s32)n, -EPERM);
	error = dfr_catalog_probe(state, build->bu_withheld_first);
	return error ? error : dfr_catalog_unarmed(state, (s32)build->bu_withheld_first->pb_id, -EPERM);
}

/*
 * Makes ECBs for the probes born since this enabling was matched last. Ids do not tell which are
 * new: a probe that comes back has its old id. Users without privilege must not make the loading of
 * modules slow, so their patterns are not asked when no probe that they may use has come.
 */
static int match_enabling(struct build *build)
{
	struct dfr_engine *engine = build->bu_state->st_engine;
	struct dfr_enabling *enabling = build->bu_enabling;
	u64 since = enabling->eb_matched_to;
	int error = 0;

	build->bu_upto = engine->en_births;
	if ((dfr_state_confined(build->bu_state) ? engine->en_births_open : build->bu_upto) <= since)
		return 0;
	for (build->bu_clause = 0; build->bu_clause < enabling->eb_program->pg_nclauses && !error;
	     build->bu_clause++) {
		build->bu_flags = ecb_flags(build);
		error = dfr_plat_proceed();
		if (build->bu_come)
			error = 0; /* it is whoever loads a module that is killed, and its probes come nevertheless */
		if (!error)
			error = dfr_engine_match(engine, &enabling->eb_program->pg_clauses[build->bu_clause],
						 since, false, make_ecb, build);
		if (!error)
			error = tell_withheld(build);
	}
	enabling->eb_matched_to = build->bu_upto;
	return error;
}

/*
 * Makes a trial plan for each clause that has no probe yet. It raises the state's maximal sizes,
 * because buffers cannot be enlarged once probes for the clause have come.
 */
static int measure_unmatched(struct dfr_state *state, const struct dfr_enabling *enabling)
{
	const struct dfr_clause *clause;
	struct dfr_plan *plan;
	int error;
	u32 i;

	for (i = 0; i < enabling->eb_program->pg_nclauses; i++) {
		clause = &enabling->eb_program->pg_clauses[i];
		if (enabling->eb_plans[i] || clause->cl_foreign ||
		    !dfr_engine_host_matches(state->st_engine, clause->cl_host))
			continue;
		error = dfr_plat_proceed();
		if (!error)
			error = dfr_plan_make(state, enabling, i, 0, &plan);
		if (error)
			return error;
		dfr_plan_free(plan);
	}
	return 0;
}

int dfr_state_build(struct dfr_state *state)
{
	struct build build = { .bu_state = state };
	struct dfr_enabling *enabling;
	int error;

	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next) {
		build.bu_enabling = enabling;
		error = dfr_catalog_dof(state, enabling->eb_number, enabling->eb_program->pg_dof,
					(u32)enabling->eb_program->pg_dof_size);
		if (!error)
			error = dfr_plan_tell_aggvars(state, enabling->eb_program);
		if (!error)
			error = match_enabling(&build);
		if (!error)
			error = measure_unmatched(state, enabling);
		if (error)
			return error;
	}
	return 0;
}

struct dfr_ecb *dfr_state_build_new(struct dfr_state *state)
{
	struct build build = { .bu_state = state, .bu_come = true };
	struct dfr_enabling *enabling;
	int error;

	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next) {
		build.bu_enabling = enabling;
		error = match_enabling(&build);
		if (!error)
			continue;
		dfr_catalog_unarmed(state, 0, error);
		dfr_plat_log("not all of the new probes of state %u are enabled (error %d)",
			     dfr_state_number(state), error);
	}
	return build.bu_first;
}
