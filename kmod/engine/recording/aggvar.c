// SPDX-License-Identifier: GPL-2.0
/*
 * Aggregation variables, as a program's aggregating actions declare them. All uses
 * of a variable must agree in kind, parameters and keys; the catalog describes it as
 * its first use in the program does. agg.c has their tables, plan.c makes the steps
 * that fill them. Process context.
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

static u64 power(u64 factor, u32 exponent)
{
	u64 result = 1;

	while (exponent--) {
		if (factor && result > ~0ULL / factor)
			return ~0ULL;
		result *= factor;
	}
	return result;
}

static u32 llquantize_slots(u64 arg)
{
	u64 factor = DFR_LLQUANTIZE_FACTOR(arg);
	u64 nsteps = DFR_LLQUANTIZE_NSTEPS(arg);
	u64 slots = 2;
	u64 n;
	u32 order;

	for (order = DFR_LLQUANTIZE_LOW(arg); order <= DFR_LLQUANTIZE_HIGH(arg) && order < 64; order++) {
		n = power(factor, order + 1);
		if (n > nsteps)
			n = nsteps;
		slots += n - n / factor;
	}
	return (u32)slots;
}

/* Words of a value; 0: the parameters make no sense. */
u32 dfr_agg_words(u32 kind, u64 arg)
{
	u32 words;

	switch (kind) {
	case DFR_ACT_COUNT:
	case DFR_ACT_MIN:
	case DFR_ACT_MAX:
	case DFR_ACT_SUM: return 1;
	case DFR_ACT_AVG: return 2;
	case DFR_ACT_STDDEV: return 4;
	case DFR_ACT_QUANTIZE: return DFR_QUANTIZE_BUCKETS;
	case DFR_ACT_LQUANTIZE:
		if (!DFR_LQUANTIZE_STEP(arg) || !DFR_LQUANTIZE_LEVELS(arg))
			return 0;
		words = DFR_LQUANTIZE_LEVELS(arg) + 3u;
		return words <= 0xffff ? words : 0;
	case DFR_ACT_LLQUANTIZE:
		if (DFR_LLQUANTIZE_FACTOR(arg) < 2 || DFR_LLQUANTIZE_HIGH(arg) >= 64 ||
		    DFR_LLQUANTIZE_LOW(arg) >= DFR_LLQUANTIZE_HIGH(arg) || !DFR_LLQUANTIZE_NSTEPS(arg) ||
		    power(DFR_LLQUANTIZE_FACTOR(arg), DFR_LLQUANTIZE_HIGH(arg) + 1u) == ~0ULL)
			return 0;
		words = llquantize_slots(arg) + 1;
		return words <= 0xffff ? words : 0;
	default: return 0;
	}
}

