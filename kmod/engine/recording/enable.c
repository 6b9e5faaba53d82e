// SPDX-License-Identifier: GPL-2.0
/*
 * Enabling: a loaded DOF is checked against the state, the probes and the limits, its
 * options are taken over, and what its clauses match is counted. Nothing is allocated for
 * recording yet, because a later DOF may bring options (the last one of an anonymous state
 * does). build.c and arm.c go on from here. Process context under the engine's lock.
 *
 * Enablings stay: when a provider announces new probes, they are matched too.
 */
#include "kmod/engine/recording/store.h"

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
	case DFR_OPT_SCRATCHSIZE: return value > DIF_SCRATCH_MAX ? "scratchsize is above 4 MiB" : NULL;
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
	case DFR_OPT_MEMORY:
		return value != DFR_MEMORY_RESERVED ? "memory is not: reserved" : dfr_plat_not_reserved();
	case DFR_OPT_ENCODING: return value > DFR_ENCODING_UTF8 ? "encoding is none of ascii, utf8" : NULL;
	default: return NULL;
	}
}

static const char *check_options(const struct dfr_program *program)
{
	const char *reason = NULL;
	u32 i;

	for (i = 0; i < program->pg_noptions && !reason; i++)
		reason = option_check(program->pg_options[i].po_option, program->pg_options[i].po_value);
	return reason;
}

static void take_options(struct dfr_state *state, const struct dfr_program *program)
{
	const struct dfr_progopt *option;
	u32 i;

	for (i = 0; i < program->pg_noptions; i++) {
		option = &program->pg_options[i];
		state->st_options[dfr_option_index(option->po_option)] = option->po_value;
	}
}

/* Enable. */

/*
 * When a probe fires for any task, the firing goes past all clauses at it, also those confined to
 * other users. So the number of a confined state's clauses at one probe is limited.
 */
struct crowd {
	u8 *cr_clauses; /* by the probe's id; NULL: not confined */
	u32 cr_probes;
};

static const char *crowd_refuses(struct crowd *crowd, const struct dfr_probe *probe)
{
	/* Probes are made under another lock than this. */
	if (probe->pb_id > crowd->cr_probes)
		return "a probe has just been made; try again";
	return ++crowd->cr_clauses[probe->pb_id] > DFR_CONFINED_CLAUSES_ON_PROBE
		       ? "unprivileged users may not put more than 64 clauses on one probe"
		       : NULL;
}

