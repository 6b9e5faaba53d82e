// SPDX-License-Identifier: GPL-2.0
/*
 * Platform operations that are too long for dfr_platform_ops.h and have no file of their own: waking
 * readers, running on another CPU, built-in variables, the machine's identity. platform.h says which
 * of them run in probe context.
 */
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"
#include "kmod/linux/resolve.h"

#include <linux/cgroup.h>
#include <linux/cpu.h>
#include <linux/crc32.h>
#include <linux/cred.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/user_namespace.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

DEFINE_PER_CPU(struct dfr_cpu *, dfr_cpu_slot);
DEFINE_PER_CPU(u32, dfr_breakpoint);

/* Wakes readers and viewers from an irq_work, because the interrupted code may hold the wait queue's lock. */
void dfr_plat_wake(struct dfr_state *state)
{
	struct dfr_holding *holding = dfr_state_host(state);

	if (holding && !dfr_queue_here(&holding->hd_wake))
		WRITE_ONCE(holding->hd_owed, true); /* housekeeping wakes them */
}

/*
 * Nothing fires on a CPU that is offline, so its data may be changed from here; cpus_read_lock()
 * keeps it offline.
 */
void dfr_plat_on_cpu(struct dfr_engine *engine, unsigned int cpu, void (*fn)(void *), void *arg)
{
	unsigned long flags;

	cpus_read_lock();
	if (!cpu_online(cpu) || smp_call_function_single(cpu, fn, arg, true)) {
		local_irq_save(flags);
		fn(arg);
		local_irq_restore(flags);
	}
	cpus_read_unlock();
}

/*
 * Firings run with preemption off. synchronize_rcu() waits for them, synchronize_rcu_tasks_rude()
 * also for those where RCU does not watch (idle, entry code), and cpus_read_lock() for those of a
 * CPU that is coming or going, until it is reported dead (dfr_runs_dead()).
 */
void dfr_plat_synchronize(void)
{
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
	cpus_read_lock();
	cpus_read_unlock();
}

/* Fixes the secret, so that two runs measure the same figures (tests/bench/probe-cost). */
static ulong secret;
module_param(secret, ulong, 0400);
MODULE_PARM_DESC(secret, "for tests: hashes are keyed with this number (default: at random)");

u64 dfr_plat_secret(void)
{
	u64 word = secret;

	if (!word)
		get_random_bytes(&word, sizeof(word));
	return word;
}

/*
 * NULL: the task has been reaped, which a thread's own exit does before its last probes, and then nobody tells it of its
 * parent's end. Under rcu_read_lock().
 */
static const struct task_struct *parent_of(const struct task_struct *task)
{
	return pid_alive(task) ? rcu_dereference(task->real_parent) : NULL;
}

static u32 parent_pid(void)
{
	const struct task_struct *parent;
	u32 pid;

	rcu_read_lock();
	parent = parent_of(current);
	pid = parent ? parent->tgid : 0;
	rcu_read_unlock();
	return pid;
}

/*
 * The task's time on a CPU. The scheduler updates sum_exec_runtime only at its own events, so the
 * time since then is added, by the scheduler's clock cpu_clock(), which differs from sched_clock()
 * by an offset found at boot. More than a second is not added, because then exec_start is out of
 * date. Where the TSC is not stable, that clock runs at most one tick ahead: between two readings
 * while a tick is late no time may pass.
 */
static u64 time_on_cpu(u32 cpu)
{
	const struct sched_entity *se = &current->se;
	u64 since = cpu_clock(cpu) - READ_ONCE(se->exec_start);

	return READ_ONCE(se->sum_exec_runtime) + (since < NSEC_PER_SEC ? since : 0);
}

u64 dfr_plat_task_time(void)
{
	u64 time;

	preempt_disable();
	time = time_on_cpu(smp_processor_id());
	preempt_enable();
	return time;
}

/* By hand, because the kernel's functions for both can be traced. */
static u64 own_namespace_pid(void)
{
	const struct signal_struct *signal;
	const struct pid *pid = NULL;
	u64 number = 0;

	rcu_read_lock();
	signal = READ_ONCE(current->signal); /* NULL: the task has been reaped */
	if (signal)
		pid = READ_ONCE(signal->pids[PIDTYPE_TGID]);
	if (pid)
		number = pid->numbers[pid->level].nr;
	rcu_read_unlock();
	return number;
}

static u64 cgroup_of_current(void)
{
	u64 id = 0;
#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	id = READ_ONCE(current->cgroups)->dfl_cgrp->kn->id;
	rcu_read_unlock();
#endif
	return id;
}

