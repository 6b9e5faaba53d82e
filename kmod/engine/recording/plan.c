// SPDX-License-Identifier: GPL-2.0
/*
 * Plans: a clause of the program compiled for recording. What each action
 * records becomes a field of the layout; what has to be done in a firing becomes
 * a step. Values that need no DIF (arguments, execname, pid, constants ...) are
 * marked, so that most clauses run without the interpreter. Process context.
 *
 * The fields of each action (formats/abi/catalog.h); steps.c and plain.c write them:
 *
 *   DIFEXPR PRINTF PRINTA LIBACT SYSTEM FREOPEN CAPTURE   its value: INT, STRING, BYTES or
 *                              PROBETEXT by the DIFO's type; no DIFO or size 0: no field
 *   EXIT                       INT of 4 bytes, signed
 *   SYM MOD                    INT of 8 bytes
 *   USYM UMOD UADDR            USYM
 *   STACK / USTACK JSTACK      STACK / USTACK
 *   TRACEMEM                   BYTES; VARBYTES if a TRACEMEM_DYNSIZE follows, which has no field
 *   PRINTM                     VARBYTES
 *   CAPTURE_ARGS               one signed INT of 8 bytes for each argument
 *   others                     none; SNAPSHOT makes a record nevertheless
 */
#include "kmod/engine/recording/store.h"
#include "kmod/engine/dif/vars.h"

#define PLAN_HEAD_LONG	     16
#define PLAN_NOTE	     15
#define PLAN_SLACK	     8
#define PLAN_FRAMES_MAX	     255
#define PLAN_ARGS_UNKNOWN    6
#define PLAN_WORK	     256 /* guest instructions: a clause, a step, an llquantize() */
#define PLAN_WORK_STEP	     64
#define PLAN_WORK_LLQUANTIZE 1024
#define PLAN_ARG_BYTES	     9		/* with its size code */
#define PLAN_BYTES_MAX	     (1u << 28) /* sums stop here, so that they do not wrap: go refuses what is so large */

struct builder {
	struct dfr_state *bd_state;
	struct dfr_plan *bd_plan;
	const struct dfr_program *bd_program;
	const struct dfr_clause *bd_clause;
	u32 bd_ints;
	u32 bd_fallible; /* capture fields that can be marked by a note */
	bool bd_in_key;
	bool bd_has_args; /* arguments are captured */
	u32 bd_key_bytes;
};

static bool is_recorded_kind(u16 kind)
{
	switch (kind) {
	case DFR_ACT_EXIT:
	case DFR_ACT_PRINTF:
	case DFR_ACT_PRINTA:
	case DFR_ACT_LIBACT:
	case DFR_ACT_TRACEMEM:
	case DFR_ACT_PRINTM:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK:
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR:
	case DFR_ACT_SYSTEM:
	case DFR_ACT_FREOPEN:
	case DFR_ACT_STACK:
	case DFR_ACT_SYM:
	case DFR_ACT_MOD:
	case DFR_ACT_CAPTURE:
	case DFR_ACT_CAPTURE_ARGS: return true;
	default: return false;
	}
}

/* Is it an expression that is evaluated only for its side effects? */
static bool is_silent(const struct dfr_act *act)
{
	const struct dif_type *type = act->ac_difo ? &act->ac_difo->di_rtype : NULL;

	return act->ac_kind == DFR_ACT_DIFEXPR &&
	       (!type || (type->kind != DIF_KIND_STRING && !type->size && !(type->flags & DIF_TF_BYREF)));
}

bool dfr_plan_reads_user(const struct dfr_difo *difo)
{
	u32 i, op;

	if (difo->di_rtype.flags & DIF_TF_BYUREF)
		return true;
	for (i = 0; i < difo->di_len; i++) {
		op = DIF_OP(difo->di_text[i]);
		if (op >= DIF_OP_ULDSB && op <= DIF_OP_ULDX)
			return true;
		if (op != DIF_OP_CALL)
			continue;
		switch (DIF_WIDE(difo->di_text[i])) {
		case DIF_SUBR_COPYIN:
		case DIF_SUBR_COPYINSTR:
		case DIF_SUBR_COPYINTO: return true;
		}
	}
	return false;
}

