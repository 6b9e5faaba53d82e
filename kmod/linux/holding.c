// SPDX-License-Identifier: GPL-2.0
/*
 * Holdings: a state's life as the machine sees it. A held state ends with its descriptor; a kept
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

static LIST_HEAD(holdings);
static DEFINE_MUTEX(holdings_lock); /* inside the engine's lock, outside the states' */
static LLIST_HEAD(doomed);	    /* off the list, and not destroyed yet */

static void housekeeping(struct work_struct *work);
static DECLARE_DELAYED_WORK(housekeeping_work, housekeeping);
static void settle(struct work_struct *work);
static DECLARE_WORK(settle_work, settle);

/* Any context but probe context. */
static void wake_owner(struct dfr_holding *holding)
{
	struct dfr_file *owner;

	rcu_read_lock();
	owner = READ_ONCE(holding->hd_owner);
	if (owner)
		wake_up_interruptible_all(&owner->fl_wait);
	rcu_read_unlock();
}

/* The same, and everybody who looks at it. */
static void wake_all(struct dfr_holding *holding)
{
	struct dfr_file *viewer;

	wake_owner(holding);
	rcu_read_lock();
	list_for_each_entry_rcu (viewer, &holding->hd_viewers, fl_viewer)
		wake_up_interruptible_all(&viewer->fl_wait);
	rcu_read_unlock();
}

/* Interrupt context (on -rt a thread): the irq_work that dfr_plat_wake() has queued. */
static void wake_readers(struct irq_work *work)
{
	struct dfr_holding *holding = container_of(work, struct dfr_holding, hd_wake);

	wake_all(holding);
}

void dfr_holdings_wake(void)
{
	struct dfr_holding *holding;

	rcu_read_lock();
	list_for_each_entry_rcu (holding, &holdings, hd_list)
		wake_all(holding);
	rcu_read_unlock();
}

/* A user without privilege may have this many states, each of this size. */
#define STATES_PER_USER 4
static unsigned int unprivileged_memory = 32;
module_param(unprivileged_memory, uint, 0600);
MODULE_PARM_DESC(unprivileged_memory,
		 "MiB that each of the four states of an unprivileged user may take (default: 32)");

static bool may_know(const struct dfr_rights *rights, const struct dfr_holding *holding)
{
	return !rights->rt_confined || (holding->hd_confined && holding->hd_uid == rights->rt_uid);
}

unsigned int dfr_holding_count(const struct dfr_rights *rights)
{
	struct dfr_holding *holding;
	unsigned int n = 0;

	mutex_lock(&holdings_lock);
	list_for_each_entry (holding, &holdings, hd_list)
		n += may_know(rights, holding);
	mutex_unlock(&holdings_lock);
	return n;
}

static int confine(struct dfr_holding *holding, const struct dfr_rights *rights)
{
	holding->hd_confined = true;
	holding->hd_uid = rights->rt_uid;
	return dfr_state_confine(holding->hd_state, rights->rt_uid, rights->rt_gid,
				 (u64)clamp(unprivileged_memory, 1U, 4096U) << 20);
}

int dfr_holding_create(const struct dfr_rights *rights, struct dfr_file *owner, struct dfr_holding **out)
{
	struct dfr_holding *holding;
	int error;

	if (rights->rt_confined && dfr_holding_count(rights) >= STATES_PER_USER)
		return -EDQUOT;
	holding = kzalloc(sizeof(*holding), DFR_GFP);
	if (!holding)
		return -ENOMEM;
	error = rights->rt_confined ? dfr_state_create_unnumbered(dfr_engine_instance, &holding->hd_state)
				    : dfr_state_create(dfr_engine_instance, &holding->hd_state);
	if (error) {
		kfree(holding);
		return error;
	}
	init_irq_work(&holding->hd_wake, wake_readers);
	INIT_LIST_HEAD(&holding->hd_viewers);
	if (rights->rt_confined)
		error = confine(holding, rights);
	if (error) {
		dfr_state_destroy(holding->hd_state);
		kfree(holding);
		return error;
	}
	dfr_state_set_host(holding->hd_state, holding);
	holding->hd_owner = owner;
	mutex_lock(&holdings_lock);
	list_add_tail_rcu(&holding->hd_list, &holdings);
	mutex_unlock(&holdings_lock);
	*out = holding;
	return 0;
}

/* Finds a kept holding; holdings_lock is held. */
static struct dfr_holding *find(const char *name)
{
	struct dfr_holding *holding;

	list_for_each_entry (holding, &holdings, hd_list)
		if (holding->hd_kept && !strcmp(dfr_state_name(holding->hd_state), name))
			return holding;
	return NULL;
}