u64 dfr_plat_builtin(const struct dfr_firing *firing, u32 id, u64 index)
{
	switch (id) {
	case DIF_VAR_CURTHREAD: return (u64)(unsigned long)current;
	case DIF_VAR_VTIMESTAMP: return time_on_cpu(firing->fr_cpu);
	case DIF_VAR_IPL: return dfr_plat_level();
	case DIF_VAR_PPID: return parent_pid();
	case DIF_VAR_NSPID: return own_namespace_pid();
	case DIF_VAR_CGROUP: return cgroup_of_current();
	case DIF_VAR_UID: return from_kuid(&init_user_ns, current_uid());
	case DIF_VAR_GID: return from_kgid(&init_user_ns, current_gid());
	case DIF_VAR_ERRNO: return dfr_syscall_errno(firing);
	case DIF_VAR_UREGS: return current->mm ? dfr_arch_user_register(task_pt_regs(current), index) : 0;
	}
	return dfr_stack_builtin(firing, id);
}

/* Bounds the walk; real process trees are less deep. */
#define DFR_ANCESTORS_MAX 1024

bool dfr_plat_progenyof(const struct dfr_firing *firing, u32 pid)
{
	const struct task_struct *task = current;
	bool found = false;
	int i;

	rcu_read_lock();
	for (i = 0; i < DFR_ANCESTORS_MAX && task && !found; i++) {
		found = (u32)task->tgid == pid;
		task = task->pid ? parent_of(task) : NULL;
	}
	rcu_read_unlock();
	return found;
}

u32 dfr_plat_crc32c(u32 crc, const void *p, size_t n)
{
	/* CRC-32C without inversions: callers start at ~0 and invert the result. */
	return dfr_arch_has_crc32c() ? dfr_arch_crc32c(crc, p, n) : dfr_kernel_crc32c(crc, p, n);
}

static u8 boot_id[16];
static bool boot_id_is_kernels;

const u8 *dfr_plat_boot_id(void)
{
	return boot_id;
}

bool dfr_boot_id_is_kernels(void)
{
	return boot_id_is_kernels;
}

/*
 * The kernel's own boot id, so that recordings can be told apart by what
 * /proc/sys/kernel/random/boot_id says. The kernel makes it when that file is first
 * read; byte 8 of a valid one is never 0. If nobody has read it yet, this makes it in
 * the kernel's place, and later readers see the same id.
 */
static void find_boot_id(void)
{
	u8 *kernel_id = (u8 *)dfr_kernel(sysctl_bootid);

	boot_id_is_kernels = kernel_id != NULL;
	if (!kernel_id)
		kernel_id = boot_id;
	if (!kernel_id[8])
		generate_random_uuid(kernel_id);
	if (kernel_id != boot_id)
		memcpy(boot_id, kernel_id, sizeof(boot_id));
}

size_t dfr_plat_machine(char *buffer, size_t room)
{
	const struct new_utsname *uts = init_utsname();
	char **command_line = (char **)dfr_kernel(saved_command_line);
	const char *origin;
	int length = dfr_anonymous_origin(&origin);

	return scnprintf(buffer, room,
			 "sysname=%s\nhost=%s\nrelease=%s\nversion=%s\nmachine=%s\nbootid=%pUb\n"
			 "cpus=%u\nonline=%u\npagesize=%lu\nmodule=%u\nbootprogram=%.*s\ncmdline=%s\n",
			 uts->sysname, uts->nodename, uts->release, uts->version, uts->machine, boot_id,
			 nr_cpu_ids, num_online_cpus(), PAGE_SIZE, DFR_CONTROL_VERSION, min(length, 256),
			 origin, command_line && *command_line ? *command_line : "");
}

/*
 * DOF has symbols as "module`symbol"; kallsyms wants "module:symbol", or the bare name for one of
 * the kernel itself.
 */
int dfr_plat_symbol(const char *name, u64 *address)
{
	const char *tick = strchr(name, '`');
	char text[128];
	size_t n;

	if (strscpy(text, name, sizeof(text)) < 0)
		return -ENOENT;
	if (tick) {
		n = tick - name;
		text[n] = ':';
		if (!strncmp(name, "vmlinux`", n + 1) || !strncmp(name, "kernel`", n + 1))
			memmove(text, text + n + 1, strlen(text + n + 1) + 1);
	}
	*address = dfr_resolve(text);
	return *address ? 0 : -ENOENT;
}

void dfr_platform_init(void)
{
	find_boot_id();
	dfr_anchor_init();
	dfr_arch_init();
}
