// SPDX-License-Identifier: GPL-2.0
/*
 * The plain forms (enum dfr_form), in few instructions: records of integers and
 * execname, aggregations with such keys, thread-local numbers. No DIF runs and nothing
 * can fault, so no machine and no unwinding is needed, and a record's position and size
 * codes stay in registers. The first thread-local number of a clause is looked up only
 * once. These functions write exactly what steps.c would. Probe context.
 *
 * Most fast paths make no call but tail calls, so the compiler need not save registers.
 */
#include "kmod/engine/dif/self.h"
#include "kmod/engine/recording/encode.h"
#include "kmod/engine/recording/fire.h"

dfr_hot u64 since(struct dfr_firing *firing, const struct dfr_vars *vars, u32 id)
{
	return dfr_time_of(firing) - dfr_self_load(vars, firing, id);
}

dfr_hot u64 plain_value(struct dfr_firing *firing, const struct dfr_vars *vars, const struct dfr_step *step)
{
	u64 value;

	if (step->sp_source == DFR_SRC_ARG)
		value = dfr_firing_arg(firing, step->sp_from.arg);
	else if (step->sp_source == DFR_SRC_SINCE)
		return since(firing, vars, step->sp_from.number);
	else if (step->sp_source == DFR_SRC_TIMESTAMP)
		value = dfr_time_of(firing);
	else if (step->sp_source == DFR_SRC_CONST)
		value = step->sp_from.constant;
	else if (step->sp_source == DFR_SRC_PID)
		value = dfr_plat_pid(firing);
	else if (step->sp_source == DFR_SRC_TID)
		value = dfr_plat_tid(firing);
	else if (step->sp_source == DFR_SRC_CPU)
		value = firing->fr_cpu;
	else if (step->sp_source == DFR_SRC_SELF)
		value = dfr_self_load(vars, firing, step->sp_from.number);
	else
		value = firing->fr_probe->pb_id;
	if (dfr_likely(!step->sp_shift))
		return value;
	value <<= step->sp_shift;
	return step->sp_flags & DFR_SP_SIGNED ? (u64)((s64)value >> step->sp_shift) : value >> step->sp_shift;
}

dfr_hot u8 *put_args(u8 *p, const struct dfr_firing *firing, u32 n, struct dfr_codes *codes)
{
	u32 i;

	for (i = 0; i < n; i++)
		p = dfr_put_int(p, dfr_firing_arg(firing, i), true, codes);
	return p;
}

/* All fields of a record. */
dfr_hot u8 *put_fields(u8 *p, struct dfr_firing *firing, const struct dfr_vars *vars,
		       const struct dfr_plan *plan, struct dfr_codes *codes)
{
	const struct dfr_step *step = plan->pn_steps;
	const struct dfr_step *end = step + plan->pn_nsteps;

	for (; step < end; step++) {
		if (step->sp_op == DFR_STEP_ARGS) {
			p = put_args(p, firing, step->sp_do.count, codes);
		} else if (step->sp_op == DFR_STEP_INT) {
			p = dfr_put_int(p, plain_value(firing, vars, step), step->sp_flags & DFR_SP_SIGNED,
					codes);
		} else if (step->sp_op == DFR_STEP_STRING) {
			p += dfr_copy_comm(firing, p);
		}
	}
	return p;
}

/* After dfr_stream_ready() has said no. false: the record is lost, and counted. */
static dfr_cold bool make_ready(struct dfr_firing *firing, struct dfr_share *share, u32 need)
{
	struct dfr_writer w = { .w_stream = &share->sh_stream };

	return dfr_record_slow(share, &w, firing, need);
}