/* The same, if nobody owns it but `file`; NULL: nobody at all. holdings_lock is held. */
static int find_free(const char *name, const struct dfr_file *file, struct dfr_holding **out)
{
	*out = find(name);
	if (!*out)
		return -ENOENT;
	return (*out)->hd_owner && (*out)->hd_owner != file ? -EBUSY : 0;
}

bool dfr_holding_known(const char *name)
{
	bool known;

	mutex_lock(&holdings_lock);
	known = find(name);
	mutex_unlock(&holdings_lock);
	return known;
}

int dfr_holding_load(const struct dfr_rights *rights, const void *dof, size_t size,
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
	struct dfr_holding *holding;
	bool wanted = false;

	mutex_lock(&holdings_lock);
	list_for_each_entry (holding, &holdings, hd_list)
		wanted |= holding->hd_kept && holding->hd_active;
	mutex_unlock(&holdings_lock);
	dfr_panic_watch(wanted);
}

int dfr_holding_keep(struct dfr_holding *holding, const char *name, bool anonymous)
{
	struct dfr_holding *other;

	mutex_lock(&holdings_lock);
	other = find(name);
	if (!other || other == holding) {
		dfr_state_set_name(holding->hd_state, name, anonymous);
		holding->hd_kept = true;
	}
	mutex_unlock(&holdings_lock);
	if (other && other != holding)
		return -EEXIST;
	update_panic_watch();
	return 0;
}

/* The holding is on no list. The engine's lock is held. */
static void destroy(struct dfr_holding *holding)
{
	dfr_state_destroy(holding->hd_state); /* after this no probe wakes anybody */
	irq_work_sync(&holding->hd_wake);
	kfree_rcu(holding, hd_rcu);
}

void dfr_holding_destroy(struct dfr_holding *holding)
{
	mutex_lock(&holdings_lock);
	list_del_rcu(&holding->hd_list);
	mutex_unlock(&holdings_lock);
	destroy(holding);
	update_panic_watch();
}

/*
 * Takes a holding that has something for dfr_state_settle() to do: its state has ended, or the
 * governor must act.
 */
static struct dfr_holding *take_unsettled(void)
{
	struct dfr_holding *holding, *found = NULL;

	mutex_lock(&holdings_lock);
	list_for_each_entry (holding, &holdings, hd_list)
		if (holding->hd_unsettled) {
			holding->hd_unsettled = false;
			found = holding;
			break;
		}
	mutex_unlock(&holdings_lock);
	return found;
}

/* Destroys a doomed holding; if somebody looks at it, disarms it and leaves the rest to him. */
static void destroy_or_spare(struct dfr_holding *holding)
{
	bool spared;

	mutex_lock(&holdings_lock);
	spared = holding->hd_spared = !list_empty(&holding->hd_viewers);
	mutex_unlock(&holdings_lock);
	if (spared)
		dfr_state_settle(holding->hd_state);
	else
		destroy(holding);
}

/*
 * A holding found here may leave the list meanwhile, but it is not freed, because destroying takes
 * the engine's lock, which is held here.
 */
void dfr_holdings_settle(void)
{
	struct dfr_holding *holding, *next;

	llist_for_each_entry_safe (holding, next, llist_del_all(&doomed), hd_doomed)
		destroy_or_spare(holding);
	while ((holding = take_unsettled()))
		dfr_state_settle(holding->hd_state);
	update_panic_watch();
}

static void settle(struct work_struct *work)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);

	dfr_mutex_lock(lock);
	dfr_holdings_settle();
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
	dfr_holdings_settle();
	dfr_mutex_unlock(lock);
	dfr_hotplug_settle(false);
}

/*
 * The holding is off the list, or was spared and its last viewer has gone. It is destroyed, or spared,
 * as soon as somebody has the engine's lock.
 */
static void doom(struct dfr_holding *holding)
{
	llist_add(&holding->hd_doomed, &doomed);
	settle_soon();
}

/* The holding is off the list and has no owner. Ends its state, which is disarmed soon, too. */
static void end(struct dfr_holding *holding)
{
	dfr_state_end(holding->hd_state);
	wake_all(holding);
	doom(holding);
}

int dfr_holding_view(struct dfr_file *file, const char *name, struct dfr_holding **out)
{
	mutex_lock(&holdings_lock);
	*out = find(name);
	if (*out && !smp_load_acquire(&(*out)->hd_started))
		*out = NULL; /* its owner may be adding programs to it yet */
	if (*out)
		list_add_tail_rcu(&file->fl_viewer, &(*out)->hd_viewers);
	mutex_unlock(&holdings_lock);
	return *out ? 0 : -ENOENT;
}

