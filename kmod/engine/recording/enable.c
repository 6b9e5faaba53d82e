// SPDX-License-Identifier: GPL-2.0
/*
 * Enablings: from loaded DOFs to ECBs at probes. Process context under the engine's lock; the
 * state's lock is not held while a provider arms or disarms.
 *
 * enable   loads and checks a DOF, takes over its options and counts what its
 *          clauses match. Nothing is allocated for recording yet, because a
 *          later DOF may bring options (the last one of an anonymous state does).
 * build    at go: plans, ECBs and their catalog entries, in the order of DOFs,
 *          clauses and probe ids.
 * arm      links the ECBs into their probes' chains and has the providers patch.
 *
 * Enablings stay: when a provider announces new probes, they are matched too,
 * each probe once. The file is long because all three walk the same clauses
 * and must agree on what a clause matches.
 */
#include "kmod/engine/recording/store.h"

struct dfr_aggvar *dfr_state_aggvar(const struct dfr_state *state, u32 varid)
{
	struct dfr_aggvar *var;

	for (var = state->st_aggvars; var; var = var->av_next)
		if (var->av_varid == varid)
			return var;
	return NULL;
}

static int refuse(struct dfr_refusal *why, int error, const char *reason)
{
	size_t n = strlen(reason);

	if (why) {
		if (n >= sizeof(why->rf_reason))
			n = sizeof(why->rf_reason) - 1;
		why->rf_section = DOF_SECIDX_NONE;
		why->rf_offset = 0;
		memcpy(why->rf_reason, reason, n);
		why->rf_reason[n] = '\0';
	}
	return error;
}

/* Options. */

static const char *option_check(u32 option, s64 value)
{
	if (!dfr_option_known(option))
		return "unknown option number";
	/*
	 * A boolean option is set by the value 0, so the only value that is wrong for every option
	 * is a negative one.
	 */
	if (value < 0)
		return "an option has a negative value";
	switch (option) {
	case DFR_OPT_BUFPOLICY:
		return value > DFR_BUFPOLICY_SWITCH ? "bufpolicy is none of ring, fill, switch" : NULL;
	case DFR_OPT_STRSIZE:
		return value < 1 || value > DIF_STRSIZE_MAX ? "strsize is not between 1 byte and 64 KiB"
							    : NULL;
	case DFR_OPT_NSPEC: return value > 65536 ? "nspec is above 65536" : NULL;
	case DFR_OPT_BLOCKSIZE:
		return value && (value < DFR_BLOCK_MIN || value > DFR_BLOCK_MAX || (value & (value - 1)))
			       ? "blocksize is not a power of two between 512 bytes and 256 KiB"
			       : NULL;
	case DFR_OPT_CPU:
		return value >= dfr_plat_ncpus() || !dfr_plat_cpu_online((unsigned)value)
			       ? "option cpu names no CPU that is online"
			       : NULL;
	case DFR_OPT_CPUBUDGET:
		return value > 100 ? "cpubudget is not a percentage of a CPU, 1 to 100" : NULL;
	default: return NULL;
	}
}

static int take_options(struct dfr_state *state, const struct dfr_program *program, struct dfr_refusal *why)
{
	const struct dfr_progopt *option;
	const char *reason;
	u32 i;

	for (i = 0; i < program->pg_noptions; i++) {
		reason = option_check(program->pg_options[i].po_option, program->pg_options[i].po_value);
		if (reason)
			return refuse(why, -EINVAL, reason);
	}
	for (i = 0; i < program->pg_noptions; i++) {
		option = &program->pg_options[i];
		state->st_options[dfr_option_index(option->po_option)] = option->po_value;
	}
	return 0;
}

/* Enable. */

static int count_match(struct dfr_probe *probe, void *arg)
{
	u32 *count = arg;

	(void)probe;
	(*count)++;
	return 0;
}

static void name_clause(struct dfr_refusal *why, const struct dfr_clause *clause)
{
	size_t at = strlen(why->rf_reason);

	dfr_clause_text(clause, why->rf_reason + at, sizeof(why->rf_reason) - at);
}

