/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's platform operations in the kernel: what kmod/engine/platform.h lists, as static
 * inlines, or for long ones as calls into platform.c, memory.c, stack.c and anchor.c. Only
 * platform.h includes it, and says there what each operation means and which run in probe context.
 * No kernel versions here (compat.h) and no processors (arch_*.h).
 */
#ifndef DFR_KMOD_LINUX_PLATFORM_OPS_H
#define DFR_KMOD_LINUX_PLATFORM_OPS_H

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "kmod/linux/arch.h"
#include "kmod/linux/clock.h"

/*
 * Memory. It is charged to the memory cgroup of the task that asks, except that of
 * dfr_plat_alloc_shared(). With these flags a request for more memory than there is fails, and no
 * process is killed for it; every allocation of the module has them. In a full memory cgroup they
 * make the allocation fail, too, without that cgroup's OOM killer.
 */
#define DFR_GFP_SHARED (GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)
#define DFR_GFP	       (DFR_GFP_SHARED | __GFP_ACCOUNT)
void *dfr_plat_alloc(size_t size);
void *dfr_plat_alloc_shared(size_t size);

static inline void dfr_plat_free(void *p)
{
	kvfree(p);
}

u64 dfr_plat_memory_left(bool reserved);
const char *dfr_plat_not_reserved(void);
static inline size_t dfr_plat_agg_base(size_t halves)
{
	return halves;
}
void *dfr_plat_alloc_pages(bool reserved, size_t size);
void dfr_plat_free_pages(void *p, size_t size);

/* Order and exclusion. */
#define dfr_load_acquire(p)	 smp_load_acquire(p)
#define dfr_store_release(p, v)	 smp_store_release(p, v)
#define dfr_read_once(p)	 READ_ONCE(*(p))
#define dfr_write_once(p, v)	 WRITE_ONCE(*(p), v)
#define dfr_smp_wmb()		 smp_wmb()
#define dfr_smp_rmb()		 smp_rmb()
#define dfr_smp_mb()		 smp_mb()
#define dfr_cmpxchg(p, old, new) cmpxchg(p, old, new)

static inline void dfr_atomic_add(u64 *p, u64 v)
{
	atomic64_add((s64)v, (atomic64_t *)p);
}

/* Adds to a counter that one CPU writes and others read. */
#define dfr_count(p, n) dfr_arch_count(p, n)

/* The attribute of a function that no pointer points to: it needs no landing pad for indirect calls. */
#define dfr_plat_direct dfr_arch_direct

static __always_inline u64 dfr_plat_fold(u64 a, u64 b)
{
	return dfr_arch_fold(a, b);
}

static __always_inline u64 dfr_plat_top_bit(u64 value)
{
	return __fls(value);
}

static inline void dfr_relax(void)
{
	cpu_relax();
}

struct dfr_mutex {
	struct mutex mx_mutex;
};

/* A macro, because lockdep makes a lock class of each place where mutex_init() stands. */
#define dfr_mutex_init(m) mutex_init(&(m)->mx_mutex)

/*
 * A task that arms tens of thousands of probes holds the lock for long. mutex_lock_killable() first,
 * because the kernel's hang detector does not report killable waits. If the task is killed, it still
 * waits, by mutex_lock().
 */
static inline void dfr_mutex_lock(struct dfr_mutex *m)
{
	if (mutex_lock_killable(&m->mx_mutex))
		mutex_lock(&m->mx_mutex);
}

/* For kmod/linux only: 0, or -EINTR: the waiting task has been killed. */
static inline int __must_check dfr_mutex_lock_killable(struct dfr_mutex *m)
{
	return mutex_lock_killable(&m->mx_mutex);
}

static inline bool __must_check dfr_mutex_trylock(struct dfr_mutex *m)
{
	return mutex_trylock(&m->mx_mutex);
}

static inline void dfr_mutex_unlock(struct dfr_mutex *m)
{
	mutex_unlock(&m->mx_mutex);
}

static inline int __must_check dfr_plat_proceed(void)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/*
 * The raw forms, because the others are themselves traced (irq_disable), and because a probe must
 * not change what lockdep knows of the interrupted code.
 */
static __always_inline unsigned long dfr_plat_irq_save(struct dfr_engine *engine, unsigned int cpu)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	return flags;
}

static __always_inline void dfr_plat_irq_restore(struct dfr_engine *engine, unsigned long flags)
{
	raw_local_irq_restore(flags);
}

static __always_inline unsigned int dfr_plat_cpu(void)
{
	return raw_smp_processor_id();
}

static inline unsigned int dfr_plat_ncpus(void)
{
	return nr_cpu_ids;
}

bool dfr_plat_cpu_left(unsigned int cpu);

static inline bool dfr_plat_cpu_online(unsigned int cpu)
{
	return cpu_online(cpu);
}