void dfr_plat_direct dfr_plain_record(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				      struct dfr_share *share)
{
	const struct dfr_plan *plan = ecb->ec_plan;
	struct dfr_stream *stream = &share->sh_stream;
	u64 time = dfr_time_of(firing);
	struct dfr_codes codes = { NULL, 0, 0 };
	u8 *p;

	if (!dfr_stream_ready(stream, firing, plan->pn_need) && !make_ready(firing, share, plan->pn_need))
		return;
	codes.co_at = dfr_put_head(stream, stream->sm_ptr, ecb->ec_epid, dfr_plat_level_of(firing), time);
	stream->sm_time = time;
	p = put_fields(codes.co_at + plan->pn_codes, firing, share->sh_machine.m_vars, plan, &codes);
	dfr_put_last_codes(&codes);
	dfr_commit(share, p);
}

/*
 * dfr_plain_record() for DFR_FORM_ARGS and _REGISTERS, without any call. false: the
 * clock, the head or the stream needs the slow path; nothing has been written.
 */
dfr_hot bool usual_args(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share,
			bool registers)
{
	struct dfr_stream *stream = &share->sh_stream;
	u32 which, level, bits = 0;
	u64 time, delta, value;
	const u64 *args;
	const void *regs;
	u8 *start, *p;

	if (dfr_unlikely(!dfr_time_quick(firing, &time)))
		return false;
	delta = time - stream->sm_time;
	if (dfr_unlikely(!dfr_is_short_delta(delta) ||
			 !dfr_stream_ready(stream, firing, ecb->ec_facts.fa_args.need)))
		return false;
	start = stream->sm_ptr;
	p = start + 5;
	stream->sm_time = time;
	dfr_put_short_head(start, ecb->ec_epid, 0, delta);
	level = dfr_plat_level_of(firing);
	if (dfr_unlikely(level))
		dfr_put_short_head(start, ecb->ec_epid, level, delta);
	args = firing->fr_args;
	regs = firing->fr_regs;
	which = ecb->ec_facts.fa_args.which;
	do {
		value = registers ? dfr_plat_register_arg(regs, which & 0xff) : args[(which & 0xff) - 1];
		p = dfr_put_value(p, value, dfr_signed_top(value), &bits);
	} while (which >>= 8);
	start[4] = (u8)(bits >> ecb->ec_facts.fa_args.shift);
	dfr_commit(share, p);
	return true;
}

/*
 * usual_args() has returned false. Mostly a restart point is due, once in each KiB, and
 * after make_ready() the fast path works again.
 */
static dfr_noinline void unusual_args(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				      struct dfr_share *share, bool registers)
{
	u32 need = ecb->ec_plan->pn_need;

	if (!dfr_stream_ready(&share->sh_stream, firing, need) && !make_ready(firing, share, need))
		return;
	if (!usual_args(firing, ecb, share, registers))
		dfr_plain_record(firing, ecb, share);
}

void dfr_plat_direct dfr_plain_args(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				    struct dfr_share *share)
{
	if (dfr_unlikely(firing->fr_nargs < ecb->ec_facts.fa_args.passed))
		dfr_plain_record(firing, ecb, share);
	else if (dfr_unlikely(!usual_args(firing, ecb, share, false)))
		unusual_args(firing, ecb, share, false);
}

/* A function's arguments, read from the registers in which they were passed. */
void dfr_plat_direct dfr_plain_registers(struct dfr_firing *firing, const struct dfr_ecb *ecb,
					 struct dfr_share *share)
{
	if (dfr_unlikely(!usual_args(firing, ecb, share, true)))
		unusual_args(firing, ecb, share, true);
}

/*
 * The values of the entry with this key of n words (0 to 2; callers pass a constant), if
 * it is the first of its bucket. NULL: it may be further down the chain, or new.
 */
dfr_hot u64 *first_values(const struct dfr_share *share, const struct dfr_step *step, u64 first, u64 second,
			  u32 n)
{
	struct dfr_aggtab *table = share->sh_agg;
	const u32 *buckets = (const u32 *)(table + 1);
	u64 hash = step->sp_do.agg.hash;
	struct dfr_aggent *entry;
	u64 *key;
	u32 offset;

	if (n > 0)
		hash = dfr_hash_word(hash, first, share->sh_factor);
	if (n > 1)
		hash = dfr_hash_word(hash, second, share->sh_factor);
	offset = buckets[dfr_hash_end(hash, share->sh_factor) & (table->nbuckets - 1)];
	entry = (struct dfr_aggent *)((u8 *)table + offset);
	key = (u64 *)(entry + 1);
	if (dfr_likely(offset && entry->varid == step->sp_do.agg.varid && entry->key_size == n * 8 &&
		       (n < 1 || key[0] == first) && (n < 2 || key[1] == second)))
		return key + n;
	return NULL;
}

