// SPDX-License-Identifier: GPL-2.0
/*
 * The usual ECBs, in few instructions: a record of integers and execname,
 * aggregations over such keys, thread-local numbers. No DIF runs and nothing can fault, so there is
 * no machine and no unwinding, and a record's place and size codes stay in
 * registers. What it writes is what steps.c would. Probe context.
 */
#include "kmod/engine/fire.h"

/* Size code of an integer whose highest bit is bit i. */
static const u8 size_codes[64] = {
	0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
};

dfr_hot u32 code_of(u64 magnitude)
{
	return size_codes[63 ^ __builtin_clzll(magnitude | 1)];
}

/* With its sign: as many bits as the magnitude and one more. */
dfr_hot u64 zigzag(u64 value)
{
	return (value << 1) ^ (u64)((s64)value >> 63);
}

dfr_hot u64 since(struct dfr_firing *firing, const struct dfr_vars *vars, u32 id)
{
	return dfr_firing_time(firing) - dfr_self_load(vars, firing, id);
}

dfr_hot u64 plain_value(struct dfr_firing *firing, const struct dfr_vars *vars, const struct dfr_step *step)
{
	u64 value;

	if (step->sp_source == DFR_SRC_ARG)
		value = dfr_firing_arg(firing, step->sp_index);
	else if (step->sp_source == DFR_SRC_SINCE)
		return since(firing, vars, step->sp_selfid);
	else if (step->sp_source == DFR_SRC_TIMESTAMP)
		value = dfr_firing_time(firing);
	else if (step->sp_source == DFR_SRC_CONST)
		value = step->sp_value;
	else if (step->sp_source == DFR_SRC_PID)
		value = dfr_plat_pid(firing);
	else if (step->sp_source == DFR_SRC_TID)
		value = dfr_plat_tid(firing);
	else if (step->sp_source == DFR_SRC_CPU)
		value = firing->fr_cpu;
	else if (step->sp_source == DFR_SRC_SELF)
		value = dfr_self_load(vars, firing, step->sp_selfid);
	else
		value = firing->fr_probe->pb_id;
	if (dfr_likely(!step->sp_shift))
		return value;
	value <<= step->sp_shift;
	return step->sp_flags & DFR_SP_SIGNED ? (u64)((s64)value >> step->sp_shift) : value >> step->sp_shift;
}

/* The size codes of a record so far, lowest bits first. */
struct codes {
	u64 bits;
	u32 shift;
};

dfr_hot u8 *put(u8 *p, u64 value, u64 magnitude, struct codes *codes)
{
	u32 code = code_of(magnitude);

	dfr_put64(p, value);
	codes->bits |= (u64)code << codes->shift;
	codes->shift += 2;
	return p + (1u << code);
}

dfr_hot u8 *put_args(u8 *p, const struct dfr_firing *firing, u32 n, struct codes *codes)
{
	u32 passed = firing->fr_nargs < n ? firing->fr_nargs : n;
	const u64 *args = firing->fr_args; /* NULL: none were passed */
	u64 value;
	u32 i;

	for (i = 0; i < passed; i++)
		p = put(p, args[i], zigzag(args[i]), codes);
	for (; dfr_unlikely(passed < n); passed++) {
		value = dfr_late_arg(firing, passed);
		p = put(p, value, zigzag(value), codes);
	}
	return p;
}

/* Everything but the head. */
dfr_hot u8 *put_fields(u8 *p, struct dfr_firing *firing, const struct dfr_vars *vars, const struct dfr_plan *plan,
		       struct codes *codes)
{
	const struct dfr_step *step = plan->pn_steps;
	const struct dfr_step *end = step + plan->pn_nsteps;
	u64 value;

	for (; step < end; step++) {
		if (step->sp_op == DFR_STEP_ARGS) {
			p = put_args(p, firing, step->sp_max, codes);
		} else if (step->sp_op == DFR_STEP_INT) {
			value = plain_value(firing, vars, step);
			p = put(p, value, step->sp_flags & DFR_SP_SIGNED ? zigzag(value) : value, codes);
		} else if (step->sp_op == DFR_STEP_STRING) {
			p += dfr_copy_comm(firing, p);
		}
	}
	return p;
}

/* What the fast path is not ready for. false: lost, and counted. */
static dfr_cold bool make_ready(struct dfr_firing *firing, struct dfr_share *share, u32 need)
{
	struct dfr_writer w = { .w_stream = &share->sh_stream };

	return dfr_record_slow(share, &w, firing, need);
}

