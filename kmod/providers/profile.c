// SPDX-License-Identifier: GPL-2.0
/*
 * profile-N fires on every CPU, tick-N on one: N times a second, or, where N has a
 * unit of time, once in that time. Each probe has a timer for each CPU, which expires
 * in hard interrupt context and runs only while the probe is armed. The probes that
 * create_usual() lists always exist, others are created when a pattern names them.
 *
 *   arg0  kernel PC, 0 when the CPU was in user mode
 *   arg1  user PC, 0 when it was in the kernel
 *   arg2  profile: how late the firing is, in ns; tick: 0
 *
 * A timer that could not expire for several periods, because interrupts were off or a host had
 * taken the CPU, fires once, late; the other periods are told as missed.
 */
#include "kmod/linux/linux.h"

#include <asm/irq_regs.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include "kmod/linux/compat.h"

#define PROFILE_MIN_NS	   200000 /* 5,000 Hz: there are no probes with a shorter period */
#define PROFILE_NAME_MAX   32
#define PROFILE_PROBES_MAX 1024 /* bounded, because every pattern can create one */

struct profile_timer {
	struct hrtimer pt_timer;
	struct profile *pt_profile;
	bool pt_running;
	u64 pt_skipped; /* periods; kept when it is armed again */
};

struct profile {
	struct list_head pr_list;
	struct dfr_probe *pr_probe;
	struct profile_timer __percpu *pr_timers;
	u64 pr_period;
	bool pr_tick;
	bool pr_armed;
	unsigned int pr_cpu; /* tick: the CPU whose timer runs */
};

static LIST_HEAD(profiles);
static DEFINE_MUTEX(profile_lock); /* guards the list and pr_armed; taken inside the CPU hotplug lock */
static unsigned int profile_count;
static int profile_hotplug = -1;
static struct dfr_provider profile_provider;

/* Hard interrupt context. */
static enum hrtimer_restart expire(struct hrtimer *hrtimer)
{
	struct profile_timer *timer = container_of(hrtimer, struct profile_timer, pt_timer);
	struct profile *profile = timer->pt_profile;
	struct pt_regs *regs = get_irq_regs();
	u64 args[3] = { 0, 0, 0 };
	u64 periods;

	if (regs && user_mode(regs)) {
		args[1] = instruction_pointer(regs);
	} else if (regs) {
		args[0] = instruction_pointer(regs);
	}
	if (!profile->pr_tick)
		args[2] = ktime_to_ns(ktime_sub(hrtimer_cb_get_time(hrtimer), hrtimer_get_expires(hrtimer)));
	dfr_fire(profile->pr_probe, args, 3, regs);
	periods = hrtimer_forward_now(hrtimer, ns_to_ktime(profile->pr_period));
	if (unlikely(periods > 1))
		WRITE_ONCE(timer->pt_skipped, timer->pt_skipped + periods - 1);
	return HRTIMER_RESTART;
}

static u64 profile_missed(const struct dfr_probe *probe, s64 only, bool *off)
{
	const struct profile *profile = probe->pb_cookie;
	unsigned int cpu;
	u64 skipped = 0;

	*off = false;
	for_each_possible_cpu (cpu)
		if (only < 0 || cpu == only)
			skipped += READ_ONCE(per_cpu_ptr(profile->pr_timers, cpu)->pt_skipped);
	return skipped;
}

/* Runs on the CPU whose timer it starts. */
static void start_here(void *data)
{
	struct profile *profile = data;
	struct profile_timer *timer = this_cpu_ptr(profile->pr_timers);

	timer->pt_profile = profile;
	dfr_hrtimer_setup(&timer->pt_timer, expire);
	timer->pt_running = true;
	hrtimer_start(&timer->pt_timer, ktime_add_ns(ktime_get(), profile->pr_period),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

static void stop_on(struct profile *profile, unsigned int cpu)
{
	struct profile_timer *timer = per_cpu_ptr(profile->pr_timers, cpu);

	if (!timer->pt_running)
		return;
	hrtimer_cancel(&timer->pt_timer);
	timer->pt_running = false;
}

static int profile_arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct profile *profile = probe->pb_cookie;
	s64 only = dfr_arming_option(provider->pv_engine, DFR_OPT_CPU);

	cpus_read_lock();
	mutex_lock(&profile_lock);
	profile->pr_probe = probe; /* create(), which others do not wait for, may not have got it yet */
	profile->pr_armed = true;
	if (profile->pr_tick) {
		/* A state that records one CPU's firings alone would not see those of another. */
		profile->pr_cpu = only >= 0 && cpu_online(only) ? only : cpumask_first(cpu_online_mask);
		smp_call_function_single(profile->pr_cpu, start_here, profile, 1);
	} else {
		on_each_cpu(start_here, profile, 1);
	}
	mutex_unlock(&profile_lock);
	cpus_read_unlock();
	return 0;
}

static void profile_disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct profile *profile = probe->pb_cookie;
	unsigned int cpu;

	cpus_read_lock();
	mutex_lock(&profile_lock);
	profile->pr_armed = false;
	for_each_possible_cpu (cpu)
		stop_on(profile, cpu);
	mutex_unlock(&profile_lock);
	cpus_read_unlock();
}

/* Process context on the CPU that has come online. */
static int cpu_came(unsigned int cpu)
{
	struct profile *profile;

	mutex_lock(&profile_lock);
	list_for_each_entry (profile, &profiles, pr_list)
		if (profile->pr_armed && !profile->pr_tick)
			smp_call_function_single(cpu, start_here, profile, 1);
	mutex_unlock(&profile_lock);
	return 0;
}

