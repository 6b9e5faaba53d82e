/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of firings, inlined: computes what ktime_get_mono_fast_ns() returns, to the nanosecond
 * and from the same words, in half the instructions, where the kernel's clock is the processor's
 * counter. In all other cases (another clock source, an update meanwhile, a long time without one, a
 * suspended machine) it calls the kernel's function. Any context.
 */
#ifndef DFR_KMOD_LINUX_CLOCK_H
#define DFR_KMOD_LINUX_CLOCK_H

#include <linux/clocksource.h>
#include <linux/timekeeper_internal.h>
#include <linux/timekeeping.h>
#include "kmod/linux/arch.h"
#include "kmod/linux/compat.h"

/*
 * While fewer cycles than 2 to this power have passed since the last update, the product does not
 * overflow.
 */
#define DFR_CLOCK_CYCLES_BITS 30

/* The kernel's timekeeper, found by clock.c, and its halves; until then ones whose clock never matches. */
extern const struct dfr_fast_timekeeper *dfr_clock_keeper;
extern const struct tk_read_base *dfr_clock_halves[2];
extern u64 (*dfr_clock_counter)(struct clocksource *source);

/* The same, for the wall clock, where its words are what the kernel says; otherwise NULL. */
extern const struct dfr_fast_timekeeper *dfr_clock_wall;

static __always_inline u64 dfr_clock_half_offset(const struct tk_read_base *half)
{
	return data_race(half->base_real - half->base);
}

/* The fast path, which makes no call. False: call the kernel's function instead. */
static __always_inline bool dfr_clock_quick(u64 *time)
{
	const struct dfr_fast_timekeeper *keeper = READ_ONCE(dfr_clock_keeper);
	unsigned int sequence = READ_ONCE(keeper->fk_latch.seqcount.sequence);
	const struct tk_read_base *base = READ_ONCE(dfr_clock_halves[sequence & 1]);
	u64 cycles;

	smp_rmb();
	/* The kernel may write these meanwhile, which the sequence tells. READ_ONCE() would cost 8 instructions. */
	if (unlikely(data_race(base->clock->read) != dfr_clock_counter))
		return false;
	cycles = dfr_arch_cycles() - data_race(base->cycle_last);
	*time = data_race(base->base + ((cycles * base->mult + base->xtime_nsec) >> base->shift));
	smp_rmb();
	return likely(!(cycles >> DFR_CLOCK_CYCLES_BITS) &&
		      READ_ONCE(keeper->fk_latch.seqcount.sequence) == sequence);
}

static __always_inline u64 dfr_clock(void)
{
	u64 time;

	return dfr_clock_quick(&time) ? time : ktime_get_mono_fast_ns();
}

/*
 * What added to dfr_clock()'s time gives ns since the epoch. From the kernel's words, whatever its
 * clock is, so that it is exact and moves only when somebody sets the wall clock. Without them, or
 * during an update, it is wrong by the time between two readings.
 */
static inline u64 dfr_clock_wall_offset(void)
{
	const struct dfr_fast_timekeeper *keeper = dfr_clock_wall;
	unsigned int sequence;
	u64 offset, mono;

	if (likely(keeper)) {
		sequence = READ_ONCE(keeper->fk_latch.seqcount.sequence);
		smp_rmb();
		offset = dfr_clock_half_offset(&keeper->fk_base[sequence & 1]);
		smp_rmb();
		if (likely(READ_ONCE(keeper->fk_latch.seqcount.sequence) == sequence))
			return offset;
	}
	mono = ktime_get_mono_fast_ns();
	return ktime_get_real_fast_ns() - mono;
}

#endif
