/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The provider interface: what a provider gives the engine (probes, how to arm
 * them) and what it calls (dfr_fire). Exported by the module, so that modules of
 * third parties can be providers.
 *
 * A provider creates its probes once, when it registers or when its module
 * appears, and arms them only while the engine says so: nothing is patched,
 * hooked or timed while nothing is enabled.
 */
#ifndef DFR_ENGINE_PROVIDER_H
#define DFR_ENGINE_PROVIDER_H

#include "kmod/engine/platform.h"

struct dfr_ecb;
struct dfr_provider;

/* A predicate of the usual kind, known from its DIF: whether it holds is found without running it. */
enum dfr_test_kind {
	DFR_TEST_NAME = 1, /* execname is te_words */
	DFR_TEST_PID,	   /* equals te_words[0] */
	DFR_TEST_TID,
	DFR_TEST_OWNER, /* user te_words[0], group te_words[1]: the task is his, and not guarded from him */
	DFR_TEST_ARG,	/* te_index */
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
#define DFR_PB_PURE    0x1 /* every ECB has a pure predicate, and pb_test does not say it all */
#define DFR_PB_DTRACE  0x2 /* BEGIN, END, ERROR */
#define DFR_PB_NOARGS  0x4 /* see dfr_probe_reads_args() */
#define DFR_PB_ANYBODY 0x8 /* fires in whatever task is there: set by its provider when it is made */
#define DFR_PB_REGISTERS                                                                                     \
	0x10 /* likewise: its arguments are a function's, in the registers that it fires with */

/* A probe. Providers read pb_cookie and test pb_ecbs; the engine owns the rest. */
struct dfr_probe {
	struct dfr_ecb *pb_ecbs; /* in enabling order; NULL: nobody listens. Read with acquire. */
	/* What all that listen ask of who fires; NULL: nothing, or not the same. Lives as they do. */
	const struct dfr_test *pb_test;
	struct dfr_provider *pb_provider;
	void *pb_cookie;
	u32 pb_id;
	u32 pb_nargs;
	u32 pb_armed; /* enablings that hold it armed */
	u32 pb_flags;
	const char *pb_module;
	const char *pb_function;
	const char *pb_name;
	struct dfr_probe *pb_hash; /* by function name */
	u64 pb_born;		   /* later than all probes with a smaller one */
};

struct dfr_provider_ops {
	/* Someone matches this pattern: create probes that exist on demand (profile-97). Optional. */
	void (*provide)(struct dfr_provider *provider, const char *const pattern[4]);
	/* Arm and disarm one probe. Changes may be collected until commit(). 0 or -errno. */
	int (*arm)(struct dfr_provider *provider, struct dfr_probe *probe);
	void (*disarm)(struct dfr_provider *provider, struct dfr_probe *probe);
	/* All arms and disarms of one enabling have been made: patch now, in one batch. Optional. */
	int (*commit)(struct dfr_provider *provider);
	/* Probe context: argument n >= the number passed to dfr_fire(). Optional: reads 0. */
	u64 (*getarg)(const struct dfr_firing *firing, unsigned n);
	/* Do several functions of that name share the probe? Optional: no. */
	bool (*shared)(const struct dfr_probe *probe);
};

/* pv_flags */
#define DFR_PV_CONFINED	 0x2 /* fires in the task that it tells of: for users without privilege, too */
#define DFR_PV_USER_ARGS 0x1 /* arguments are user space's own: nothing that a lockdown hides */

struct dfr_provider {
	const char *pv_name;
	const struct dfr_provider_ops *pv_ops;
	u32 pv_flags;
	void *pv_cookie;
	struct dfr_engine *pv_engine;
	struct dfr_provider *pv_next;
};

/*
 * Locks: the functions below take the engine's lock (dfr_engine_lock()) themselves,
 * except dfr_probe_create(), which takes an inner one. All ops but getarg and
 * provide are called with the engine's lock held, `provide` with one inside it,
 * that of providing, and with or without the engine's: somebody else may arm
 * meanwhile. It creates probes but calls none of the others, dfr_probes_created()
 * neither (the engine is about to match).
 */
int dfr_provider_register(struct dfr_engine *engine, struct dfr_provider *provider);
/* -EBUSY while one of its probes is enabled; afterwards its probes are gone. */
int dfr_provider_unregister(struct dfr_provider *provider);

/* Strings are copied (and shared when equal). NULL: no memory, or the name exists. */
struct dfr_probe *dfr_probe_create(struct dfr_provider *provider, const char *module, const char *function,
				   const char *name, u32 nargs, void *cookie);
/* The probe of that exact name, or NULL. */
struct dfr_probe *dfr_probe_find(struct dfr_provider *provider, const char *module, const char *function,
				 const char *name);
/* Probe context: a firing of this probe was lost before it could begin (enum dfr_loss); every state
 * that listens counts it. */
void dfr_probe_lost(struct dfr_probe *probe, u32 cause);
/* After a batch of creates: retained enablings (-Z, kept) are matched against the new probes. */
void dfr_probes_created(struct dfr_engine *engine);

/* In arm(): is this option set in the program that arms? */
bool dfr_arming_option(const struct dfr_engine *engine, u32 option);

/*
 * What the probes are on is going (a module unloads): their enablings are
 * disarmed and unlinked, then the probes are gone. module NULL: all of the
 * provider's. Enablings stay: they match again what comes again. Process context.
 */
int dfr_probes_remove(struct dfr_provider *provider, const char *module);
/* Those of the provider for which `goes` says so: asked under the engine's lock, more than once. */
int dfr_probes_remove_if(struct dfr_provider *provider,
			 bool (*goes)(const struct dfr_probe *probe, void *arg), void *arg);

/*
 * Probe context. Any context up to NMI; the caller holds preemption off or
 * better. `args` need live only during the call. regs: the platform's registers
 * at the probe, or NULL.
 */
void dfr_fire(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs);
/* The same with a given "current": user space alone (env is a struct dfr_env). */
void dfr_fire_env(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs, const void *env);

/* May a user without privilege use it, on his own tasks? */
static inline bool dfr_probe_open(const struct dfr_probe *probe)
{
	return probe->pb_provider->pv_flags & DFR_PV_CONFINED && !(probe->pb_flags & DFR_PB_ANYBODY);
}

static inline bool dfr_probe_enabled(const struct dfr_probe *probe)
{
	return dfr_read_once(&probe->pb_ecbs) != NULL;
}

#ifdef __KERNEL__
bool dfr_probe_wants_other(const struct dfr_test *test);
void dfr_probe_refused(const struct dfr_probe *probe);
DECLARE_PER_CPU(s32, dfr_refusals); /* down to the next one that is accounted */

/*
 * Probe context; a part of dfr_probe_wants() without a call. True: all that listen ask
 * for another name, and if dfr_refusal_due() says so then, it is to be told to
 * dfr_probe_refused(). False says nothing.
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

static __always_inline bool dfr_refusal_due(void)
{
	return unlikely(dfr_arch_count_down(dfr_refusals));
}

/*
 * Probe context, before dfr_fire(): false if all that listen ask for somebody
 * else. A provider need not call it; it saves making the arguments. What is
 * refused costs its hook nevertheless: one in 64 tells the governor.
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
 * Probe context: false if none that listens looks at arguments, so that they need
 * not be made, nor is there anything else to ask first: dfr_fire_bare(), or, in a module
 * of its own, dfr_fire() without arguments. For providers whose getarg gives all of them
 * (somebody else may have come since).
 */
static __always_inline bool dfr_probe_reads_args(const struct dfr_probe *probe)
{
	return !(dfr_read_once(&probe->pb_flags) & DFR_PB_NOARGS);
}
void dfr_plat_direct dfr_fire_bare(struct dfr_probe *probe, void *regs);
#endif

#endif