bool dfr_may_look(const struct dfr_program *program, const struct dfr_clause *clause,
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

/* The probes that one clause matches. */
struct matches {
	const struct dfr_program *ma_program;
	const struct dfr_clause *ma_clause;
	struct crowd *ma_crowd;
	u32 ma_count;
	const char *ma_reason; /* why one of them is refused */
};

static int visit_match(struct dfr_probe *probe, void *arg)
{
	struct matches *matches = arg;

	matches->ma_count++;
	if (!matches->ma_crowd->cr_clauses)
		return 0;
	/* Refused at enable, where the user can see which program it was, not at go. */
	matches->ma_reason = dfr_may_look(matches->ma_program, matches->ma_clause, probe)
				     ? crowd_refuses(matches->ma_crowd, probe)
				     : "unprivileged users may not read arguments of this probe: they are "
				       "the kernel's addresses; ustack() shows the process's own";
	return matches->ma_reason ? -EPERM : 0;
}

static void name_clause(struct dfr_refusal *why, const struct dfr_clause *clause)
{
	size_t at = why ? strlen(why->rf_reason) : 0;

	if (!why)
		return;
	dfr_clause_text(clause, why->rf_reason + at, sizeof(why->rf_reason) - at);
}

/* Before the description. */
static const char *unmatched_text(int error)
{
	switch (error) {
	case -ENOMEM: return "there is no memory for all the probes of ";
	case -EINTR: return "the task was killed while it looked for the probes of ";
	case -EFBIG: return "a function of more than 64 KiB has its instructions by offset only, not by ";
	default: return "more probes than there may be are those of ";
	}
}

/* Without -Z (zero_ok) every description must match a probe now. */
static int count_matches(struct dfr_state *state, const struct dfr_program *program, bool zero_ok,
			 struct crowd *crowd, u32 *matched, struct dfr_refusal *why)
{
	struct matches matches = { .ma_program = program, .ma_crowd = crowd };
	const struct dfr_clause *clause;
	u32 i;
	u32 total = 0;
	int error;
	bool is_part;

	for (i = 0; i < program->pg_nclauses; i++) {
		clause = matches.ma_clause = &program->pg_clauses[i];
		if (dfr_plat_proceed())
			return -EINTR;
		/* The parts of a clause that `if` splits share its description: they count as one. */
		is_part = clause->cl_uarg & DFR_ECBUARG_CONTINUATION;
		if (is_part && !crowd->cr_clauses)
			continue;
		matches.ma_count = 0;
		error = dfr_engine_match(state->st_engine, clause, 0, true, visit_match, &matches);
		if (matches.ma_reason)
			return refuse(why, -EPERM, matches.ma_reason);
		if (error) {
			refuse(why, error, unmatched_text(error));
			name_clause(why, clause);
			return error;
		}
		if (!is_part)
			total += matches.ma_count;
		/* A description whose host field names another machine need not match here. */
		if (matches.ma_count || zero_ok || clause->cl_foreign ||
		    !dfr_engine_host_matches(state->st_engine, clause->cl_host))
			continue;
		refuse(why, -ESRCH,
		       dfr_state_confined(state) ? "unprivileged users have syscall, profile-N, BEGIN, END "
						   "and ERROR only; of these none matches "
						 : "no probe matches ");
		name_clause(why, clause);
		return -ESRCH;
	}
	if (matched)
		*matched = total;
	return 0;
}

/* As count_matches(), with the limits for users without privilege. */
static int count_confined(struct dfr_state *state, const struct dfr_program *program, bool zero_ok,
			  u32 *matched, struct dfr_refusal *why)
{
	struct crowd crowd = { .cr_probes = dfr_read_once(&state->st_engine->en_nprobes) };
	const char *reason = dfr_limits_check(state, program);
	const struct dfr_enabling *earlier;
	int error = 0;

	if (reason)
		return refuse(why, -EPERM, reason);
	crowd.cr_clauses = dfr_plat_alloc(crowd.cr_probes + 1);
	if (!crowd.cr_clauses)
		return -ENOMEM;
	for (earlier = state->st_enablings; earlier && !error; earlier = earlier->eb_next)
		error = count_matches(state, earlier->eb_program, true, &crowd, NULL, why);
	if (!error)
		error = count_matches(state, program, zero_ok, &crowd, matched, why);
	dfr_plat_free(crowd.cr_clauses);
	return error;
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
		error = refuse(
			why, -EPERM,
			"unprivileged users may not use variables larger than an eighth of a state's memory");
	dfr_vars_free(vars);
	return error;
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

static int check_program(struct dfr_state *state, const struct dfr_program *program, u32 flags, u32 *matched,
			 struct dfr_refusal *why)
{
	struct crowd nobody = { NULL, 0 };
	const char *reason;
	int error = check_variables(state, program, why);

	if (!error)
		error = dfr_state_confined(state)
				? count_confined(state, program, flags & DFR_ENABLE_ZERO_OK, matched, why)
				: count_matches(state, program, flags & DFR_ENABLE_ZERO_OK, &nobody, matched,
						why);
	if (error)
		return error;
	reason = check_options(program);
	if (!reason)
		reason = dfr_triggers_check(state, program);
	if (!reason) /* last, because it is the dearest and the state keeps what it collects */
		reason = dfr_aggvars_collect(state, program);
	if (reason)
		return refuse(why,
			      reason == dfr_no_memory ? -ENOMEM
			      : reason == dfr_killed  ? -EINTR
						      : -EINVAL,
			      reason);
	take_options(state, program);
	return 0;
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
	if (!error)
		error = add_enabling(state, program);
	if (!error)
		dfr_triggers_add(state, program);
	return error;
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

void dfr_patterns_wanted(struct dfr_engine *engine, void (*visit)(const char *const pattern[4], void *arg),
			 void *arg)
{
	const struct dfr_enabling *enabling;
	const struct dfr_clause *clause;
	const struct dfr_state *state;
	u32 i;

	dfr_mutex_lock(&engine->en_provide_lock);
	for (state = engine->en_states; state; state = state->st_next)
		for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next)
			for (i = 0; i < enabling->eb_program->pg_nclauses; i++) {
				clause = &enabling->eb_program->pg_clauses[i];
				/* Users without privilege make no probes, here as in dfr_engine_match(). */
				if (!clause->cl_probe_id && !clause->cl_confined)
					visit(clause->cl_pattern, arg);
			}
	dfr_mutex_unlock(&engine->en_provide_lock);
}

struct missing {
	const struct dfr_provider *ms_provider;
	bool (*ms_wants)(const char *const pattern[4], void *arg);
	void *ms_arg;
};

static bool wants_missing(const struct missing *missing, const struct dfr_clause *clause)
{
	return !clause->cl_probe_id && !clause->cl_confined && !clause->cl_foreign &&
	       dfr_engine_host_matches(missing->ms_provider->pv_engine, clause->cl_host) &&
	       dfr_glob(clause->cl_pattern[0], missing->ms_provider->pv_name) &&
	       missing->ms_wants(clause->cl_pattern, missing->ms_arg);
}

static bool state_wants_missing(const struct dfr_state *state, const struct missing *missing)
{
	const struct dfr_enabling *enabling;
	u32 i;

	for (enabling = state->st_enablings; enabling; enabling = enabling->eb_next)
		for (i = 0; i < enabling->eb_program->pg_nclauses; i++)
			if (wants_missing(missing, &enabling->eb_program->pg_clauses[i]))
				return true;
	return false;
}

void dfr_probes_missing(struct dfr_provider *provider, const char *module, int error,
			bool (*wants)(const char *const pattern[4], void *arg), void *arg)
{
	struct missing missing = { provider, wants, arg };
	struct dfr_engine *engine = provider->pv_engine;
	struct dfr_state *state;

	dfr_plat_log("not all probes of %s on module %s could be made (error %d)", provider->pv_name, module,
		     error);
	dfr_mutex_lock(&engine->en_lock);
	for (state = engine->en_states; state; state = state->st_next) {
		if (!state_wants_missing(state, &missing))
			continue;
		dfr_mutex_lock(&state->st_lock);
		if (dfr_read_once(&state->st_activity) <= DFR_ACTIVE)
			dfr_catalog_missing(state, provider->pv_name, module, error);
		dfr_mutex_unlock(&state->st_lock);
	}
	dfr_mutex_unlock(&engine->en_lock);
}

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
	dfr_aggvars_free(state->st_aggvars);
	state->st_aggvars = NULL;
	dfr_plat_free(state->st_told);
	state->st_told = NULL;
}
