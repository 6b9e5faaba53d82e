/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine: its probes and providers (registry.c, match.c, strings.c), and each CPU's firing (fire.c,
 * visit.c).
 */
#ifndef DFR_ENGINE_REGISTRY_H
#define DFR_ENGINE_REGISTRY_H

#include "kmod/engine/recording/state.h"

#define DFR_PROBE_BEGIN 1
#define DFR_PROBE_END	2
#define DFR_PROBE_ERROR 3
#define DFR_ERROR_NARGS 6
#define DFR_OOPSES_KEPT 16

struct dfr_cpu {
	struct dfr_firing pc_firing;
	u32 pc_busy;
	u32 pc_dead;	 /* who has the guard died in an oops, and will not give it back */
	u64 pc_last;	 /* time of the last firing */
	u64 pc_stamp;	 /* counts firings */
	u64 pc_nested;	 /* hits inside of them, at their level */
	u64 pc_nmis;	 /* and from NMIs */
	u64 pc_left;	 /* firings until the next sample; 0: never sample */
	u32 pc_distance; /* distance of that sample from the last */
	u64 pc_samples;	 /* number of samples, refused and pure firings included */
	u32 pc_refusals; /* the next refused firing that is charged stands for so many */
	u64 pc_pure;	 /* counts firings that a pure predicate ended; an interrupt may lose a count */
	u64 pc_pure_sample;
	u64 pc_random;
	u64 pc_spent;	     /* ns that probes have taken since pc_judged */
	u64 pc_judged;	     /* when the governor looked last whether they take too much */
	u32 pc_bad_quarters; /* bad quarters of a second in a row */
	/* Of the last firing that filled a chunk of work (work.c): */
	u64 pc_dear_stamp;   /* its pc_stamp */
	u64 pc_dear_time[2]; /* ns that it took: for root, for the user without privilege */
	u64 pc_dear_seen;    /* counted up to here; later by what it has chilled since */
	u64 pc_dear_done;    /* work done by then */
	u64 pc_exact;	     /* ns of the sampled firing that dfr_governor_dear() has charged already */
	struct dfr_firing pc_error;
};

struct dfr_string {
	struct dfr_string *ds_next;
	u32 ds_hash;
	u32 ds_size;
	char ds_text[];
};

/*
 * The names that a group of probes with neighbouring ids has. Functions come in tens of thousands
 * and have two names, so a search for another name skips such groups; a search for a user without
 * privilege skips groups that have no probe for him.
 */
#define DFR_GROUP_PROBES 256
#define DFR_GROUP_NAMES	 3
struct dfr_namegroup {
	const char *ng_names[DFR_GROUP_NAMES]; /* interned; NULL: end */
	bool ng_more;			       /* it has more names than fit */
	bool ng_confined;		       /* users without privilege may use some provider in it */
	u64 ng_born;			       /* its youngest probe's pb_born */
};

struct dfr_engine {
	void *en_host;
	struct dfr_mutex en_lock;
	struct dfr_mutex en_provide_lock; /* inside en_lock: list of providers, held while they provide */
	struct dfr_mutex en_probe_lock;	  /* inside both: probe lists, strings */
	struct dfr_cpu **en_cpus;
	u32 en_ncpus;
	struct dfr_provider *en_providers;
	struct dfr_provider en_dtrace;
	u64 en_hook_time;			       /* what a firing costs outside of the engine, ns */
	struct dfr_probe **en_byid;		       /* [id]; grows: not for probe context */
	struct dfr_probe *en_own[DFR_PROBE_ERROR + 1]; /* BEGIN, END, ERROR */
	struct dfr_namegroup *en_groups;	       /* [id / DFR_GROUP_PROBES] */
	u32 en_nprobes;				       /* the largest id */
	u64 en_births;
	u64 en_births_open; /* en_births when the youngest probe came that users without privilege may use */
	struct dfr_probe **en_gone; /* hash chains as en_byname: gone probes, whose ids are kept */
	u32 en_room;
	struct dfr_probe **en_byname; /* by function name: hash chains */
	u32 en_byname_size;
	struct dfr_string **en_strings;
	u32 en_strings_size;
	u32 en_nstrings;
	struct dfr_state *en_states;
	struct dfr_state *en_arming; /* the state whose probes are being armed */
	u32 en_state_ids;
	struct dfr_user *en_users;
	struct dfr_past *en_pasts;
	struct dfr_starts en_starts; /* of all users without privilege */
	u32 en_forced;		     /* DFR_FORCE_* */
	u64 en_oopses;		     /* of the kernel, and the times of the last of them: */
	u64 en_oops_times[DFR_OOPSES_KEPT];
	/* There was an oops in a firing, so nothing records any more: what fired from this time on is not known. 0: none */
	u64 en_broken;
	char en_machine[2048];
	size_t en_machine_size;
};