/* Which of the probe's four names the DIFO returns; -1: none. */
int dfr_plan_probe_text(const struct dfr_difo *difo)
{
	u32 id;

	if (!difo || !(difo->di_flags & DFR_DIFO_PROBETEXT) || difo->di_len != 2 ||
	    DIF_OP(difo->di_text[0]) != DIF_OP_LDGS || difo->di_rtype.kind != DIF_KIND_STRING)
		return -1;
	id = DIF_WIDE(difo->di_text[0]);
	return id >= DIF_VAR_PROBEPROV && id <= DIF_VAR_PROBENAME ? (int)(id - DIF_VAR_PROBEPROV) : -1;
}

static struct dfr_step *add_step(struct builder *b, u32 op, u32 action)
{
	struct dfr_step *step = &b->bd_plan->pn_steps[b->bd_plan->pn_nsteps++];

	step->sp_op = (u8)op;
	step->sp_action = (u16)(action + 1);
	step->sp_field = (u16)b->bd_plan->pn_nfields;
	if (b->bd_clause->cl_acts[action].ac_kind == DFR_ACT_CAPTURE)
		step->sp_flags |= DFR_SP_CAPTURE;
	return step;
}

static bool runs_dif(const struct dfr_state *state)
{
	return state->st_engine->en_forced & DFR_FORCE_DIF;
}

/* Where the step's value comes from. */
static void set_value(const struct builder *b, struct dfr_step *step, const struct dfr_difo *difo)
{
	dfr_idiom_value(step, difo);
	if (difo && runs_dif(b->bd_state))
		step->sp_source = DFR_SRC_DIF;
}

static void add_bytes(u32 *sum, u32 bytes)
{
	*sum = *sum < PLAN_BYTES_MAX - bytes ? *sum + bytes : PLAN_BYTES_MAX;
}

/* Adds the field of the last step to the layout or, in a key, only its bytes to the key's size (NULL). */
static struct dfr_field *add_field(struct builder *b, const struct dfr_step *step, u32 kind, u32 size,
				   u32 bytes)
{
	struct dfr_plan *plan = b->bd_plan;
	struct dfr_field *field;

	if (b->bd_in_key) {
		add_bytes(&b->bd_key_bytes, (bytes + 7) & ~7u);
		return NULL;
	}
	field = &plan->pn_fields[plan->pn_nfields++];
	field->kind = (u16)kind;
	field->size = size;
	field->action = (u16)(step->sp_action - 1);
	field->argument = -1;
	if (step->sp_difo && dfr_plan_reads_user(step->sp_difo))
		field->flags |= DFR_FIELD_USERDATA;
	if (kind == DFR_FIELD_INT)
		b->bd_ints++;
	if ((step->sp_flags & DFR_SP_CAPTURE) && (step->sp_source == DFR_SRC_DIF || kind != DFR_FIELD_INT))
		b->bd_fallible++;
	add_bytes(&plan->pn_need, bytes);
	add_bytes(&plan->pn_classic, kind == DFR_FIELD_INT || kind == DFR_FIELD_PROBETEXT ? size : bytes);
	return field;
}

static void add_int(struct builder *b, struct dfr_step *step, u32 size, bool is_signed)
{
	struct dfr_field *field;

	if (size != 1 && size != 2 && size != 4)
		size = 8;
	step->sp_shift = (u8)(64 - 8 * size);
	if (is_signed)
		step->sp_flags |= DFR_SP_SIGNED;
	field = add_field(b, step, DFR_FIELD_INT, size, 8);
	if (field && is_signed)
		field->flags |= DFR_FIELD_SIGNED;
}

static u32 string_size(const struct builder *b, const struct dif_type *type)
{
	u32 size = type->size ? type->size : b->bd_state->st_strsize;

	return size < DIF_STRSIZE_MAX ? size : DIF_STRSIZE_MAX;
}

