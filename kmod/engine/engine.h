/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine: probes and providers, consumer states, firings, rings of blocks,
 * aggregations, speculations, the catalog. Files: engine.c (registry, matching),
 * state.c (life of a state), fire.c (probe context), governor.c (what probes may cost), ring.c, record.c, agg.c,
 * spec.c, catalog.c. What runs DIF is in exec.h; what surrounds it in platform.h;
 * what providers see in provider.h.
 *
 * Contexts. Everything marked "probe" runs with interrupts off on one CPU, which
 * is that CPU's only writer: no atomic read-modify-write, no lock, no sleep, no
 * allocation. Everything else runs in process context, under the engine's lock
 * where it changes what there is and what is armed: that may take seconds. Of what
 * concerns one state alone, see "States".
 */
#ifndef DFR_ENGINE_ENGINE_H
#define DFR_ENGINE_ENGINE_H

#include "formats/abi/aggtab.h"
#include "formats/abi/block.h"
#include "formats/abi/catalog.h"
#include "formats/abi/control.h"
#include "kmod/engine/exec.h"
#include "kmod/engine/provider.h"

/* struct dfr_firing is in platform.h, since the platform answers questions about it. */
u64 dfr_firing_time(struct dfr_firing *firing); /* probe; the same for all ECBs of all states */

/*
 * From here on what probes cost is measured and bounded: governor.c. hook_time: what a firing costs
 * outside of the engine, ns; 0: to be found out now.
 */
void dfr_engine_govern(struct dfr_engine *engine, u64 hook_time);
/* What of it is process context's. Part of dfr_state_keep(): the state's lock is held; true: there is something for */
bool dfr_governor_keep(struct dfr_state *state, u64 now);
/* part of dfr_state_settle(), the engine's lock is held: probes are detached and attached again. */
void dfr_governor_act(struct dfr_state *state, u64 now);

/* For tests, before anything is enabled: what a firing records must not depend on it. */
#define DFR_FORCE_GENERAL 0x1 /* all clauses take the general form (enum dfr_form) */
#define DFR_FORCE_DIF	  0x2 /* values, stores and predicates are run as DIF, also where idiom.c knows them */
void dfr_engine_force(struct dfr_engine *engine, u32 forced);

/* One engine for a kernel; any number in user space. */
struct dfr_engine *dfr_engine_create(void *host); /* host: platform's own, see dfr_engine_host() */
void dfr_engine_destroy(struct dfr_engine *engine);
void *dfr_engine_host(struct dfr_engine *engine);
struct dfr_mutex *dfr_engine_lock(struct dfr_engine *engine);

/*
 * States. Created empty; enable loads a DOF into it; go fires BEGIN and lets
 * probes record; stop fires END. The functions down to dfr_state_destroy() are
 * called under the engine's lock by the caller (device, in-process consumer).
 * Those behind it take the state's own, and need only that the state is there
 * meanwhile, and that none of the others is called with it except
 * dfr_state_settle(): whoever arms all there is keeps nobody from reading or
 * stopping another state.
 */
int dfr_state_create(struct dfr_engine *engine, struct dfr_state **out);
/*
 * Confined, for good, to the tasks of this user, and to so much memory: before anything is enabled.
 * All of its programs are loaded with ll_confined. See confine.c. 0, or -ENOMEM: it is not.
 */
int dfr_state_confine(struct dfr_state *state, u32 uid, u32 gid, u64 memory);
/* The program becomes the state's, or stays the caller's if that is refused. */
int dfr_state_add(struct dfr_state *state, struct dfr_program *program, u32 flags, u32 *matched,
		  struct dfr_refusal *why);
/* The same with loading it, where nobody else waits for the lock. */
int dfr_state_enable(struct dfr_state *state, const void *dof, size_t size,
		     const struct dfr_load_limits *limits, u32 flags, u32 *matched, struct dfr_refusal *why);
/*
 * Reasons of go: -E2BIG END reserve, -ENOSPC record larger than the ring, or record or key than is possible, -ENOMEM, -EACCES; -EAGAIN (a confined
 * one's): its user starts too many, later it may.
 */
int dfr_state_go(struct dfr_state *state, u32 *begin_cpu);
int dfr_state_stop(struct dfr_state *state, u32 *end_cpu); /* dfr_state_halt(), dfr_state_settle() */
void dfr_state_clean(
	struct dfr_state
		*state); /* dfr_state_keep(), and dfr_state_settle() where that has something to do */
void dfr_state_set_name(struct dfr_state *state, const char *name, bool anonymous);
/* Who has ended is disarmed, and the governor has its way; what others have asked for and could not do. */
void dfr_state_settle(struct dfr_state *state);
void dfr_state_destroy(struct dfr_state *state); /* unlinks, synchronizes, frees */