/* Builds a key of any shape in sh_key, as steps.c does. NULL: no room for a new entry, and counted. */
static dfr_noinline u64 *any_values(struct dfr_firing *firing, const struct dfr_step *step,
				    struct dfr_share *share)
{
	const struct dfr_step *key = step + 1;
	const struct dfr_step *end = key + step->sp_do.agg.keys;
	u64 *at = share->sh_key;
	u64 hash = step->sp_do.agg.hash;
	u64 *values;

	for (; key < end; key++) {
		if (key->sp_op == DFR_STEP_STRING) {
			if (dfr_copy_comm(firing, (u8 *)at) > 8)
				hash = dfr_hash_word(hash, *at++, share->sh_factor);
		} else if (key->sp_op == DFR_STEP_TEXT) {
			*at = firing->fr_probe->pb_id;
		} else {
			*at = plain_value(firing, share->sh_machine.m_vars, key);
		}
		hash = dfr_hash_word(hash, *at++, share->sh_factor);
	}
	values = dfr_agg_values(firing, share, step, (u32)((u8 *)at - (u8 *)share->sh_key),
				dfr_hash_end(hash, share->sh_factor));
	if (dfr_unlikely(!values))
		dfr_lost_here(share, firing, DFR_LOSS_AGGREGATION, 1);
	return values;
}

/* The key is execname, padded with zeros: it has a second word only if the first has no NUL. */
dfr_hot u64 *name_values(struct dfr_firing *firing, const struct dfr_step *step,
			 const struct dfr_share *share)
{
	u64 words[2];

	dfr_plat_comm(firing, words);
	return words[0] >> 56 ? first_values(share, step, words[0], words[1], 2)
			      : first_values(share, step, words[0], 0, 1);
}

/* A key of DFR_FORM_COUNT. */
dfr_hot u64 light_key(struct dfr_firing *firing, const struct dfr_step *key)
{
	if (key->sp_op == DFR_STEP_TEXT)
		return firing->fr_probe->pb_id;
	return key->sp_source == DFR_SRC_PID ? dfr_plat_pid(firing) : dfr_plat_tid(firing);
}

static dfr_noinline void count_any(struct dfr_firing *firing, const struct dfr_step *step,
				   struct dfr_share *share)
{
	u64 *values = any_values(firing, step, share);

	if (values)
		values[0]++;
}

/* Inlined into one function for each shape of keys; count_any() is a tail call in each of them. */
dfr_hot void count_at(u64 *values, struct dfr_firing *firing, const struct dfr_step *step,
		      struct dfr_share *share)
{
	if (dfr_likely(values))
		values[0]++;
	else
		count_any(firing, step, share);
}

static dfr_noinline void count_name(struct dfr_firing *firing, const struct dfr_step *step,
				    struct dfr_share *share)
{
	count_at(name_values(firing, step, share), firing, step, share);
}

static dfr_noinline void count_one(struct dfr_firing *firing, const struct dfr_step *step,
				   struct dfr_share *share)
{
	count_at(first_values(share, step, light_key(firing, step + 1), 0, 1), firing, step, share);
}

static dfr_noinline void count_two(struct dfr_firing *firing, const struct dfr_step *step,
				   struct dfr_share *share)
{
	count_at(first_values(share, step, light_key(firing, step + 1), light_key(firing, step + 2), 2),
		 firing, step, share);
}

