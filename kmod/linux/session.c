// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: a state's life as the machine sees it. A held session ends with its descriptor; a kept
 * one has a name, outlives its consumer and can be claimed again. Also the housekeeping of active
 * states (cleaning, clock entries), which runs only while a state is active. Called by the device
 * for descriptors and by anonymous.c for the boot program. Process context; linux.h says under which
 * lock.
 */
#include "kmod/linux/btf.h"
#include "kmod/linux/device.h"
#include "kmod/linux/hook.h"

#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

static LIST_HEAD(sessions);
static DEFINE_MUTEX(sessions_lock); /* inside the engine's lock, outside the states' */
static LLIST_HEAD(doomed);	    /* off the list, and not destroyed yet */

static void housekeeping(struct work_struct *work);
static DECLARE_DELAYED_WORK(housekeeping_work, housekeeping);
static void settle(struct work_struct *work);
static DECLARE_WORK(settle_work, settle);

/* Any context but probe context. */
static void wake_owner(struct dfr_session *session)
{
	struct dfr_file *owner;

	rcu_read_lock();
	owner = READ_ONCE(session->ss_owner);
	if (owner)
		wake_up_interruptible_all(&owner->fl_wait);
	rcu_read_unlock();
}

/* Interrupt context (on -rt a thread): the irq_work that dfr_plat_wake() has queued. */
static void wake_readers(struct irq_work *work)
{
	struct dfr_session *session = container_of(work, struct dfr_session, ss_wake);

	wake_owner(session);
}

/* A user without privilege may have this many states, each of this size. */
#define STATES_PER_USER 4
static unsigned int unprivileged_memory = 32;
module_param(unprivileged_memory, uint, 0600);
MODULE_PARM_DESC(unprivileged_memory,
		 "MiB that each of the four states of an unprivileged user may take (default: 32)");

static bool may_know(const struct dfr_rights *rights, const struct dfr_session *session)
{
	return !rights->rt_confined || (session->ss_confined && session->ss_uid == rights->rt_uid);
}

unsigned int dfr_session_count(const struct dfr_rights *rights)
{
	struct dfr_session *session;
	unsigned int n = 0;

	mutex_lock(&sessions_lock);
	list_for_each_entry (session, &sessions, ss_list)
		n += may_know(rights, session);
	mutex_unlock(&sessions_lock);
	return n;
}

static int confine(struct dfr_session *session, const struct dfr_rights *rights)
{
	session->ss_confined = true;
	session->ss_uid = rights->rt_uid;
	return dfr_state_confine(session->ss_state, rights->rt_uid, rights->rt_gid,
				 (u64)clamp(unprivileged_memory, 1U, 4096U) << 20);
}

int dfr_session_create(const struct dfr_rights *rights, struct dfr_file *owner, struct dfr_session **out)
{
	struct dfr_session *session;
	int error;

	if (rights->rt_confined && dfr_session_count(rights) >= STATES_PER_USER)
		return -EDQUOT;
	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return -ENOMEM;
	error = dfr_state_create(dfr_engine_instance, &session->ss_state);
	if (error) {
		kfree(session);
		return error;
	}
	init_irq_work(&session->ss_wake, wake_readers);
	if (rights->rt_confined)
		error = confine(session, rights);
	if (error) {
		dfr_state_destroy(session->ss_state);
		kfree(session);
		return error;
	}
	dfr_state_set_host(session->ss_state, session);
	session->ss_owner = owner;
	mutex_lock(&sessions_lock);
	list_add_tail(&session->ss_list, &sessions);
	mutex_unlock(&sessions_lock);
	*out = session;
	return 0;
}

/* Finds a kept session; sessions_lock is held. */
static struct dfr_session *find(const char *name)
{
	struct dfr_session *session;

	list_for_each_entry (session, &sessions, ss_list)
		if (session->ss_kept && !strcmp(dfr_state_name(session->ss_state), name))
			return session;
	return NULL;
}

bool dfr_session_known(const char *name)
{
	bool known;

	mutex_lock(&sessions_lock);
	known = find(name);
	mutex_unlock(&sessions_lock);
	return known;
}

int dfr_session_load(const struct dfr_rights *rights, const void *dof, size_t size,
		     struct dfr_program **program, struct dfr_refusal *why)
{
	struct dfr_load_limits limits = {
		.ll_kernel_reads = rights->rt_kernel_reads,
		.ll_destructive = rights->rt_destructive,
		.ll_types = dfr_btf_digest,
		.ll_confined = rights->rt_confined,
	};

