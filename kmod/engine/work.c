// SPDX-License-Identifier: GPL-2.0
/*
 * The work of a firing: interrupts are off for as long as it takes. Whatever loops
 * in probe context charges what it will take before it does, in guest instructions
 * as far as they are known: instructions of DIF, steps of plans, bytes of strings
 * and memory, steps of hash chains. All clauses of an account share one bound: those
 * of all states of root's, and those of all states of a user without privilege, of whom
 * one at most has clauses that a firing is for. Neither takes from the other.
 *
 * The firing's own words count up to DFR_WORK_CHUNK (exec.h); each chunk that is full
 * leads here, where the clock is looked at too: estimates may be wrong, a page may be
 * slow, and the governor is told of all that is dear, sampled or not.
 */
#include "kmod/engine/store.h"

#define MILLISECOND 1000000ULL
#define TIME_ROOT (500 * MILLISECOND)
#define TIME_CONFINED (100 * MILLISECOND)
#define SLOWEST 64 /* ns an instruction: what takes longer is a virtual CPU that was not running */

/* A share of it is for ERROR alone: what ended for want of work is said nevertheless. */
static u32 most_chunks(const struct dfr_firing *firing, bool confined)
{
	u32 most = confined ? DFR_WORK_CONFINED : DFR_WORK_ROOT;

	return firing->fr_probe && firing->fr_probe->pb_id == DFR_PROBE_ERROR ? most : most - DFR_WORK_ERRORS;
}

/* Nothing more, whoever asks in this firing. */
static bool use_up(struct dfr_firing *firing, u64 done, u32 most)
{
	u64 chunks = (done + DFR_WORK_CHUNK - 1) / DFR_WORK_CHUNK;

	firing->fr_chunks = (u16)((chunks > most ? chunks : most) - 1);
	firing->fr_work = DFR_WORK_CHUNK;
	return false;
}

static u64 done_by(const struct dfr_firing *firing)
{
	return (u64)firing->fr_chunks * DFR_WORK_CHUNK + firing->fr_work;
}

/*
 * The governor is told what has passed since the last look. Of the first chunk only the
 * end is seen: it counts as one nanosecond an instruction. Since when the firing is dear.
 */
static u64 look(const struct dfr_firing *firing, const struct dfr_state *state)
{
	struct dfr_cpu *pc = dfr_cpu_of(firing->fr_engine, firing->fr_cpu);
	u64 now = dfr_plat_clock(firing), done = done_by(firing);
	u64 time, most;

	if (pc->pc_dear_stamp != pc->pc_stamp) {
		pc->pc_dear_stamp = pc->pc_stamp;
		pc->pc_dear_from = now;
		pc->pc_dear_seen = now - DFR_WORK_CHUNK;
		pc->pc_dear_done = done;
	}
	time = now - pc->pc_dear_seen;
	/* Of another account's: it has counted on by itself. */
	most = SLOWEST * ((done > pc->pc_dear_done ? done - pc->pc_dear_done : 0) + DFR_WORK_CHUNK);
	dfr_governor_dear(pc, state, firing, time < most ? time : most, now);
	pc->pc_dear_seen = now;
	pc->pc_dear_done = done;
	return now - pc->pc_dear_from;
}

/* A clause has ended in which a chunk was filled: what it has done since the last look. */
void dfr_work_seen(const struct dfr_firing *firing, const struct dfr_state *state)
{
	look(firing, state);
}

bool dfr_work_more(struct dfr_firing *firing, const struct dfr_state *state, u64 n)
{
	bool confined = state && dfr_state_confined(state);
	u64 done = done_by(firing);
	u32 most = most_chunks(firing, confined);
	u64 left = (u64)most * DFR_WORK_CHUNK;

	left -= done < left ? done : left;
	if (n > left)
		return use_up(firing, done, most);
	if (state && firing->fr_engine && look(firing, state) > (confined ? TIME_CONFINED : TIME_ROOT))
		return use_up(firing, done, most);
	done += n;
	firing->fr_chunks = (u16)(done / DFR_WORK_CHUNK);
	firing->fr_work = (u32)(done % DFR_WORK_CHUNK);
	return true;
}