/* Without -Z (zero_ok) every description must match a probe now. */
static int count_matches(struct dfr_state *state, const struct dfr_program *program, bool zero_ok,
			 u32 *matched, struct dfr_refusal *why)
{
	u32 i, n;
	u32 total = 0;

	for (i = 0; i < program->pg_nclauses; i++) {
		if (dfr_plat_proceed())
			return -EINTR;
		/* The parts of a clause that `if` splits share its description: they count as one. */
		if (program->pg_clauses[i].cl_uarg & DFR_ECBUARG_CONTINUATION)
			continue;
		n = 0;
		dfr_engine_match(state->st_engine, &program->pg_clauses[i], 0, true, count_match, &n);
		total += n;
		/* A description whose host field names another machine need not match here. */
		if (n || zero_ok || program->pg_clauses[i].cl_foreign ||
		    !dfr_engine_host_matches(state->st_engine, program->pg_clauses[i].cl_host))
			continue;
		refuse(why, -ESRCH,
		       dfr_state_confined(state) ? "syscall, profile-N and BEGIN, END, ERROR are what is "
						   "open without privilege; no such probe matches "
						 : "no probe matches ");
		if (why)
			name_clause(why, &program->pg_clauses[i]);
		return -ESRCH;
	}
	if (matched)
		*matched = total;
	return 0;
}

/*
 * Variables are made at go, when the options are known. Whether the declarations of all programs
 * agree is tried out here with a small set, so that the refusal can say why.
 */
static int check_variables(struct dfr_state *state, const struct dfr_program *program,
			   struct dfr_refusal *why)
{
	struct dfr_vars_config config = { .vc_dynvarsize = 4096, .vc_strsize = DIF_STRSIZE_DEFAULT };
	struct dfr_enabling *enabling;
	struct dfr_vars *vars;
	int error = dfr_vars_create(state->st_engine, &config, &vars);

	if (error)
		return error;
	for (enabling = state->st_enablings; enabling && !error; enabling = enabling->eb_next)
		error = dfr_vars_declare(vars, enabling->eb_program, why);
	if (!error)
		error = dfr_vars_declare(vars, program, why);
	if (!error && dfr_state_confined(state) && dfr_vars_bytes(vars) > dfr_limits_variables(state))
		error = refuse(why, -EPERM, "not without privilege: variables as large as these");
	dfr_vars_free(vars);
	return error;
}

static void free_aggvars(struct dfr_aggvar *var)
{
	struct dfr_aggvar *next;

	for (; var; var = next) {
		next = var->av_next;
		dfr_plat_free(var->av_keys);
		dfr_plat_free(var);
	}
}

/*
 * Collects the aggregation variables of all programs anew. If `more` is refused, the state keeps the
 * old list.
 */
static const char *collect_aggvars(struct dfr_state *state, const struct dfr_program *more)
{
	struct dfr_aggvar *before = state->st_aggvars;
	struct dfr_enabling *enabling;
	const char *reason = NULL;

	state->st_aggvars = NULL;
	for (enabling = state->st_enablings; enabling && !reason; enabling = enabling->eb_next)
		reason = dfr_plan_aggvars(state, enabling->eb_program);
	if (!reason)
		reason = dfr_plan_aggvars(state, more);
	if (reason) {
		free_aggvars(state->st_aggvars);
		state->st_aggvars = before;
	} else {
		free_aggvars(before);
	}
	return reason;
}

static int add_enabling(struct dfr_state *state, struct dfr_program *program)
{
	struct dfr_enabling *enabling = dfr_plat_alloc(sizeof(*enabling));
	struct dfr_enabling **tail = &state->st_enablings;

	if (!enabling)
		return -ENOMEM;
	enabling->eb_plans = dfr_plat_alloc((program->pg_nclauses + 1) * sizeof(enabling->eb_plans[0]));
	if (!enabling->eb_plans) {
		dfr_plat_free(enabling);
		return -ENOMEM;
	}
	enabling->eb_program = program;
	enabling->eb_number = state->st_ndofs++;
	while (*tail)
		tail = &(*tail)->eb_next;
	*tail = enabling;
	return 0;
}

/* Under lockdown (pg_restricted) a clause must not see the arguments of kernel functions. */
static bool may_look(const struct dfr_program *program, const struct dfr_clause *clause,
		     const struct dfr_probe *probe)
{
	u32 i;

	if (!program->pg_restricted || probe->pb_provider->pv_flags & DFR_PV_USER_ARGS)
		return true;
	for (i = 0; i < clause->cl_nacts; i++)
		if (clause->cl_acts[i].ac_kind == DFR_ACT_CAPTURE_ARGS ||
		    (clause->cl_acts[i].ac_difo && clause->cl_acts[i].ac_difo->di_flags & DFR_DIFO_ARGS))
			return false;
	return !clause->cl_pred || !(clause->cl_pred->di_flags & DFR_DIFO_ARGS);
}

