/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine as its users see it: probes, consumers' states, blocks, aggregations, the catalog.
 * provider.h is what providers see, platform.h what the engine needs from its surroundings. The
 * room recording implements this header; loading makes the programs, dif runs them.
 *
 * Contexts. Functions marked "probe" run with interrupts off on one CPU, which is the only writer of
 * that CPU's data: no atomic read-modify-write, no lock, no sleep, no allocation. All others run in
 * process context, under the engine's lock where they change which states and providers there are or
 * what is armed; that lock may be held for seconds. "States" below says which functions need only a
 * state's own lock.
 */
#ifndef DFR_ENGINE_ENGINE_H
#define DFR_ENGINE_ENGINE_H

#include "formats/abi/aggtab.h"
#include "formats/abi/block.h"
#include "formats/abi/catalog.h"
#include "formats/abi/control.h"
#include "kmod/engine/loading/program.h"
#include "kmod/engine/provider.h"

/*
 * Starts the governor (governor.c). hook_time: ns that a firing costs outside of the engine; 0:
 * measure it now.
 */
void dfr_engine_govern(struct dfr_engine *engine, u64 hook_time);
/*
 * The governor's housekeeping, a part of dfr_state_keep() under the state's lock. True: call
 * dfr_governor_act().
 */
bool dfr_governor_keep(struct dfr_state *state, u64 now);
/* Detaches and attaches probes: a part of dfr_state_settle() under the engine's lock. */
void dfr_governor_act(struct dfr_state *state, u64 now);

/* For tests, called before anything is enabled: what a firing records must not depend on these. */
#define DFR_FORCE_GENERAL 0x1 /* all clauses take the general form (enum dfr_form) */
#define DFR_FORCE_DIF	  0x2 /* no idioms (idiom.c): values, stores and predicates run as DIF */
void dfr_engine_force(struct dfr_engine *engine, u32 forced);

/* The kernel has one engine; in user space there may be any number. */
struct dfr_engine *dfr_engine_create(void *host); /* host: platform's own, see dfr_engine_host() */
void dfr_engine_destroy(struct dfr_engine *engine);
void *dfr_engine_host(struct dfr_engine *engine);
struct dfr_mutex *dfr_engine_lock(struct dfr_engine *engine);

/*
 * States. Created empty; enable loads a DOF; go fires BEGIN and lets probes record; stop fires END.
 * The caller (the device, or a consumer in process) holds the engine's lock for the functions down
 * to dfr_state_destroy(). The functions below that one take the state's own lock. Their caller only
 * makes sure that the state exists meanwhile, and that none of the functions above runs on it except
 * dfr_state_settle(). So a task that arms many probes does not keep others from reading or stopping
 * another state.
 */
int dfr_state_create(struct dfr_engine *engine, struct dfr_state **out);
/* The same with a number at random, for users without privilege: the next one would say how many states others have made. */
int dfr_state_create_unnumbered(struct dfr_engine *engine, struct dfr_state **out);
/*
 * Confines the state for good to the tasks of this user and to so many bytes of memory. Called
 * before anything is enabled; all its programs are loaded with ll_confined (confine.c). 0, or
 * -ENOMEM: it is not confined.
 */
int dfr_state_confine(struct dfr_state *state, u32 uid, u32 gid, u64 memory);
/* On success the state owns the program, else the caller keeps it. */
int dfr_state_add(struct dfr_state *state, struct dfr_program *program, u32 flags, u32 *matched,
		  struct dfr_refusal *why);
/* dfr_program_load() and dfr_state_add() in one, for callers that keep nobody waiting for the lock. */
int dfr_state_enable(struct dfr_state *state, const void *dof, size_t size,
		     const struct dfr_load_limits *limits, u32 flags, u32 *matched, struct dfr_refusal *why);
/*
 * Errors: -EIO: dfr_engine_broken(); -E2BIG: END's reserve is larger than bufsize; -ENOSPC: a record is larger than the ring,
 * or a record or key than the limits; -ENOMEM; -EACCES: destructive without -w; -EAGAIN: the user
 * without privilege has started too many states lately and may try again later.
 */
int dfr_state_go(struct dfr_state *state, u32 *begin_cpu);
int dfr_state_stop(struct dfr_state *state, u32 *end_cpu); /* dfr_state_halt(), dfr_state_settle() */
void dfr_state_clean(
	struct dfr_state
		*state); /* dfr_state_keep(), and dfr_state_settle() where that has something to do */