/* Text of the probe: readers know it from the probe's id, except in keys that elsewhere are strings. */
static void add_probe_text(struct builder *b, u32 action, int which, u32 key_kind)
{
	struct dfr_step *step = add_step(b, DFR_STEP_TEXT, action);

	step->sp_do.data.name = (u32)which;
	if (b->bd_in_key && key_kind == DFR_FIELD_STRING) {
		step->sp_op = DFR_STEP_STRING;
		step->sp_flags |= DFR_SP_NAME;
		step->sp_do.data.size = b->bd_state->st_strsize;
		add_field(b, step, DFR_FIELD_STRING, step->sp_do.data.size, step->sp_do.data.size);
		return;
	}
	add_field(b, step, DFR_FIELD_PROBETEXT, (u32)which, b->bd_in_key ? 8 : 0);
}

/* Adds a value of its DIFO's type. */
static void add_value(struct builder *b, u32 action, u32 key_kind)
{
	const struct dfr_difo *difo = b->bd_clause->cl_acts[action].ac_difo;
	const struct dif_type *type = &difo->di_rtype;
	struct dfr_step *step;
	int which = dfr_plan_probe_text(difo);

	if (which >= 0) {
		add_probe_text(b, action, which, key_kind);
		return;
	}
	step = add_step(b, DFR_STEP_INT, action);
	set_value(b, step, difo);
	if (type->flags & DIF_TF_BYUREF)
		step->sp_flags |= DFR_SP_USER;
	if (type->kind == DIF_KIND_STRING) {
		step->sp_op = DFR_STEP_STRING;
		step->sp_do.data.size = string_size(b, type);
		if (step->sp_do.data.size < 16)
			step->sp_source = DFR_SRC_DIF; /* execname may have to be cut */
		add_field(b, step, DFR_FIELD_STRING, step->sp_do.data.size, step->sp_do.data.size);
	} else if (type->flags & (DIF_TF_BYREF | DIF_TF_BYUREF)) {
		step->sp_op = DFR_STEP_BYTES;
		step->sp_source = DFR_SRC_DIF;
		step->sp_do.data.size = type->size;
		add_field(b, step, DFR_FIELD_BYTES, type->size, type->size);
	} else {
		add_int(b, step, type->size, type->flags & DIF_TF_SIGNED);
	}
}

static void add_stack(struct builder *b, u32 action, bool user)
{
	const struct dfr_act *act = &b->bd_clause->cl_acts[action];
	u32 option = act->ac_kind == DFR_ACT_JSTACK ? DFR_OPT_JSTACKFRAMES
		     : user			    ? DFR_OPT_USTACKFRAMES
						    : DFR_OPT_STACKFRAMES;
	u64 frames = (u32)act->ac_arg;
	struct dfr_step *step = add_step(b, user ? DFR_STEP_USTACK : DFR_STEP_STACK, action);

	if (!frames)
		frames = (u64)dfr_option(b->bd_state, option);
	if (frames > PLAN_FRAMES_MAX)
		frames = PLAN_FRAMES_MAX;
	step->sp_do.frames = (u32)frames;
	b->bd_plan->pn_flags |= DFR_PN_MACHINE;
	add_field(b, step, user ? DFR_FIELD_USTACK : DFR_FIELD_STACK, step->sp_do.frames,
		  step->sp_do.frames * 8 + (b->bd_in_key ? 16 : 5));
}

static void add_usym(struct builder *b, u32 action)
{
	struct dfr_step *step = add_step(b, DFR_STEP_USYM, action);

	set_value(b, step, b->bd_clause->cl_acts[action].ac_difo);
	b->bd_plan->pn_flags |= DFR_PN_CONTEXT;
	add_field(b, step, DFR_FIELD_USYM, 16, 16);
}