void dfr_holding_unview(struct dfr_file *file)
{
	struct dfr_holding *holding = file->fl_holding;
	bool last;

	mutex_lock(&holdings_lock);
	list_del_rcu(&file->fl_viewer);
	last = list_empty(&holding->hd_viewers) && holding->hd_spared;
	mutex_unlock(&holdings_lock);
	if (last)
		doom(holding);
}

int dfr_holding_mark(const char *text, u64 time, u32 *marked)
{
	struct dfr_holding *holding;
	int error = 0, result;

	*marked = 0;

	mutex_lock(&holdings_lock);
	list_for_each_entry (holding, &holdings, hd_list) {
		if (holding->hd_confined || !smp_load_acquire(&holding->hd_active))
			continue;
		result = dfr_state_mark(holding->hd_state, text, time);
		*marked += !result;
		error = error ?: result == -ENXIO ? 0 : result;
	}
	mutex_unlock(&holdings_lock);
	return error;
}

int dfr_holding_claim(struct dfr_file *file, const char *name, struct dfr_holding **out)
{
	int error;

	mutex_lock(&holdings_lock);
	error = find_free(name, NULL, out); /* one owner at a time, and once */
	if (!error)
		WRITE_ONCE((*out)->hd_owner, file);
	mutex_unlock(&holdings_lock);
	return error;
}

int dfr_holding_end(struct dfr_file *file, const char *name)
{
	struct dfr_holding *holding;
	bool owned = false;
	int error;

	mutex_lock(&holdings_lock);
	error = find_free(name, file, &holding);
	if (!error) {
		owned = holding->hd_owner;
		WRITE_ONCE(holding->hd_owner, NULL);
		list_del_rcu(&holding->hd_list);
	}
	mutex_unlock(&holdings_lock);
	if (error)
		return error;
	/* Outside of the lock, because a large mapping of this descriptor may be under way, which takes seconds. */
	if (owned)
		dfr_device_set_holding(file, NULL);
	end(holding);
	return 0;
}

void dfr_holding_let_go(struct dfr_holding *holding)
{
	bool kept = holding->hd_kept;

	if (kept)
		dfr_state_disown(holding->hd_state);
	mutex_lock(&holdings_lock);
	WRITE_ONCE(holding->hd_owner, NULL);
	if (!kept)
		list_del_rcu(&holding->hd_list);
	mutex_unlock(&holdings_lock);
	/* A kept holding may be claimed or ended by others from here on. */
	if (!kept)
		end(holding);
}

struct task_struct *dfr_holding_starts;

static void housekeeping_soon(void)
{
	mod_delayed_work(system_unbound_wq, &housekeeping_work, 0);
}

int dfr_holding_go(struct dfr_holding *holding, u32 *cpu)
{
	int error;

	dfr_holding_starts = current;
	error = dfr_state_go(holding->hd_state, cpu);
	dfr_holding_starts = NULL;
	if (error)
		return error;
	smp_store_release(&holding->hd_started, true);
	holding->hd_next_clean = 0;
	holding->hd_noticed = dfr_plat_clock(NULL);
	holding->hd_next_clock = holding->hd_noticed + NSEC_PER_SEC;
	smp_store_release(&holding->hd_active, true);
	housekeeping_soon();
	update_panic_watch();
	return 0;
}

int dfr_holding_stop(struct dfr_holding *holding, u32 *cpu)
{
	int error = dfr_state_halt(holding->hd_state, cpu);

	mutex_lock(&holdings_lock);
	WRITE_ONCE(holding->hd_active, false);
	holding->hd_unsettled = true;
	mutex_unlock(&holdings_lock);
	wake_all(holding);
	settle_soon();
	return error;
}

/*
 * Housekeeping. One work item for all active holdings, queued for the time when the first of them is
 * due.
 */
#define DFR_CLEAN_DEFAULT_NS (NSEC_PER_SEC / 101)
#define DFR_CLEAN_MIN_NS     (NSEC_PER_SEC / 5000)
#define DFR_CLEAN_MAX_NS     NSEC_PER_SEC /* the governor detaches and attaches by it, and blocks are sealed */

