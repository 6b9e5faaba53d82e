// SPDX-License-Identifier: GPL-2.0
/*
 * Loading a DOF: the rules that a clause's actions must obey: which actions need a
 * DIFO and of what type, what belongs to an aggregation's key, what may follow
 * speculate() and commit(), and the parameters of the aggregating functions. Marks
 * keys and weights (ac_flags) for the recording half. Process context.
 */
#include "formats/abi/aggtab.h"
#include "formats/abi/block.h"
#include "formats/abi/catalog.h"
#include "kmod/engine/loading/load.h"

enum difo_rule {
	RULE_UNKNOWN, /* no such action */
	RULE_NONE,    /* no DIFO */
	RULE_ANY,     /* a DIFO of any type */
	RULE_MAYBE,   /* a DIFO of any type or none */
	RULE_NUMBER,  /* a DIFO whose value is a number */
	RULE_INT,     /* a number of 4 bytes */
	RULE_WORD,    /* a number of 8 bytes */
	RULE_MEMORY   /* a DIFO whose value is by reference */
};

static enum difo_rule rule_of(u32 kind)
{
	switch (kind) {
	case DFR_ACT_DIFEXPR:
	case DFR_ACT_LIBACT:
	case DFR_ACT_PRINTM:
	case DFR_ACT_CAPTURE: return RULE_ANY;
	case DFR_ACT_EXIT: return RULE_INT;
	case DFR_ACT_PRINTF:
	case DFR_ACT_SYSTEM:
	case DFR_ACT_FREOPEN: return RULE_MAYBE;
	case DFR_ACT_TRACEMEM: return RULE_MEMORY;
	case DFR_ACT_SYM:
	case DFR_ACT_MOD:
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR: return RULE_WORD;
	case DFR_ACT_PRINTA:
	case DFR_ACT_TRACEMEM_DYNSIZE:
	case DFR_ACT_RAISE:
	case DFR_ACT_CHILL:
	case DFR_ACT_SPECULATE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD:
	case DFR_ACT_MIN:
	case DFR_ACT_MAX:
	case DFR_ACT_AVG:
	case DFR_ACT_SUM:
	case DFR_ACT_STDDEV:
	case DFR_ACT_QUANTIZE:
	case DFR_ACT_LQUANTIZE:
	case DFR_ACT_LLQUANTIZE: return RULE_NUMBER;
	case DFR_ACT_STACK:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK:
	case DFR_ACT_STOP:
	case DFR_ACT_BREAKPOINT:
	case DFR_ACT_PANIC:
	case DFR_ACT_COUNT:
	case DFR_ACT_CAPTURE_ARGS:
	case DFR_ACT_SNAPSHOT: return RULE_NONE;
	default: return RULE_UNKNOWN;
	}
}

static bool by_reference(const struct dif_type *type)
{
	return type->flags & (DIF_TF_BYREF | DIF_TF_BYUREF);
}

static const char *check_difo(const struct dfr_act *act)
{
	enum difo_rule rule = rule_of(act->ac_kind);
	const struct dif_type *type = act->ac_difo ? &act->ac_difo->di_rtype : NULL;

	if (rule == RULE_UNKNOWN)
		return "unknown kind of action";
	if (rule == RULE_NONE)
		return type ? "action takes no expression" : NULL;
	if (!type)
		return rule == RULE_MAYBE ? NULL : "action lacks its expression";
	if (rule == RULE_ANY || rule == RULE_MAYBE)
		return NULL;
	if (rule == RULE_MEMORY) {
		if (!by_reference(type) || (type->size == 0 && type->kind != DIF_KIND_STRING))
			return "action needs an expression by reference, with a size";
		return NULL;
	}
	if (by_reference(type))
		return "action needs a number";
	if (rule == RULE_INT && type->size != 4)
		return "action needs a number of 4 bytes";
	if (rule == RULE_WORD && type->size != 8)
		return "action needs a number of 8 bytes";
	return NULL;
}

static const char *check_lquantize(u64 arg)
{
	if (DFR_LQUANTIZE_STEP(arg) == 0)
		return "lquantize: the step is 0";
	if (DFR_LQUANTIZE_LEVELS(arg) == 0)
		return "lquantize: there are no levels";
	return NULL;
}