/* From here on under the state's own lock. END fires, and from then on nothing is recorded; its probes stay armed. */
int dfr_state_halt(struct dfr_state *state, u32 *end_cpu);
/* The same at once, without END: it will be destroyed. */
void dfr_state_end(struct dfr_state *state);
bool dfr_state_kill(struct dfr_state *state); /* its consumer has gone silent. True: it was active */
void dfr_state_status(struct dfr_state *state, struct dfr_ioc_status *status);
u32 dfr_state_activity(
	const struct dfr_state *state); /* enum dfr_activity; under no lock, while the state is there */
u64 dfr_state_id(const struct dfr_state *state);
const char *dfr_state_name(const struct dfr_state *state);
void *dfr_state_host(const struct dfr_state *state); /* platform's private pointer */
void dfr_state_set_host(struct dfr_state *state, void *host);
u64 dfr_state_option(const struct dfr_state *state, u32 option); /* after go: the value in force */

/*
 * Blocks: exact snapshots by swapping. `flush` closes open blocks that hold
 * records. cpu DFR_ALL_CPUS: of all. Fewer than wait may be handed out (room,
 * no spare): call again until *count is 0. Blocks come sealed.
 */
#define DFR_ALL_CPUS 0xffffffffu
int dfr_state_take(struct dfr_state *state, u32 cpu, bool flush, struct dfr_ioc_taken *taken, u32 room,
		   u32 *count);
int dfr_state_release(struct dfr_state *state, u32 cpu, u32 block, u64 seq);
/* The consumer has gone: what it took and did not release is handed out again, before anything else. */
void dfr_state_disown(struct dfr_state *state);
/*
 * Address of a block for mapping or reading; NULL: no such block. Valid while the state
 * lives. These three under no lock at all, in a state that has gone (dfr_state_go()).
 */
const struct dfr_block *dfr_state_block(const struct dfr_state *state, u32 cpu, u32 block);
u32 dfr_state_block_size(const struct dfr_state *state);
bool dfr_state_readable(const struct dfr_state *state); /* closed blocks wait (poll) */

/* Catalog bytes from offset; returns bytes copied. */
size_t dfr_state_catalog(struct dfr_state *state, u64 offset, void *buffer, size_t room, u64 *committed);
void dfr_state_clock(
	struct dfr_state *state); /* once a second: append a clock triple, if the last does not say it */

/* Aggregations: retire, merge into the base table, copy it out. -ENOSPC: *bytes is what is needed. */
int dfr_state_aggsnap(struct dfr_state *state, void *buffer, size_t room, u64 *bytes);
int dfr_state_aggclear(struct dfr_state *state, u32 varid, bool remove);

/* Housekeeping at cleanrate: speculations, dynamic variables, sealing. True: dfr_state_settle() has something to do. */
bool dfr_state_keep(struct dfr_state *state);

/*
 * Probes of the engine, in order of id, matching a pattern; stops when visit returns false.
 * From 0 those that are made on demand are made first; otherwise it goes on from an id. Confined:
 * only those that are there and that a user without privilege may use. It takes locks of its own: who
 * arms holds the engine's for long, and listing need not wait for that.
 */
void dfr_probes_match(struct dfr_engine *engine, const char *const pattern[4], u32 from, bool confined,
		      bool (*visit)(const struct dfr_probe *probe, void *arg), void *arg);
/* For probes that are made on demand, when what they can be on has come: the patterns that states have. */
void dfr_patterns_wanted(struct dfr_engine *engine, void (*visit)(const char *const pattern[4], void *arg),
			 void *arg);
bool dfr_glob(const char *pattern, const char *text);
/* NULL: no such probe (any more). Ids are dense from 1 up to the count, with holes where probes went. */
const struct dfr_probe *dfr_probe_by_id(const struct dfr_engine *engine, u32 id);
u32 dfr_probe_count(const struct dfr_engine *engine);

/*
 * CPUs that come and go. prepare: a CPU will come; makes its shares of all
 * states that record (0, or -ENOMEM: its firings are counted as lost, and the
 * CPU comes nevertheless). online: it is there. Rings of CPUs that went stay.
 * Without waiting a state whose lock is held is left out: prepare it again then.
 */
int dfr_engine_cpu_prepare(struct dfr_engine *engine, u32 cpu, bool wait);
void dfr_engine_cpu_online(struct dfr_engine *engine, u32 cpu);

/* Append an entry of the platform's own (DFR_CAT_MODULE, DFR_CAT_EVENT) to a state's catalog. */
int dfr_state_catalog_add(struct dfr_state *state, const struct dfr_cat_entry *entry, const void *payload,
			  size_t bytes);
/* Visits every state until visit returns false. */
void dfr_states_visit(struct dfr_engine *engine, bool (*visit)(struct dfr_state *state, void *arg),
		      void *arg);

#endif