/*
 * A confined program that looks at forbidden arguments is refused at enable, where the user can see
 * which program it was, not at go.
 */
struct look {
	const struct dfr_program *lo_program;
	const struct dfr_clause *lo_clause;
};

static int check_look(struct dfr_probe *probe, void *arg)
{
	const struct look *look = arg;

	return may_look(look->lo_program, look->lo_clause, probe) ? 0 : -EPERM;
}

static int count_clause(struct dfr_probe *probe, void *arg)
{
	u8 *clauses = arg;

	return ++clauses[probe->pb_id] > DFR_CONFINED_CLAUSES_ON_PROBE ? -E2BIG : 0;
}

static int count_clauses(struct dfr_state *state, const struct dfr_program *program, u8 *clauses)
{
	int error = 0;
	u32 i;

	for (i = 0; i < program->pg_nclauses && !error; i++)
		error = dfr_engine_match(state->st_engine, &program->pg_clauses[i], 0, false, count_clause,
					 clauses);
	return error;
}

/*
 * When a probe fires for any task, the firing goes past all clauses at it, also those confined to
 * other users. So the number of a confined state's clauses at one probe is limited.
 */
static const char *check_crowd(struct dfr_state *state, const struct dfr_program *more)
{
	u8 *clauses = dfr_plat_alloc(state->st_engine->en_nprobes + 1);
	const struct dfr_enabling *enabling;
	int error = 0;

	if (!clauses)
		return dfr_no_memory;
	for (enabling = state->st_enablings; enabling && !error; enabling = enabling->eb_next)
		error = count_clauses(state, enabling->eb_program, clauses);
	if (!error)
		error = count_clauses(state, more, clauses);
	dfr_plat_free(clauses);
	return error ? "not without privilege: more than 64 clauses on one probe" : NULL;
}

static int check_confined(struct dfr_state *state, const struct dfr_program *program, struct dfr_refusal *why)
{
	const char *reason = dfr_limits_check(state, program);
	struct look look = { .lo_program = program };
	u32 i;

	if (!reason)
		reason = check_crowd(state, program);
	if (reason == dfr_no_memory)
		return -ENOMEM;
	for (i = 0; i < program->pg_nclauses && !reason; i++) {
		look.lo_clause = &program->pg_clauses[i];
		if (dfr_engine_match(state->st_engine, look.lo_clause, 0, false, check_look, &look))
			reason = "not without privilege: arguments of this probe are addresses of the "
				 "kernel's; ustack() shows the process's own";
	}
	return reason ? refuse(why, -EPERM, reason) : 0;
}

static int check_program(struct dfr_state *state, const struct dfr_program *program, u32 flags, u32 *matched,
			 struct dfr_refusal *why)
{
	const char *reason;
	int error = check_variables(state, program, why);

	if (!error)
		error = count_matches(state, program, flags & DFR_ENABLE_ZERO_OK, matched, why);
	if (error)
		return error;
	if (dfr_state_confined(state))
		error = check_confined(state, program, why);
	if (error)
		return error;
	reason = collect_aggvars(state, program);
	if (reason)
		return refuse(why, reason == dfr_no_memory ? -ENOMEM : -EINVAL, reason);
	return take_options(state, program, why);
}

int dfr_state_add(struct dfr_state *state, struct dfr_program *program, u32 flags, u32 *matched,
		  struct dfr_refusal *why)
{
	int error;

	if (matched)
		*matched = 0;
	if (state->st_activity != DFR_INACTIVE)
		return refuse(why, -EBUSY, "the state is tracing already: enable before go");
	error = check_program(state, program, flags, matched, why);
	return error ? error : add_enabling(state, program);
}

int dfr_state_enable(struct dfr_state *state, const void *dof, size_t size,
		     const struct dfr_load_limits *limits, u32 flags, u32 *matched, struct dfr_refusal *why)
{
	struct dfr_program *program = NULL;
	int error = dfr_program_load(dof, size, limits, &program, why);

	if (error) {
		if (matched)
			*matched = 0;
		return error;
	}
	error = dfr_state_add(state, program, flags, matched, why);
	if (error)
		dfr_program_free(program);
	return error;
}