	return dfr_program_load(dof, size, &limits, program, why);
}

/*
 * Watches panic() while a kept state is active, and not for others, because patching two functions
 * takes longer than a short program runs. The engine's lock is held.
 */
static void update_panic_watch(void)
{
	struct dfr_session *session;
	bool wanted = false;

	mutex_lock(&sessions_lock);
	list_for_each_entry (session, &sessions, ss_list)
		wanted |= session->ss_kept && session->ss_active;
	mutex_unlock(&sessions_lock);
	dfr_panic_watch(wanted);
}

int dfr_session_keep(struct dfr_session *session, const char *name, bool anonymous)
{
	struct dfr_session *other;

	mutex_lock(&sessions_lock);
	other = find(name);
	if (!other || other == session) {
		dfr_state_set_name(session->ss_state, name, anonymous);
		session->ss_kept = true;
	}
	mutex_unlock(&sessions_lock);
	if (other && other != session)
		return -EEXIST;
	update_panic_watch();
	return 0;
}

/* The session is on no list. The engine's lock is held. */
static void destroy(struct dfr_session *session)
{
	dfr_state_destroy(session->ss_state); /* after this no probe wakes anybody */
	irq_work_sync(&session->ss_wake);
	kfree(session);
}

void dfr_session_destroy(struct dfr_session *session)
{
	mutex_lock(&sessions_lock);
	list_del(&session->ss_list);
	mutex_unlock(&sessions_lock);
	destroy(session);
	update_panic_watch();
}

/*
 * Takes a session that has something for dfr_state_settle() to do: its state has ended, or the
 * governor must act.
 */
static struct dfr_session *take_unsettled(void)
{
	struct dfr_session *session, *found = NULL;

	mutex_lock(&sessions_lock);
	list_for_each_entry (session, &sessions, ss_list)
		if (session->ss_unsettled) {
			session->ss_unsettled = false;
			found = session;
			break;
		}
	mutex_unlock(&sessions_lock);
	return found;
}

/*
 * A session found here may leave the list meanwhile, but it is not freed, because destroying takes
 * the engine's lock, which is held here.
 */
void dfr_sessions_settle(void)
{
	struct dfr_session *session, *next;

	llist_for_each_entry_safe (session, next, llist_del_all(&doomed), ss_doomed)
		destroy(session);
	while ((session = take_unsettled()))
		dfr_state_settle(session->ss_state);
	update_panic_watch();
}

static void settle(struct work_struct *work)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);

	dfr_mutex_lock(lock);
	dfr_sessions_settle();
	dfr_mutex_unlock(lock);
	dfr_hotplug_settle(false);
}

/*
 * Settles here if the engine's lock is free. Else its holder may be arming for long, so a work item
 * waits for the lock.
 */
static void settle_soon(void)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);

	if (!dfr_mutex_trylock(lock)) {
		queue_work(system_unbound_wq, &settle_work);
		return;
	}
	dfr_sessions_settle();
	dfr_mutex_unlock(lock);
	dfr_hotplug_settle(false);
}

/*
 * The session is off the list and has no owner. Ends its state; it is destroyed as soon as somebody
 * has the engine's lock.
 */
static void doom(struct dfr_session *session)
{
	dfr_state_end(session->ss_state);
	llist_add(&session->ss_doomed, &doomed);
	settle_soon();
}

int dfr_session_claim(struct dfr_file *file, const char *name, struct dfr_session **out)
{
	struct dfr_session *session;
	int error = 0;

	mutex_lock(&sessions_lock);
	session = find(name);
	if (!session)
		error = -ENOENT;
	else if (session->ss_owner)
		error = -EBUSY; /* one owner at a time */
	else
		WRITE_ONCE(session->ss_owner, file);
	mutex_unlock(&sessions_lock);
	*out = session;
	return error;
}

int dfr_session_end(struct dfr_file *file, const char *name)
{
	struct dfr_session *session;
	int error = 0;

	mutex_lock(&sessions_lock);
	session = find(name);
	if (!session)
		error = -ENOENT;
	else if (session->ss_owner && session->ss_owner != file)
		error = -EBUSY;
	if (!error) {
		if (session->ss_owner)
			dfr_device_set_session(file, NULL);
		WRITE_ONCE(session->ss_owner, NULL);
		list_del(&session->ss_list);
	}
	mutex_unlock(&sessions_lock);
	if (!error)
		doom(session);
	return error;
}

