// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds the work of a firing, because interrupts are off for as long as it takes. Every
 * loop in probe context charges its work before it does it, in estimated guest
 * instructions: for instructions of DIF, steps of plans, bytes of strings and memory,
 * steps along hash chains. The bound is for each account in a firing: root has one for
 * all of root's states, a user without privilege has one for all of the user's states.
 * A firing has two accounts at most, because only one such user owns its task, and
 * neither takes from the other, of the time as little as of the work.
 *
 * The firing itself counts up to DFR_WORK_CHUNK (exec.h). With each full chunk it comes
 * here, where the clock is read too, because an estimate may be wrong or a page slow.
 * The governor then learns of every firing that is dear, not only of timed ones.
 */
#include "kmod/engine/recording/store.h"

#define MILLISECOND   1000000ULL
#define TIME_ROOT     (500 * MILLISECOND)
#define TIME_CONFINED (100 * MILLISECOND)
#define SLOWEST	      64 /* ns an instruction: if it took longer, the virtual CPU was not running */

/* Some chunks are reserved for ERROR, so that it can still report a clause that ran out of work. */
static u32 most_chunks(const struct dfr_firing *firing, bool confined)
{
	u32 most = confined ? DFR_WORK_CONFINED : DFR_WORK_ROOT;

	return firing->fr_probe && firing->fr_probe->pb_id == DFR_PROBE_ERROR ? most : most - DFR_WORK_ERRORS;
}

/* Makes this firing refuse all further work of the account. */
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
 * Tells the governor how long the firing has taken since the last call. The first call in a
 * firing comes when its first chunk of work is full. Nobody read the clock when that chunk
 * began, so it is assumed to have taken one nanosecond an instruction. Returns what the firing
 * has taken for this account. A virtual CPU may stand still for seconds in the middle of a
 * firing, so no more is counted than its instructions can take.
 */
static u64 look(const struct dfr_firing *firing, const struct dfr_state *state)
{
	struct dfr_cpu *pc = dfr_cpu_of(firing->fr_engine, firing->fr_cpu);
	u64 *account = &pc->pc_dear_time[dfr_state_confined(state)];
	u64 now = dfr_plat_clock(firing), done = done_by(firing);
	u64 time, most;

	if (pc->pc_dear_stamp != pc->pc_stamp) {
		pc->pc_dear_stamp = pc->pc_stamp;
		pc->pc_dear_time[0] = 0;
		pc->pc_dear_time[1] = 0;
		pc->pc_dear_seen = now - DFR_WORK_CHUNK;
		pc->pc_dear_done = done;
	}
	time = now - pc->pc_dear_seen;
	/* pc_dear_done may be the other account's count, and larger. */
	most = SLOWEST * ((done > pc->pc_dear_done ? done - pc->pc_dear_done : 0) + DFR_WORK_CHUNK);
	if ((s64)time < 0) /* a chill() may be shorter than it says */
		time = 0;
	if (time > most)
		time = most;
	dfr_governor_dear(pc, state, firing, time, now);
	pc->pc_dear_seen = now;
	pc->pc_dear_done = done;
	*account += time;
	return *account;
}

/* A clause that filled a chunk has ended: the governor learns the time since the last look. */
void dfr_work_seen(const struct dfr_firing *firing, const struct dfr_state *state)
{
	look(firing, state);
}

void dfr_work_waited(const struct dfr_firing *firing, u64 ns)
{
	dfr_cpu_of(firing->fr_engine, firing->fr_cpu)->pc_dear_seen += ns;
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
