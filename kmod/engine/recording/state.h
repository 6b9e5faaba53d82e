/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A consumer's state and its share of each CPU: state.c, prepare.c, enable.c, build.c,
 * arm.c, catalog.c.
 */
#ifndef DFR_ENGINE_STATE_H
#define DFR_ENGINE_STATE_H

#include "kmod/engine/recording/agg.h"
#include "kmod/engine/recording/governor.h"
#include "kmod/engine/recording/plan.h"
#include "kmod/engine/recording/ring.h"
#include "kmod/engine/recording/spec.h"

struct dfr_going;

/* A reason's firings on one CPU. The CPU writes it; who asks writes tg_told, under the state's lock. */
struct dfr_trigger {
	u64 tg_count;
	u64 tg_told;  /* as many of them had somebody asked for */
	u64 tg_first; /* time of the first after these */
	u64 tg_last;
};

struct dfr_share {
	/* hot */
	struct dfr_stream sh_stream;
	struct dfr_ring sh_ring;
	u32 sh_cpu;
	u64 sh_stamp; /* firing that sh_machine is set up for */
	u64 sh_records;
	struct dfr_aggtab *sh_agg; /* active half; NULL: none */
	u64 sh_factor;		   /* hk_factor for hashes of its keys */
	u64 *sh_key;		   /* room for the largest key, and for a stack */
	u64 *sh_pcs;
	struct dfr_state *sh_state;
	struct dfr_machine sh_machine;

	/* a clause that `if` has split, in this firing */
	u64 sh_split_stamp;
	u64 sh_split_clause;
	u64 sh_split_spec; /* speculation it records to; DFR_SPEC_VOID: discarded */
	enum dfr_split sh_split;

	u32 sh_nnotes;
	struct dfr_note *sh_notes;

	struct dfr_machine sh_error_machine;
	struct dfr_aggtab *sh_half[2];
	struct dfr_speclist *sh_specs;
	struct dfr_spec_chunk *sh_pool; /* free chunks */
	void *sh_pool_memory;
	u32 sh_spec_hint; /* where to look for a free number */

	/* counters; each has one writer */
	struct dfr_tally *sh_tally;
	u64 sh_lost; /* sum of the losses that this CPU's writer counted */
	u32 sh_pending_mask;
	bool sh_thin_untold; /* record_losses() is to tell of sh_tally->thinned */
	struct dfr_pending sh_pending[DFR_LOSS_MAX];
	u64 sh_errors;
	u64 sh_shadow; /* nested hits of the engine's own */
	u64 sh_nmi_told;
	u64 sh_nmi_time; /* when it was looked at last: what is not told yet came later */
	u64 sh_chill_start;
	u64 sh_chilled;
	struct dfr_governor sh_governor;
	struct dfr_trigger *sh_triggers; /* [reason] */
	u64 sh_triggered;		 /* of all reasons */
};

/* List 0 is of no speculation: it takes what a clause records after its own discard. */
static inline struct dfr_speclist *dfr_spec_void(const struct dfr_share *share)
{
	return &share->sh_specs[0];
}

#define DFR_PROBES_SEVERAL (~0u)
#define DFR_NOPTS_CLASSIC  DFR_OPT_CLASSIC_MAX
#define DFR_NOPTS	   (DFR_OPT_CLASSIC_MAX + (DFR_OPT_OURS_MAX - DFR_OPT_SPECPOOL))
#define DFR_SIZE_LEAST	   4096 /* no buffer or table is lowered below it */

struct dfr_catlog_extent {
	struct dfr_catlog_extent *ce_next;
	u8 *ce_memory;
	u8 *ce_copy; /* the same bytes, or NULL */
	size_t ce_size;
	u64 ce_start; /* offset of its first byte in the log */
};

/* What a DFR_CAT_EVENT says. */
struct dfr_kept_event {
	u32 vt_event; /* enum dfr_event */
	s32 vt_value;
	s32 vt_error;
	u64 vt_time;
};

#define DFR_EVENTS_KEPT 64

/* Who may find that a state loses something on a CPU; each is one at a time. */
enum dfr_loser {
	DFR_LOSER_FIRING,
	DFR_LOSER_NESTED, /* a hit inside of a firing, at its level */
	DFR_LOSER_NMI,	  /* a hit from an NMI that came between */
	DFR_LOSERS
};