static void add_tracemem(struct builder *b, u32 action)
{
	const struct dfr_act *act = &b->bd_clause->cl_acts[action];
	const struct dfr_act *next = action + 1 < b->bd_clause->cl_nacts ? act + 1 : NULL;
	struct dfr_step *step = add_step(b, DFR_STEP_BYTES, action);
	bool var = act->ac_kind == DFR_ACT_PRINTM;
	/* A VARBYTES is at most DFR_VARBYTES_MAX: check_lengths() has refused what is larger. */
	u32 size = var ? (u32)act->ac_arg : act->ac_difo->di_rtype.size;

	set_value(b, step, act->ac_difo);
	step->sp_source = DFR_SRC_DIF;
	if (act->ac_difo->di_rtype.flags & DIF_TF_BYUREF)
		step->sp_flags |= DFR_SP_USER;
	if (!var && next && next->ac_kind == DFR_ACT_TRACEMEM_DYNSIZE && next->ac_difo) {
		step->sp_do.data.length = next->ac_difo;
		var = true;
	}
	step->sp_do.data.size = size;
	if (var)
		step->sp_op = DFR_STEP_VARBYTES;
	add_field(b, step, var ? DFR_FIELD_VARBYTES : DFR_FIELD_BYTES, size, size + (var ? 2 : 0));
}

/* Once in a clause: a second capture() would record the same again. */
static void add_args(struct builder *b, u32 action)
{
	struct dfr_step *step;
	struct dfr_field *field;
	u32 i;

	if (b->bd_has_args)
		return;
	b->bd_has_args = true;
	step = add_step(b, DFR_STEP_ARGS, action);
	step->sp_do.count = b->bd_plan->pn_nargs;
	for (i = 0; i < step->sp_do.count; i++) {
		field = add_field(b, step, DFR_FIELD_INT, 8, 8);
		field->flags |= DFR_FIELD_SIGNED;
		field->argument = (s16)i;
	}
}

/* Adds the steps and fields of a recording action, or of a key. */
static void add_recorded(struct builder *b, u32 action, u32 key_kind)
{
	const struct dfr_act *act = &b->bd_clause->cl_acts[action];
	struct dfr_step *step;

	switch (act->ac_kind) {
	case DFR_ACT_STACK: add_stack(b, action, false); return;
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK: add_stack(b, action, true); return;
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR:
		if (act->ac_difo)
			add_usym(b, action);
		return;
	case DFR_ACT_CAPTURE_ARGS:
		if (!b->bd_in_key)
			add_args(b, action);
		return;
	case DFR_ACT_TRACEMEM_DYNSIZE: return;
	}
	if (!act->ac_difo)
		return;
	switch (act->ac_kind) {
	case DFR_ACT_TRACEMEM:
	case DFR_ACT_PRINTM:
		if (!b->bd_in_key)
			add_tracemem(b, action);
		return;
	case DFR_ACT_EXIT:
		step = add_step(b, DFR_STEP_EXIT, action);
		set_value(b, step, act->ac_difo);
		add_int(b, step, 4, true);
		return;
	case DFR_ACT_SYM:
	case DFR_ACT_MOD:
		step = add_step(b, DFR_STEP_INT, action);
		set_value(b, step, act->ac_difo);
		add_int(b, step, 8, false);
		return;
	}
	if (act->ac_difo->di_rtype.kind == DIF_KIND_STRING || act->ac_difo->di_rtype.size) {
		add_value(b, action, key_kind);
	} else {
		step = add_step(b, DFR_STEP_EVAL, action);
		if (runs_dif(b->bd_state) || !dfr_idiom_store(step, act->ac_difo))
			set_value(b, step, act->ac_difo);
	}
}

static u32 agg_first(const struct dfr_clause *clause, u32 action)
{
	u32 ntuple = clause->cl_acts[action].ac_ntuple;

	return ntuple < action ? action - ntuple : 0;
}

static bool is_weight(const struct dfr_clause *clause, u32 action)
{
	return clause->cl_acts[action].ac_uarg == DFR_UARG_WEIGHT && clause->cl_acts[action].ac_difo;
}