void dfr_state_set_name(struct dfr_state *state, const char *name, bool anonymous);
/*
 * If the state has ended, disarms it; else lets the governor act. This is what functions without the
 * engine's lock have left to do.
 */
void dfr_state_settle(struct dfr_state *state);
void dfr_state_destroy(struct dfr_state *state); /* unlinks, synchronizes, frees */

/*
 * From here on under the state's own lock. Fires END; from then on nothing is recorded, but probes
 * stay armed.
 */
int dfr_state_halt(struct dfr_state *state, u32 *end_cpu);
/* The same without END, for a state that is about to be destroyed. */
void dfr_state_end(struct dfr_state *state);
bool dfr_state_kill(struct dfr_state *state); /* its consumer has gone silent. True: it was active */
void dfr_state_status(struct dfr_state *state, struct dfr_ioc_status *status);
u32 dfr_state_activity(
	const struct dfr_state *state); /* enum dfr_activity; under no lock, while the state is there */
u64 dfr_state_id(const struct dfr_state *state);
u32 dfr_state_number(const struct dfr_state *state); /* of its boot: the lower half of its id */
const char *dfr_state_name(const struct dfr_state *state);
void *dfr_state_host(const struct dfr_state *state); /* platform's private pointer */
void dfr_state_set_host(struct dfr_state *state, void *host);
/* After a go that failed: what control.h says of dfr_ioc_room. */
void dfr_state_room(const struct dfr_state *state, u64 *wanted, u64 *left);
u64 dfr_state_option(const struct dfr_state *state, u32 option); /* after go: the value in force */

/*
 * Blocks are taken exactly, by swapping. flags: what control.h says of dfr_ioc_take. cpu
 * DFR_ALL_CPUS: of all CPUs. One call may hand out only some of the waiting blocks (`room` is used
 * up): call again until *count is 0. Blocks come sealed. *left: a CPU's blocks were left there, and its
 * open one was not closed, because too many are held or there is no memory for spares: release some first.
 */
#define DFR_ALL_CPUS 0xffffffffu
int dfr_state_take(struct dfr_state *state, u32 cpu, u32 flags, struct dfr_ioc_taken *taken, u32 room,
		   u32 *count, bool *left);
int dfr_state_release(struct dfr_state *state, u32 cpu, u32 block, u64 seq);
/*
 * The consumer has gone: blocks that it took and did not release are handed out again, before all
 * others.
 */
void dfr_state_disown(struct dfr_state *state);
/*
 * Address of a block for mapping or reading; NULL: no such block. Valid while the state lives. This
 * and the next two functions take no lock; call them only after dfr_state_go().
 */
const struct dfr_block *dfr_state_block(const struct dfr_state *state, u32 cpu, u32 block);
u32 dfr_state_block_size(const struct dfr_state *state);
bool dfr_state_readable(const struct dfr_state *state); /* for poll(): closed blocks wait */
/*
 * Fills `seen` with the blocks of io->cpu that hold records, from number io->block on, and io with what
 * control.h says. Each record of a firing that began before this call can be read in them afterwards; the
 * CPU records on.
 */
void dfr_state_blocks(struct dfr_state *state, struct dfr_ioc_blocks *io, struct dfr_ioc_seen *seen);

/* Fills `costs` with what the state costs on io->count CPUs from io->cpu on, and io. Only after go. */
void dfr_state_cost(struct dfr_state *state, struct dfr_ioc_cost *io, struct dfr_ioc_cpu_cost *costs);

/* Catalog bytes from offset; returns bytes copied. */
size_t dfr_state_catalog(struct dfr_state *state, u64 offset, void *buffer, size_t room, u64 *committed);
/* Once a second: appends a clock triple, unless the last one still holds. */
void dfr_state_clock(struct dfr_state *state, u64 now);

/*
 * Aggregations: retires all halves, merges them into the base table, copies that out. -ENOSPC:
 * *bytes is needed. `views`: for somebody who only looks, not for the consumer, who may clear what it
 * was shown.
 */
int dfr_state_aggsnap(struct dfr_state *state, void *buffer, size_t room, u64 *bytes, bool views);
u64 dfr_state_aggsnap_most(struct dfr_state *state); /* bytes that it needs at most, from now on */
int dfr_state_aggclear(struct dfr_state *state, u32 varid, bool remove);

