// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a state: created empty, given programs (enable.c), made to record by go, ended by
 * stop, destroyed. Process context under the engine's lock, the state's own, or both: engine.h says
 * which.
 *
 *   INACTIVE -go-> WARMUP (BEGIN runs) -> ACTIVE -stop or exit()-> DRAINING
 *            -> COOLDOWN (END runs) -> STOPPED
 *
 * Shares are made before anything is armed. The CPU of BEGIN records first, each other CPU from the
 * visit on that activates it, so each CPU starts with complete chains of ECBs. Memory is freed only
 * after unlinking and dfr_plat_synchronize(). Ending and disarming are two steps, because disarming
 * may have to wait for a task that arms: a state that has ended records nothing from then on, and
 * its probes cost the guard only.
 */
#include "kmod/engine/recording/store.h"

#define SECOND 1000000000LL

/* Options. */

static const struct {
	u32 option;
	s64 value;
} defaults[] = {
	{ DFR_OPT_BUFSIZE, 4 << 20 },
	{ DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_SWITCH },
	{ DFR_OPT_DYNVARSIZE, 1 << 20 },
	{ DFR_OPT_AGGSIZE, 4 << 20 },
	{ DFR_OPT_SPECSIZE, 32 << 10 },
	{ DFR_OPT_NSPEC, 1 },
	{ DFR_OPT_STRSIZE, DIF_STRSIZE_DEFAULT },
	{ DFR_OPT_CLEANRATE, SECOND / 101 },
	{ DFR_OPT_BUFRESIZE, 0 },
	{ DFR_OPT_STACKFRAMES, 20 },
	{ DFR_OPT_USTACKFRAMES, 20 },
	{ DFR_OPT_AGGRATE, SECOND },
	{ DFR_OPT_SWITCHRATE, SECOND },
	{ DFR_OPT_STATUSRATE, SECOND },
	{ DFR_OPT_JSTACKFRAMES, 50 },
	{ DFR_OPT_JSTACKSTRSIZE, 512 },
	{ DFR_OPT_STACKINDENT, 14 },
};

static void set_defaults(struct dfr_state *state)
{
	u32 i;

	for (i = 0; i < DFR_NOPTS; i++)
		state->st_options[i] = DFR_OPT_UNSET;
	for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		state->st_options[dfr_option_index(defaults[i].option)] = defaults[i].value;
}

u64 dfr_state_option(const struct dfr_state *state, u32 option)
{
	return dfr_option_known(option) ? (u64)dfr_option(state, option) : (u64)DFR_OPT_UNSET;
}

void dfr_state_room(const struct dfr_state *state, u64 *wanted, u64 *left)
{
	*wanted = state->st_room_wanted;
	*left = state->st_room_left;
}

/* Creation. */

static int create(struct dfr_engine *engine, u32 number, struct dfr_state **out)
{
	struct dfr_state *state = dfr_plat_alloc(sizeof(*state));
	struct dfr_state **tail;
	int error;
	u32 boot;

	if (!state)
		return -ENOMEM;
	state->st_engine = engine;
	dfr_mutex_init(&state->st_lock);
	memcpy(&boot, dfr_plat_boot_id(), sizeof(boot));
	state->st_id = (u64)boot << 32 | number;
	state->st_activity = DFR_INACTIVE;
	set_defaults(state);
	dfr_hashkey_make(&state->st_hash);
	state->st_strsize = DIF_STRSIZE_DEFAULT;
	state->st_live = dfr_plat_alloc(DFR_PRIORITIES * engine->en_ncpus * sizeof(state->st_live[0]));
	state->st_shares = dfr_plat_alloc(engine->en_ncpus * sizeof(state->st_shares[0]));
	state->st_counted = dfr_plat_alloc(engine->en_ncpus * sizeof(state->st_counted[0]));
	error = state->st_live && state->st_shares && state->st_counted ? dfr_catalog_create(state) : -ENOMEM;
	if (error) {
		dfr_plat_unanchor(state);
		dfr_catalog_free(state);
		dfr_plat_free(state->st_live);
		dfr_plat_free(state->st_shares);
		dfr_plat_free(state->st_counted);
		dfr_plat_free(state);
		return error;
	}
	for (tail = &engine->en_states; *tail; tail = &(*tail)->st_next)
		;
	*tail = state;
	*out = state;
	return 0;
}