/* The actions of the tuple that are keys: [first, *end). */
u32 dfr_plan_agg_keys(const struct dfr_clause *clause, u32 action, u32 *end)
{
	u32 first = agg_first(clause, action);

	*end = action > first && is_weight(clause, action - 1) ? action - 1 : action;
	return first;
}

static void add_agg(struct builder *b, u32 action)
{
	const struct dfr_clause *clause = b->bd_clause;
	const struct dfr_act *act = &clause->cl_acts[action];
	const struct dfr_aggvar *var = dfr_state_aggvar(b->bd_state, (u32)act->ac_uarg);
	struct dfr_plan *plan = b->bd_plan;
	struct dfr_step *step = add_step(b, DFR_STEP_AGG, action);
	struct dfr_step *weight;
	u32 end, i, steps;
	u32 first = dfr_plan_agg_keys(clause, action, &end);

	set_value(b, step, act->ac_difo);
	/* Aggregated values are 64 bits wide; the declared width says how to extend them. */
	if (act->ac_difo) {
		u32 size = act->ac_difo->di_rtype.size;

		step->sp_shift = size == 1 || size == 2 || size == 4 ? (u8)(64 - 8 * size) : 0;
		step->sp_flags |= act->ac_difo->di_rtype.flags & DIF_TF_SIGNED ? DFR_SP_SIGNED : 0;
	}
	step->sp_do.agg.varid = (u32)act->ac_uarg;
	step->sp_do.agg.hash = b->bd_state->st_hash.hk_start ^ act->ac_uarg;
	step->sp_do.agg.kind = act->ac_kind;
	step->sp_do.agg.parameters = act->ac_arg;
	step->sp_do.agg.words = (u16)var->av_words;
	b->bd_in_key = true;
	b->bd_key_bytes = 0;
	steps = plan->pn_nsteps;
	for (i = first; i < end; i++)
		add_recorded(b, i, var->av_keys[i - first]);
	step->sp_do.agg.keys = (u16)(plan->pn_nsteps - steps);
	if (end < action) {
		step->sp_flags |= DFR_SP_WEIGHT;
		weight = add_step(b, DFR_STEP_EVAL, end);
		set_value(b, weight, clause->cl_acts[end].ac_difo);
	}
	b->bd_in_key = false;
	if (b->bd_key_bytes > plan->pn_key_max)
		plan->pn_key_max = b->bd_key_bytes;
}

static void add_action(struct builder *b, u32 action)
{
	const struct dfr_act *act = &b->bd_clause->cl_acts[action];
	struct dfr_step *step;

	if (DFR_ACT_IS_AGG(act->ac_kind)) {
		add_agg(b, action);
		return;
	}
	switch (act->ac_kind) {
	case DFR_ACT_NONE: return;
	case DFR_ACT_SPECULATE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD:
		step = add_step(b, DFR_STEP_SPECULATE + (act->ac_kind - DFR_ACT_SPECULATE), action);
		set_value(b, step, act->ac_difo);
		if (act->ac_kind == DFR_ACT_SPECULATE)
			b->bd_plan->pn_flags |= DFR_PN_SPECULATES | DFR_PN_RECORDS;
		else
			b->bd_plan->pn_flags |= DFR_PN_COMMITS;
		return;
	case DFR_ACT_STOP:
	case DFR_ACT_RAISE:
	case DFR_ACT_BREAKPOINT:
	case DFR_ACT_PANIC:
	case DFR_ACT_CHILL:
		step = add_step(b, DFR_STEP_DESTRUCTIVE, action);
		set_value(b, step, act->ac_difo);
		step->sp_do.kind = act->ac_kind;
		b->bd_plan->pn_flags |= DFR_PN_MACHINE;
		return;
	case DFR_ACT_SNAPSHOT:
		step = add_step(b, DFR_STEP_TRIGGER, action);
		step->sp_do.reason = dfr_trigger_of(b->bd_state, b->bd_program->pg_reasons[act->ac_arg]);
		b->bd_plan->pn_flags |= DFR_PN_RECORDS;
		return;
	}
	if (is_recorded_kind(act->ac_kind) || (act->ac_kind == DFR_ACT_DIFEXPR && !is_silent(act)))
		b->bd_plan->pn_flags |= DFR_PN_RECORDS;
	add_recorded(b, action, 0);
}