void dfr_session_let_go(struct dfr_session *session)
{
	bool kept = session->ss_kept;

	if (kept)
		dfr_state_disown(session->ss_state);
	mutex_lock(&sessions_lock);
	WRITE_ONCE(session->ss_owner, NULL);
	if (!kept)
		list_del(&session->ss_list);
	mutex_unlock(&sessions_lock);
	/* A kept session may be claimed or ended by others from here on. */
	if (!kept)
		doom(session);
}

struct task_struct *dfr_session_starts;

static void housekeeping_soon(void)
{
	mod_delayed_work(system_unbound_wq, &housekeeping_work, 0);
}

int dfr_session_go(struct dfr_session *session, u32 *cpu)
{
	int error;

	dfr_session_starts = current;
	error = dfr_state_go(session->ss_state, cpu);
	dfr_session_starts = NULL;
	if (error)
		return error;
	smp_store_release(&session->ss_started, true);
	session->ss_next_clean = 0;
	session->ss_noticed = dfr_plat_clock(NULL);
	session->ss_next_clock = session->ss_noticed + NSEC_PER_SEC;
	smp_store_release(&session->ss_active, true);
	housekeeping_soon();
	update_panic_watch();
	return 0;
}

int dfr_session_stop(struct dfr_session *session, u32 *cpu)
{
	int error = dfr_state_halt(session->ss_state, cpu);

	mutex_lock(&sessions_lock);
	WRITE_ONCE(session->ss_active, false);
	session->ss_unsettled = true;
	mutex_unlock(&sessions_lock);
	wake_owner(session);
	settle_soon();
	return error;
}

/*
 * Housekeeping. One work item for all active sessions, queued for the time when the first of them is
 * due.
 */
#define DFR_CLEAN_DEFAULT_NS (NSEC_PER_SEC / 101)
#define DFR_CLEAN_MIN_NS     (NSEC_PER_SEC / 5000)

static u64 clean_interval(const struct dfr_session *session)
{
	s64 rate = (s64)dfr_state_option(session->ss_state, DFR_OPT_CLEANRATE);

	if (rate <= 0)
		return DFR_CLEAN_DEFAULT_NS;
	return max_t(u64, rate, DFR_CLEAN_MIN_NS);
}

/*
 * The consumer's deadman: a held state whose owner makes no requests any more is killed, because
 * nobody would end it. On a machine that hardly gets to run this must not happen: time by which
 * housekeeping itself ran late is not counted against the consumer, and a consumer that is runnable
 * or waits for a disk gets ten times as long. A state with destructive actions (-w) is never killed,
 * because its user is trusted to come back.
 */
static unsigned int consumer_timeout = 10;
module_param(consumer_timeout, uint, 0600);
MODULE_PARM_DESC(consumer_timeout,
		 "seconds after which a state is killed whose consumer is silent; 0: never (default: 10)");

#define ON_TIME	    (20 * NSEC_PER_MSEC) /* ticks, and a moment for other work */
#define BUSY_SHARE  10
#define THREADS_MAX 64

/* Is any thread of the process that opened the descriptor running, runnable, or waiting uninterruptibly? */
static bool is_busy(struct pid *opener)
{
	struct task_struct *process, *thread;
	unsigned int n = 0;
	bool busy = false;

	rcu_read_lock();
	process = pid_task(opener, PIDTYPE_TGID);
	if (process)
		for_each_thread (process, thread) {
			unsigned int state = READ_ONCE(thread->__state);

			busy |= state == TASK_RUNNING || state & TASK_UNINTERRUPTIBLE;
			if (busy || ++n == THREADS_MAX)
				break;
		}
	rcu_read_unlock();
	return busy;
}

/* How much of the time since the last call (ss_noticed) counts as the consumer's silence. */
static u64 silence(struct dfr_session *session, u64 now)
{
	u64 due = max(min(session->ss_next_clean, session->ss_next_clock), session->ss_noticed);
	u64 seen = min(now, due + ON_TIME), passed = seen - min(seen, session->ss_noticed);

	return is_busy(session->ss_owner->fl_opener) ? passed / BUSY_SHARE : passed;
}