int dfr_state_create(struct dfr_engine *engine, struct dfr_state **out)
{
	return create(engine, ++engine->en_state_ids, out);
}

static bool is_taken(const struct dfr_engine *engine, u32 number)
{
	const struct dfr_state *state = engine->en_states;

	while (state && dfr_state_number(state) != number)
		state = state->st_next;
	return state != NULL;
}

#define NUMBERS_AT_RANDOM 0x80000000u

int dfr_state_create_unnumbered(struct dfr_engine *engine, struct dfr_state **out)
{
	u32 number = NUMBERS_AT_RANDOM | (u32)dfr_plat_secret();

	while (is_taken(engine, number))
		number = NUMBERS_AT_RANDOM | (number + 1);
	return create(engine, number, out);
}

u32 dfr_state_activity(const struct dfr_state *state)
{
	return dfr_read_once(&state->st_activity);
}

u64 dfr_state_id(const struct dfr_state *state)
{
	return state->st_id;
}

u32 dfr_state_number(const struct dfr_state *state)
{
	return (u32)state->st_id;
}

const char *dfr_state_name(const struct dfr_state *state)
{
	return state->st_name;
}

void dfr_state_set_name(struct dfr_state *state, const char *name, bool anonymous)
{
	size_t n = strlen(name);

	if (n >= sizeof(state->st_name))
		n = sizeof(state->st_name) - 1;
	dfr_mutex_lock(&state->st_lock);
	memset(state->st_name, 0, sizeof(state->st_name));
	memcpy(state->st_name, name, n);
	state->st_anonymous = anonymous;
	/* Before go there is no entry to renew: dfr_state_go() writes the first. */
	if (state->st_activity != DFR_INACTIVE) {
		dfr_past_recall(state);
		dfr_catalog_state(state);
	}
	dfr_mutex_unlock(&state->st_lock);
}

void *dfr_state_host(const struct dfr_state *state)
{
	return state->st_host;
}

void dfr_state_set_host(struct dfr_state *state, void *host)
{
	state->st_host = host;
}

void dfr_states_visit(struct dfr_engine *engine, bool (*visit)(struct dfr_state *state, void *arg), void *arg)
{
	struct dfr_state *state, *next;

	for (state = engine->en_states; state; state = next) {
		next = state->st_next;
		if (!visit(state, arg))
			return;
	}
}

/* Go. */

struct on_share {
	struct dfr_state *os_state;
	u32 os_cpu;
	u32 os_probe;
	bool os_active;
};

/* On os_cpu: starts or ends its recording for the state. */
static void activate(void *arg)
{
	struct on_share *on = arg;

	dfr_governor_open(on->os_state->st_shares[on->os_cpu], on->os_active, dfr_plat_clock(NULL));
}

/* On the CPU that BEGIN or END is to fire on. */
static void fire_on(void *arg)
{
	struct on_share *on = arg;

	on->os_cpu = dfr_plat_cpu();
	dfr_fire_dtrace(on->os_state, on->os_probe, on->os_cpu);
}

static void set_active(struct dfr_state *state, bool active)
{
	struct on_share on = { .os_state = state, .os_active = active };

	for (on.os_cpu = 0; on.os_cpu < state->st_engine->en_ncpus; on.os_cpu++)
		if (state->st_shares[on.os_cpu])
			dfr_visit_cpu(state->st_engine, on.os_cpu, activate, &on);
}

/* Where BEGIN and END fire: on this CPU, unless it has no ring. */
static u32 home_cpu(const struct dfr_state *state)
{
	u32 here = dfr_plat_cpu();
	u32 i;

	if (here < state->st_engine->en_ncpus && state->st_shares[here] && dfr_plat_cpu_online(here))
		return here;
	for (i = 0; i < state->st_engine->en_ncpus; i++)
		if (state->st_shares[i] && dfr_plat_cpu_online(i))
			return i;
	return here;
}

/*
 * A confined state's BEGIN and END must fire in the task that asks, which runs on this CPU. If this
 * CPU came without memory for its share, the firing is lost and counted.
 */