static const char *check_llquantize(u64 arg)
{
	u64 factor = DFR_LLQUANTIZE_FACTOR(arg), nsteps = DFR_LLQUANTIZE_NSTEPS(arg), power;
	u32 low = DFR_LLQUANTIZE_LOW(arg), high = DFR_LLQUANTIZE_HIGH(arg), i;

	if (factor < 2)
		return "llquantize: the factor is less than 2";
	if (low >= high)
		return "llquantize: the low magnitude is not below the high one";
	if (!nsteps || (nsteps % factor && factor % nsteps))
		return "llquantize: neither of steps and factor is a multiple of the other";
	for (power = factor; power < nsteps; power *= factor)
		;
	if (power % nsteps)
		return "llquantize: the steps divide no power of the factor";
	/* The last bucket's upper bound, factor^(high + 1), must fit in 64 bits. */
	for (power = 1, i = 0; i <= high; i++) {
		if (power > ~0ull / factor)
			return "llquantize: the high magnitude is too large";
		power *= factor;
	}
	return NULL;
}

static const char *check_params(const struct dfr_act *act)
{
	u64 frames = (u32)act->ac_arg;

	switch (act->ac_kind) {
	case DFR_ACT_LQUANTIZE: return check_lquantize(act->ac_arg);
	case DFR_ACT_LLQUANTIZE: return check_llquantize(act->ac_arg);
	case DFR_ACT_STACK: frames = act->ac_arg; break;
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK:
		if (act->ac_arg >> 32 > DIF_STRSIZE_MAX)
			return "ustack: the string size is above 64 KiB";
		break;
	default: return NULL;
	}
	return frames > DFR_LOAD_FRAMES_MAX ? "stack has more than 4096 frames" : NULL;
}

/* Lengths that are known in a firing only; `left` actions begin with this one. */
static const char *check_lengths(const struct dfr_act *act, u32 left)
{
	if (act->ac_kind == DFR_ACT_PRINTM && (!act->ac_arg || act->ac_arg > DFR_VARBYTES_MAX))
		return "printm: the size is not 1 to 65535";
	if (act->ac_kind == DFR_ACT_TRACEMEM && left > 1 && act[1].ac_kind == DFR_ACT_TRACEMEM_DYNSIZE &&
	    act->ac_difo->di_rtype.size > DFR_VARBYTES_MAX)
		return "tracemem: a size that has a limit is above 65535";
	return NULL;
}

static bool can_be_key(u32 kind)
{
	switch (kind) {
	case DFR_ACT_DIFEXPR:
	case DFR_ACT_STACK:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK:
	case DFR_ACT_SYM:
	case DFR_ACT_MOD:
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR: return true;
	default: return false;
	}
}

static bool is_weighted(u32 kind)
{
	return kind == DFR_ACT_QUANTIZE || kind == DFR_ACT_LQUANTIZE || kind == DFR_ACT_LLQUANTIZE;
}

/* Marks an aggregating action's tuple: keys, and a last one with DFR_UARG_WEIGHT as the weight. */
static const char *mark_tuple(struct dfr_act *acts, u32 at)
{
	struct dfr_act *act = &acts[at];
	u32 i, n = act->ac_ntuple;

	if (n > at)
		return "key of an aggregation is not complete";
	if (act->ac_uarg == 0 || act->ac_uarg > 0xffffffffu)
		return "aggregation has no variable";
	for (i = at - n; i < at; i++) {
		const struct dif_type *type = acts[i].ac_difo ? &acts[i].ac_difo->di_rtype : NULL;

		if (acts[i].ac_flags || !can_be_key(acts[i].ac_kind))
			return "action cannot be part of a key";
		if (type && !type->size && type->kind != DIF_KIND_STRING)
			return "element of a key has no value";
		acts[i].ac_flags = DFR_AC_KEY;
		if (acts[i].ac_uarg != DFR_UARG_WEIGHT || i + 1 != at)
			continue;
		if (!is_weighted(act->ac_kind))
			return "this aggregation takes no weight";
		if (acts[i].ac_kind != DFR_ACT_DIFEXPR || by_reference(type))
			return "weight is not a number";
		acts[i].ac_flags = DFR_AC_WEIGHT;
	}
	return NULL;
}