static void watch_consumer(struct dfr_session *session, u64 now)
{
	struct dfr_file *owner = session->ss_owner;

	if (session->ss_kept || !owner || session->ss_words != READ_ONCE(owner->fl_words)) {
		session->ss_words = owner ? READ_ONCE(owner->fl_words) : 0;
		session->ss_silent = 0;
	} else {
		session->ss_silent += silence(session, now);
	}
	session->ss_noticed = now;
	if (!consumer_timeout || session->ss_silent < consumer_timeout * NSEC_PER_SEC ||
	    (s64)dfr_state_option(session->ss_state, DFR_OPT_DESTRUCTIVE) >= 0)
		return;
	session->ss_unsettled |= dfr_state_kill(session->ss_state);
	wake_owner(session);
}

/* Does what is due for a session; returns when it is due next. */
static u64 keep_house(struct dfr_session *session, u64 now)
{
	watch_consumer(session, now);
	if (now >= session->ss_next_clean) {
		session->ss_unsettled |= dfr_state_keep(session->ss_state);
		session->ss_next_clean = now + clean_interval(session);
		if (dfr_state_readable(session->ss_state))
			wake_owner(session);
	}
	if (now >= session->ss_next_clock) {
		dfr_state_clock(session->ss_state);
		session->ss_next_clock = now + NSEC_PER_SEC;
	}
	return min(session->ss_next_clean, session->ss_next_clock);
}

/*
 * It does not wait for the engine's lock: work that needs it is left to settle_work. The other locks
 * it waits for, because with trylock it might never get them where others always hold them.
 */
static void housekeeping(struct work_struct *work)
{
	struct dfr_session *session;
	u64 now, next = U64_MAX;
	bool unsettled = false;

	mutex_lock(&sessions_lock);
	now = dfr_plat_clock(NULL);
	list_for_each_entry (session, &sessions, ss_list) {
		if (smp_load_acquire(&session->ss_active))
			next = min(next, keep_house(session, now));
		unsettled |= session->ss_unsettled;
	}
	mutex_unlock(&sessions_lock);
	dfr_hooks_watch();
	if (unsettled)
		queue_work(system_unbound_wq, &settle_work);
	if (next == U64_MAX)
		return;
	now = dfr_plat_clock(NULL);
	queue_delayed_work(system_unbound_wq, &housekeeping_work,
			   next > now ? nsecs_to_jiffies(next - now) : 1);
}

static const char *activity_name(u32 activity)
{
	static const char *const names[] = {
		[DFR_INACTIVE] = "inactive", [DFR_WARMUP] = "warmup",	  [DFR_ACTIVE] = "active",
		[DFR_DRAINING] = "draining", [DFR_COOLDOWN] = "cooldown", [DFR_STOPPED] = "stopped",
		[DFR_KILLED] = "killed",
	};

	return activity < ARRAY_SIZE(names) && names[activity] ? names[activity] : "unknown";
}

/* One line for each state: name, id, activity, held or unclaimed; for people and for `dfr`. */
size_t dfr_session_describe(const struct dfr_rights *rights, char *buffer, size_t room)
{
	struct dfr_session *session;
	size_t need = 0;

	mutex_lock(&sessions_lock);
	list_for_each_entry (session, &sessions, ss_list) {
		char *at = need < room ? buffer + need : NULL;

		if (!may_know(rights, session))
			continue;
		need += snprintf(at, at ? room - need : 0, "%s\t%llu\t%s\t%s\n",
				 session->ss_kept ? dfr_state_name(session->ss_state) : "-",
				 dfr_state_id(session->ss_state),
				 activity_name(dfr_state_activity(session->ss_state)),
				 session->ss_owner ? "held" : "unclaimed");
	}
	mutex_unlock(&sessions_lock);
	return need;
}

/* No descriptor is open any more, so these sessions are kept ones or wait to be destroyed. */
void dfr_sessions_end(void)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	struct dfr_session *session, *next;

	dfr_mutex_lock(lock);
	list_for_each_entry_safe (session, next, &sessions, ss_list)
		dfr_session_destroy(session);
	dfr_sessions_settle();
	dfr_mutex_unlock(lock);
	cancel_delayed_work_sync(&housekeeping_work);
	cancel_work_sync(&settle_work);
	dfr_hooks_settle();
}