static u32 fire_here(struct on_share *on)
{
	unsigned long flags = dfr_plat_irq_save(on->os_state->st_engine, dfr_plat_cpu());

	fire_on(on);
	dfr_plat_irq_restore(on->os_state->st_engine, flags);
	return on->os_cpu;
}

static u32 fire_dtrace(struct dfr_state *state, u32 probe)
{
	struct on_share on = { .os_state = state, .os_probe = probe, .os_cpu = home_cpu(state) };

	if (dfr_state_confined(state))
		return fire_here(&on);
	dfr_plat_on_cpu(state->st_engine, on.os_cpu, fire_on, &on);
	return on.os_cpu;
}

static int get_ready(struct dfr_state *state)
{
	int error;

	dfr_mutex_lock(&state->st_lock);
	error = dfr_state_prepare(state);
	if (error) {
		dfr_write_once(&state->st_activity, (u32)DFR_STOPPED);
	} else {
		dfr_catalog_clock(state, dfr_plat_clock(NULL));
		state->st_told_time = state->st_missed_time = state->st_began = dfr_plat_clock(NULL);
	}
	dfr_mutex_unlock(&state->st_lock);
	return error;
}

u64 dfr_ecb_missed(const struct dfr_ecb *ecb, bool *off)
{
	return ecb->ec_probe->pb_provider->pv_ops->missed(ecb->ec_probe,
							  dfr_option(ecb->ec_state, DFR_OPT_CPU), off);
}

static bool tells(const struct dfr_ecb *ecb)
{
	return dfr_ecb_marked(ecb, DFR_MARK_LINKED) && ecb->ec_tells;
}

/* All CPUs record. What was missed before is nobody's, as what they left out. */
static void begin_hearing(struct dfr_state *state)
{
	struct dfr_ecb *ecb;
	bool off;

	for (ecb = state->st_misses ? state->st_ecbs : NULL; ecb; ecb = ecb->ec_sibling)
		if (tells(ecb))
			ecb->ec_missed = dfr_ecb_missed(ecb, &off);
	state->st_missed_time = dfr_plat_clock(NULL);
	state->st_hears = dfr_read_once(&state->st_activity) == DFR_ACTIVE;
}

static u32 begin(struct dfr_state *state)
{
	u32 cpu;

	dfr_mutex_lock(&state->st_lock);
	state->st_oopses = dfr_read_once(&state->st_engine->en_oopses);
	state->st_oops_told = state->st_oops_marked = state->st_oopses;
	dfr_write_once(&state->st_activity, (u32)DFR_WARMUP);
	cpu = fire_dtrace(state, DFR_PROBE_BEGIN);
	dfr_cmpxchg(&state->st_activity, (u32)DFR_WARMUP, (u32)DFR_ACTIVE);
	set_active(state, true);
	/* Until here a CPU that was not visited yet left out what fired there, and nobody counts that. */
	begin_hearing(state);
	dfr_catalog_event(state, DFR_EVENT_GO, (s32)cpu, dfr_plat_clock(NULL));
	dfr_mutex_unlock(&state->st_lock);
	return cpu;
}

int dfr_state_go(struct dfr_state *state, u32 *begin_cpu)
{
	int error;
	u32 cpu;

	if (state->st_activity != DFR_INACTIVE)
		return -EBUSY;
	if (dfr_engine_broken(state->st_engine))
		return -EIO;
	if (!dfr_limits_may_start(state))
		return -EAGAIN;
	error = get_ready(state);
	if (error)
		return error;
	dfr_state_arm(state);
	cpu = begin(state);
	if (begin_cpu)
		*begin_cpu = cpu;
	return 0;
}

/* Losses that are counted where no ledger is. */

struct dfr_share *dfr_any_share(const struct dfr_state *state)
{
	u32 cpu;

	for (cpu = 0; cpu < state->st_engine->en_ncpus; cpu++)
		if (state->st_shares[cpu])
			return state->st_shares[cpu];
	return NULL;
}

/* NULL: there is none. That of home_cpu(), unless the only CPU with a share is away. */
static struct dfr_share *telling_share(const struct dfr_state *state)
{
	struct dfr_share *share = state->st_shares[home_cpu(state)];