void dfr_plat_direct dfr_plain_count(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				     struct dfr_share *share)
{
	const struct dfr_step *step = ecb->ec_plan->pn_steps;

	if (step->sp_do.agg.shape == DFR_KEY_TWO)
		count_two(firing, step, share);
	else if (step->sp_do.agg.shape == DFR_KEY_NAME)
		count_name(firing, step, share);
	else if (step->sp_do.agg.shape == DFR_KEY_ONE)
		count_one(firing, step, share);
	else
		count_at(first_values(share, step, 0, 0, 0), firing, step, share);
}

/* Adds a value to an entry. */
dfr_hot void add_value(const struct dfr_step *step, u64 *values, u64 value)
{
	if (step->sp_do.agg.kind == DFR_ACT_QUANTIZE)
		values[dfr_quantize_bucket(value)]++;
	else
		dfr_agg_update(values, step->sp_do.agg.kind, value, 1);
}

dfr_hot void add(struct dfr_firing *firing, const struct dfr_step *step, struct dfr_share *share, u64 *values)
{
	if (step->sp_source == DFR_SRC_NONE) /* a count */
		values[0]++;
	else
		add_value(step, values, plain_value(firing, share->sh_machine.m_vars, step));
}

/* first_values() for keys that are found without a call; NULL for other keys too. */
dfr_hot u64 *usual_values(struct dfr_firing *firing, const struct dfr_step *step,
			  const struct dfr_share *share)
{
	if (step->sp_do.agg.shape == DFR_KEY_NONE)
		return first_values(share, step, 0, 0, 0);
	if (step->sp_do.agg.shape == DFR_KEY_NAME)
		return name_values(firing, step, share);
	if (step->sp_do.agg.shape == DFR_KEY_ONE && step[1].sp_op == DFR_STEP_TEXT)
		return first_values(share, step, firing->fr_probe->pb_id, 0, 1);
	return NULL;
}

static dfr_noinline void agg_any(struct dfr_firing *firing, const struct dfr_step *step,
				 struct dfr_share *share)
{
	u64 *values = usual_values(firing, step, share);

	if (!values)
		values = any_values(firing, step, share);
	if (values)
		add(firing, step, share, values);
}

/* Fast path: the value is an argument that was passed. All calls are tail calls. */
void dfr_plat_direct dfr_plain_agg(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				   struct dfr_share *share)
{
	const struct dfr_step *step = ecb->ec_plan->pn_steps;
	u64 *values = NULL;

	if (step->sp_source == DFR_SRC_ARG && step->sp_from.arg < firing->fr_nargs && !step->sp_shift)
		values = usual_values(firing, step, share);
	if (values)
		add_value(step, values, firing->fr_args[step->sp_from.arg]);
	else
		agg_any(firing, step, share);
}

/* The first thread-local number of a clause, looked up once: no other thread can move it. */
struct number {
	u32 id; /* 0: none */
	struct dfr_selfref ref;
};

static dfr_noinline u64 other_value(struct dfr_firing *firing, const struct dfr_vars *vars,
				    const struct dfr_step *step)
{
	return plain_value(firing, vars, step);
}

dfr_hot void steps_agg(struct dfr_firing *firing, const struct number *number, const struct dfr_step *step,
		       struct dfr_share *share)
{
	u64 *values = usual_values(firing, step, share);
	u64 value;

	if (!values)
		values = any_values(firing, step, share);
	if (!values)
		return;
	if (step->sp_source == DFR_SRC_SINCE && step->sp_from.number == number->id)
		value = dfr_time_of(firing) - dfr_self_get(&number->ref);
	else if (step->sp_source == DFR_SRC_NONE)
		value = 0; /* a count */
	else
		value = other_value(firing, share->sh_machine.m_vars, step);
	add_value(step, values, value);
}

/* The value is stored as it is: dfr_idiom_store() sets no sp_shift. */
dfr_hot bool steps_set(struct dfr_firing *firing, struct number *number, struct dfr_vars *vars,
		       const struct dfr_step *step)
{
	u64 value = step->sp_source == DFR_SRC_CONST	   ? step->sp_from.constant
		    : step->sp_source == DFR_SRC_TIMESTAMP ? dfr_time_of(firing)
							   : other_value(firing, vars, step);

	if (dfr_unlikely(step->sp_do.number != number->id))
		return dfr_self_store(vars, firing, step->sp_do.number, value);
	return dfr_self_set(&vars->va_self, firing, &number->ref, value);
}

