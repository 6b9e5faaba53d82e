// SPDX-License-Identifier: GPL-2.0
/*
 * A firing: from the provider's call of dfr_fire() through the guard (pc_busy) to
 * the chain of ECBs. Probe context: no sleep, no allocation, no fault; the only lock
 * is a hash bucket's (dynvar.c).
 * Interrupts are off from the guard on, so this CPU is the only writer of
 * everything that is touched. Each ECB runs in its form, which form.c has chosen:
 * a function of plain.c, or steps.c in general. Predicates that are a simple test
 * (struct dfr_test) are evaluated here, without DIF.
 */
#include "kmod/engine/recording/fire.h"

u64 dfr_late_arg(const struct dfr_firing *firing, u32 index)
{
	const struct dfr_provider_ops *ops = firing->fr_probe->pb_provider->pv_ops;

	return ops->getarg ? ops->getarg(firing, index) : 0;
}

/* Does the state record? BEGIN, END and ERROR do not ask: dfr_fire_dtrace() and dfr_fire_error() fire them. */
dfr_hot bool state_listens(const struct dfr_state *state)
{
	return dfr_read_once(&state->st_activity) == DFR_ACTIVE;
}

/* A confined state sees only firings in its own user's tasks; any other state sees all. */
static dfr_cold bool may_see(const struct dfr_ecb *ecb, const struct dfr_firing *firing)
{
	const struct dfr_test *owner = &ecb->ec_state->st_owner;

	return !owner->te_kind || dfr_plat_owned(firing, (u32)owner->te_words[0], (u32)owner->te_words[1]);
}

/*
 * The state has no share on this CPU, so the loss is counted in the state, and
 * housekeeping reports it. Atomic, because other CPUs and NMIs do the same.
 */
static dfr_cold void count_without_share(struct dfr_state *state, const struct dfr_probe *probe)
{
	u32 seen = dfr_cmpxchg(&state->st_hotplug_probe, 0u, probe->pb_id);

	if (seen && seen != probe->pb_id)
		dfr_write_once(&state->st_hotplug_probe, DFR_PROBES_SEVERAL);
	dfr_atomic_add(&state->st_tally->loss[DFR_LOSS_HOTPLUG], 1);
}

/* A firing on another CPU than that of the option `cpu` is no loss. */
static void lost_without_share(struct dfr_state *state, const struct dfr_probe *probe)
{
	if (dfr_option(state, DFR_OPT_CPU) < 0)
		count_without_share(state, probe);
}

/*
 * A state counts a lost firing once, whatever the number and the order of its ECBs at the probe: true for the first of them
 * that asks. `number` is the firing's own among those of its kind on this CPU.
 */
static bool counts_now(struct dfr_state *state, u32 cpu, enum dfr_loser loser, u64 number)
{
	u64 *last = &state->st_counted[cpu].cn_last[loser];

	if (*last == number)
		return false;
	*last = number;
	return true;
}

static void run_tested(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb,
		       struct dfr_share *share);

/*
 * A later part of a clause that is running: an exit() in an earlier part, or on another CPU, does not cut the clause
 * short, as it does not where `if` has split nothing. No clause runs when the state has left DRAINING, since who stops
 * it waits for each CPU's firing.
 */
static dfr_cold bool goes_on(const struct dfr_cpu *pc, const struct dfr_ecb *ecb,
			     const struct dfr_share *share)
{
	return ecb->ec_flags & DFR_EC_CONTINUATION && share->sh_split_stamp == pc->pc_stamp &&
	       dfr_read_once(&ecb->ec_state->st_activity) == DFR_DRAINING;
}

/* An ECB in the general form. */
static dfr_noinline void run_general(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb,
				     struct dfr_share *share)
{
	if (dfr_state_confined(ecb->ec_state))
		run_tested(pc, firing, ecb, share);
	else
		dfr_run_ecb(firing, ecb, share, &share->sh_machine, pc->pc_stamp);
}

/*
 * The state may have ended while this firing was under way, which then has a time before that, and of which something
 * may be recorded and this clause is not.
 */