/* Where the fields go, behind head and size codes: the codes are written last. NULL: lost. */
dfr_hot u8 *begin(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share, u8 **codes)
{
	const struct dfr_plan *plan = ecb->ec_plan;
	struct dfr_stream *stream = &share->sh_stream;
	u64 time = dfr_firing_time(firing);
	u64 delta;
	u8 *p;

	if (!dfr_stream_ready(stream, firing, plan->pn_need) && !make_ready(firing, share, plan->pn_need))
		return NULL;
	p = stream->sm_ptr;
	delta = time - stream->sm_time;
	if (dfr_likely(delta <= DFR_REC_DELTA_MAX && ecb->ec_epid <= DFR_REC_ID_SHORT_MAX)) {
		dfr_put32(p, DFR_REC_HEAD(ecb->ec_epid, dfr_plat_level_of(firing), delta));
		p += 4;
	} else {
		p = dfr_record_head(stream, p, ecb->ec_epid, dfr_plat_level_of(firing), time);
	}
	*codes = p;
	stream->sm_time = time;
	return p + plan->pn_codes;
}

dfr_hot void commit(struct dfr_share *share, u8 *p)
{
	struct dfr_block *block = share->sh_ring.rg_block;

	share->sh_stream.sm_ptr = p;
	dfr_count(&share->sh_records, 1);
	dfr_store_release(&block->committed, (u32)(p - (u8 *)block) - share->sh_ring.rg_hdr_size);
}

void dfr_plain_record(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share)
{
	const struct dfr_plan *plan = ecb->ec_plan;
	struct codes codes = { 0, 0 };
	u8 *at;
	u8 *p = begin(firing, ecb, share, &at);
	u32 i;

	if (dfr_unlikely(!p))
		return;
	p = put_fields(p, firing, share->sh_machine.m_vars, plan, &codes);
	if (dfr_likely(plan->pn_codes))
		at[0] = (u8)codes.bits;
	for (i = 1; dfr_unlikely(i < plan->pn_codes); i++)
		at[i] = (u8)(codes.bits >> (8 * i));
	commit(share, p);
}

void dfr_plain_args(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share)
{
	struct codes codes = { 0, 0 };
	u8 *at;
	u8 *p = begin(firing, ecb, share, &at);

	if (dfr_unlikely(!p))
		return;
	p = put_args(p, firing, ecb->ec_plan->pn_nargs, &codes);
	at[0] = (u8)codes.bits;
	commit(share, p);
}

/*
 * The values of a key of n words (0 to 2: n is a constant where this is called), if
 * it is the first of its bucket; NULL: perhaps it is further down, or new.
 */
dfr_hot u64 *first_values(const struct dfr_share *share, const struct dfr_step *step, u64 first, u64 second, u32 n)
{
	struct dfr_aggtab *table = share->sh_agg;
	const u32 *buckets = (const u32 *)(table + 1);
	u64 hash = step->sp_varid;
	struct dfr_aggent *entry;
	u64 *key;
	u32 offset;

	if (n > 0)
		hash = dfr_hash_word(hash, first);
	if (n > 1)
		hash = dfr_hash_word(hash, second);
	offset = buckets[(u32)hash & (table->nbuckets - 1)];
	entry = (struct dfr_aggent *)((u8 *)table + offset);
	key = (u64 *)(entry + 1);
	if (dfr_likely(offset && entry->varid == step->sp_varid && entry->key_size == n * 8 &&
		       (n < 1 || key[0] == first) && (n < 2 || key[1] == second)))
		return key + n;
	return NULL;
}

/* Any number of keys: in memory, as steps.c does it. NULL: no room, and counted. */
static dfr_noinline u64 *any_values(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share)
{
	const struct dfr_step *key = step + 1;
	const struct dfr_step *end = key + step->sp_keys;
	u64 *at = share->sh_key;
	u64 hash = step->sp_varid;
	u64 *values;

	for (; key < end; key++) {
		if (key->sp_op == DFR_STEP_STRING) {
			if (dfr_copy_comm(firing, (u8 *)at) > 8)
				hash = dfr_hash_word(hash, *at++);
		} else if (key->sp_op == DFR_STEP_TEXT) {
			*at = firing->fr_probe->pb_id;
		} else {
			*at = plain_value(firing, share->sh_machine.m_vars, key);
		}
		hash = dfr_hash_word(hash, *at++);
	}
	values = dfr_agg_values(share->sh_agg, step, share->sh_key, (u32)((u8 *)at - (u8 *)share->sh_key), (u32)hash);
	if (dfr_unlikely(!values))
		dfr_lost_here(share, firing, DFR_LOSS_AGGREGATION, 1);
	return values;
}

