// SPDX-License-Identifier: GPL-2.0
/*
 * Finds what clock.h reads: the latched copy of the kernel's timekeeping words, which is private to
 * the kernel. It is used only after three checks: loads that may fault can read it, its clock is the
 * processor's counter, and the time computed from it is the kernel's. Otherwise the kernel's
 * function is called, which costs more but gives the same time. The same words say where the wall
 * clock stands; they are believed if the kernel says the same. Process context, once, when the module
 * loads.
 */
#include "kmod/linux/clock.h"

#include <linux/irqflags.h>
#include <linux/uaccess.h>
#include "kmod/linux/linux.h"
#include "kmod/linux/assume.h"

static u64 no_counter(struct clocksource *source)
{
	return 0;
}

static struct clocksource no_clock;
static const struct dfr_fast_timekeeper no_keeper = { .fk_base = { { .clock = &no_clock },
								   { .clock = &no_clock } } };

const struct dfr_fast_timekeeper *dfr_clock_keeper __read_mostly = &no_keeper;
const struct tk_read_base *dfr_clock_halves[2] __read_mostly = { &no_keeper.fk_base[0],
								 &no_keeper.fk_base[1] };
const struct dfr_fast_timekeeper *dfr_clock_wall __read_mostly;
u64 (*dfr_clock_counter)(struct clocksource *source) __read_mostly = no_counter;

/*
 * For each half of the latch: its clock is one of the two clocksources of the processor's counter,
 * and counts all 64 bits.
 */
static bool is_counter(const struct tk_read_base *base)
{
	unsigned long clock = (unsigned long)base->clock;

	return clock && base->mask == ~0ULL && base->mult && base->shift < 64 &&
	       (clock == dfr_row_address(DFR_ARCH_COUNTER) ||
		clock == dfr_row_address(DFR_ARCH_EARLY_COUNTER));
}

/*
 * The time read by us must lie between two readings of the kernel's. Tried several times, because an
 * update between the readings may change the clock's speed.
 */
static bool agrees(void)
{
	unsigned long flags;
	u64 before, ours, after;
	int tries;

	for (tries = 0; tries < 8; tries++) {
		local_irq_save(flags);
		before = ktime_get_mono_fast_ns();
		ours = dfr_clock();
		after = ktime_get_mono_fast_ns();
		local_irq_restore(flags);
		if (before <= ours && ours <= after)
			return true;
	}
	return false;
}

/* Both halves say what the kernel does; tried several times, because somebody may set the clock meanwhile. */
static bool knows_wall(const struct dfr_fast_timekeeper *keeper)
{
	u64 offset;
	int tries;

	for (tries = 0; tries < 8; tries++) {
		offset = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_REAL));
		if (dfr_clock_half_offset(&keeper->fk_base[0]) == offset &&
		    dfr_clock_half_offset(&keeper->fk_base[1]) == offset)
			return true;
	}
	return false;
}

static void believe(const struct dfr_fast_timekeeper *keeper)
{
	dfr_clock_keeper = keeper;
	dfr_clock_halves[0] = &keeper->fk_base[0];
	dfr_clock_halves[1] = &keeper->fk_base[1];
}

void dfr_clock_init(void)
{
	const struct dfr_fast_timekeeper *keeper = (const void *)dfr_kernel(tk_fast_mono);
	struct dfr_fast_timekeeper copy;

	if (!keeper || copy_from_kernel_nofault(&copy, keeper, sizeof(copy)))
		return;
	if (knows_wall(keeper))
		dfr_clock_wall = keeper;
	if (!is_counter(&copy.fk_base[0]) || !is_counter(&copy.fk_base[1]))
		return;
	dfr_clock_counter = copy.fk_base[0].clock->read;
	believe(keeper);
	if (agrees())
		return;
	believe(&no_keeper);
	dfr_row_fails(DFR_ROW_tk_fast_mono, "does not give the kernel's time");
}