dfr_cold void dfr_cut_off(struct dfr_state *state, const struct dfr_firing *firing)
{
	u32 activity = dfr_load_acquire(&state->st_activity);
	u64 over, seen;

	/* `over` is written before it changes; a state that has not begun has none. */
	if (activity == DFR_ACTIVE || activity == DFR_INACTIVE)
		return;
	over = dfr_read_once(&state->st_tally->over);
	while (firing->fr_time && firing->fr_time < over) {
		seen = dfr_cmpxchg(&state->st_tally->over, over, firing->fr_time);
		if (seen == over)
			return;
		over = seen;
	}
}

/* The state does not record on this CPU: it has ended, has not begun, is throttled, or has no share here. */
static dfr_cold void not_live(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb)
{
	struct dfr_state *state = ecb->ec_state;
	struct dfr_share *share = dfr_load_acquire(&state->st_shares[firing->fr_cpu]);

	if (share && goes_on(pc, ecb, share)) {
		run_general(pc, firing, ecb, share);
		return;
	}
	if (!state_listens(state))
		dfr_cut_off(state, firing);
	else if (!may_see(ecb, firing))
		return;
	else if (share)
		dfr_governor_skipped(share, ecb, firing);
	else if (counts_now(state, firing->fr_cpu, DFR_LOSER_FIRING, pc->pc_stamp))
		lost_without_share(state, firing->fr_probe);
}

static dfr_noinline bool other_test_holds(const struct dfr_test *test, struct dfr_firing *firing)
{
	switch (test->te_kind) {
	case DFR_TEST_NAME: return dfr_test_name(test, firing) != test->te_negated;
	case DFR_TEST_PID: return dfr_test_value(test, dfr_plat_pid(firing));
	case DFR_TEST_TID: return dfr_test_value(test, dfr_plat_tid(firing));
	case DFR_TEST_OWNER: return dfr_plat_owned(firing, (u32)test->te_words[0], (u32)test->te_words[1]);
	default: /* DFR_TEST_ARG */ return dfr_test_value(test, dfr_firing_arg(firing, test->te_index));
	}
}

dfr_hot bool test_holds(const struct dfr_test *test, struct dfr_firing *firing, const struct dfr_state *state)
{
	if (dfr_likely(test->te_kind == DFR_TEST_NAME && !test->te_negated))
		return dfr_test_name(test, firing);
	if (dfr_likely(test->te_kind == DFR_TEST_SELF))
		return dfr_self_load(state->st_vars, firing, test->te_index) != 0;
	return other_test_holds(test, firing);
}

/*
 * Runs an ECB in its form. Each branch is a tail call, so the compiler need not save
 * registers. The cheapest forms are compared first, because the kernel is built without
 * jump tables and they would feel each comparison most.
 */
dfr_hot void run_form(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb,
		      struct dfr_share *share, u32 form)
{
	if (form == DFR_FORM_REGISTERS)
		dfr_plain_registers(firing, ecb, share);
	else if (form == DFR_FORM_TIME)
		dfr_plain_time(firing, ecb, share);
	else if (form == DFR_FORM_SINCE)
		dfr_plain_since(firing, ecb, share);
	else if (form == DFR_FORM_COUNT)
		dfr_plain_count(firing, ecb, share);
	else if (form == DFR_FORM_AGG)
		dfr_plain_agg(firing, ecb, share);
	else if (form == DFR_FORM_ARGS)
		dfr_plain_args(firing, ecb, share);
	else if (form == DFR_FORM_STEPS)
		dfr_plain_steps(firing, ecb, share);
	else if (form & DFR_FORM_TESTED)
		run_tested(pc, firing, ecb, share);
	else if (form == DFR_FORM_RECORD)
		dfr_plain_record(firing, ecb, share);
	else
		dfr_run_ecb(firing, ecb, share, &share->sh_machine, pc->pc_stamp);
}

/* Guest instructions that the test of the task's owner and a plain form take at most. */
#define CONFINED_WORK 256

/*
 * A confined user's clauses have their own account of work in each firing. It is kept
 * in the user's purse and put into the firing while one of these clauses runs.
 */