static u64 clean_interval(const struct dfr_holding *holding)
{
	s64 rate = (s64)dfr_state_option(holding->hd_state, DFR_OPT_CLEANRATE);

	if (rate <= 0)
		return DFR_CLEAN_DEFAULT_NS;
	return clamp_t(u64, rate, DFR_CLEAN_MIN_NS, DFR_CLEAN_MAX_NS);
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

/* How much of the time since the last call (hd_noticed) counts as the consumer's silence. */
static u64 silence(struct dfr_holding *holding, u64 now)
{
	u64 due = max(min(holding->hd_next_clean, holding->hd_next_clock), holding->hd_noticed);
	u64 seen = min(now, due + ON_TIME), passed = seen - min(seen, holding->hd_noticed);

	return is_busy(holding->hd_owner->fl_opener) ? passed / BUSY_SHARE : passed;
}

static void watch_consumer(struct dfr_holding *holding, u64 now)
{
	struct dfr_file *owner = holding->hd_owner;

	if (holding->hd_kept || !owner || holding->hd_words != READ_ONCE(owner->fl_words)) {
		holding->hd_words = owner ? READ_ONCE(owner->fl_words) : 0;
		holding->hd_silent = 0;
	} else {
		holding->hd_silent += silence(holding, now);
	}
	holding->hd_noticed = now;
	if (!consumer_timeout || holding->hd_silent < consumer_timeout * NSEC_PER_SEC ||
	    (s64)dfr_state_option(holding->hd_state, DFR_OPT_DESTRUCTIVE) >= 0)
		return;
	holding->hd_unsettled |= dfr_state_kill(holding->hd_state);
	wake_all(holding);
}

/* Does what is due for a holding; returns when it is due next. */
static u64 keep_house(struct dfr_holding *holding, u64 now)
{
	watch_consumer(holding, now);
	if (xchg(&holding->hd_owed, false))
		wake_all(holding);
	if (now >= holding->hd_next_clean || dfr_engine_broken(dfr_engine_instance)) {
		holding->hd_unsettled |= dfr_state_keep(holding->hd_state);
		holding->hd_next_clean = now + clean_interval(holding);
		if (dfr_state_readable(holding->hd_state))
			wake_owner(holding);
	}
	if (now >= holding->hd_next_clock) {
		dfr_state_clock(holding->hd_state, now);
		holding->hd_next_clock = now + NSEC_PER_SEC;
	}
	return min(holding->hd_next_clean, holding->hd_next_clock);
}

/*
 * It does not wait for the engine's lock: work that needs it is left to settle_work. The other locks
 * it waits for, because with trylock it might never get them where others always hold them.
 */
static void housekeeping(struct work_struct *work)
{
	struct dfr_holding *holding;
	u64 now, next = U64_MAX;
	bool unsettled = false;

	mutex_lock(&holdings_lock);
	now = dfr_plat_clock(NULL);
	list_for_each_entry (holding, &holdings, hd_list) {
		if (smp_load_acquire(&holding->hd_active))
			next = min(next, keep_house(holding, now));
		unsettled |= holding->hd_unsettled;
	}
	mutex_unlock(&holdings_lock);
	dfr_hooks_watch();
	if (unsettled)
		queue_work(system_unbound_wq, &settle_work);
	if (next == U64_MAX)
		return;
	now = dfr_plat_clock(NULL);
	/* Rounded up: with a delay of 0 it would run again and again until the time has come. */
	queue_delayed_work(system_unbound_wq, &housekeeping_work,
			   next > now ? nsecs_to_jiffies(next - now) + 1 : 1);
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

/*
 * One line for each state: name, id, activity, and the number of the process that holds it, as the
 * reader sees processes (0: it is in none of the reader's namespaces), or "unclaimed".
 */
size_t dfr_holding_describe(const struct dfr_rights *rights, char *buffer, size_t room)
{
	struct dfr_holding *holding;
	size_t need = 0;

	mutex_lock(&holdings_lock);
	list_for_each_entry (holding, &holdings, hd_list) {
		char *at = need < room ? buffer + need : NULL;
		char holder[16] = "unclaimed";

		if (!may_know(rights, holding))
			continue;
		if (holding->hd_owner)
			snprintf(holder, sizeof(holder), "%d", pid_vnr(holding->hd_owner->fl_opener));
		need += snprintf(at, at ? room - need : 0, "%s\t%u\t%s\t%s\n",
				 holding->hd_kept ? dfr_state_name(holding->hd_state) : "-",
				 dfr_state_number(holding->hd_state),
				 activity_name(dfr_state_activity(holding->hd_state)), holder);
	}
	mutex_unlock(&holdings_lock);
	return need;
}

/* No descriptor is open any more, so these holdings are kept ones or wait to be destroyed. */
void dfr_holdings_end(void)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	struct dfr_holding *holding, *next;

	dfr_mutex_lock(lock);
	list_for_each_entry_safe (holding, next, &holdings, hd_list) {
		pr_notice("dfr: the module goes, and with it the kept state %s: what nobody has taken of its "
			  "records is gone\n",
			  dfr_state_name(holding->hd_state));
		dfr_holding_destroy(holding);
	}
	dfr_holdings_settle();
	dfr_mutex_unlock(lock);
	cancel_delayed_work_sync(&housekeeping_work);
	cancel_work_sync(&settle_work);
	dfr_hooks_settle();
}