/* Process context on the CPU that goes offline: ticks that run on it move to another CPU. */
static int cpu_goes(unsigned int cpu)
{
	struct profile *profile;

	mutex_lock(&profile_lock);
	list_for_each_entry (profile, &profiles, pr_list) {
		if (!profile->pr_armed)
			continue;
		stop_on(profile, cpu);
		if (profile->pr_tick && profile->pr_cpu == cpu) {
			profile->pr_cpu = cpumask_any_but(cpu_online_mask, cpu);
			smp_call_function_single(profile->pr_cpu, start_here, profile, 1);
		}
	}
	mutex_unlock(&profile_lock);
	return 0;
}

static const struct {
	const char *unit;
	u64 ns;
} units[] = {
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "us", NSEC_PER_USEC },
	{ "usec", NSEC_PER_USEC },
	{ "ms", NSEC_PER_MSEC },
	{ "msec", NSEC_PER_MSEC },
	{ "s", NSEC_PER_SEC },
	{ "sec", NSEC_PER_SEC },
	{ "m", 60 * NSEC_PER_SEC },
	{ "min", 60 * NSEC_PER_SEC },
	{ "h", 3600 * NSEC_PER_SEC },
	{ "hour", 3600 * NSEC_PER_SEC },
	{ "d", 86400 * NSEC_PER_SEC },
	{ "day", 86400 * NSEC_PER_SEC },
};

/* The period in ns that "97", "97hz" or "10ms" means; 0: `text` is no rate and no time. */
static u64 period_of(const char *text)
{
	char digits[24];
	size_t n = strspn(text, "0123456789"), i;
	u64 value;

	if (!n || n >= sizeof(digits))
		return 0;
	memcpy(digits, text, n);
	digits[n] = 0;
	if (kstrtou64(digits, 10, &value) || !value)
		return 0;
	text += n;
	if (!*text || !strcmp(text, "hz"))
		return div64_u64(NSEC_PER_SEC, value);
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(text, units[i].unit))
			return value > U64_MAX / units[i].ns ? 0 : value * units[i].ns;
	return 0;
}

/* `flags` beside DFR_PB_ANYBODY. */
static int create(const char *name, u32 flags)
{
	struct profile *profile;
	bool tick = strstarts(name, "tick-");
	u64 period;

	if (!tick && !strstarts(name, "profile-"))
		return 0;
	period = period_of(strchr(name, '-') + 1);
	if (period < PROFILE_MIN_NS || period > KTIME_MAX / 2 ||
	    dfr_probe_find(&profile_provider, "", "", name))
		return 0;
	if (profile_count >= PROFILE_PROBES_MAX)
		return -E2BIG;
	profile = dfr_plat_alloc_shared(sizeof(*profile));
	if (!profile)
		return -ENOMEM;
	profile->pr_period = period;
	profile->pr_tick = tick;
	profile->pr_timers = alloc_percpu_gfp(struct profile_timer, DFR_GFP_SHARED);
	if (profile->pr_timers)
		profile->pr_probe = dfr_probe_create_as(&profile_provider, "", "", name, 3, profile,
							flags | (tick ? DFR_PB_ANYBODY : 0));
	if (!profile->pr_probe) {
		free_percpu(profile->pr_timers);
		dfr_plat_free(profile);
		return -ENOMEM;
	}
	mutex_lock(&profile_lock);
	list_add(&profile->pr_list, &profiles);
	profile_count++;
	mutex_unlock(&profile_lock);
	return 0;
}

static int profile_provide(struct dfr_provider *provider, const char *const pattern[4])
{
	if (pattern[1][0] || pattern[2][0] || strlen(pattern[3]) >= PROFILE_NAME_MAX ||
	    !dfr_glob_is_name(pattern[3]) || !dfr_glob(pattern[0], "profile"))
		return 0;
	return create(pattern[3], DFR_PB_ASKED);
}

static const struct dfr_provider_ops profile_ops = {
	.provide = profile_provide,
	.arm = profile_arm,
	.disarm = profile_disarm,
	.missed = profile_missed,
};

static struct dfr_provider profile_provider = {
	.pv_name = "profile",
	.pv_flags = DFR_PV_CONFINED,
	.pv_ops = &profile_ops,
};

static void create_usual(void)
{
	static const char *const names[] = {
		"profile-97",	"profile-199",	"profile-499", "profile-997", "profile-1999",
		"profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
		"tick-500",	"tick-1000",	"tick-5000",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		create(names[i], 0);
}

/* Probes are created last, because nothing can fail after them that would have to free them. */
int dfr_profile_init(void)
{
	int error;

	profile_hotplug =
		cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "dfr/profile:online", cpu_came, cpu_goes);
	if (profile_hotplug < 0)
		return profile_hotplug;
	error = dfr_provider_register(dfr_engine_instance, &profile_provider);
	if (error) {
		cpuhp_remove_state_nocalls(profile_hotplug);
		return error;
	}
	create_usual();
	return 0;
}

void dfr_profile_exit(void)
{
	struct profile *profile, *next;

	cpuhp_remove_state_nocalls(profile_hotplug);
	dfr_provider_unregister(&profile_provider);
	list_for_each_entry_safe (profile, next, &profiles, pr_list) {
		free_percpu(profile->pr_timers);
		dfr_plat_free(profile);
	}
}