/*
 * Triggers: firings of snapshot() actions, and oopses of the kernel. dfr_state_triggers() fills in `triggers`,
 * which has room for io->count, and io with what control.h says; *seen: how many triggers they tell of.
 * -ENOSPC: only io->count. For poll(), under no lock and after
 * dfr_state_go(): dfr_state_triggered() is the number of triggers so far, and dfr_state_await_trigger()
 * demands a dfr_plat_wake() at the next one that is not in the number asked for afterwards. Without such a
 * demand a trigger wakes nobody.
 */
int dfr_state_triggers(struct dfr_state *state, struct dfr_ioc_triggers *io, struct dfr_ioc_trigger *triggers,
		       u64 *seen);
u64 dfr_state_triggered(const struct dfr_state *state);
void dfr_state_await_trigger(struct dfr_state *state);
/*
 * The kernel has had an oops: a trigger of every state that is not confined. Any context; not by two CPUs at
 * once. It wakes nobody.
 */
void dfr_engine_oops(struct dfr_engine *engine, u64 time);
/*
 * Any context with interrupts off, also inside a firing: from here to dfr_cpu_unhold() hits on this CPU are
 * nested, so what the caller calls records nothing, though it can be traced. level: the caller's; a hit there is the
 * module's shadow, an NMI's above it is counted as lost. Not by a fault inside: then this CPU stays held.
 */
struct dfr_hold {
	bool he_fires; /* a firing, or another hold, was under way */
	u16 he_flags;
	u32 he_level;
};
void dfr_cpu_hold(const struct dfr_engine *engine, u32 level, struct dfr_hold *hold);
void dfr_cpu_unhold(const struct dfr_engine *engine, const struct dfr_hold *hold);
/*
 * By who holds this CPU and found a firing under way (he_fires), whose task is dead; not by two CPUs at once. All states
 * are killed (DFR_KILLED_OOPS), by housekeeping or by who asks for their records or status, and no state starts any more.
 */
void dfr_cpu_abandon(struct dfr_engine *engine);
u64 dfr_engine_broken(const struct dfr_engine *engine);

/* Housekeeping at cleanrate: speculations, dynamic variables, sealing. True: call dfr_state_settle(). */
bool dfr_state_keep(struct dfr_state *state);

/*
 * Visits the probes that match a pattern, in order of id, until visit returns false. `from` 0:
 * providers first make the probes that exist on demand; else it continues at that id. Confined: only
 * probes that exist and that a user without privilege may use. It does not need the engine's lock,
 * so listing does not wait for arming. 0, or -errno: a provider could not make all.
 */
int dfr_probes_match(struct dfr_engine *engine, const char *const pattern[4], u32 from, bool confined,
		     bool (*visit)(const struct dfr_probe *probe, void *arg), void *arg);
/*
 * For providers that make probes on demand, when something new to probe has come: visits the
 * patterns of all states.
 */
void dfr_patterns_wanted(struct dfr_engine *engine, void (*visit)(const char *const pattern[4], void *arg),
			 void *arg);
bool dfr_glob(const char *pattern, const char *text);
bool dfr_glob_is_name(const char *pattern); /* it matches one text, itself */
/*
 * NULL: there is no such probe, or no longer. Ids run from 1 to dfr_probe_count(), with holes where
 * probes went.
 */
const struct dfr_probe *dfr_probe_by_id(const struct dfr_engine *engine, u32 id);
u32 dfr_probe_count(const struct dfr_engine *engine);

/*
 * CPUs that come and go. prepare: the CPU will come; makes its shares in all states that record.
 * Returns 0 or -ENOMEM; then the CPU comes nevertheless, and its firings are counted as lost.
 * Without `wait` it leaves out states whose lock is held: call it again for these. online: the CPU
 * runs now. Rings of CPUs that went stay.
 */
int dfr_engine_cpu_prepare(struct dfr_engine *engine, u32 cpu, bool wait);
void dfr_engine_cpu_online(struct dfr_engine *engine, u32 cpu);

/* Append an entry of the platform's own (DFR_CAT_MODULE, DFR_CAT_EVENT) to a state's catalog. */
int dfr_state_catalog_add(struct dfr_state *state, const struct dfr_cat_entry *entry, const void *payload,
			  size_t bytes);
/* Adds a person's remark to a state's catalog. -ENOSPC: it has DFR_MARKS_MAX; -ENXIO: it records no more. */
#define DFR_MARKS_MAX 4096
int dfr_state_mark(struct dfr_state *state, const char *text, u64 time);
/* Visits every state until visit returns false. */
void dfr_states_visit(struct dfr_engine *engine, bool (*visit)(struct dfr_state *state, void *arg),
		      void *arg);

#endif
