/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The provider interface: what a provider gives the engine (probes, how to arm them) and what it
 * calls (dfr_fire). The module exports it, so that other modules can be providers.
 *
 * A provider creates its probes once, when it registers or when the module that they are on appears,
 * and arms them only while the engine says so. While nothing is enabled, it patches, hooks and times
 * nothing.
 */
#ifndef DFR_ENGINE_PROVIDER_H
#define DFR_ENGINE_PROVIDER_H

#include "kmod/engine/platform.h"

struct dfr_ecb;
struct dfr_provider;

/* A simple predicate that idiom.c has recognised in its DIF, so that it is tested without running DIF. */
enum dfr_test_kind {
	DFR_TEST_NAME = 1, /* execname is te_words */
	DFR_TEST_PID,	   /* equals te_words[0] */
	DFR_TEST_TID,
	DFR_TEST_OWNER, /* the task is owned by user te_words[0], group te_words[1]: dfr_plat_owned() */
	DFR_TEST_ARG,	/* argument te_index equals te_words[0] */
	DFR_TEST_SELF	/* thread-local number te_index is not 0 */
};

struct dfr_test {
	u32 te_kind;
	u32 te_negated;
	u64 te_words[2];
	u32 te_index;
};

#define DFR_NARGS_UNKNOWN 0xffffffffu

/* pb_flags */
#define DFR_PB_PURE    0x1 /* every ECB has a pure predicate, but pb_test does not cover them all */
#define DFR_PB_DTRACE  0x2 /* BEGIN, END, ERROR */
#define DFR_PB_NOARGS  0x4 /* see dfr_probe_reads_args() */
#define DFR_PB_ANYBODY 0x8 /* fires in any task, not the one it tells of; set by its provider at creation */
#define DFR_PB_REGISTERS                                                                                     \
	0x10		  /* also set at creation: its arguments are in the registers of a function's entry */
#define DFR_PB_ASKED 0x20 /* likewise: it is there because somebody's program asked for it */

/* A probe. Providers read pb_cookie and test pb_ecbs; the engine owns the rest. */
struct dfr_probe {
	struct dfr_ecb *pb_ecbs; /* in enabling order; NULL: none. Read with acquire. */
	/*
	 * The test that all ECBs here share; NULL: they have none, or not the same. It lives as long
	 * as they do.
	 */
	const struct dfr_test *pb_test;
	struct dfr_provider *pb_provider;
	void *pb_cookie;
	u32 pb_id;
	u32 pb_nargs;
	u32 pb_armed; /* how many ECBs hold it armed */
	u32 pb_flags;
	u32 pb_impure;	/* how many of its ECBs have no pure predicate */
	u32 pb_readers; /* how many may read the arguments */
	u32 pb_unlike; /* how many have another test than the ECB before them, or a test that is not shared */
	u32 pb_unconfined; /* how many are of states with privilege: in arm(), disarm() and commit() */
	const char *pb_module;
	const char *pb_function;
	const char *pb_name;
	struct dfr_probe *pb_hash; /* by function name */
	u64 pb_born;		   /* number of its creation: larger than those of older probes */
	struct dfr_ecb *pb_last;   /* the last one of pb_ecbs */
};

struct dfr_provider_ops {
	/*
	 * Somebody wants probes of this pattern: create those that exist on demand (profile-97).
	 * Optional. 0, or -errno: there are some that could not be created.
	 */
	int (*provide)(struct dfr_provider *provider, const char *const pattern[4]);
	/* Arm and disarm one probe. The provider may put off the patching until commit(). 0 or -errno. */
	int (*arm)(struct dfr_provider *provider, struct dfr_probe *probe);
	void (*disarm)(struct dfr_provider *provider, struct dfr_probe *probe);
	/* All arms and disarms of one enabling have been made: patch now, in one batch. Optional. */
	int (*commit)(struct dfr_provider *provider);
	/*
	 * Probe context: argument n, for n >= the number passed to dfr_fire(). Optional; without it
	 * they read 0.
	 */
	u64 (*getarg)(const struct dfr_firing *firing, unsigned n);
	/*
	 * Do several functions of the probe's name share this one probe? Optional; without it they
	 * do not.
	 */
	bool (*shared)(const struct dfr_probe *probe);
	/*
	 * Process context, under no lock but a state's: how many hits of this probe, which is armed, the provider
	 * did not hear of in time, since it was created; `only` >= 0: on that CPU, where the provider knows.
	 * *off: it hears of none at present. Optional.
	 */
	u64 (*missed)(const struct dfr_probe *probe, s64 only, bool *off);
};

/* pv_flags */
#define DFR_PV_CONFINED	 0x2 /* fires in the task that it tells of, so users without privilege may use it */
#define DFR_PV_USER_ARGS 0x1 /* arguments come from user space, so a lockdown need not hide them */
#define DFR_PV_TWIN	 0x4 /* may have another provider's name: replay has one for each host */

struct dfr_provider {
	const char *pv_name;
	const struct dfr_provider_ops *pv_ops;
	u32 pv_flags;
	void *pv_cookie;
	struct dfr_engine *pv_engine;
	struct dfr_provider *pv_next;
};

/*
 * Locks: the functions below take the engine's lock (dfr_engine_lock()) themselves, except
 * dfr_probe_create(), which takes en_probe_lock. arm, disarm and commit are called with the engine's
 * lock held. `provide` is called under en_provide_lock, with or without the engine's lock, so another
 * task may arm meanwhile. It creates probes but calls none of the other functions,
 * dfr_probes_created() included, because the engine is about to match anyway. `shared` is called
 * under en_probe_lock, because listing does not take the engine's lock.
 */
