/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What probes may cost (governor.c, work.c), what a user without privilege may take
 * (limits.c), and what is remembered of states that have ended (past.c).
 */
#ifndef DFR_ENGINE_GOVERNOR_H
#define DFR_ENGINE_GOVERNOR_H

#include "formats/abi/dof.h"
#include "formats/abi/tally.h"
#include "kmod/engine/engine.h"

struct dfr_cpu;
struct dfr_ecb;
struct dfr_share;

/* Counts the states that were started lately: limits.c. */
struct dfr_starts {
	u64 sts_since;
	u32 sts_count;
};

/* A credit of time on one CPU: governor.c. Times in ns; touched by that CPU only. */
struct dfr_purse {
	u64 pu_time;   /* settled up to here; 0: never yet */
	s64 pu_credit; /* that may be spent */
	u64 pu_spent;  /* since pu_time */
	u64 pu_sunk;   /* credit has been near its floor since then; 0: it is above */
	u64 pu_sample; /* of others' calls: to which the hook's time was added last */
	u64 pu_stamp;  /* a user's purse: the last firing that ran his clauses */
	u32 pu_work;   /* and how much work they did in it */
	u16 pu_chunks;
};

/*
 * A user without privilege: what all his states take together (limits.c). His entry is freed only
 * when he has had no state for as long as a purse takes to fill, so that ending a state and starting
 * another does not give him a full purse.
 */
#define DFR_GOVERNOR_BURST 10000000000ULL /* ns of budget that a purse holds */
struct dfr_user {
	struct dfr_user *us_next;
	u32 us_uid;
	u32 us_states;
	u32 us_ecbs;
	u64 us_left; /* when the last state ended */
	struct dfr_starts us_starts;
	struct dfr_user_purses {
		struct dfr_purse up_own;
		struct dfr_purse up_others; /* for what others' tasks cost at his probes */
	} us_purses[];			    /* [cpu] */
};

/* The purses of a state that has ended: past.c. */
struct dfr_past {
	struct dfr_past *pa_next;
	u64 pa_left; /* when it ended */
	char pa_name[DFR_NAME_MAX];
	struct dfr_purse pa_purses[]; /* [cpu] */
};

#define DFR_THIN_PRIORITIES DFR_TALLY_PRIORITIES

/* The governor's view of a share: governor.c. Times in ns. */
struct dfr_governor {
	struct dfr_purse gv_purse;	 /* the state's */
	struct dfr_user_purses *gv_user; /* and its user's; NULL: it is not confined */
	u64 gv_usual;			 /* average time of an ECB in a firing */
	u64 gv_sample;			 /* sample to which the hook's time was added last */
	u64 gv_skip_stamp;		 /* firing that was counted last */
	u64 gv_skipped;			 /* firings left out and not in the ledger yet */
	u64 gv_from;			 /* begin of the time in which they were left out */
	u64 gv_since;			 /* begin of the throttling */
	u32 gv_probe;
	u32 gv_throttled;
	u64 gv_seen;				/* gv_recent counts from here, */
	u64 gv_recent;				/* ns */
	u64 gv_known;				/* so much time is in gv_spent, a second at most */
	u32 gv_spent;				/* millionths of the CPU's time, of the last seconds */
	u64 gv_left;				/* firings that thinning left out */
	u64 gv_thin_stamp[DFR_THIN_PRIORITIES]; /* firing that was counted last */
};

/* limits.c: limits of confined states. Functions return a reason or NULL, 0 or an error. */
#define DFR_CONFINED_BUDGET	      5 /* percent of each CPU: for one state, and for all of a user's */
#define DFR_CONFINED_CLAUSES_ON_PROBE 64
const char *dfr_limits_check(const struct dfr_state *state, const struct dfr_program *program);
u64 dfr_limits_variables(const struct dfr_state *state);
bool dfr_limits_more_ecbs(const struct dfr_state *state);
bool dfr_limits_may_start(struct dfr_state *state);
void dfr_limits_leave(struct dfr_state *state);	   /* its user has one state less */
void dfr_limits_forget(struct dfr_engine *engine); /* frees all users; there are no states any more */
int dfr_limits_sizes(struct dfr_state *state);
u32 dfr_limits_aggvars(const struct dfr_state *state); /* any state: most aggregations */
u32 dfr_limits_key(const struct dfr_state *state);     /* any state: most bytes of an aggregation's key */

/* governor.c; on the CPU */
u32 dfr_governor_weight(struct dfr_cpu *pc);
enum dfr_charged {
	DFR_A_FIRING,  /* of its probe */
	DFR_OF_OTHERS, /* a firing or what passes, in a task whose firings its state may not see */
	DFR_PASSING,   /* no firing of its probe, but of the same hook */
};
void dfr_governor_charge(struct dfr_cpu *pc, struct dfr_ecb *ecb, enum dfr_charged what, u32 cpu, u64 from,
			 u64 now, u32 weight);
void dfr_governor_judge(struct dfr_cpu *pc, struct dfr_ecb *ecb, u64 now);
void dfr_governor_dear(struct dfr_cpu *pc, const struct dfr_state *state, const struct dfr_firing *firing,
		       u64 time, u64 now);
void dfr_governor_skipped(struct dfr_share *share, const struct dfr_ecb *ecb,
			  const struct dfr_firing *firing);
/* Its clauses record from now on, or do not: what the governor has left out until now is told. */
void dfr_governor_open(struct dfr_share *share, bool open, u64 now);
void dfr_governor_settle(struct dfr_share *share, u64 now);
bool dfr_governor_short(const struct dfr_share *share,
			u32 eighths); /* the credit is below this part of its most */
/* process context; the state's lock is held */
u32 dfr_governor_budget(const struct dfr_state *state); /* percent of each CPU; 0: only the deadman */
void dfr_governor_end(struct dfr_state *state, u64 now);
/* Before probes are detached: each of them, and how many. They take the lock themselves. */
void dfr_governor_names_detached(struct dfr_state *state, const struct dfr_probe *probe);
void dfr_governor_counts_detached(struct dfr_state *state, u32 probes);
/* It is not linked any more. Under the engine's lock. */
void dfr_governor_detached(const struct dfr_state *state, struct dfr_ecb *ecb);
/* Its probe goes: if that is detached, its losses are told, because nothing else will. */
void dfr_governor_gone(struct dfr_state *state, const struct dfr_ecb *ecb, u64 now);

/* thin.c; on the CPU */
void dfr_thin_settle(struct dfr_share *share, u64 now);
void dfr_thin_skipped(struct dfr_share *share, u32 priority, u64 stamp);
void dfr_thin_open(struct dfr_share *share, bool open, u64 now);
u32 dfr_thin_off(const struct dfr_share *share); /* 1 << priority */
/* Do clauses of this priority go off before the state is throttled? */
bool dfr_thin_yields(const struct dfr_state *state, u32 priority);
/* process context; the state's lock is held */
void dfr_thin_keep(struct dfr_state *state, u64 now);
bool dfr_thin_due(const struct dfr_state *state);
/* under the engine's lock alone */
void dfr_thin_act(struct dfr_state *state, u64 now);

/* work.c: dfr_work_more() is in exec.h */
/* Probe context, inside the guard: call it when a clause that has filled a chunk has ended. */
void dfr_work_seen(const struct dfr_firing *firing, const struct dfr_state *state);
void dfr_work_waited(const struct dfr_firing *firing, u64 ns); /* chill(): a wait is no work */

/* past.c */
void dfr_past_keep(const struct dfr_state *state);
void dfr_past_recall(struct dfr_state *state);
void dfr_past_forget(struct dfr_engine *engine);

#endif
