/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inline functions that the files of a firing share: fire.c (from the provider's
 * call to the chain), steps.c (the general form), plain.c (the plain forms, without
 * DIF), record.c and self.c. Probe context.
 */
#ifndef DFR_ENGINE_FIRE_H
#define DFR_ENGINE_FIRE_H

#include "kmod/engine/recording/store.h"

/* Runs an ECB in the general form. stamp: the firing's pc_stamp; 0 for ERROR. */
void dfr_plat_direct dfr_run_ecb(struct dfr_firing *firing, struct dfr_ecb *ecb, struct dfr_share *share,
				 struct dfr_machine *machine, u64 stamp);

/* The other forms: nothing in them can fault, and no DIF runs. */
void dfr_plat_direct dfr_plain_record(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				      struct dfr_share *share);
void dfr_plat_direct dfr_plain_args(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				    struct dfr_share *share);
void dfr_plat_direct dfr_plain_registers(struct dfr_firing *firing, const struct dfr_ecb *ecb,
					 struct dfr_share *share);
void dfr_plat_direct dfr_plain_agg(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				   struct dfr_share *share);
void dfr_plat_direct dfr_plain_count(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				     struct dfr_share *share);
void dfr_plat_direct dfr_plain_steps(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				     struct dfr_share *share);
void dfr_plat_direct dfr_plain_since(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				     struct dfr_share *share);
void dfr_plat_direct dfr_plain_time(struct dfr_firing *firing, const struct dfr_ecb *ecb,
				    struct dfr_share *share);

/* A clause of the firing is not recorded, because the state does not record any more. */
void dfr_cut_off(struct dfr_state *state, const struct dfr_firing *firing);

/* An argument that the provider has not passed: its getarg() gives it; 0 if it has none. */
u64 dfr_late_arg(const struct dfr_firing *firing, u32 index);

/*
 * The time of a firing: the clock is read when the time is first needed. It is made
 * later than that of any earlier firing on this CPU. dfr_firing_time() is the same,
 * but not inlined.
 */
dfr_hot u64 dfr_time_is(struct dfr_firing *firing, u64 time)
{
	struct dfr_cpu *pc = dfr_this_cpu(firing->fr_engine);

	if (dfr_unlikely(time <= pc->pc_last))
		time = pc->pc_last + 1;
	pc->pc_last = time;
	firing->fr_time = time;
	return time;
}

dfr_hot u64 dfr_time_of(struct dfr_firing *firing)
{
	return firing->fr_time ? firing->fr_time : dfr_time_is(firing, dfr_plat_clock(firing));
}

/*
 * Makes no call, so the caller need not save registers. false: to read the clock takes
 * a call, and the firing has no time yet.
 */
dfr_hot bool dfr_time_quick(struct dfr_firing *firing, u64 *time)
{
	*time = firing->fr_time;
	if (dfr_likely(!*time)) {
		if (dfr_unlikely(!dfr_plat_clock_quick(firing, time)))
			return false;
		*time = dfr_time_is(firing, *time);
	}
	return true;
}

dfr_hot u64 dfr_firing_arg(const struct dfr_firing *firing, u32 index)
{
	return dfr_likely(index < firing->fr_nargs) ? firing->fr_args[index] : dfr_late_arg(firing, index);
}

/* Bytes of a comm word up to and including its NUL; 9: it has none. */
dfr_hot u32 dfr_nul_at(u64 word)
{
	u64 zeros = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;

	return zeros ? ((u32)__builtin_ctzll(zeros) >> 3) + 1 : 9;
}

dfr_hot u32 dfr_copy_comm(struct dfr_firing *firing, u8 *to)
{
	u64 words[2];
	u32 n;

	dfr_plat_comm(firing, words);
	words[1] &= ~0ULL >> 8; /* the name may just be changing, its NUL not yet written */
	dfr_put64(to, words[0]);
	dfr_put64(to + 8, words[1]);
	n = dfr_nul_at(words[0]);
	return n <= 8 ? n : 8 + dfr_nul_at(words[1]);
}

/*
 * May a record of `need` bytes be written at sm_ptr: is there room, and is the last context still right?
 * Compared as numbers, because both may be NULL, and because the distance from NULL to an address in the
 * kernel is positive.
 */
dfr_hot bool dfr_stream_ready(const struct dfr_stream *stream, struct dfr_firing *firing, u32 need)
{
#ifndef __KERNEL__ /* in the kernel, dfr_plat_who() contains the tid */
	if (dfr_plat_tid(firing) != stream->sm_tid)
		return false;
#endif
	return dfr_likely((unsigned long)stream->sm_ptr + need <= (unsigned long)stream->sm_soft &&
			  dfr_plat_who(firing) == stream->sm_who &&
			  dfr_plat_cgroups(firing) == stream->sm_cgroups &&
			  dfr_plat_comm_is(firing, stream->sm_comm));
}

/* Does a test of a number (DFR_TEST_PID, _TID, _ARG) hold for this value? */
dfr_hot bool dfr_test_value(const struct dfr_test *test, u64 value)
{
	return (value == test->te_words[0]) != test->te_negated;
}

dfr_hot bool dfr_test_name(const struct dfr_test *test, struct dfr_firing *firing)
{
	u64 words[2];

	dfr_plat_comm(firing, words);
	return words[0] == test->te_words[0] && words[1] == test->te_words[1];
}

#endif