/* Adds all actions. Those in an aggregating action's tuple precede it and are added by add_agg(). */
static void add_actions(struct builder *b)
{
	const struct dfr_clause *clause = b->bd_clause;
	u32 agg = 0; /* the next aggregating action from i on, or the end */
	u32 i;

	for (i = 0; i < clause->cl_nacts; i++) {
		for (agg = agg < i ? i : agg; agg < clause->cl_nacts; agg++)
			if (DFR_ACT_IS_AGG(clause->cl_acts[agg].ac_kind))
				break;
		if (agg == clause->cl_nacts || agg == i || agg_first(clause, agg) > i)
			add_action(b, i);
	}
}

static void find_flags(struct dfr_plan *plan)
{
	const struct dfr_step *step;
	u32 i;

	for (i = 0; i < plan->pn_nsteps; i++) {
		step = &plan->pn_steps[i];
		if (step->sp_source == DFR_SRC_DIF || step->sp_op == DFR_STEP_VARBYTES ||
		    (step->sp_op == DFR_STEP_STRING && step->sp_source != DFR_SRC_EXECNAME))
			plan->pn_flags |= DFR_PN_MACHINE;
		if (step->sp_source == DFR_SRC_ARG || step->sp_source == DFR_SRC_DIF ||
		    step->sp_op == DFR_STEP_ARGS)
			plan->pn_flags |= DFR_PN_ARGS;
		if (step->sp_source == DFR_SRC_PID || step->sp_source == DFR_SRC_TID ||
		    step->sp_source == DFR_SRC_EXECNAME)
			plan->pn_flags |= DFR_PN_CONTEXT;
		if (step->sp_op == DFR_STEP_EXIT || step->sp_op == DFR_STEP_TRIGGER)
			plan->pn_flags |= DFR_PN_ROOMLESS;
	}
}

/* Work of the plan's steps. DIF, strings and memory are not in it: they are charged where they are used. */
static u32 work_of(const struct dfr_plan *plan)
{
	const struct dfr_step *step;
	u32 work = PLAN_WORK + plan->pn_need / 4;

	for (step = plan->pn_steps; step < plan->pn_steps + plan->pn_nsteps; step++) {
		work += PLAN_WORK_STEP;
		if (step->sp_op == DFR_STEP_ARGS)
			work += step->sp_do.count * PLAN_WORK_STEP;
		else if (step->sp_op == DFR_STEP_AGG && step->sp_do.agg.kind == DFR_ACT_LLQUANTIZE)
			work += PLAN_WORK_LLQUANTIZE;
	}
	return work;
}

static void find_shapes(struct dfr_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->pn_nsteps; i++)
		if (plan->pn_steps[i].sp_op == DFR_STEP_AGG)
			plan->pn_steps[i].sp_do.agg.shape = dfr_form_keys(&plan->pn_steps[i]);
}

static void grow_to(u32 *most, u32 value)
{
	if (value > *most)
		*most = value;
}

/*
 * Before go: makes what go will allocate large enough for this plan. Later nothing grows,
 * so a plan made then, for a probe that has come since, is refused if it needs more. That
 * is rare, because every clause's needs were seen before go.
 */