/* Probes that are about to be removed. */
struct dfr_going {
	const struct dfr_provider *go_provider;
	bool (*go_goes)(const struct dfr_probe *probe, void *arg);
	void *go_arg;
};

static inline bool dfr_probe_goes(const struct dfr_going *going, const struct dfr_probe *probe)
{
	return probe->pb_provider == going->go_provider && going->go_goes(probe, going->go_arg);
}

static inline struct dfr_cpu *dfr_cpu_of(const struct dfr_engine *engine, u32 cpu)
{
	return engine->en_cpus[cpu];
}

/*
 * Marks this CPU's writer as at work, with interrupts off: a probe that fires on this CPU until
 * dfr_cpu_leave(), from an NMI or a traced function, is nested. The barriers order these stores for
 * an NMI on this CPU, for which the compiler's order would be enough. dfr_cpu_still() reads the mark
 * from other CPUs.
 *
 * dfr_cpu_leave() forgets what the firing knew of its task, and its work, while the mark is still
 * set. So whoever enters next finds pc_firing without them, and so does a nested hit that comes
 * before the next firing has set anything: it must not take the last firing's level for this one's.
 */
dfr_hot void dfr_cpu_enter(struct dfr_cpu *pc)
{
	dfr_write_once(&pc->pc_busy, 1);
	dfr_smp_wmb();
}

dfr_hot void dfr_cpu_leave(struct dfr_cpu *pc)
{
	pc->pc_firing.fr_flags = 0;
	pc->pc_firing.fr_chunks = 0;
	pc->pc_firing.fr_work = 0;
	dfr_smp_wmb();
	dfr_write_once(&pc->pc_busy, 0);
}

/* Probe context: this CPU's part of the engine. */
dfr_hot struct dfr_cpu *dfr_this_cpu(const struct dfr_engine *engine)
{
#ifdef DFR_PLAT_ONE_ENGINE
	(void)engine;
	return dfr_plat_cpu_slot();
#else
	return dfr_cpu_of(engine, dfr_plat_cpu());
#endif
}

/* Where the CPU finds its share for clauses of this priority; NULL there: they do not record. */
static inline struct dfr_share **dfr_live(const struct dfr_state *state, u32 priority, u32 cpu)
{
	return &state->st_live[priority * state->st_engine->en_ncpus + cpu];
}

/* match.c */
int dfr_engine_match(struct dfr_engine *engine, const struct dfr_clause *clause, u64 since, bool provide,
		     int (*visit)(struct dfr_probe *probe, void *arg), void *arg);
bool dfr_engine_host_matches(const struct dfr_engine *engine, const char *glob);

/* strings.c */
int dfr_strings_grow(struct dfr_engine *engine);
void dfr_strings_free(struct dfr_engine *engine);
const char *dfr_string_find(const struct dfr_engine *engine, const char *text); /* NULL: there is none */
const char *dfr_string_intern(struct dfr_engine *engine, const char *text);	/* NULL: no memory */
u32 dfr_string_hash(const char *interned);

/* fire.c; probe context */
void dfr_fire_dtrace(struct dfr_state *state, u32 probe_id, u32 cpu);
void dfr_lost_here(struct dfr_share *share, const struct dfr_firing *firing, u32 cause, u64 count);
/* Notes a loss that has been counted; the next block that is written tells it. Interrupts off. */
void dfr_ledger(struct dfr_share *share, u32 cause, u32 probe, u64 count, u64 from, u64 to);

/*
 * visit.c; process context. Runs fn on the CPU as its writer, interrupts off; if that CPU is away,
 * runs it here.
 */
void dfr_visit_cpu(struct dfr_engine *engine, u32 cpu, void (*fn)(void *arg), void *arg);

/* A loss that was not counted in a firing on its share's CPU. */
struct dfr_untold {
	struct dfr_share *un_share; /* whose ledger tells of it */
	u32 un_cause;
	u32 un_probe; /* 0: several, or not known */
	u64 un_count;
	u64 un_from;
	u64 un_to;
};
void dfr_tell_loss(struct dfr_untold *loss);

#endif