static u16 key_kind(const struct dfr_act *act)
{
	switch (act->ac_kind) {
	case DFR_ACT_STACK: return DFR_FIELD_STACK;
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK: return DFR_FIELD_USTACK;
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR: return DFR_FIELD_USYM;
	case DFR_ACT_SYM:
	case DFR_ACT_MOD: return DFR_FIELD_INT;
	}
	if (act->ac_kind != DFR_ACT_DIFEXPR || !act->ac_difo)
		return 0;
	if (dfr_plan_probe_text(act->ac_difo) >= 0)
		return DFR_FIELD_PROBETEXT;
	if (act->ac_difo->di_rtype.kind == DIF_KIND_STRING)
		return DFR_FIELD_STRING;
	if (act->ac_difo->di_rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
		return DFR_FIELD_BYTES;
	return act->ac_difo->di_rtype.size ? DFR_FIELD_INT : 0;
}

/* One more use of a variable: the kinds of its keys must agree, but text of probes may meet strings. */
static const char *merge_keys(struct dfr_aggvar *var, const struct dfr_clause *clause, u32 first, bool told)
{
	u16 kind;
	u32 i;

	for (i = 0; i < var->av_nkeys; i++) {
		kind = key_kind(&clause->cl_acts[first + i]);
		if (kind == var->av_keys[i] ||
		    (kind == DFR_FIELD_PROBETEXT && var->av_keys[i] == DFR_FIELD_STRING))
			continue;
		if (kind == DFR_FIELD_STRING && var->av_keys[i] == DFR_FIELD_PROBETEXT && !told) {
			var->av_keys[i] = DFR_FIELD_STRING;
			continue;
		}
		return "an aggregation is used with keys of different types";
	}
	return NULL;
}

static const char *var_create(struct dfr_state *state, const struct dfr_clause *clause, u32 action, u32 first,
			      u32 nkeys)
{
	const struct dfr_act *act = &clause->cl_acts[action];
	struct dfr_aggvar **tail = &state->st_aggvars;
	struct dfr_aggvar *var;
	u32 i, n;

	for (n = 0; *tail; n++)
		tail = &(*tail)->av_next;
	if (n >= dfr_limits_aggvars(state)) /* each use looks for its own along the list */
		return dfr_state_confined(state) ? "unprivileged users may not use more than 256 aggregations"
						 : "a state may not have more than 4096 aggregations";
	var = dfr_plat_alloc(sizeof(*var));
	if (!var)
		return dfr_no_memory;
	var->av_keys = dfr_plat_alloc((nkeys + 1) * sizeof(var->av_keys[0]));
	if (!var->av_keys) {
		dfr_plat_free(var);
		return dfr_no_memory;
	}
	var->av_varid = (u32)act->ac_uarg;
	var->av_kind = act->ac_kind;
	var->av_arg = act->ac_arg;
	var->av_words = dfr_agg_words(act->ac_kind, act->ac_arg);
	var->av_nkeys = nkeys;
	if (act->ac_difo && act->ac_difo->di_rtype.flags & DIF_TF_SIGNED)
		var->av_flags = DFR_FIELD_SIGNED;
	for (i = 0; i < nkeys; i++)
		var->av_keys[i] = key_kind(&clause->cl_acts[first + i]);
	*tail = var; /* the list is in order of first use */
	return NULL;
}

/* Bytes of a key's by-reference elements, as declared. */
static u64 key_bytes(const struct dfr_clause *clause, u32 first, u32 end)
{
	const struct dfr_act *act;
	u64 bytes = 0;

	for (act = &clause->cl_acts[first]; act < &clause->cl_acts[end]; act++)
		if (act->ac_difo && act->ac_difo->di_rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
			bytes += act->ac_difo->di_rtype.size;
	return bytes;
}

/* One aggregating action: creates its variable or checks it against the earlier uses. NULL: fine. */
static const char *use_var(struct dfr_state *state, const struct dfr_clause *clause, u32 action)
{
	const struct dfr_act *act = &clause->cl_acts[action];
	struct dfr_aggvar *var;
	u32 end, i;
	u32 first = dfr_plan_agg_keys(clause, action, &end);

	if (act->ac_ntuple > action)
		return "an aggregation's tuple has more actions than precede it";
	if (!act->ac_uarg || act->ac_uarg > 0xffffffffu)
		return "an aggregation without variable id";
	if (!dfr_agg_words(act->ac_kind, act->ac_arg))
		return "an aggregation's parameters are out of range";
	if (act->ac_kind != DFR_ACT_COUNT && !act->ac_difo)
		return "an aggregation without value";
	for (i = first; i < end; i++)
		if (!key_kind(&clause->cl_acts[i]))
			return "an action that gives no value is part of an aggregation's key";
	if (key_bytes(clause, first, end) > dfr_limits_key(state))
		return dfr_state_confined(state)
			       ? "unprivileged users may not use an aggregation's key above 64 KiB"
			       : "an aggregation's key is larger than 1 MiB";
	var = dfr_state_aggvar(state, (u32)act->ac_uarg);
	if (!var)
		return var_create(state, clause, action, first, end - first);
	if (var->av_kind != act->ac_kind || var->av_arg != act->ac_arg)
		return "an aggregation is used with different functions or parameters";
	if (var->av_nkeys != end - first)
		return "an aggregation is used with different numbers of keys";
	return merge_keys(var, clause, first, var->av_told);
}

const char dfr_no_memory[] = "no memory";
const char dfr_killed[] = "the task was killed while it enabled the program";

static const char *take_aggvars(struct dfr_state *state, const struct dfr_program *program)
{
	const struct dfr_clause *clause;
	const char *reason;
	u32 i, j, end;

	for (i = 0; i < program->pg_nclauses; i++) {
		if (dfr_plat_proceed())
			return dfr_killed;
		clause = &program->pg_clauses[i];
		for (j = 0; j < clause->cl_nacts; j++) {
			if (!DFR_ACT_IS_AGG(clause->cl_acts[j].ac_kind))
				continue;
			reason = use_var(state, clause, j);
			if (reason)
				return reason;
			dfr_plan_agg_keys(clause, j, &end);
			if (end != j)
				dfr_state_aggvar(state, (u32)clause->cl_acts[j].ac_uarg)->av_weighted = true;
		}
	}
	return NULL;
}

void dfr_aggvars_free(struct dfr_aggvar *var)
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
const char *dfr_aggvars_collect(struct dfr_state *state, const struct dfr_program *more)
{
	struct dfr_aggvar *before = state->st_aggvars;
	struct dfr_enabling *enabling;
	const char *reason = NULL;

	state->st_aggvars = NULL;
	for (enabling = state->st_enablings; enabling && !reason; enabling = enabling->eb_next)
		reason = take_aggvars(state, enabling->eb_program);
	if (!reason)
		reason = take_aggvars(state, more);
	if (reason) {
		dfr_aggvars_free(state->st_aggvars);
		state->st_aggvars = before;
	} else {
		dfr_aggvars_free(before);
	}
	return reason;
}

/* The keys of a variable as the catalog has them, from its first use in the program. */
static void describe_keys(const struct dfr_state *state, const struct dfr_aggvar *var,
			  const struct dfr_clause *clause, u32 first, struct dfr_field *keys)
{
	const struct dfr_act *act;
	u32 i;

	for (i = 0; i < var->av_nkeys; i++) {
		act = &clause->cl_acts[first + i];
		keys[i].kind = var->av_keys[i];
		keys[i].action = (u16)(first + i);
		keys[i].argument = -1;
		keys[i].size = act->ac_difo ? act->ac_difo->di_rtype.size : (u32)act->ac_arg;
		if (var->av_keys[i] == DFR_FIELD_STRING &&
		    (!keys[i].size || dfr_plan_probe_text(act->ac_difo) >= 0))
			keys[i].size = state->st_strsize;
		if (var->av_keys[i] == DFR_FIELD_PROBETEXT)
			keys[i].size = (u32)dfr_plan_probe_text(act->ac_difo);
		if (var->av_keys[i] == DFR_FIELD_INT && act->ac_difo &&
		    act->ac_difo->di_rtype.flags & DIF_TF_SIGNED)
			keys[i].flags |= DFR_FIELD_SIGNED;
		if (act->ac_difo && dfr_plan_reads_user(act->ac_difo))
			keys[i].flags |= DFR_FIELD_USERDATA;
	}
}

static int tell_var(struct dfr_state *state, struct dfr_aggvar *var, const struct dfr_clause *clause,
		    u32 action)
{
	struct dfr_field *keys = dfr_plat_alloc((var->av_nkeys + 1) * sizeof(*keys));
	u32 end;
	int error;

	if (!keys)
		return -ENOMEM;
	describe_keys(state, var, clause, dfr_plan_agg_keys(clause, action, &end), keys);
	error = dfr_catalog_agg(state, var, keys);
	dfr_plat_free(keys);
	var->av_told = !error;
	return error;
}

/* Writes the variables that no earlier program has used into the catalog. */
int dfr_plan_tell_aggvars(struct dfr_state *state, const struct dfr_program *program)
{
	const struct dfr_clause *clause;
	struct dfr_aggvar *var;
	int error = 0;
	u32 i, j;

	for (i = 0; i < program->pg_nclauses && !error; i++) {
		clause = &program->pg_clauses[i];
		error = dfr_plat_proceed();
		for (j = 0; j < clause->cl_nacts && !error; j++) {
			if (!DFR_ACT_IS_AGG(clause->cl_acts[j].ac_kind))
				continue;
			var = dfr_state_aggvar(state, (u32)clause->cl_acts[j].ac_uarg);
			if (var && !var->av_told)
				error = tell_var(state, var, clause, j);
		}
	}
	return error;
}