static dfr_noinline void run_confined(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb,
				      struct dfr_share *share)
{
	struct dfr_purse *purse = &share->sh_governor.gv_user->up_own;
	u16 chunks = firing->fr_chunks;
	u32 work = firing->fr_work;
	bool fresh = purse->pu_stamp != pc->pc_stamp;

	purse->pu_stamp = pc->pc_stamp;
	firing->fr_chunks = fresh ? 0 : purse->pu_chunks;
	firing->fr_work = fresh ? 0 : purse->pu_work;
	dfr_firing_work(firing, ecb->ec_state, CONFINED_WORK);
	run_form(pc, firing, ecb, share, ecb->ec_form & ~(u32)DFR_FORM_TESTED);
	purse->pu_chunks = firing->fr_chunks;
	purse->pu_work = firing->fr_work;
	firing->fr_chunks = chunks;
	firing->fr_work = work;
}

static dfr_noinline void run_tested(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb,
				    struct dfr_share *share)
{
	if (!test_holds(ecb->ec_test, firing, ecb->ec_state))
		return;
	if (dfr_unlikely(ecb->ec_test->te_kind == DFR_TEST_OWNER))
		run_confined(pc, firing, ecb, share);
	else
		run_form(pc, firing, ecb, share, ecb->ec_form & ~(u32)DFR_FORM_TESTED);
}

/* Firings. */

/*
 * Leaves fr_engine and fr_cpu alone: a dfr_cpu's firings keep theirs, other callers set them. So it
 * does fr_flags, fr_chunks and fr_work, which dfr_cpu_leave() has cleared for the next firing.
 */
dfr_hot void set_firing(struct dfr_firing *firing, struct dfr_probe *probe, const u64 *args, u32 nargs,
			void *regs, const void *env)
{
	firing->fr_probe = probe;
	firing->fr_args = args;
	firing->fr_nargs = nargs;
	firing->fr_regs = regs;
	firing->fr_time = 0;
#ifndef __KERNEL__
	firing->fr_env = env;
#else
	(void)env;
#endif
}

/*
 * This CPU is already inside a firing. A hit from an NMI is counted as lost (DFR_LOSS_NMI);
 * a hit at the firing's own level is the engine tracing itself and is counted as its
 * shadow (sh_shadow). Each counter has one writer at a time: of DFR_LOSS_NMI an NMI, of sh_shadow
 * the level that the firing runs at.
 *
 * Where the firing is a dead one, the state ends: nobody else may be able to end it, because the dead task may have a
 * lock that he needs.
 */
static dfr_cold void nested_hit(struct dfr_cpu *pc, struct dfr_probe *probe, u32 cpu, const void *env)
{
	struct dfr_firing probe_firing;
	const struct dfr_ecb *ecb;
	struct dfr_share *share;
	u64 number;
	bool nmi;

	memset(&probe_firing, 0, sizeof(probe_firing));
	probe_firing.fr_engine = probe->pb_provider->pv_engine;
	probe_firing.fr_cpu = cpu;
	set_firing(&probe_firing, probe, NULL, 0, NULL, env);
	dfr_firing_context(&probe_firing);
	nmi = probe_firing.fr_context.cx_level == DFR_LEVEL_NMI &&
	      !(pc->pc_firing.fr_flags & DFR_FR_CONTEXT &&
		pc->pc_firing.fr_context.cx_level == DFR_LEVEL_NMI);
	number = nmi ? ++pc->pc_nmis : ++pc->pc_nested;
	for (ecb = dfr_load_acquire(&probe->pb_ecbs); ecb; ecb = dfr_load_acquire(&ecb->ec_next)) {
		if (!state_listens(ecb->ec_state) || !may_see(ecb, &probe_firing) ||
		    !counts_now(ecb->ec_state, cpu, nmi ? DFR_LOSER_NMI : DFR_LOSER_NESTED, number))
			continue;
		if (dfr_read_once(&pc->pc_dead))
			dfr_becomes_over(ecb->ec_state, DFR_ACTIVE, DFR_KILLED,
					 pc->pc_last ? pc->pc_last : 1);
		share = dfr_load_acquire(&ecb->ec_state->st_shares[cpu]);
		if (share && nmi)
			dfr_count(&share->sh_tally->loss[DFR_LOSS_NMI], 1);
		else if (share)
			dfr_count(&share->sh_shadow, 1);
		else if (nmi)
			lost_without_share(ecb->ec_state, probe);
	}
}