	return share ? share : dfr_any_share(state);
}

/* A CPU without a share has no ledger, so another's tells of these losses. */
static void tell_counted(struct dfr_state *state)
{
	struct dfr_untold loss = { .un_share = telling_share(state),
				   .un_cause = DFR_LOSS_HOTPLUG,
				   .un_from = state->st_told_time };

	if (!loss.un_share)
		return;
	loss.un_to = dfr_plat_clock(NULL);
	state->st_told_time = loss.un_to;
	loss.un_count = DFR_TALLY_VALUE(dfr_load_acquire(&state->st_tally->loss[DFR_LOSS_HOTPLUG]));
	if (!loss.un_count)
		return;
	/* Read after the count, so that it covers all firings that were counted. */
	loss.un_probe = dfr_read_once(&state->st_hotplug_probe);
	dfr_write_once(&state->st_hotplug_probe, 0u);
	if (loss.un_probe == DFR_PROBES_SEVERAL)
		loss.un_probe = 0;
	dfr_tell_loss(&loss);
	dfr_atomic_add(&state->st_tally->loss[DFR_LOSS_HOTPLUG], -loss.un_count);
}

static void tell_missed_by(struct dfr_state *state, struct dfr_ecb *ecb, u64 now)
{
	struct dfr_untold loss = { .un_share = telling_share(state),
				   .un_cause = DFR_LOSS_MISSED,
				   .un_probe = ecb->ec_probe->pb_id,
				   .un_from = state->st_missed_time,
				   .un_to = now };
	bool off = false;
	u64 missed = dfr_ecb_missed(ecb, &off);

	/* A count may go back a little, where two CPUs counted at once. */
	missed = missed < ecb->ec_missed ? ecb->ec_missed : missed;
	loss.un_count = missed - ecb->ec_missed;
	if ((!loss.un_count && off == ecb->ec_off) || !loss.un_share)
		return;
	ecb->ec_missed = missed;
	dfr_tell_loss(&loss);
	if (off && !ecb->ec_off)
		dfr_catalog_off(state, ecb->ec_probe->pb_id, state->st_missed_time);
	ecb->ec_off = off;
}

/* What the providers did not hear of. They are asked one by one, and cannot say when it was, nor on which CPU. */
static void tell_missed(struct dfr_state *state)
{
	u64 now = dfr_plat_clock(NULL);
	struct dfr_ecb *ecb;

	for (ecb = state->st_misses && state->st_hears ? state->st_ecbs : NULL; ecb; ecb = ecb->ec_sibling)
		if (tells(ecb))
			tell_missed_by(state, ecb, now);
	state->st_missed_time = now;
}

/* Recording is over. The probes may stay armed for long, and what they miss from here on is nobody's. */
static void end_hearing(struct dfr_state *state)
{
	tell_missed(state);
	state->st_hears = false;
}

/* NULL: no ECB of the state is linked at the probe. The engine's lock is held. */
struct dfr_ecb *dfr_state_ecb_at(const struct dfr_state *state, const struct dfr_probe *probe)
{
	struct dfr_ecb *ecb = probe->pb_ecbs;

	while (ecb && ecb->ec_state != state)
		ecb = ecb->ec_next;
	return ecb;
}

/*
 * The ECB was unlinked, and what its probe misses from here on is nobody's. If another one of the state is at the probe,
 * that one tells from now on.
 */
void dfr_state_unlinked(struct dfr_state *state, struct dfr_ecb *ecb)
{
	struct dfr_ecb *other = dfr_state_ecb_at(state, ecb->ec_probe);

	dfr_mutex_lock(&state->st_lock);
	if (ecb->ec_tells && other) {
		other->ec_missed = ecb->ec_missed;
		other->ec_off = ecb->ec_off;
		other->ec_tells = true;
	} else if (ecb->ec_tells && state->st_hears) {
		tell_missed_by(state, ecb, dfr_plat_clock(NULL));
	}
	ecb->ec_tells = false;
	dfr_mutex_unlock(&state->st_lock);
}

/*
 * exit() runs in probe context, which cannot write to the catalog; the event is written here. One in END that
 * replaces the status gets an event of its own, so the last event is right.
 */