/* On a CPU, of each, the last firing or hit that the state has counted as lost: its number there. */
struct dfr_counted {
	u64 cn_last[DFR_LOSERS];
};

/*
 * Programs, ECBs, variables and shares of a state, and which ECBs are armed, change under the
 * engine's lock only; after go, under st_lock as well wherever housekeeping or a consumer reads
 * them. What these two change (blocks, snapshots, catalog, clocks, losses, activity) is under
 * st_lock, which is inside the engine's lock and is not held while a provider arms or disarms.
 */
struct dfr_state {
	u32 st_activity; /* enum dfr_activity; in probe context only exit() and deadman() set it, st_tally->over first */
	struct dfr_share **st_live;	/* [priority][cpu]; NULL: its clauses do not record there now */
	struct dfr_share **st_shares;	/* [cpu]; NULL: that CPU has none */
	struct dfr_counted *st_counted; /* [cpu] */
	struct dfr_engine *st_engine;
	struct dfr_state *st_next;
	u64 st_id;
	void *st_host;
	char st_name[DFR_NAME_MAX];
	bool st_anonymous;
	bool st_has_error; /* some ECB is on ERROR */
	bool st_armed;	   /* under the engine's lock */
	bool st_exit_logged;
	s32 st_exit_told; /* by the last event */
	u32 st_marks;
	u32 st_exited;
	s32 st_exit_status;

	struct dfr_enabling *st_enablings;
	struct dfr_ecb *st_ecbs;
	struct dfr_ecb *st_ecb_last;
	struct dfr_gone_ecb *st_gone_ecbs; /* oldest first: probes mostly come back in that order */
	struct dfr_gone_ecb **st_gone_last;
	u32 st_nepids;
	u32 st_nlayouts;
	u32 st_ndofs;
	u8 *st_told; /* bitmap by probe id: the catalog has it */
	u32 st_told_bits;
	struct dfr_aggvar *st_aggvars;
	struct dfr_hashkey st_hash; /* of aggregations */

	struct dfr_test st_owner; /* te_kind 0: the state is not confined */
	u64 st_memory;		  /* confined: bytes that it may take, */
	struct dfr_user *st_user; /* and its user */
	s64 st_options[DFR_NOPTS];
	struct dfr_vars *st_vars;
	u32 st_strsize;
	u32 st_scratch;
	u32 st_key_max;
	u32 st_need_max;
	u32 st_need_min; /* of records that go directly to the ring; 0: there are none */
	u32 st_notes_max;
	u32 st_spec_need;
	u32 st_block_size;
	u32 st_nblocks;
	u32 st_keep_slots;
	u64 st_room_wanted; /* of reserved memory, at go */
	u64 st_room_left;

	struct dfr_aggtab *st_agg_base;
	u64 st_agg_generation;
	size_t st_agg_size;
	u64 st_agg_time;  /* of the last snapshot */
	u64 st_agg_shown; /* of the consumer's last one */

	struct dfr_spec *st_specs;
	u32 st_nspec;
	u32 st_chunk_size;
	u32 st_chunks;	   /* per CPU */
	u32 st_spec_limit; /* bytes of one speculation on one CPU */

	struct dfr_catlog_extent *st_extents;
	struct dfr_catlog_extent *st_extent_last;
	u64 st_catalog_end;
	bool st_catalog_twice;		      /* further extents are copied too */
	const struct dfr_cat_clock *st_clock; /* its last entry about the clocks; NULL: none yet */
	u64 st_clock_due;		      /* when there is one in any case, */
	u64 st_clock_wait;		      /* so long after the one before */

	/* Firings on CPUs without a share, of all CPUs and levels: atomic. Its `over`: what fired before is recorded or
	   counted; 0: all so far. Made at go */
	struct dfr_tally *st_tally;
	u32 st_hotplug_probe; /* their probe, until told; 0: none, or DFR_PROBES_SEVERAL */

	u64 st_told_time;

	/* governor: times; 0: none */
	u64 st_cost_since;  /* ec_cost and ec_fired count from here */
	u64 st_detach_time; /* probes are detached, the last ones since then, */
	u64 st_attach_wait; /* for so long a time */
	u32 st_detached;    /* so many; 0: each was told by name */
	u64 st_attached;    /* when they were last attached again */
	u64 st_detach_seen; /* when housekeeping last saw them being detached, */
	bool st_detaching;  /* which takes long */
	/* thin.c: sets of 1 << priority */
	u32 st_priorities; /* that clauses with probes have */
	u32 st_thinned;	   /* their probes are detached */
	u32 st_to_thin;	   /* shall be detached: dfr_thin_act() does it */
	u64 st_thinned_until[DFR_THIN_PRIORITIES];
	u64 st_reviewed;