/* In program order. If a number finds no room, the rest of the clause is dropped, as in steps.c. */
void dfr_plat_direct dfr_plain_steps(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				     struct dfr_share *share)
{
	const struct dfr_plan *plan = ecb->ec_plan;
	const struct dfr_step *step = plan->pn_steps;
	struct dfr_vars *vars = share->sh_machine.m_vars;
	u64 key = ecb->ec_facts.fa_self;
	struct number number = { .id = DFR_SELF_ID(key) };
	u32 left = plan->pn_nsteps;

	if (key) {
		number.ref = dfr_self_find(&vars->va_self, firing, dfr_plat_thread_key(firing) | key);
		if (ecb->ec_flags & DFR_EC_IF_SET && !dfr_self_get(&number.ref))
			return;
	}
	for (;; step++) {
		if (step->sp_op == DFR_STEP_AGG) {
			steps_agg(firing, &number, step, share);
			left -= step->sp_do.agg.keys;
			step += step->sp_do.agg.keys;
		} else if (!steps_set(firing, &number, vars, step)) {
			return;
		}
		if (!--left)
			return;
	}
}

static dfr_noinline void set_time(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				  struct dfr_share *share)
{
	dfr_self_store(share->sh_machine.m_vars, firing, ecb->ec_plan->pn_steps[0].sp_do.number,
		       dfr_time_of(firing));
}

/* `self->t = timestamp` begins a measurement. Fast path: self->t was 0, and its home slot is free. */
void dfr_plat_direct dfr_plain_time(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				    struct dfr_share *share)
{
	const struct dfr_selfvars *self;
	struct dfr_selfslot *home;
	u64 time, key;

	if (dfr_unlikely(!dfr_time_quick(firing, &time))) {
		set_time(firing, ecb, share);
		return;
	}
	self = &share->sh_machine.m_vars->va_self;
	key = dfr_plat_thread_key(firing) | ecb->ec_facts.fa_self;
	home = dfr_self_home(self, key);
	if (dfr_likely(self->se_slots && !dfr_read_once(&home->ss_key) && !dfr_read_once(&self->se_away) &&
		       !dfr_cmpxchg(&home->ss_key, 0ULL, key)))
		dfr_write_once(&home->ss_value, time);
	else
		set_time(firing, ecb, share);
}

/* The number is in its home slot. */
static dfr_noinline void since_home(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				    struct dfr_share *share, struct dfr_selfslot *home)
{
	const struct dfr_step *step;
	u64 time, *values;

	if (dfr_unlikely(!dfr_time_quick(firing, &time))) {
		dfr_plain_steps(firing, ecb, share);
		return;
	}
	step = ecb->ec_plan->pn_steps;
	values = usual_values(firing, step, share);
	if (dfr_unlikely(!values)) {
		dfr_plain_steps(firing, ecb, share);
		return;
	}
	time -= dfr_read_once(&home->ss_value);
	dfr_store_release(&home->ss_key, 0ULL);
	add_value(step, values, time);
}

/* Ends a measurement. Fast path: the number is in its home slot, and the aggregation's entry exists. */
void dfr_plat_direct dfr_plain_since(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				     struct dfr_share *share)
{
	const struct dfr_selfvars *self = &share->sh_machine.m_vars->va_self;
	u64 key = dfr_plat_thread_key(firing) | ecb->ec_facts.fa_self;
	struct dfr_selfslot *home = dfr_self_home(self, key);

	if (dfr_likely(self->se_slots && dfr_read_once(&home->ss_key) == key))
		since_home(firing, ecb, share, home);
	else if (dfr_read_once(&self->se_away))
		dfr_plain_steps(firing, ecb, share); /* looks further, and returns if it is 0 */
}