static void log_exit(struct dfr_state *state)
{
	s32 status;
	u64 time;

	if (!dfr_load_acquire(&state->st_exited))
		return;
	status = dfr_read_once(&state->st_exit_status);
	if (state->st_exit_logged && status == state->st_exit_told)
		return;
	if (!state->st_exit_logged)
		set_active(state, false);
	/* Asked after all CPUs were visited, so no firing is under way that began before the end. */
	time = dfr_read_once(&state->st_tally->over);
	if (!time || state->st_exit_logged ||
	    dfr_read_once(&state->st_activity) >= DFR_COOLDOWN) /* it was END's */
		time = dfr_plat_clock(NULL);
	if (!state->st_exit_logged)
		end_hearing(state);
	state->st_exit_logged = true;
	state->st_exit_told = status;
	dfr_catalog_event(state, DFR_EVENT_EXIT, status, time);
}

/* A fill ring becomes full in probe context too. Until the time written here, answers are complete. */
static void log_full(struct dfr_state *state)
{
	struct dfr_ring *ring;
	u32 i;

	for (i = 0; i < state->st_engine->en_ncpus; i++) {
		if (!state->st_shares[i])
			continue;
		ring = &state->st_shares[i]->sh_ring;
		if (ring->rg_full_told || !dfr_load_acquire(&ring->rg_full))
			continue;
		ring->rg_full_told = true;
		dfr_catalog_event(state, DFR_EVENT_FULL, (s32)i, ring->rg_full_time);
	}
}

static const char *const killed_texts[] = {
	[DFR_KILLED_COST] = "probes have taken more than nine tenths of a CPU for a second",
	[DFR_KILLED_CONSUMER] = "its consumer has not been seen for too long",
	[DFR_KILLED_OOPS] =
		"the kernel oopsed inside a probe's firing: nothing records until this module is loaded anew",
};

/* Probe context kills by changing st_activity and what st_tally says of it only; the rest is done here. */
static void end_killed(struct dfr_state *state, enum dfr_killed why)
{
	u64 time, unknown;

	if (state->st_ended)
		return;
	end_hearing(state);
	state->st_ended = state->st_unsettled = true;
	set_active(state, false);
	dfr_spec_clean(state); /* its consumer may take what is left before the next housekeeping */
	/* Asked after all CPUs were visited, so no firing is under way that began before the end. */
	time = dfr_read_once(&state->st_tally->over);
	unknown = dfr_engine_broken(state->st_engine);
	/* Whatever else is wrong: the answer is not whole. */
	if (unknown) {
		why = DFR_KILLED_OOPS;
		time = time && time < unknown ? time : unknown;
		time = time > state->st_began ? time : state->st_began;
	}
	dfr_governor_end(state, time);
	tell_counted(state);
	dfr_catalog_event(state, DFR_EVENT_KILLED, (s32)why, time);
	dfr_plat_log("state %u is killed: %s", dfr_state_number(state), killed_texts[why]);
}

/*
 * END does not fire any more: it could come to the CPU whose guard is taken. A CPU that was visited before this is asked
 * had either recorded all that fired by then, or the state ends here.
 */
static void kill_broken(struct dfr_state *state)
{
	u64 now = dfr_plat_clock(NULL);

	if (!dfr_becomes_over(state, DFR_ACTIVE, DFR_KILLED, now) &&
	    !dfr_becomes_over(state, DFR_DRAINING, DFR_KILLED, now))
		dfr_becomes_over(state, DFR_COOLDOWN, DFR_KILLED, now);
}

bool dfr_state_notice_end(struct dfr_state *state)
{
	dfr_catalog_catch_up(state);
	dfr_triggers_mark(state);
	log_exit(state);
	log_full(state);
	if (state->st_ended)
		return false;
	if (dfr_engine_broken(state->st_engine))
		kill_broken(state);
	if (dfr_read_once(&state->st_activity) != DFR_KILLED)
		return false;
	end_killed(state, DFR_KILLED_COST);
	dfr_plat_wake(state);
	return true;
}