	/* triggers */
	const char *st_reasons[DFR_REASONS_MAX]; /* in the programs' memory */
	u32 st_nreasons;
	u32 st_awaited;	    /* somebody sleeps until the next trigger; probe context clears it and wakes */
	u64 st_asked;	    /* time, 0: nobody has asked yet */
	u64 st_oopses;	    /* en_oopses at go */
	u64 st_oops_told;   /* en_oopses when somebody asked */
	u64 st_oops_marked; /* en_oopses when the catalog was told */

	struct dfr_mutex st_lock;
	u64 st_began;	    /* time of go */
	bool st_ended;	    /* no CPU records for it any more; dfr_state_settle() disarms it */
	bool st_misses;	    /* one of its probes has pv_ops->missed() */
	bool st_hears;	    /* what they miss now is a loss: between go and the end of recording */
	u64 st_missed_time; /* when they were asked last */
	bool st_unsettled;  /* it was killed, and dfr_state_keep() has not said yet that this is due */

	struct dfr_kept_event st_events[DFR_EVENTS_KEPT]; /* there was no memory yet to write them */
	u32 st_nevents;
};

/* The state belongs to a user without privilege and sees only his own tasks. */
static inline bool dfr_state_confined(const struct dfr_state *state)
{
	return state->st_owner.te_kind != 0;
}

/* The index of a known option in st_options. */
static inline u32 dfr_option_index(u32 option)
{
	return option < DFR_NOPTS_CLASSIC ? option : option - DFR_OPT_SPECPOOL + DFR_NOPTS_CLASSIC;
}

static inline s64 dfr_option(const struct dfr_state *state, u32 option)
{
	return state->st_options[dfr_option_index(option)];
}

/* bufresize=auto: sizes are lowered until they fit into memory. */
static inline bool dfr_state_resizes(const struct dfr_state *state)
{
	return dfr_option(state, DFR_OPT_BUFRESIZE) <= 0;
}

/* What anchors list of the state lies in memory that a warm reset leaves. */
static inline bool dfr_state_reserved(const struct dfr_state *state)
{
	return dfr_option(state, DFR_OPT_MEMORY) == DFR_MEMORY_RESERVED;
}

/* Any context. Recording ends in order: what fired before `now` is recorded. True: it was FROM until now. */
static inline bool dfr_becomes_over(struct dfr_state *state, u32 from, u32 to, u64 now)
{
	if (dfr_read_once(&state->st_activity) != from)
		return false;
	dfr_cmpxchg(&state->st_tally->over, 0ULL, now);
	return dfr_cmpxchg(&state->st_activity, from, to) == from;
}

/* By the share's CPU; an NMI counts what it has lost alone (fire.c), and sh_lost learns of it later. */
static inline void dfr_count_lost(struct dfr_share *share, u32 cause, u64 count)
{
	dfr_count(&share->sh_tally->loss[cause], count);
	dfr_count(&share->sh_lost, count);
}

static inline struct dfr_tally_thinned *dfr_thinned(const struct dfr_share *share, u32 priority)
{
	return &share->sh_tally->thinned[priority];
}

/* Losses that no record has told yet. */
static inline bool dfr_losses_untold(const struct dfr_share *share)
{
	return share->sh_pending_mask || share->sh_tally->loss[DFR_LOSS_NMI] != share->sh_nmi_told;
}

/* The next record, or housekeeping, tells what has changed. On the share's CPU. */
static inline void dfr_thin_tell(struct dfr_share *share)
{
	share->sh_thin_untold = true;
	share->sh_stream.sm_soft = NULL;
}

/*
 * state.c. Tells the catalog of what comes where no catalog can be written: oopses of the kernel, and how recording has
 * ended, by exit(), a full ring, the deadman, an oops inside a firing. A state that one of the last two has ended ends
 * here; then the result is true. Who tells a consumer what was recorded until now calls it after he has visited the CPU:
 * else a hit that this CPU has left out lay before that moment, and no mark told of it. The state's lock is held.
 */