/* Build. */

struct build {
	struct dfr_state *bu_state;
	struct dfr_enabling *bu_enabling;
	u64 bu_from,
		bu_upto; /* probes with bu_from < pb_born <= bu_upto are matched now, later ones next time */
	u32 bu_clause;
	u8 bu_flags;		  /* ec_flags of its ECBs */
	struct dfr_ecb *bu_first; /* the first ECB made in this build */
	u32 bu_withheld;	  /* probes of the clause that may_look() refused */
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
	return flags;
}

/*
 * Plain clauses are not charged for their work (work.c), so only the first PLAIN_ON_PROBE at a probe
 * may be plain; those behind them take the general form. No state begins on a probe with
 * CLAUSES_ON_PROBE clauses, because a firing would take long merely to pass them.
 */
#define PLAIN_ON_PROBE	 64
#define CLAUSES_ON_PROBE 32768

static bool is_crowded(const struct dfr_probe *probe, u32 most)
{
	const struct dfr_ecb *ecb;
	u32 n = 0;

	for (ecb = probe->pb_ecbs; ecb && n < most; ecb = ecb->ec_next)
		n++;
	return n >= most;
}

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
static void keep_epid(struct dfr_state *state, const struct dfr_ecb *ecb)
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

	if (probe->pb_born <= build->bu_from || probe->pb_born > build->bu_upto)
		return 0;
	if (!may_look(build->bu_enabling->eb_program,
		      &build->bu_enabling->eb_program->pg_clauses[build->bu_clause], probe)) {
		if (!build->bu_withheld++)
			build->bu_withheld_first = probe;
		return 0;
	}
	if (is_crowded(probe, CLAUSES_ON_PROBE))
		return -E2BIG;
	error = plan_for(build, probe, &plan);
	if (error)
		return error;
	ecb = dfr_plat_alloc(sizeof(*ecb));
	if (!ecb)
		return -ENOMEM;
	ecb->ec_epid = take_epid(state, probe, plan);
	ecb->ec_state = state;
	ecb->ec_live = state->st_live;
	ecb->ec_plan = plan;
	ecb->ec_pred = plan->pn_clause->cl_pred;
	ecb->ec_probe = probe;
	ecb->ec_flags = build->bu_flags;
	if (!ecb->ec_epid)
		error = dfr_limits_more_ecbs(state) ? number_ecb(state, ecb) : -E2BIG;
	if (error) {
		dfr_plat_free(ecb);
		return error;
	}
	if (probe->pb_id == DFR_PROBE_ERROR)
		state->st_has_error = true;
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
 * Writes to the catalog which probes of a clause may_look() refused: a single one by its id, several
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
 * new: a probe that comes back has its old id.
 */