/* execname: padded with zeros, so it has a second word if the first has no NUL. */
dfr_hot u64 *name_values(struct dfr_firing *firing, const struct dfr_step *step, const struct dfr_share *share)
{
	u64 words[2];

	dfr_plat_comm(firing, words);
	return words[0] >> 56 ? first_values(share, step, words[0], words[1], 2) :
				first_values(share, step, words[0], 0, 1);
}

/* A key of DFR_PLAIN_COUNT. */
dfr_hot u64 light_key(struct dfr_firing *firing, const struct dfr_step *key)
{
	if (key->sp_op == DFR_STEP_TEXT)
		return firing->fr_probe->pb_id;
	return key->sp_source == DFR_SRC_PID ? dfr_plat_pid(firing) : dfr_plat_tid(firing);
}

static dfr_noinline void count_any(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share)
{
	u64 *values = any_values(firing, step, share);

	if (values)
		values[0]++;
}

/* Calls nothing but in the end, so nothing need be saved. */
void dfr_plain_count(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share)
{
	u64 *values;

	if (step->sp_shape == DFR_KEY_NAME)
		values = name_values(firing, step, share);
	else if (step->sp_shape == DFR_KEY_TWO)
		values = first_values(share, step, light_key(firing, step + 1), light_key(firing, step + 2), 2);
	else if (step->sp_shape == DFR_KEY_ONE)
		values = first_values(share, step, light_key(firing, step + 1), 0, 1);
	else
		values = first_values(share, step, 0, 0, 0);
	if (dfr_likely(values))
		values[0]++;
	else
		count_any(firing, step, share);
}

/* Into an entry that is known: what a value does there. */
dfr_hot void add_value(const struct dfr_step *step, u64 *values, u64 value)
{
	if (step->sp_max == DFR_ACT_QUANTIZE)
		values[dfr_quantize_bucket(value)]++;
	else
		dfr_agg_update(values, step->sp_max, value, 1);
}

dfr_hot void add(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share, u64 *values)
{
	if (step->sp_source == DFR_SRC_NONE) /* a count */
		values[0]++;
	else
		add_value(step, values, plain_value(firing, share->sh_machine.m_vars, step));
}

/* The values of the keys that need no call, if they are the first of their bucket. */
dfr_hot u64 *usual_values(struct dfr_firing *firing, const struct dfr_step *step, const struct dfr_share *share)
{
	if (step->sp_shape == DFR_KEY_NONE)
		return first_values(share, step, 0, 0, 0);
	if (step->sp_shape == DFR_KEY_NAME)
		return name_values(firing, step, share);
	if (step->sp_shape == DFR_KEY_ONE && step[1].sp_op == DFR_STEP_TEXT)
		return first_values(share, step, firing->fr_probe->pb_id, 0, 1);
	return NULL;
}

static dfr_noinline void agg_any(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share)
{
	u64 *values = usual_values(firing, step, share);

	if (!values)
		values = any_values(firing, step, share);
	if (values)
		add(firing, step, share, values);
}

/* An argument as it was passed calls nothing but in the end, so nothing need be saved. */
void dfr_plain_agg(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share)
{
	u64 *values = NULL;

	if (step->sp_source == DFR_SRC_ARG && step->sp_index < firing->fr_nargs && !step->sp_shift)
		values = usual_values(firing, step, share);
	if (values)
		add_value(step, values, firing->fr_args[step->sp_index]);
	else
		agg_any(firing, step, share);
}

/* What a thread-local number is set to: never an argument's sign, so nothing is extended. */
dfr_hot bool set(struct dfr_firing *firing, struct dfr_vars *vars, const struct dfr_step *step)
{
	u64 value = step->sp_source == DFR_SRC_TIMESTAMP ? dfr_firing_time(firing) :
		    step->sp_source == DFR_SRC_CONST	 ? step->sp_value :
							   plain_value(firing, vars, step);

	return dfr_self_store(vars, firing, step->sp_selfid, value);
}

/* In program order; a number for which there is no room ends it, as it would end a record. */
void dfr_plain_steps(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share)
{
	const struct dfr_step *step = ecb->ec_plan->pn_steps;
	const struct dfr_step *end = step + ecb->ec_plan->pn_nsteps;

	for (; step < end; step++) {
		if (step->sp_op == DFR_STEP_AGG) {
			dfr_plain_agg(firing, step, share);
			step += step->sp_keys;
		} else if (!set(firing, share->sh_machine.m_vars, step)) {
			return;
		}
	}
}
