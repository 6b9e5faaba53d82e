// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that come: on_prepare() makes their rings before they run, if it gets the engine's lock and
 * the state's at once. Else a work item makes them when the holder releases the engine's lock
 * (dfr_hotplug_settle()) or the CPU is online; what fires there until then is counted as lost. The
 * callbacks must not wait for these locks, because their holders patch code or visit CPUs, which
 * waits for hotplug to end. CPUs that go need nothing: their rings stay. A state that starts while a
 * CPU is away makes it a ring too, so a CPU that goes and comes back loses nothing. The last CPU
 * sleeps with the machine, without a callback of hotplug: before_sleep() does for it what the kernel
 * does for the others.
 */
#include "kmod/linux/linux.h"

#include <linux/cpuhotplug.h>
#include <linux/irq_work.h>
#include <linux/syscore_ops.h>
#include <linux/workqueue.h>
#include "kmod/linux/compat.h"

static struct cpumask arrived; /* and not told to the engine yet */
static struct cpumask left;
static enum cpuhp_state prepare_state, online_state;

/* Process context; takes the engine's lock. */
static void tell_engine(struct work_struct *work)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	unsigned int cpu;

	dfr_mutex_lock(lock);
	for_each_cpu (cpu, &arrived) {
		cpumask_clear_cpu(cpu, &arrived);
		if (dfr_engine_cpu_prepare(dfr_engine_instance, cpu, true))
			pr_warn("dfr: no memory for CPU %u: what fires there is counted as lost\n", cpu);
		dfr_engine_cpu_online(dfr_engine_instance, cpu);
	}
	dfr_mutex_unlock(lock);
}
static DECLARE_WORK(tell_work, tell_engine);

/* A work item makes the rings, because memory is charged to the task that allocates it. */
void dfr_hotplug_settle(bool wait)
{
	/*
	 * The caller has released the lock before this barrier. So either this sees the CPU in
	 * `arrived`, or on_prepare() of a CPU that comes later finds the lock free.
	 */
	smp_mb();
	if (unlikely(!cpumask_empty(&arrived)))
		schedule_work(&tell_work);
	/*
	 * It may be at work, with nothing left to begin, and wait for a lock that is held for seconds:
	 * flush_work() would keep a task that is killed.
	 */
	while (wait && work_busy(&tell_work) && !fatal_signal_pending(current))
		schedule_timeout_killable(1);
}

static int on_prepare(unsigned int cpu)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);

	cpumask_set_cpu(cpu, &arrived);
	smp_mb__after_atomic(); /* dfr_hotplug_settle() */
	if (dfr_mutex_trylock(lock)) {
		cpumask_clear_cpu(cpu, &arrived);
		dfr_engine_cpu_prepare(dfr_engine_instance, cpu,
				       false); /* a failure, or what was left out, shows up again below */
		dfr_mutex_unlock(lock);
	}
	return 0; /* tracing is no reason to keep a CPU away */
}

static int on_online(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &arrived);
	schedule_work(&tell_work);
	return 0;
}

static int on_leave(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &left);
	return 0;
}

bool dfr_plat_cpu_left(unsigned int cpu)
{
	return cpumask_test_cpu(cpu, &left);
}

/*
 * With interrupts off, on the last CPU, after the machine counts as asleep (dfr_takes_interrupts()). A
 * firing may have queued work after interrupts were switched off and before it did.
 */
static int before_sleep(DFR_SYSCORE_ARGS)
{
	irq_work_run();
	return 0;
}

DFR_SYSCORE(hotplug_syscore, .suspend = before_sleep);

int dfr_hotplug_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "dfr:prepare", on_prepare, NULL);

	if (state < 0)
		return state;
	prepare_state = state;
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "dfr:online", on_online, on_leave);
	if (state < 0) {
		cpuhp_remove_state_nocalls(prepare_state);
		return state;
	}
	online_state = state;
	dfr_syscore_register(&hotplug_syscore);
	return 0;
}

void dfr_hotplug_exit(void)
{
	dfr_syscore_unregister(&hotplug_syscore);
	cpuhp_remove_state_nocalls(online_state);
	cpuhp_remove_state_nocalls(prepare_state);
	cancel_work_sync(&tell_work);
}
