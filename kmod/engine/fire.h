/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probe context, inlined: what the files of a firing share: fire.c (from the
 * provider's call to the chain), steps.c (an ECB in general) and plain.c (the
 * usual ones, without DIF). Nobody else includes it.
 */
#ifndef DFR_ENGINE_FIRE_H
#define DFR_ENGINE_FIRE_H

#include "kmod/engine/store.h"

/* An ECB in general. stamp: which firing. */
void dfr_run_ecb(struct dfr_firing *firing, struct dfr_ecb *ecb, struct dfr_share *share,
		 struct dfr_machine *machine, u64 stamp);

/* pn_plain: nothing in the plan can fault, and no DIF runs. */
void dfr_plain_record(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share);
void dfr_plain_args(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share);
void dfr_plain_agg(struct dfr_firing *firing, const struct dfr_ecb *ecb, struct dfr_share *share);

/* An argument that the provider has not passed: asked for one by one. */
u64 dfr_late_arg(const struct dfr_firing *firing, u32 index);

dfr_hot u64 dfr_firing_arg(const struct dfr_firing *firing, u32 index)
{
	return dfr_likely(index < firing->fr_nargs) ? firing->fr_args[index] : dfr_late_arg(firing, index);
}

/* Bytes of a comm word up to and with its NUL; 8 and more: it has none. */
dfr_hot u32 dfr_nul_at(u64 word)
{
	u64 zeros = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;

	return zeros ? ((u32)__builtin_ctzll(zeros) >> 3) + 1 : 9;
}

dfr_hot u32 dfr_copy_comm(struct dfr_firing *firing, u8 *to)
{
	const struct dfr_context *context = dfr_firing_context(firing);
	u64 low, high;
	u32 n;

	memcpy(&low, context->cx_comm, 8);
	memcpy(&high, context->cx_comm + 8, 8);
	dfr_put64(to, low);
	dfr_put64(to + 8, high);
	n = dfr_nul_at(low);
	return n <= 8 ? n : 8 + dfr_nul_at(high);
}

/* Is a record of `need` bytes ready to be written at sm_ptr, under the context that holds there? */
dfr_hot bool dfr_stream_ready(const struct dfr_stream *stream, const struct dfr_context *context, u32 need)
{
	u64 low, high;

	memcpy(&low, context->cx_comm, 8);
	memcpy(&high, context->cx_comm + 8, 8);
	return dfr_likely(stream->sm_soft - stream->sm_ptr >= (long)need &&
			  !((dfr_task_pid(context) ^ stream->sm_task_pid) | (low ^ stream->sm_comm[0]) |
			    (high ^ stream->sm_comm[1]) | (context->cx_tid ^ stream->sm_tid)));
}

#endif