#ifdef __KERNEL__
/*
 * Pure predicates read only execname, pid, tid, cpu and arguments that were passed. They
 * run before interrupts are turned off, because most firings of a narrow program end
 * here. No function called here may be traced: its probe would call this again, without
 * end. The ECBs cannot be freed meanwhile, because the caller has preemption off. In user
 * space only the CPU's lock protects them, so there all predicates run inside the guard.
 */
static dfr_noinline bool any_pure_holds(struct dfr_probe *probe, const u64 *args, u32 nargs, void *regs)
{
	struct dfr_machine machine;
	struct dfr_firing firing;
	const struct dfr_ecb *ecb;

	firing.fr_engine = probe->pb_provider->pv_engine;
	firing.fr_epid = 0;
	firing.fr_cpu = dfr_plat_cpu();
	set_firing(&firing, probe, args, nargs, regs, NULL);
	firing.fr_flags = DFR_FR_UNGUARDED;
	/*
	 * This is the last chunk of work: a predicate that asks for more than one chunk faults, which
	 * counts as "may hold", so it is evaluated again inside the guard.
	 */
	firing.fr_chunks = 0xffff;
	firing.fr_work = 0;
	dfr_firing_context(&firing);
	/* Only what a pure DIFO reads: clearing the whole machine would cost more than running it. */
	machine.m_firing = &firing;
	machine.m_scratch = NULL;
	machine.m_scratch_end = NULL;
	machine.m_scratch_top = NULL;
	machine.m_flags = 0;
	machine.m_epid = 0;
	for (ecb = dfr_load_acquire(&probe->pb_ecbs); ecb; ecb = dfr_load_acquire(&ecb->ec_next)) {
		if (!state_listens(ecb->ec_state))
			continue;
		/* This ECB was linked after the caller had read DFR_PB_PURE. */
		if (!(ecb->ec_flags & DFR_EC_PURE))
			return true;
		machine.m_state = ecb->ec_state;
		machine.m_vars = ecb->ec_state->st_vars;
		machine.m_strsize = ecb->ec_state->st_strsize;
		machine.m_fault = 0;
		if (dfr_dif_run(ecb->ec_pred, &machine) || machine.m_fault)
			return true;
	}
	return false;
}

/*
 * Firings that a pure predicate ends cost time too: for the governor, one in pc_distance
 * of them evaluates the predicates again and is timed.
 */
static dfr_cold void pure_timed(struct dfr_probe *probe, const u64 *args, u32 nargs, void *regs)
{
	struct dfr_engine *engine = probe->pb_provider->pv_engine;
	unsigned long flags = dfr_plat_irq_save(engine, 0);
	struct dfr_cpu *pc = dfr_this_cpu(engine);
	struct dfr_ecb *chain = dfr_load_acquire(&probe->pb_ecbs);
	struct dfr_ecb *ecb;
	u64 before, after;

	pc->pc_pure_sample = pc->pc_pure + pc->pc_distance;
	if (!dfr_read_once(&pc->pc_busy)) {
		dfr_cpu_enter(pc); /* the governor may wake the consumer, which may call traced functions */
		pc->pc_samples++;
		pc->pc_exact = 0;
		before = dfr_plat_clock(NULL);
		any_pure_holds(probe, args, nargs, regs);
		after = dfr_plat_clock(NULL);
		for (ecb = chain; ecb; ecb = dfr_load_acquire(&ecb->ec_next)) {
			dfr_governor_charge(pc, ecb, DFR_A_FIRING, dfr_plat_cpu(), before, after,
					    pc->pc_distance);
			before = after;
		}
		dfr_governor_judge(pc, chain, after);
		dfr_cpu_leave(pc);
	}
	dfr_plat_irq_restore(engine, flags);
}

dfr_hot void count_pure(struct dfr_probe *probe, const u64 *args, u32 nargs, void *regs)
{
	struct dfr_cpu *pc = dfr_this_cpu(probe->pb_provider->pv_engine);

	if (dfr_unlikely(++pc->pc_pure == pc->pc_pure_sample))
		pure_timed(probe, args, nargs, regs);
}