void dfr_plat_on_cpu(struct dfr_engine *engine, unsigned int cpu, void (*fn)(void *), void *arg);
void dfr_plat_synchronize(void);

/*
 * Firings run with preemption off, so an RCU grace period waits for them, except where RCU does not
 * watch.
 */
static inline u64 dfr_plat_grace_begin(void)
{
	return start_poll_synchronize_rcu();
}

static inline bool dfr_plat_grace_over(u64 from)
{
	return poll_state_synchronize_rcu(from);
}

/* Interrupts the CPUs that run in the kernel just now, but no others. */
static inline void dfr_plat_grace_hurry(void)
{
	synchronize_rcu_expedited();
}

void dfr_plat_wake(struct dfr_state *state);

/* Clock. */
static __always_inline u64 dfr_plat_clock(const struct dfr_firing *firing)
{
	return dfr_clock();
}

static __always_inline bool dfr_plat_clock_quick(const struct dfr_firing *firing, u64 *time)
{
	return dfr_clock_quick(time);
}

static inline u64 dfr_plat_wall_offset(const struct dfr_firing *firing)
{
	return dfr_clock_wall_offset();
}

/* Exactly what dfr_clock_wall_offset() adds, but with a lock of the kernel's that no probe may take. */
static inline void dfr_plat_offsets(u64 *wall, u64 *boot)
{
	*wall = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_REAL));
	*boot = ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT));
}

u64 dfr_plat_task_time(void);

/* Foreign memory. */
static __always_inline bool dfr_plat_kernel_range(u64 addr, size_t n)
{
	if (!dfr_arch_kernel_address(addr) || !dfr_arch_kernel_address(addr + n - 1))
		return false;
	if (dfr_arch_needs_device_check(addr) && dfr_arch_device_address(addr))
		return false;
	if (((addr ^ (addr + n - 1)) & PAGE_MASK) && dfr_arch_needs_device_check(addr + n - 1))
		return !dfr_arch_device_address(addr + n - 1);
	return true;
}

/* One variable for each size, because GCC 12 crashes on a union that asm goto writes to. */
static __always_inline int dfr_plat_load(const struct dfr_firing *firing, u64 addr, unsigned int size,
					 u64 *value)
{
	const void *from = (const void *)(unsigned long)addr;
	u8 byte;
	u16 half;
	u32 word;
	u64 whole;

	if (unlikely(!dfr_plat_kernel_range(addr, size)))
		return -EFAULT;
	switch (size) {
	case 1:
		__get_kernel_nofault(&byte, from, u8, fault);
		*value = byte;
		return 0;
	case 2:
		__get_kernel_nofault(&half, from, u16, fault);
		*value = half;
		return 0;
	case 4:
		__get_kernel_nofault(&word, from, u32, fault);
		*value = word;
		return 0;
	case 8:
		__get_kernel_nofault(&whole, from, u64, fault);
		*value = whole;
		return 0;
	}
fault:
	return -EFAULT;
}

int dfr_plat_load_user(const struct dfr_firing *firing, u64 addr, unsigned int size, u64 *value);
int dfr_plat_copy(const struct dfr_firing *firing, void *dst, u64 addr, size_t n);
int dfr_plat_copy_user(const struct dfr_firing *firing, void *dst, u64 addr, size_t n);
long dfr_plat_copy_str(const struct dfr_firing *firing, char *dst, u64 addr, size_t room);
long dfr_plat_copy_str_user(const struct dfr_firing *firing, char *dst, u64 addr, size_t room);
int dfr_plat_store_user(const struct dfr_firing *firing, u64 addr, const void *src, size_t n);

/*
 * Who fires. The kernel enters the handler of a breakpoint as it does an NMI's, whatever was interrupted; kinst.c says
 * here what that has added to the preemption count. 0: this CPU is in no handler of a breakpoint.
 */
DECLARE_PER_CPU(u32, dfr_breakpoint);

static __always_inline bool dfr_plat_is_task(void)
{
	/* With bottom halves merely disabled, too. */
	return likely(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)));
}

static __always_inline u32 dfr_plat_level(void)
{
	u32 count;

	if (dfr_plat_is_task())
		return 0;
	count = preempt_count();
	if (count & NMI_MASK)
		count -= raw_cpu_read(dfr_breakpoint);
	return count & NMI_MASK ? 3 : count & HARDIRQ_MASK ? 2 : count & SOFTIRQ_OFFSET ? 1 : 0;
}

static __always_inline void dfr_plat_context(const struct dfr_firing *firing, struct dfr_context *cx)
{
	struct task_struct *task = current;

	cx->cx_pid = task->tgid;
	cx->cx_tid = task->pid;
	cx->cx_task = likely(task->pid) ? task->pid : raw_smp_processor_id();
	cx->cx_level = dfr_plat_level();
	BUILD_BUG_ON(sizeof(cx->cx_comm) != TASK_COMM_LEN);
	memcpy(cx->cx_comm, task->comm, TASK_COMM_LEN);
	cx->cx_comm[TASK_COMM_LEN - 1] = 0;
}

