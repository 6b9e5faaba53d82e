/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Aggregation variables (aggvar.c) and their tables (agg.c).
 */
#ifndef DFR_ENGINE_AGG_H
#define DFR_ENGINE_AGG_H

#include "kmod/engine/engine.h"

struct dfr_share;
struct dfr_step;

/* An aggregation variable of a state. */
struct dfr_aggvar {
	struct dfr_aggvar *av_next;
	u32 av_varid;
	u32 av_kind;
	u64 av_arg;
	u32 av_words;
	u32 av_nkeys;
	u32 av_flags;
	bool av_told;	  /* the catalog has it */
	bool av_weighted; /* some use of it gives weights */
	u64 av_unshown;	  /* firings that are in the base table, but in no snapshot of the consumer's */
	u16 *av_keys;	  /* enum dfr_field_kind of each */
};

/* aggvar.c */
extern const char dfr_no_memory[]; /* the reason for -ENOMEM */
extern const char dfr_killed[];	   /* the reason for -EINTR */
const char *dfr_aggvars_collect(struct dfr_state *state, const struct dfr_program *more);
void dfr_aggvars_free(struct dfr_aggvar *var);
struct dfr_aggvar *dfr_state_aggvar(const struct dfr_state *state, u32 varid);
int dfr_plan_tell_aggvars(struct dfr_state *state, const struct dfr_program *program);
u32 dfr_agg_words(u32 kind, u64 arg);

/* agg.c */
int dfr_agg_create(struct dfr_state *state);
u64 dfr_agg_bytes(const struct dfr_state *state);
int dfr_agg_share(struct dfr_state *state, struct dfr_share *share);
void dfr_agg_anchor(struct dfr_state *state, const struct dfr_share *share);
void dfr_agg_free(struct dfr_state *state);
void dfr_agg_free_share(struct dfr_share *share);
/* Probe context. key_size is a multiple of 8. */
/*
 * The value words of this key; a new key gets an entry. NULL: there is no room, or the firing has
 * done too much.
 */
u64 *dfr_agg_values(struct dfr_firing *firing, struct dfr_share *share, const struct dfr_step *step,
		    u32 key_size, u32 hash);
void dfr_agg_update(u64 *values, u32 kind, u64 value, u64 weight);
/* The key is in sh_key. */
bool dfr_agg_add(struct dfr_firing *firing, struct dfr_share *share, const struct dfr_step *step,
		 u32 key_size, u64 value, u64 weight);

/* The bucket that quantize() counts a value in. */
dfr_hot u32 dfr_quantize_bucket(u64 raw)
{
	u64 magnitude = (s64)raw < 0 ? 0 - raw : raw;
	u32 order;

	if (!raw)
		return DFR_QUANTIZE_ZERO;
	order = 64 - (u32)__builtin_clzll(magnitude);
	if (order > DFR_QUANTIZE_ZERO)
		order = DFR_QUANTIZE_ZERO;
	return (s64)raw < 0 ? DFR_QUANTIZE_ZERO - order : DFR_QUANTIZE_ZERO + order;
}

#endif
