// SPDX-License-Identifier: GPL-2.0
/*
 * The usual ECBs, in few instructions: a record of integers and execname, and
 * one aggregation over such keys. No DIF runs and nothing can fault, so there is
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

dfr_hot u64 plain_value(struct dfr_firing *firing, const struct dfr_step *step)
{
	u64 value;

	if (step->sp_source == DFR_SRC_ARG)
		value = dfr_firing_arg(firing, step->sp_index);
	else if (step->sp_source == DFR_SRC_PID)
		value = dfr_firing_context(firing)->cx_pid;
	else if (step->sp_source == DFR_SRC_TID)
		value = dfr_firing_context(firing)->cx_tid;
	else if (step->sp_source == DFR_SRC_CONST)
		value = step->sp_value;
	else if (step->sp_source == DFR_SRC_CPU)
		value = firing->fr_cpu;
	else if (step->sp_source == DFR_SRC_TIMESTAMP)
		value = dfr_firing_time(firing);
	else
		value = firing->fr_probe->pb_id;
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
dfr_hot u8 *put_fields(u8 *p, struct dfr_firing *firing, const struct dfr_plan *plan, struct codes *codes)
{
	const struct dfr_step *step = plan->pn_steps;
	const struct dfr_step *end = step + plan->pn_nsteps;
	u64 value;

	for (; step < end; step++) {
		if (step->sp_op == DFR_STEP_ARGS) {
			p = put_args(p, firing, step->sp_max, codes);
		} else if (step->sp_op == DFR_STEP_INT) {
			value = plain_value(firing, step);
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
	const struct dfr_context *context = dfr_firing_context(firing);
	u64 time = dfr_firing_time(firing);
	u64 delta;
	u8 *p;

	if (!dfr_stream_ready(stream, context, plan->pn_need) && !make_ready(firing, share, plan->pn_need))
		return NULL;
	p = stream->sm_ptr;
	delta = time - stream->sm_time;
	if (dfr_likely(delta <= DFR_REC_DELTA_MAX && ecb->ec_epid <= DFR_REC_ID_SHORT_MAX)) {
		dfr_put32(p, DFR_REC_HEAD(ecb->ec_epid, context->cx_level, delta));
		p += 4;
	} else {
		p = dfr_record_head(stream, p, ecb->ec_epid, context->cx_level, time);
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
	p = put_fields(p, firing, plan, &codes);
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

static dfr_cold void agg_lost(struct dfr_firing *firing, struct dfr_share *share)
{
	dfr_lost_here(share, firing, DFR_LOSS_AGGREGATION, 1);
}

/* The entry of a key, as dfr_agg_values() finds it; NULL: it is not the first of its bucket. */
dfr_hot u64 *first_of_bucket(struct dfr_aggtab *table, u32 varid, const u64 *key, u32 key_size, u32 hash)
{
	const u32 *buckets = (const u32 *)(table + 1);
	u32 offset = buckets[hash & (table->nbuckets - 1)];
	struct dfr_aggent *entry = (struct dfr_aggent *)((u8 *)table + offset);
	u64 *mine = (u64 *)(entry + 1);
	u32 i;

	if (dfr_unlikely(!offset || entry->hash != hash || entry->varid != varid || entry->key_size != key_size))
		return NULL;
	for (i = 0; i < key_size / 8; i++)
		if (dfr_unlikely(mine[i] != key[i]))
			return NULL;
	return mine + i;
}

void dfr_plain_agg(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share)
{
	const struct dfr_step *step = ecb->ec_plan->pn_steps;
	const struct dfr_step *key = step + 1;
	const struct dfr_step *end = key + step->sp_keys;
	struct dfr_aggtab *table = share->sh_agg;
	u64 *start = share->sh_key;
	u64 *at = start;
	u64 hash = step->sp_varid;
	u64 *values;
	u32 bytes;

	for (; key < end; key++) {
		if (key->sp_op == DFR_STEP_STRING) {
			if (dfr_copy_comm(firing, (u8 *)at) > 8)
				hash = dfr_hash_word(hash, *at++);
		} else if (key->sp_op == DFR_STEP_TEXT) {
			*at = firing->fr_probe->pb_id;
		} else {
			*at = plain_value(firing, key);
		}
		hash = dfr_hash_word(hash, *at++);
	}
	bytes = (u32)((u8 *)at - (u8 *)start);
	values = first_of_bucket(table, step->sp_varid, start, bytes, (u32)hash);
	if (dfr_unlikely(!values)) {
		values = dfr_agg_values(table, step, start, bytes, (u32)hash);
		if (dfr_unlikely(!values)) {
			agg_lost(firing, share);
			return;
		}
	}
	if (step->sp_max == DFR_ACT_COUNT)
		values[0]++;
	else
		dfr_agg_update(values, step->sp_max, plain_value(firing, step), 1);
}