bool dfr_state_kill(struct dfr_state *state)
{
	bool active;

	dfr_mutex_lock(&state->st_lock);
	active = dfr_becomes_over(state, DFR_ACTIVE, DFR_KILLED, dfr_plat_clock(NULL));
	if (active)
		end_killed(state, DFR_KILLED_CONSUMER);
	dfr_mutex_unlock(&state->st_lock);
	return active;
}

/* Up to when the state recorded: exit() may have been long before the stop. */
static u64 recorded_until(const struct dfr_state *state, u64 now)
{
	u64 over = state->st_tally ? dfr_read_once(&state->st_tally->over) : 0; /* NULL: it never began */

	return over ? over : now;
}

static int end_recording(struct dfr_state *state, u32 *end_cpu)
{
	u64 over = dfr_plat_clock(
		NULL); /* all that fires before this is recorded; of what fires after it only some */
	bool stops = dfr_becomes_over(state, DFR_ACTIVE, DFR_DRAINING, over);
	u32 activity = dfr_read_once(&state->st_activity);
	u32 cpu;

	/* A killed state has ended already, and its END does not fire. */
	if (activity == DFR_KILLED) {
		dfr_state_notice_end(state);
		return 0;
	}
	/* Whoever claims a kept state cannot know that it was stopped before. */
	if (activity == DFR_STOPPED)
		return 0;
	if (activity != DFR_DRAINING)
		return -EINVAL;
	set_active(state, false);
	if (stops) /* asked after all CPUs were visited: a firing that was under way may have lowered it */
		over = dfr_read_once(&state->st_tally->over);
	if (dfr_state_notice_end(state))
		return 0;
	end_hearing(state);
	dfr_spec_clean(state);
	dfr_write_once(&state->st_activity, (u32)DFR_COOLDOWN);
	dfr_governor_end(state, recorded_until(state, over));
	cpu = fire_dtrace(state, DFR_PROBE_END);
	if (dfr_state_notice_end(state)) /* END may not have fired */
		return 0;
	dfr_spec_clean(state);
	tell_counted(state);
	dfr_write_once(&state->st_activity, (u32)DFR_STOPPED);
	state->st_ended = true;
	dfr_catalog_event(state, DFR_EVENT_STOP, (s32)cpu, over);
	if (end_cpu)
		*end_cpu = cpu;
	return 0;
}

int dfr_state_halt(struct dfr_state *state, u32 *end_cpu)
{
	int error;

	dfr_mutex_lock(&state->st_lock);
	error = end_recording(state, end_cpu);
	dfr_mutex_unlock(&state->st_lock);
	return error;
}

void dfr_state_end(struct dfr_state *state)
{
	bool stops;
	u64 over;

	dfr_mutex_lock(&state->st_lock);
	dfr_state_notice_end(state);
	over = dfr_plat_clock(NULL);
	stops = dfr_becomes_over(state, DFR_ACTIVE, DFR_STOPPED, over);
	/* Again, because the deadman may have been first. */
	if (!dfr_state_notice_end(state) && !state->st_ended) {
		dfr_write_once(&state->st_activity, (u32)DFR_STOPPED);
		set_active(state, false);
		if (stops) /* as in end_recording() */
			over = dfr_read_once(&state->st_tally->over);
		dfr_spec_clean(state); /* for those who look at it still: no housekeeping comes any more */
		dfr_governor_end(state, recorded_until(state, over));
		tell_counted(state);
		end_hearing(state);
		state->st_ended = true;
		if (state->st_began)
			dfr_catalog_event(state, DFR_EVENT_STOP, -1, over);
	}
	dfr_mutex_unlock(&state->st_lock);
}

static bool has_ended(struct dfr_state *state)
{
	bool ended;

	dfr_mutex_lock(&state->st_lock);
	ended = state->st_ended;
	dfr_mutex_unlock(&state->st_lock);
	return ended;
}

void dfr_state_settle(struct dfr_state *state)
{
	if (has_ended(state))
		dfr_state_disarm(state);
	else
		dfr_governor_act(state, dfr_plat_clock(NULL));
}

int dfr_state_stop(struct dfr_state *state, u32 *end_cpu)
{
	int error = dfr_state_halt(state, end_cpu);

	if (!error)
		dfr_state_settle(state);
	return error;
}