static int reserve(struct dfr_state *state, const struct dfr_plan *plan, bool has_args)
{
	/* Another probe of the clause may have more arguments, or none. */
	u32 least = plan->pn_need - (has_args ? plan->pn_nargs * PLAN_ARG_BYTES : 0);
	u32 need = least + (has_args ? DFR_CAPTURE_ARGS_MAX * PLAN_ARG_BYTES : 0);

	if (plan->pn_key_max > dfr_limits_key(state))
		return -ENOSPC;
	if (state->st_armed)
		return plan->pn_key_max > state->st_key_max || plan->pn_fallible > state->st_notes_max
			       ? -ENOSPC
			       : 0;
	grow_to(&state->st_notes_max, plan->pn_fallible);
	grow_to(&state->st_key_max, plan->pn_key_max);
	if (!(plan->pn_flags & DFR_PN_RECORDS))
		return 0;
	grow_to(&state->st_need_max, need);
	if (least < state->st_need_min || !state->st_need_min)
		state->st_need_min = least;
	/* The later parts of a clause that speculates record where its first part does. */
	if (plan->pn_flags & DFR_PN_SPECULATES || plan->pn_clause->cl_uarg & DFR_ECBUARG_CONTINUATION)
		grow_to(&state->st_spec_need, need);
	return 0;
}

int dfr_plan_make(struct dfr_state *state, const struct dfr_enabling *enabling, u32 clause, u32 nargs,
		  struct dfr_plan **out)
{
	const struct dfr_clause *cl = &enabling->eb_program->pg_clauses[clause];
	u32 fields = cl->cl_nacts + DFR_CAPTURE_ARGS_MAX;
	struct dfr_plan *plan;
	struct builder b = { .bd_state = state, .bd_program = enabling->eb_program, .bd_clause = cl };
	int error;

	plan = dfr_plat_alloc(sizeof(*plan) + (cl->cl_nacts + 1) * sizeof(plan->pn_steps[0]));
	if (!plan)
		return -ENOMEM;
	plan->pn_fields = dfr_plat_alloc(fields * sizeof(plan->pn_fields[0]));
	if (!plan->pn_fields) {
		dfr_plat_free(plan);
		return -ENOMEM;
	}
	plan->pn_clause = cl;
	plan->pn_nargs = nargs;
	plan->pn_classic = 12;
	b.bd_plan = plan;
	if (!cl->cl_nacts)
		plan->pn_flags |= DFR_PN_RECORDS;
	add_actions(&b);
	plan->pn_codes = (b.bd_ints + 3) / 4;
	plan->pn_need += PLAN_HEAD_LONG + plan->pn_codes + PLAN_SLACK;
	if (b.bd_fallible)
		plan->pn_need += PLAN_HEAD_LONG + b.bd_fallible * PLAN_NOTE;
	plan->pn_classic = (plan->pn_classic + 3) & ~3u;
	plan->pn_fallible = b.bd_fallible;
	find_flags(plan);
	find_shapes(plan);
	/* DIF compares strings up to strsize, a test all of execname: the same only from 16 on. */
	if (cl->cl_pred && state->st_strsize >= 16 && !runs_dif(state))
		dfr_idiom_test(&plan->pn_test, cl->cl_pred);
	plan->pn_work = work_of(plan);
	error = reserve(state, plan, b.bd_has_args);
	if (error) {
		dfr_plan_free(plan);
		return error;
	}
	*out = plan;
	return 0;
}

void dfr_plan_free(struct dfr_plan *plan)
{
	struct dfr_plan *next;

	for (; plan; plan = next) {
		next = plan->pn_next;
		dfr_plat_free(plan->pn_fields);
		dfr_plat_free(plan);
	}
}

/* How many arguments CAPTURE_ARGS records at a probe; 0 where a clause has none. */
u32 dfr_plan_nargs(const struct dfr_clause *clause, const struct dfr_probe *probe)
{
	u32 i;

	for (i = 0; i < clause->cl_nacts; i++) {
		if (clause->cl_acts[i].ac_kind != DFR_ACT_CAPTURE_ARGS)
			continue;
		if (probe->pb_nargs == DFR_NARGS_UNKNOWN)
			return PLAN_ARGS_UNKNOWN;
		return probe->pb_nargs < DFR_CAPTURE_ARGS_MAX ? probe->pb_nargs : DFR_CAPTURE_ARGS_MAX;
	}
	return 0;
}