static int match_enabling(struct build *build)
{
	struct dfr_engine *engine = build->bu_state->st_engine;
	struct dfr_enabling *enabling = build->bu_enabling;
	int error = 0;

	build->bu_from = enabling->eb_matched_to;
	build->bu_upto = engine->en_births;
	for (build->bu_clause = 0; build->bu_clause < enabling->eb_program->pg_nclauses && !error;
	     build->bu_clause++) {
		build->bu_flags = ecb_flags(build);
		error = dfr_plat_proceed();
		if (!error)
			error = dfr_engine_match(engine, &enabling->eb_program->pg_clauses[build->bu_clause],
						 0, false, make_ecb, build);
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

/* Arm. */

/*
 * Are both the same test, of a kind that asks only about the task that fires (up to DFR_TEST_OWNER),
 * so that it needs neither arguments nor state?
 */
static bool same_test(const struct dfr_test *a, const struct dfr_test *b)
{
	return a && b && a->te_kind <= DFR_TEST_OWNER && a->te_kind == b->te_kind &&
	       a->te_negated == b->te_negated && a->te_words[0] == b->te_words[0] &&
	       a->te_words[1] == b->te_words[1];
}

/*
 * Sets what holds for all ECBs at the probe: pb_test, DFR_PB_PURE, DFR_PB_NOARGS. `newcomer` (or
 * NULL) is counted as one of them although it is not linked yet.
 */
static void refresh_probe(struct dfr_probe *probe, const struct dfr_ecb *newcomer)
{
	const struct dfr_ecb *first = probe->pb_ecbs ? probe->pb_ecbs : newcomer;
	const struct dfr_test *test = first ? first->ec_test : NULL;
	u32 flags = DFR_PB_PURE | DFR_PB_NOARGS;
	const struct dfr_ecb *ecb;

	for (ecb = first; ecb; ecb = ecb == newcomer ? NULL : ecb->ec_next ? ecb->ec_next : newcomer) {
		if (!(ecb->ec_flags & DFR_EC_PURE))
			flags &= ~(u32)DFR_PB_PURE;
		if (dfr_form_reads_args(ecb))
			flags &= ~(u32)DFR_PB_NOARGS;
		if (!same_test(ecb->ec_test, test))
			test = NULL;
	}
	if (test && (test->te_kind != DFR_TEST_NAME || test->te_negated))
		flags &= ~(u32)DFR_PB_NOARGS; /* dfr_probe_wants() must ask it first */
	if (test || !first || flags & DFR_PB_NOARGS)
		flags &= ~(u32)DFR_PB_PURE;
	dfr_write_once(&probe->pb_test, test);
	dfr_write_once(&probe->pb_flags, (probe->pb_flags & ~(u32)(DFR_PB_PURE | DFR_PB_NOARGS)) | flags);
}

static void link_ecb(struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;
	struct dfr_ecb **tail = &probe->pb_ecbs;

	dfr_form_find(ecb, is_crowded(probe, PLAIN_ON_PROBE));
	/*
	 * Before it is linked, because what holds for the other ECBs only would make firings skip
	 * the new one.
	 */
	refresh_probe(probe, ecb);
	ecb->ec_next = NULL; /* a former place in a chain; no firing is at this ECB any more */
	while (*tail)
		tail = &(*tail)->ec_next;
	dfr_ecb_mark(ecb, DFR_MARK_LINKED, true);
	dfr_store_release(tail, ecb);
}

static void unlink_ecb(struct dfr_ecb *ecb)
{
	struct dfr_ecb **link = &ecb->ec_probe->pb_ecbs;

	while (*link && *link != ecb)
		link = &(*link)->ec_next;
	/* Its own ec_next stays, because a firing on another CPU may be at this ECB and go on from it. */
	if (*link)
		dfr_store_release(link, ecb->ec_next);
	dfr_ecb_mark(ecb, DFR_MARK_LINKED, false);
	refresh_probe(ecb->ec_probe, NULL);
}

static int commit_providers(struct dfr_engine *engine)
{
	struct dfr_provider *provider;
	int error = 0;
	int result;

	for (provider = engine->en_providers; provider; provider = provider->pv_next) {
		if (!provider->pv_ops->commit)
			continue;
		result = provider->pv_ops->commit(provider);
		if (result && !error)
			error = result;
	}
	return error;
}

static void tell_event(struct dfr_state *state, u32 event, const struct dfr_probe *probe)
{
	dfr_mutex_lock(&state->st_lock);
	dfr_catalog_event(state, event, (s32)probe->pb_id, dfr_plat_clock(NULL));
	dfr_mutex_unlock(&state->st_lock);
}

static void tell_unarmed(struct dfr_state *state, s32 which, int error)
{
	dfr_mutex_lock(&state->st_lock);
	dfr_catalog_unarmed(state, which, error);
	dfr_mutex_unlock(&state->st_lock);
}

/* If the provider cannot arm the probe, the log and the catalog name it, and the ECB stays unlinked. */
static void arm_ecb(struct dfr_state *state, struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;
	int error;

	link_ecb(ecb);
	if (probe->pb_armed++)
		return;
	state->st_engine->en_arming = state;
	error = probe->pb_provider->pv_ops->arm(probe->pb_provider, probe);
	state->st_engine->en_arming = NULL;
	if (!error)
		return;
	dfr_plat_log("probe %s:%s:%s:%s cannot be armed (error %d)", probe->pb_provider->pv_name,
		     probe->pb_module, probe->pb_function, probe->pb_name, error);
	tell_unarmed(state, (s32)probe->pb_id, error);
	probe->pb_armed--;
	unlink_ecb(ecb);
}

bool dfr_arming_option(const struct dfr_engine *engine, u32 option)
{
	return engine->en_arming && dfr_option(engine->en_arming, option) > 0;
}

/* A provider whose commit() fails cannot say which probes it left out, so the catalog entry names none. */
static void commit(struct dfr_state *state, int error)
{
	int failed = commit_providers(state->st_engine);

	error = error ? error : failed;
	if (!error)
		return;
	dfr_plat_log("not all probes of state %llu could be armed (error %d)",
		     (unsigned long long)state->st_id, error);
	tell_unarmed(state, 0, error);
}

/*
 * The task that starts the state may be killed between two probes, since arming one may take
 * milliseconds. What was armed by then is disarmed with the state.
 */
void dfr_state_arm(struct dfr_state *state)
{
	struct dfr_ecb *ecb;
	int error = 0;

	state->st_armed = true;
	for (ecb = state->st_ecbs; ecb && !error; ecb = ecb->ec_sibling) {
		arm_ecb(state, ecb);
		error = dfr_plat_proceed();
	}
	commit(state, error);
}

static void disarm_ecb(struct dfr_ecb *ecb)
{
	struct dfr_probe *probe = ecb->ec_probe;

	if (!dfr_ecb_marked(ecb, DFR_MARK_LINKED))
		return;
	unlink_ecb(ecb);
	if (--probe->pb_armed == 0)
		probe->pb_provider->pv_ops->disarm(probe->pb_provider, probe);
}

/* When this returns, no new firing sees the state and those under way are over. */
void dfr_state_disarm(struct dfr_state *state)
{
	struct dfr_ecb *ecb;

	if (!state->st_armed)
		return;
	state->st_armed = false;
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling)
		disarm_ecb(ecb);
	commit_providers(state->st_engine);
	dfr_plat_synchronize();
}

/*
 * For the governor: detaches the probes with the highest cost, one after the other, until more than
 * half of the state's cost is gone. Returns how many probes.
 */
#define DETACH_MOST 64

static const struct dfr_ecb *dearest(const struct dfr_state *state, u64 *total)
{
	const struct dfr_ecb *ecb, *most = NULL;

	*total = 0;
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (!dfr_ecb_marked(ecb, DFR_MARK_LINKED))
			continue;
		*total += ecb->ec_cost;
		if (ecb->ec_cost && (!most || ecb->ec_cost > most->ec_cost))
			most = ecb;
	}
	return most;
}