void dfr_state_destroy(struct dfr_state *state)
{
	struct dfr_engine *engine = state->st_engine;
	struct dfr_state **link = &engine->en_states;

	dfr_write_once(&state->st_activity, (u32)DFR_STOPPED);
	dfr_state_disarm(state);
	dfr_limits_leave(state);
	dfr_past_keep(state);
	dfr_plat_unanchor(state);
	dfr_shares_free(state);
	dfr_spec_free(state);
	dfr_state_free_enablings(state);
	if (state->st_vars)
		dfr_vars_free(state->st_vars);
	dfr_catalog_free(state);
	while (*link && *link != state)
		link = &(*link)->st_next;
	if (*link)
		*link = state->st_next;
	dfr_plat_free(state->st_live);
	dfr_plat_free(state->st_shares);
	dfr_plat_free(state->st_counted);
	dfr_plat_free(state);
}

/* Status. */

static void add_share(struct dfr_ioc_status *status, const struct dfr_share *share)
{
	u32 i;

	status->filled += dfr_read_once(&share->sh_ring.rg_full);
	status->errors += dfr_read_once(&share->sh_errors);
	status->shadow += dfr_read_once(&share->sh_shadow);
	status->records += dfr_read_once(&share->sh_records);
	for (i = 0; i < DFR_LOSS_MAX; i++)
		status->loss[i] += DFR_TALLY_VALUE(dfr_read_once(&share->sh_tally->loss[i]));
}

void dfr_state_status(struct dfr_state *state, struct dfr_ioc_status *status)
{
	u32 i;

	memset(status, 0, sizeof(*status));
	dfr_mutex_lock(&state->st_lock);
	if (!dfr_state_notice_end(state))
		tell_missed(state); /* who asks may end a file with the answer */
	status->size = sizeof(*status);
	status->activity = dfr_read_once(&state->st_activity);
	status->exited = dfr_load_acquire(&state->st_exited);
	status->exit_status = dfr_read_once(&state->st_exit_status);
	for (i = 0; i < state->st_engine->en_ncpus; i++)
		if (state->st_shares[i])
			add_share(status, state->st_shares[i]);
	if (state->st_tally)
		status->loss[DFR_LOSS_HOTPLUG] +=
			DFR_TALLY_VALUE(dfr_read_once(&state->st_tally->loss[DFR_LOSS_HOTPLUG]));
	dfr_mutex_unlock(&state->st_lock);
}

/* Housekeeping. */

static bool keep(struct dfr_state *state)
{
	bool due = false;

	dfr_state_notice_end(state);
	if (dfr_read_once(&state->st_activity) == DFR_ACTIVE)
		due = dfr_governor_keep(state, dfr_plat_clock(NULL));
	due |= state->st_unsettled;
	state->st_unsettled = false;
	dfr_spec_clean(state);
	dfr_vars_clean(state->st_vars);
	tell_counted(state);
	if (dfr_plat_clock(NULL) - state->st_missed_time >= SECOND)
		tell_missed(state);
	dfr_ring_seal(state);
	return due;
}

bool dfr_state_keep(struct dfr_state *state)
{
	bool due;

	dfr_mutex_lock(&state->st_lock);
	due = state->st_vars && state->st_activity != DFR_INACTIVE && keep(state);
	dfr_mutex_unlock(&state->st_lock);
	return due;
}

void dfr_state_clean(struct dfr_state *state)
{
	if (dfr_state_keep(state))
		dfr_state_settle(state);
}

/* CPUs that come: prepare.c makes their shares. */

void dfr_engine_cpu_online(struct dfr_engine *engine, u32 cpu)
{
	struct dfr_state *state;
	struct on_share on = { .os_cpu = cpu, .os_active = true };

	for (state = engine->en_states; state && cpu < engine->en_ncpus; state = state->st_next) {
		dfr_mutex_lock(&state->st_lock);
		on.os_state = state;
		if (state->st_shares[cpu] && dfr_read_once(&state->st_activity) == DFR_ACTIVE)
			dfr_visit_cpu(engine, cpu, activate, &on);
		dfr_mutex_unlock(&state->st_lock);
	}
}