bool dfr_probe_wants_other(const struct dfr_test *test)
{
	return other_test_holds(test, NULL);
}

bool dfr_probe_seen(const struct dfr_probe *probe)
{
	const struct dfr_test *test = dfr_read_once(&probe->pb_test);
	const struct dfr_ecb *ecb = dfr_load_acquire(&probe->pb_ecbs);

	if (test)
		return test->te_kind != DFR_TEST_OWNER || dfr_probe_wants_other(test);
	while (ecb && !may_see(ecb, NULL))
		ecb = dfr_load_acquire(&ecb->ec_next);
	return ecb;
}
#endif

dfr_hot void fire_one(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *ecb)
{
	const struct dfr_state *state = ecb->ec_state;
	struct dfr_share *share = dfr_load_acquire(&ecb->ec_live[firing->fr_cpu]);

	if (dfr_likely(share && state_listens(state)))
		run_form(pc, firing, ecb, share, ecb->ec_form);
	else
		not_live(pc, firing, ecb);
}

/* One firing in pc_distance, timed for the governor. */
static dfr_cold void fire_timed(struct dfr_cpu *pc, struct dfr_firing *firing, struct dfr_ecb *chain)
{
	u32 weight = dfr_governor_weight(pc);
	u64 before = dfr_plat_clock(firing);
	struct dfr_ecb *ecb;
	u64 after;

	for (ecb = chain; ecb; ecb = dfr_load_acquire(&ecb->ec_next)) {
		fire_one(pc, firing, ecb);
		after = dfr_plat_clock(firing);
		dfr_governor_charge(pc, ecb, may_see(ecb, firing) ? DFR_A_FIRING : DFR_OF_OTHERS,
				    firing->fr_cpu, before, after, weight);
		before = dfr_plat_clock(firing); /* the charging is no clause's cost */
	}
	dfr_governor_judge(pc, chain, before);
}

/* Runs the probe's ECBs in order. */
dfr_hot void fire_chain(struct dfr_cpu *pc, struct dfr_probe *probe, const u64 *args, u32 nargs, void *regs,
			const void *env)
{
	struct dfr_firing *firing = &pc->pc_firing;
	struct dfr_ecb *ecb = dfr_load_acquire(&probe->pb_ecbs);

	set_firing(firing, probe, args, nargs, regs, env);
	pc->pc_stamp++;
	if (dfr_unlikely(!--pc->pc_left)) {
		fire_timed(pc, firing, ecb);
		return;
	}
	for (; ecb; ecb = dfr_load_acquire(&ecb->ec_next))
		fire_one(pc, firing, ecb);
}

dfr_hot void fire(struct dfr_probe *probe, const u64 *args, u32 nargs, void *regs, const void *env)
{
	struct dfr_engine *engine = probe->pb_provider->pv_engine;
	unsigned long flags = dfr_plat_irq_save(engine, 0);
	struct dfr_cpu *pc = dfr_this_cpu(engine);

	if (dfr_unlikely(pc->pc_busy)) {
		nested_hit(pc, probe, pc->pc_firing.fr_cpu, env);
	} else {
		dfr_cpu_enter(pc);
		fire_chain(pc, probe, args, nargs, regs, env);
		dfr_cpu_leave(pc);
	}
	dfr_plat_irq_restore(engine, flags);
}

#ifdef __KERNEL__
void dfr_plat_direct dfr_fire_bare(struct dfr_probe *probe, void *regs)
{
	fire(probe, NULL, 0, regs, NULL);
}

static dfr_noinline void fire_if_pure_holds(struct dfr_probe *probe, const u64 *args, unsigned nargs,
					    void *regs)
{
	if (any_pure_holds(probe, args, nargs, regs))
		fire(probe, args, nargs, regs, NULL);
	else
		count_pure(probe, args, nargs, regs);
}