static u64 detach_probe(struct dfr_state *state, const struct dfr_probe *probe)
{
	struct dfr_ecb *ecb;
	u64 cost = 0;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (ecb->ec_probe != probe || !dfr_ecb_marked(ecb, DFR_MARK_LINKED))
			continue;
		cost += ecb->ec_cost;
		disarm_ecb(ecb);
		dfr_ecb_mark(ecb, DFR_MARK_DETACHED, true);
	}
	tell_event(state, DFR_EVENT_DETACHED, probe);
	return cost;
}

u32 dfr_state_detach(struct dfr_state *state)
{
	u64 total, rest, gone = 0;
	const struct dfr_ecb *most = dearest(state, &total);
	u32 probes = 0;

	for (; most && gone <= total / 2 && probes < DETACH_MOST; most = dearest(state, &rest)) {
		gone += detach_probe(state, most->ec_probe);
		probes++;
	}
	commit_providers(state->st_engine);
	return probes;
}

/*
 * Arms what was detached. dfr_plat_synchronize() first, because a firing may still be at an unlinked
 * ECB, whose ec_next link_ecb() clears.
 */
void dfr_state_attach(struct dfr_state *state)
{
	struct dfr_ecb *ecb;

	dfr_plat_synchronize();
	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling) {
		if (!dfr_ecb_marked(ecb, DFR_MARK_DETACHED))
			continue;
		dfr_ecb_mark(ecb, DFR_MARK_DETACHED, false);
		arm_ecb(state, ecb);
		tell_event(state, DFR_EVENT_ATTACHED, ecb->ec_probe);
	}
	commit_providers(state->st_engine);
}