/* Does the action put something into the record, or make a record of its own? */
static bool is_recording(const struct dfr_act *act)
{
	switch (act->ac_kind) {
	case DFR_ACT_DIFEXPR:
		return act->ac_difo->di_rtype.size || act->ac_difo->di_rtype.kind == DIF_KIND_STRING;
	case DFR_ACT_STOP:
	case DFR_ACT_RAISE:
	case DFR_ACT_BREAKPOINT:
	case DFR_ACT_PANIC:
	case DFR_ACT_CHILL:
	case DFR_ACT_SPECULATE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD: return false;
	default: return !DFR_ACT_IS_AGG(act->ac_kind);
	}
}

struct chain {
	bool ch_speculate;
	bool ch_commit;
	bool ch_recorded;
};

static const char *check_order(struct chain *ch, const struct dfr_act *act)
{
	if (act->ac_flags) /* a key or a weight: part of its aggregation */
		return NULL;
	if (DFR_ACT_IS_AGG(act->ac_kind)) {
		if (ch->ch_speculate || ch->ch_commit)
			return "aggregation after speculate or commit";
		return NULL;
	}
	if (act->ac_kind == DFR_ACT_COMMIT) {
		ch->ch_commit = true;
		return NULL;
	}
	if (act->ac_kind == DFR_ACT_SPECULATE) {
		if (ch->ch_commit)
			return "speculate after commit";
		if (ch->ch_recorded)
			return "speculate after an action that records";
		if (ch->ch_speculate)
			return "second speculate in a clause";
		ch->ch_speculate = true;
		return NULL;
	}
	if (!is_recording(act))
		return NULL;
	if (act->ac_kind == DFR_ACT_SNAPSHOT && ch->ch_speculate)
		return "snapshot after speculate";
	if (ch->ch_commit)
		return "action that records after commit";
	ch->ch_recorded = true;
	return NULL;
}

/* The most fields that the plan (recording/plan.c) may make of an action. */
static u32 most_fields(const struct dfr_act *act, bool has_args)
{
	if (act->ac_flags || !is_recording(act))
		return 0;
	switch (act->ac_kind) {
	case DFR_ACT_CAPTURE_ARGS: return has_args ? 0 : DFR_CAPTURE_ARGS_MAX;
	case DFR_ACT_TRACEMEM_DYNSIZE: return 0;
	case DFR_ACT_STACK:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK: return 1;
	default: return act->ac_difo ? 1 : 0;
	}
}

struct fields {
	u32 fi_count;
	bool fi_args;
};

/* A fault of a captured value is told by a NOTE, which names the value's field in one byte. */
static const char *check_capture(struct fields *fi, const struct dfr_act *act)
{
	if (act->ac_kind == DFR_ACT_CAPTURE && fi->fi_count >= DFR_NOTE_FIELDS)
		return "capture behind 256 fields of its clause";
	fi->fi_count += most_fields(act, fi->fi_args);
	fi->fi_args |= act->ac_kind == DFR_ACT_CAPTURE_ARGS;
	return NULL;
}

int dfr_actions_check(struct dfr_loader *ld, u32 section, struct dfr_act *acts, u32 n)
{
	u64 at = dfr_dof_sec(ld, section)->offset;
	struct chain ch = { false, false, false };
	struct fields fi = { 0, false };
	const char *reason = NULL;
	u32 i;

	for (i = 0; i < n && !reason; i++) {
		reason = check_difo(&acts[i]);
		if (!reason && acts[i].ac_kind == DFR_ACT_STACK && !ld->ld_limits->ll_kernel_reads &&
		    !ld->ld_limits->ll_confined) /* confine.c refuses theirs by itself */
			reason = "kernel stacks may not be read: the kernel is locked down";
		if (!reason)
			reason = check_params(&acts[i]);
		if (!reason)
			reason = check_lengths(&acts[i], n - i);
		if (!reason && DFR_ACT_IS_AGG(acts[i].ac_kind))
			reason = mark_tuple(acts, i);
		else if (!reason && acts[i].ac_ntuple)
			reason = "action has a key and is no aggregation";
	}
	for (; !reason && i < 2 * n; i++) { /* keys and weights are marked now */
		reason = check_order(&ch, &acts[i - n]);
		if (!reason)
			reason = check_capture(&fi, &acts[i - n]);
	}
	if (!reason)
		return 0;
	return dfr_refuse(ld, section, at + (u64)((i - 1) % n) * sizeof(struct dof_actdesc), reason);
}