static __always_inline u32 dfr_plat_pid(struct dfr_firing *firing)
{
	return current->tgid;
}

static __always_inline u32 dfr_plat_tid(struct dfr_firing *firing)
{
	return current->pid;
}

static __always_inline u32 dfr_plat_level_of(struct dfr_firing *firing)
{
	return dfr_plat_level();
}

static __always_inline u64 dfr_plat_who(struct dfr_firing *firing)
{
	BUILD_BUG_ON(offsetof(struct task_struct, tgid) != offsetof(struct task_struct, pid) + sizeof(u32));
	return *(const u64 *)&current->pid;
}

/*
 * Where the task's css_set is: another one for each combination of cgroups. A task that left its cgroup,
 * and came to another whose css_set was made where the first one had been, would be taken for not moved;
 * for that the first one must have been freed and no other task have recorded on this CPU meanwhile.
 */
static __always_inline u64 dfr_plat_cgroups(struct dfr_firing *firing)
{
#ifdef CONFIG_CGROUPS
	return (u64)(unsigned long)READ_ONCE(current->cgroups);
#else
	return 0;
#endif
}

static __always_inline void dfr_plat_comm(struct dfr_firing *firing, u64 words[2])
{
	const char *comm = current->comm;

	/* Two copies of 8 bytes, which the compiler keeps in registers. */
	memcpy(&words[0], comm, 8);
	memcpy(&words[1], comm + 8, 8);
}

static __always_inline bool dfr_plat_comm_is(struct dfr_firing *firing, const u64 words[2])
{
	const u64 *comm = (const u64 *)current->comm;

	BUILD_BUG_ON(offsetof(struct task_struct, comm) % sizeof(u64));
	return comm[0] == words[0] && comm[1] == words[1];
}

static __always_inline u64 dfr_plat_thread_key(struct dfr_firing *firing)
{
	u32 tid = current->pid;

	if (likely(tid && dfr_plat_is_task()))
		return DFR_THREAD_KEY(tid, 0, 0);
	return DFR_THREAD_KEY(tid ?: raw_smp_processor_id(), dfr_plat_level(), !tid);
}

static __always_inline u64 dfr_plat_register_arg(const void *regs, u32 n)
{
	return dfr_arch_function_arg(regs, n);
}

/* The kernel has one engine, so its data of this CPU is found by one per-CPU load. */
#define DFR_PLAT_ONE_ENGINE 1
struct dfr_cpu;
DECLARE_PER_CPU(struct dfr_cpu *, dfr_cpu_slot);

static __always_inline struct dfr_cpu *dfr_plat_cpu_slot(void)
{
	return raw_cpu_read(dfr_cpu_slot);
}

static inline void dfr_plat_set_cpu_slot(unsigned int cpu, struct dfr_cpu *slot)
{
	per_cpu(dfr_cpu_slot, cpu) = slot;
}

u64 dfr_plat_builtin(const struct dfr_firing *firing, u32 id, u64 index);
unsigned int dfr_plat_stack(const struct dfr_firing *firing, u64 *pcs, unsigned int max);
unsigned int dfr_plat_ustack(const struct dfr_firing *firing, u64 *pcs, unsigned int max);
bool dfr_plat_owned(const struct dfr_firing *firing, u32 uid, u32 gid);

static inline u64 dfr_plat_masked(u64 index, u64 size)
{
	return array_index_nospec(index, size);
}

bool dfr_plat_progenyof(const struct dfr_firing *firing, u32 pid);
u64 dfr_plat_secret(void);
long dfr_plat_subr(const struct dfr_firing *firing, u32 subr, const u64 *args, char *buffer, size_t room,
		   u64 *result);

/* Destructive. */
int dfr_plat_raise(const struct dfr_firing *firing, int sig);
int dfr_plat_stop(const struct dfr_firing *firing);
int dfr_plat_chill(u64 ns);
int dfr_plat_breakpoint(void);
int dfr_plat_panic(void);

/* Others. */
u32 dfr_plat_crc32c(u32 crc, const void *p, size_t n);
#define dfr_plat_log(fmt, ...) pr_info("dfr: " fmt "\n", ##__VA_ARGS__)
const u8 *dfr_plat_boot_id(void);
size_t dfr_plat_machine(char *buffer, size_t room);
int dfr_plat_symbol(const char *name, u64 *address);
void dfr_plat_native_build(struct dfr_difo *difo);
void dfr_plat_native_free(struct dfr_difo *difo);
int dfr_plat_anchor(struct dfr_state *state, u32 kind, u32 cpu, u32 half, void *p, size_t size, size_t unit);
static inline bool dfr_plat_examined(void)
{
	return true;
}
void dfr_plat_unanchor(struct dfr_state *state);

#endif