void dfr_patterns_wanted(struct dfr_engine *engine, void (*visit)(const char *const pattern[4], void *arg),
			 void *arg)
{
	const struct dfr_enabling *enabling;
	const struct dfr_state *state;
	u32 i;

	dfr_mutex_lock(&engine->en_provide_lock);
	for (state = engine->en_states; state; state = state->st_next)
		for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next)
			for (i = 0; i < enabling->eb_program->pg_nclauses; i++)
				if (!enabling->eb_program->pg_clauses[i].cl_probe_id)
					visit(enabling->eb_program->pg_clauses[i].cl_pattern, arg);
	dfr_mutex_unlock(&engine->en_provide_lock);
}

/* Makes ECBs for new probes; returns the first of them. NULL: the new probes get none. */
static struct dfr_ecb *match_all(struct dfr_state *state)
{
	struct build build = { .bu_state = state };
	struct dfr_enabling *enabling;
	int error;

	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next) {
		build.bu_enabling = enabling;
		error = match_enabling(&build);
		if (error)
			dfr_plat_log("not all of the new probes of state %llu are enabled (error %d)",
				     (unsigned long long)state->st_id, error);
	}
	return build.bu_first;
}

/* New probes have come: those that this state's programs match get ECBs and are armed. */
void dfr_state_match_new(struct dfr_state *state)
{
	struct dfr_ecb *ecb;

	if (!state->st_armed)
		return;
	dfr_mutex_lock(&state->st_lock);
	ecb = state->st_ended ? NULL : match_all(state);
	dfr_mutex_unlock(&state->st_lock);
	if (!ecb)
		return;
	for (; ecb; ecb = ecb->ec_sibling)
		arm_ecb(state, ecb);
	commit(state, 0);
}

/*
 * Takes the ECBs of the probes that go off the state's list. The state's lock is held, because some
 * walk that list under it alone.
 */
static struct dfr_ecb *take_going(struct dfr_state *state, const struct dfr_going *going)
{
	struct dfr_ecb **link = &state->st_ecbs;
	struct dfr_ecb *gone = NULL;
	struct dfr_ecb *last = NULL;
	struct dfr_ecb *ecb;

	while ((ecb = *link)) {
		if (dfr_probe_goes(going, ecb->ec_probe)) {
			keep_epid(state, ecb);
			*link = ecb->ec_sibling;
			ecb->ec_sibling = gone;
			gone = ecb;
		} else {
			last = ecb;
			link = &ecb->ec_sibling;
		}
	}
	state->st_ecb_last = last;
	return gone;
}

/* Probes are going, and their ECBs with them. Their EPIDs are not given to other ECBs. */
void dfr_state_unlink_probes(struct dfr_state *state, const struct dfr_going *going)
{
	struct dfr_ecb *gone, *ecb;

	for (ecb = state->st_ecbs; ecb; ecb = ecb->ec_sibling)
		if (dfr_probe_goes(going, ecb->ec_probe))
			disarm_ecb(ecb);
	dfr_mutex_lock(&state->st_lock);
	gone = take_going(state, going);
	dfr_mutex_unlock(&state->st_lock);
	if (!gone)
		return;
	commit_providers(state->st_engine);
	dfr_plat_synchronize();
	for (; gone; gone = ecb) {
		ecb = gone->ec_sibling;
		dfr_plat_free(gone);
	}
}

/* After disarm. */
void dfr_state_free_enablings(struct dfr_state *state)
{
	struct dfr_enabling *enabling, *next;
	struct dfr_ecb *ecb, *sibling;
	struct dfr_gone_ecb *gone;
	u32 i;

	for (ecb = state->st_ecbs; ecb; ecb = sibling) {
		sibling = ecb->ec_sibling;
		dfr_plat_free(ecb);
	}
	state->st_ecbs = NULL;
	state->st_ecb_last = NULL;
	while ((gone = state->st_gone_ecbs)) {
		state->st_gone_ecbs = gone->ge_next;
		dfr_plat_free(gone);
	}
	for (enabling = state->st_enablings; enabling; enabling = next) {
		next = enabling->eb_next;
		for (i = 0; i < enabling->eb_program->pg_nclauses; i++)
			dfr_plan_free(enabling->eb_plans[i]);
		dfr_plat_free(enabling->eb_plans);
		dfr_program_free(enabling->eb_program);
		dfr_plat_free(enabling);
	}
	state->st_enablings = NULL;
	free_aggvars(state->st_aggvars);
	state->st_aggvars = NULL;
	dfr_plat_free(state->st_told);
	state->st_told = NULL;
}