void dfr_fire(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs)
{
	if (dfr_unlikely(dfr_read_once(&probe->pb_flags) & DFR_PB_PURE))
		fire_if_pure_holds(probe, args, nargs, regs);
	else
		fire(probe, args, nargs, regs, NULL);
}
#else
void dfr_fire_env(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs, const void *env)
{
	if (dfr_probe_enabled(probe))
		fire(probe, args, nargs, regs, env);
}

void dfr_fire(struct dfr_probe *probe, const u64 *args, unsigned nargs, void *regs)
{
	dfr_fire_env(probe, args, nargs, regs, NULL);
}
#endif

/*
 * Fires BEGIN or END of one state on this CPU, unless its guard is a dead firing's: then the state is killed anyway.
 * Interrupts off: called by dfr_plat_on_cpu().
 */
void dfr_fire_dtrace(struct dfr_state *state, u32 probe_id, u32 cpu)
{
	struct dfr_engine *engine = state->st_engine;
	struct dfr_probe *probe = engine->en_own[probe_id];
	u32 needed = probe_id == DFR_PROBE_BEGIN ? DFR_WARMUP : DFR_COOLDOWN;
	struct dfr_cpu *pc = dfr_cpu_of(engine, cpu);
	struct dfr_share *share = state->st_shares[cpu];
	struct dfr_ecb *ecb;

	if (!share) {
		for (ecb = dfr_load_acquire(&probe->pb_ecbs); ecb && ecb->ec_state != state;)
			ecb = dfr_load_acquire(&ecb->ec_next);
		if (ecb) /* it would have fired on the CPU of the option `cpu`, too, but that has gone */
			count_without_share(state, probe);
		return;
	}
	if (dfr_read_once(&pc->pc_dead))
		return;
	dfr_cpu_enter(pc);
	set_firing(&pc->pc_firing, probe, NULL, 0, NULL, NULL);
	pc->pc_stamp++;
	for (ecb = dfr_load_acquire(&probe->pb_ecbs); ecb; ecb = dfr_load_acquire(&ecb->ec_next))
		if (ecb->ec_state == state &&
		    (dfr_read_once(&state->st_activity) == needed || goes_on(pc, ecb, share)))
			run_general(pc, &pc->pc_firing, ecb, share);
	dfr_cpu_leave(pc);
}

/* Counts a loss for each state that has an ECB here. Interrupts off, no other firing on this CPU. */
static void lost_by_all(struct dfr_cpu *pc, struct dfr_probe *probe, u32 cause)
{
	struct dfr_firing *firing = &pc->pc_firing;
	struct dfr_share *share;
	struct dfr_ecb *ecb;

	set_firing(firing, probe, NULL, 0, NULL, NULL);
	pc->pc_stamp++;
	for (ecb = dfr_load_acquire(&probe->pb_ecbs); ecb; ecb = dfr_load_acquire(&ecb->ec_next)) {
		if (!state_listens(ecb->ec_state) || !may_see(ecb, firing) ||
		    !counts_now(ecb->ec_state, firing->fr_cpu, DFR_LOSER_FIRING, pc->pc_stamp))
			continue;
		share = dfr_load_acquire(&ecb->ec_state->st_shares[firing->fr_cpu]);
		if (share && cause == DFR_LOSS_NMI)
			dfr_count(&share->sh_tally->loss[cause], 1); /* the ledger takes these from there */
		else if (share)
			dfr_lost_here(share, firing, cause, 1);
		else
			lost_without_share(ecb->ec_state, probe);
	}
}

void dfr_probe_lost(struct dfr_probe *probe, u32 cause)
{
	struct dfr_engine *engine = probe->pb_provider->pv_engine;
	unsigned long flags;
	struct dfr_cpu *pc;

	if (cause >= DFR_LOSS_MAX)
		return;
	flags = dfr_plat_irq_save(engine, 0);
	pc = dfr_this_cpu(engine);
	if (dfr_read_once(&pc->pc_busy)) {
		/* This CPU is inside a firing: the hit would have been nested, not a firing. */
		nested_hit(pc, probe, pc->pc_firing.fr_cpu, NULL);
	} else {
		dfr_cpu_enter(pc);
		lost_by_all(pc, probe, cause);
		dfr_cpu_leave(pc);
	}
	dfr_plat_irq_restore(engine, flags);
}
