/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Speculations: spec.c.
 */
#ifndef DFR_ENGINE_SPEC_H
#define DFR_ENGINE_SPEC_H

#include "kmod/engine/recording/ring.h"

struct dfr_state;

struct dfr_spec {
	u32 spc_state;	   /* enum dfr_spec_state; changed with dfr_cmpxchg() */
	bool spc_cleaning; /* the cleaner's own */
	u64 spc_time;	   /* of the commit */
};

#define DFR_SPEC_VOID (~0ULL) /* above all numbers */

/* A speculation's part on one CPU. */
struct dfr_speclist {
	struct dfr_stream sl_stream;
	struct dfr_spec_chunk *sl_first;
	struct dfr_spec_chunk *sl_last;
	u32 sl_chunks;
	u32 sl_id;
};

/* spec.c */
int dfr_spec_setup(struct dfr_state *state);
u64 dfr_spec_bytes(const struct dfr_state *state);
int dfr_spec_share(struct dfr_state *state, struct dfr_share *share);
void dfr_spec_anchor(struct dfr_state *state, const struct dfr_share *share);
void dfr_spec_free(struct dfr_state *state);
void dfr_spec_free_share(struct dfr_share *share);
/* Probe context. */
enum dfr_spec_result { DFR_SPEC_OK, DFR_SPEC_DROP, DFR_SPEC_ILLOP };
u64 dfr_spec_work(const struct dfr_share *share,
		  u64 id); /* of commit or discard: guest instructions, estimated */
enum dfr_spec_result dfr_spec_trace(struct dfr_share *share, u64 id, struct dfr_speclist **list);
enum dfr_spec_result dfr_spec_commit(struct dfr_share *share, struct dfr_firing *firing, u64 id);
enum dfr_spec_result dfr_spec_discard(struct dfr_share *share, u64 id, struct dfr_writer *open);
void dfr_spec_end_void(struct dfr_share *share);
bool dfr_spec_room(struct dfr_share *share, struct dfr_speclist *list, u32 need);
void dfr_spec_publish(struct dfr_share *share, struct dfr_speclist *list, u64 time);
void dfr_spec_clean(struct dfr_state *state);

#endif