int dfr_provider_register(struct dfr_engine *engine, struct dfr_provider *provider);
/* -EBUSY while one of its probes is enabled; afterwards its probes are gone. */
int dfr_provider_unregister(struct dfr_provider *provider);

/* Strings are copied (and shared when equal). NULL: no memory, or the name exists. */
struct dfr_probe *dfr_probe_create(struct dfr_provider *provider, const char *module, const char *function,
				   const char *name, u32 nargs, void *cookie);
/* With flags that hold from the moment on in which others can see it. */
struct dfr_probe *dfr_probe_create_as(struct dfr_provider *provider, const char *module, const char *function,
				      const char *name, u32 nargs, void *cookie, u32 flags);
/* The probe of that exact name, or NULL. */
struct dfr_probe *dfr_probe_find(struct dfr_provider *provider, const char *module, const char *function,
				 const char *name);
/*
 * Probe context: a firing of this probe was lost before it could begin. Every state that has an ECB
 * here counts it under `cause` (enum dfr_loss).
 */
void dfr_probe_lost(struct dfr_probe *probe, u32 cause);
/*
 * Call after creating a batch of probes: matches retained enablings (-Z, kept states) against the
 * new probes.
 */
void dfr_probes_created(struct dfr_engine *engine);
/*
 * Probes on this module, which has come, could not be created (-errno): each state is told
 * that has a pattern of this provider of which `wants` is true.
 */
void dfr_probes_missing(struct dfr_provider *provider, const char *module, int error,
			bool (*wants)(const char *const pattern[4], void *arg), void *arg);

/* In arm(): this option of the state that arms, as programs set it. */
s64 dfr_arming_option(const struct dfr_engine *engine, u32 option);

/*
 * The module that the probes are on is unloaded: disarms and unlinks their ECBs, then removes the
 * probes. module NULL: all probes of the provider. Enablings stay and match again when probes come
 * back. Process context.
 */
int dfr_probes_remove(struct dfr_provider *provider, const char *module);
/*
 * The same for the provider's probes for which `goes` returns true; it is called under the engine's
 * lock, and more than once for a probe.
 */
int dfr_probes_remove_if(struct dfr_provider *provider,
			 bool (*goes)(const struct dfr_probe *probe, void *arg), void *arg);

/*
 * Probe context, up to NMI; the caller has at least preemption off. `args` need live only during the
 * call. regs: the platform's registers at the probe, or NULL.
 */
void dfr_fire(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs);
/* The same with a given "current", in user space only (env is a struct dfr_env). */
void dfr_fire_env(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs, const void *env);

/* May a user without privilege use it, on his own tasks, and know of it? */
static inline bool dfr_probe_open(const struct dfr_probe *probe)
{
	return probe->pb_provider->pv_flags & DFR_PV_CONFINED &&
	       !(probe->pb_flags & (DFR_PB_ANYBODY | DFR_PB_ASKED));
}

static inline bool dfr_probe_enabled(const struct dfr_probe *probe)
{
	return dfr_read_once(&probe->pb_ecbs) != NULL;
}

#ifdef __KERNEL__
bool dfr_probe_wants_other(const struct dfr_test *test);
void dfr_probe_refused(const struct dfr_probe *probe);
void dfr_probe_passed(const struct dfr_probe *probe);
/* Probe context. May a state that listens see the running task's firings? */
bool dfr_probe_seen(const struct dfr_probe *probe);
DECLARE_PER_CPU(s32, dfr_refusals); /* counts down to the next refused firing that is charged */

/*
 * Probe context; the part of dfr_probe_wants() that takes no call. True: every ECB here filters on
 * another execname, so the firing can be skipped; the caller then asks dfr_refusal_due(), and if
 * that is true, calls dfr_probe_refused(). False: not known.
 */
static __always_inline bool dfr_probe_passes_by(const struct dfr_probe *probe)
{
	const struct dfr_test *test = dfr_read_once(&probe->pb_test);
	u64 words[2];

	if (likely(!test) || test->te_kind != DFR_TEST_NAME || test->te_negated)
		return false;
	dfr_plat_comm(NULL, words);
	return words[0] != test->te_words[0] || words[1] != test->te_words[1];
}

#define DFR_REFUSALS 64 /* for so many, about, the governor charges one */

static __always_inline bool dfr_refusal_due(void)
{
	return unlikely(dfr_arch_count_down(dfr_refusals));
}

/*
 * Probe context, before dfr_fire(). False: the test that all ECBs share fails, so none would record.
 * A provider need not call it; it saves making the arguments. A refused firing still costs its hook,
 * so about one in 64 is reported to the governor.
 */
static __always_inline bool dfr_probe_wants(const struct dfr_probe *probe)
{
	const struct dfr_test *test = dfr_read_once(&probe->pb_test);
	u64 words[2];

	if (!test)
		return dfr_read_once(&probe->pb_ecbs) != NULL;
	if (test->te_kind != DFR_TEST_NAME || test->te_negated) {
		if (dfr_probe_wants_other(test))
			return true;
	} else {
		dfr_plat_comm(NULL, words);
		if (words[0] == test->te_words[0] && words[1] == test->te_words[1])
			return true;
	}
	if (dfr_refusal_due())
		dfr_probe_refused(probe);
	return false;
}

/*
 * Probe context. False: no ECB here looks at arguments and no shared test must be asked first, so
 * the provider need not make arguments: it calls dfr_fire_bare() or, in another module, dfr_fire()
 * without arguments. Only for providers whose getarg gives all arguments, because an ECB that reads
 * them may be linked just now.
 */
static __always_inline bool dfr_probe_reads_args(const struct dfr_probe *probe)
{
	return !(dfr_read_once(&probe->pb_flags) & DFR_PB_NOARGS);
}
void dfr_plat_direct dfr_fire_bare(struct dfr_probe *probe, void *regs);
#endif

#endif