bool dfr_state_notice_end(struct dfr_state *state);
struct dfr_share *dfr_any_share(const struct dfr_state *state); /* NULL: no CPU has one */
u64 dfr_ecb_missed(const struct dfr_ecb *ecb, bool *off);	/* pv_ops->missed() */
struct dfr_ecb *dfr_state_ecb_at(const struct dfr_state *state, const struct dfr_probe *probe);
/* An ECB of a probe with pv_ops->missed() was unlinked; called without the state's lock. */
void dfr_state_unlinked(struct dfr_state *state, struct dfr_ecb *ecb);

/* prepare.c */
/* Allocates everything that probe context will need. If this fails, the state can only be destroyed. */
int dfr_state_prepare(struct dfr_state *state);
void dfr_shares_free(struct dfr_state *state);

/* enable.c */
void dfr_state_free_enablings(struct dfr_state *state); /* after disarm */
/* Under lockdown (pg_restricted) a clause must not see the arguments of kernel functions. */
bool dfr_may_look(const struct dfr_program *program, const struct dfr_clause *clause,
		  const struct dfr_probe *probe);

/* build.c */
int dfr_state_build(struct dfr_state *state);
/* Makes ECBs for new probes; returns the first of them. NULL: the new probes get none. */
struct dfr_ecb *dfr_state_build_new(struct dfr_state *state);
void dfr_ecb_keep_epid(struct dfr_state *state, const struct dfr_ecb *ecb);

/* arm.c */
void dfr_state_arm(struct dfr_state *state);
void dfr_state_disarm(struct dfr_state *state);
void dfr_state_attach(struct dfr_state *state);
u32 dfr_state_detach(struct dfr_state *state);
void dfr_state_thin(struct dfr_state *state, u32 priority);
void dfr_state_unthin(struct dfr_state *state, u32 priority);
void dfr_state_match_new(struct dfr_state *state);
void dfr_state_unlink_probes(struct dfr_state *state, const struct dfr_going *going);

/* trigger.c */
/* NULL, or why the program's reasons cannot be added to the state's. */
const char *dfr_triggers_check(const struct dfr_state *state, const struct dfr_program *program);
void dfr_triggers_add(struct dfr_state *state, const struct dfr_program *program);
u32 dfr_trigger_of(const struct dfr_state *state, const char *reason); /* which of the state's it is */
void dfr_trigger_fire(struct dfr_share *share, struct dfr_firing *firing, u32 reason); /* probe context */
void dfr_triggers_mark(
	struct dfr_state *state); /* writes oopses into the catalog; the state's lock is held */

/* catalog.c; the state's lock is held */
int dfr_catalog_create(struct dfr_state *state);
void dfr_catalog_free(struct dfr_state *state);
void dfr_catalog_anchor(struct dfr_state *state); /* lists all extents in new anchors */
/* Before go, when the options are known: the log moves to the memory that they ask for. */
int dfr_catalog_move(struct dfr_state *state);
void dfr_catalog_copy(struct dfr_state *state); /* from now on the log stands in memory twice */
/* Lists memory in anchors, and in the log what they list. */
void dfr_state_anchor(struct dfr_state *state, u32 kind, u32 cpu, u32 half, void *p, size_t size,
		      size_t unit);
int dfr_catalog_state(struct dfr_state *state);
int dfr_catalog_dof(struct dfr_state *state, u32 number, const void *dof, u32 size);
int dfr_catalog_probe(struct dfr_state *state, const struct dfr_probe *probe);
int dfr_catalog_layout(struct dfr_state *state, const struct dfr_plan *plan, u32 dof);
int dfr_catalog_ecb(struct dfr_state *state, const struct dfr_ecb *ecb);
int dfr_catalog_agg(struct dfr_state *state, const struct dfr_aggvar *var, const struct dfr_field *keys);
void dfr_catalog_catch_up(struct dfr_state *state); /* writes the events that there was no memory for */
int dfr_catalog_event(struct dfr_state *state, u32 event, s32 value, u64 time);
int dfr_catalog_mark(struct dfr_state *state, const char *text, u64 time);
int dfr_catalog_unarmed(struct dfr_state *state, s32 which, int error); /* as DFR_EVENT_UNARMED's value */
void dfr_catalog_off(struct dfr_state *state, u32 probe, u64 time);	/* its provider hears of no hit */
int dfr_catalog_missing(struct dfr_state *state, const char *provider, const char *module, int error);
void dfr_catalog_clock(struct dfr_state *state, u64 mono);

#endif
