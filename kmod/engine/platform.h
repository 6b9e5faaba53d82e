/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's surroundings: every operation that the engine needs from where
 * it runs, and nothing else. Two folders implement it as static inline functions
 * in a header named dfr_platform_ops.h, found by include path (no table of
 * pointers: an indirect call costs a retpoline):
 *
 *   kmod/linux/dfr_platform_ops.h       the module
 *   analyze/engine/dfr_platform_ops.h   user space: in process and replay
 *
 * Functions marked P may be called in probe context (interrupts off, possibly
 * NMI: no lock, no sleep, no fault); the others in process context only.
 *
 * In user space a thread plays a CPU: dfr_plat_irq_save() takes that CPU's lock
 * and dfr_plat_on_cpu() runs its function under it, which gives the same
 * exclusion that "interrupts off" and an IPI give in the kernel.
 */
#ifndef DFR_ENGINE_PLATFORM_H
#define DFR_ENGINE_PLATFORM_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#include <linux/errno.h>
#include <linux/limits.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <sys/types.h>
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
#endif

#define dfr_likely(x)		       __builtin_expect(!!(x), 1)
#define dfr_unlikely(x)		       __builtin_expect(!!(x), 0)
#define dfr_cold		       __attribute__((__noinline__, __cold__))
#define dfr_noinline		       __attribute__((__noinline__))
#define dfr_hot			       static inline __attribute__((__always_inline__))
#define dfr_container(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

struct dfr_engine;
struct dfr_state;
struct dfr_probe;
struct dfr_difo;

/* Who fired, as the context record holds it. */
struct dfr_context {
	u32 cx_task; /* tid, or the CPU number for its idle task */
	u32 cx_pid;
	u32 cx_tid;
	u32 cx_level;	  /* enum dfr_level */
	char cx_comm[16]; /* NUL-terminated, zero-padded */
};

/*
 * A firing: one hit of one probe on one CPU. dfr_fire() fills in the CPU's own struct; every
 * function that answers a question about the firing gets it.
 */
struct dfr_firing {
	struct dfr_engine *fr_engine;
	const struct dfr_probe *fr_probe;
	const u64 *fr_args;
	u32 fr_nargs;
	u32 fr_cpu;
	void *fr_regs; /* platform's registers, or NULL */
	u64 fr_time;   /* 0: not read yet; use dfr_firing_time() */
	u32 fr_epid;
	/* These three are cleared as one word. */
	u16 fr_flags;
	u16 fr_chunks;		       /* work charged so far: full chunks of DFR_WORK_CHUNK */
	u32 fr_work;		       /* and work in the chunk after these (work.c) */
	const void *fr_env;	       /* user space: struct dfr_env, who "current" is */
	struct dfr_context fr_context; /* valid when fr_flags says so */
	u64 fr_wall;		       /* valid with DFR_FR_WALL: all of a firing sees one walltimestamp */
	u64 fr_error[6];	       /* ERROR's arguments */
};
#define DFR_FR_CONTEXT	 0x1 /* fr_context is filled: see dfr_firing_context() */
#define DFR_FR_WALL	 0x2 /* fr_wall is filled */
#define DFR_FR_UNGUARDED 0x4 /* a predicate is tested before the guard: call no provider */

static inline const struct dfr_context *dfr_firing_context(struct dfr_firing *firing);

/*
 * The key of the self-> variables that a firing sees: the task word, the interrupt level, and
 * whether it is an idle task, whose "tid" is its CPU. The same live and in replay; below 2^35.
 */
#define DFR_THREAD_KEY(task, level, idle) ((u64)(task) | (u64)(level) << 32 | (u64)(idle) << 34)

/*
 * The key of a keyed hash. Each state has its own secret one, so that nobody can choose keys that
 * share a bucket. A step multiplies by a secret odd factor and folds the product's halves, so that
 * the factor decides how each bit of a word reaches the bits of the result. A secret start value
 * alone would not do: a difference in the highest bits of two words could cancel whatever the start
 * value is.
 */
struct dfr_hashkey {
	u64 hk_start;
	u64 hk_factor;
};

#include <dfr_platform_ops.h>

/*
 * dfr_platform_ops.h provides:
 *
 * Memory
 *   void *dfr_plat_alloc(size_t size);			zeroed, or NULL
 *   void *dfr_plat_alloc_shared(size_t size);		the same for what serves everybody and outlives
 *							the task that asks first: not charged to it
 *   void dfr_plat_free(void *p);
 *   void *dfr_plat_alloc_pages(bool reserved, size_t size);	zeroed, page-aligned, or NULL. For what anchors
 *							list: blocks, catalog extents, aggregation tables;
 *							of memory that a warm reset leaves, if `reserved`
 *   void dfr_plat_free_pages(void *p, size_t size);
 *   size_t dfr_plat_agg_base(size_t halves);		bytes of a state's base table of aggregations,
 *							at least as many as a CPU's two halves have
 *   u64 dfr_plat_memory_left(bool reserved);		bytes that may be allocated; ask before taking much
 *   const char *dfr_plat_not_reserved(void);		why there is no reserved memory; NULL: there is
 *
 * Order and exclusion
 *   dfr_load_acquire(p), dfr_store_release(p, v), dfr_read_once(p), dfr_write_once(p, v)	P
 *   dfr_smp_wmb(), dfr_smp_rmb(), dfr_smp_mb()						P
 *   dfr_cmpxchg(p, old, new) (returns the old value), dfr_atomic_add(u64 *p, u64 v)	P
 *   dfr_count(u64 *p, n): adds to a counter that one CPU writes and others read	P
 *   dfr_relax() (pause in a bounded spin)						P
 *   u64 dfr_plat_fold(u64 a, u64 b)		P: upper and lower half of the product, xored
 *   u64 dfr_plat_top_bit(u64 value)			P: number of its highest set bit; value is not 0
 *   dfr_plat_direct					attribute of a function that no pointer points to
 *   u64 dfr_plat_masked(u64 index, u64 size)	P: index if it is below size, else 0, speculatively too
 *   struct dfr_mutex; dfr_mutex_init/lock/trylock/unlock
 *   int dfr_plat_proceed(void)				between the pieces of long work: lets others run;
 *							-EINTR: the task was killed, so the work may stop
 *   unsigned long dfr_plat_irq_save(struct dfr_engine *, unsigned cpu_hint)		P
 *   void dfr_plat_irq_restore(struct dfr_engine *, unsigned long flags)		P
 *   unsigned dfr_plat_cpu(void)							P
 *   unsigned dfr_plat_ncpus(void)			ids are below this
 *   bool dfr_plat_cpu_online(unsigned cpu)
 *   bool dfr_plat_cpu_left(unsigned cpu)		it has been online, and may come back
 *   void dfr_plat_on_cpu(struct dfr_engine *, unsigned cpu, void (*fn)(void *), void *arg)
 *							runs fn there with interrupts off and waits; if it is
 *							away, runs fn here and keeps that CPU away meanwhile
 *   void dfr_plat_synchronize(void)			waits until all firings that had begun are over
 *   u64 dfr_plat_grace_begin(void), bool dfr_plat_grace_over(u64 from)	are all firings over that had
 *							begun at `from`? Waits for nothing, interrupts no CPU
 *   void dfr_plat_grace_hurry(void)			as dfr_plat_synchronize(), but sooner: interrupts CPUs
 *   void dfr_plat_wake(struct dfr_state *)		P: wakes the state's consumer
 *
 * Clock
 *   u64 dfr_plat_clock(const struct dfr_firing *)	P: ns, monotonic; the engine makes it unique per CPU
 *   bool dfr_plat_clock_quick(const struct dfr_firing *, u64 *time)	P: same; false: it needs a call
 *   u64 dfr_plat_wall_offset(const struct dfr_firing *)	P: added to that clock's time, it makes ns since the epoch
 *   void dfr_plat_offsets(u64 *wall, u64 *boot)	what makes it ns since the epoch, and ns since the boot
 *   u64 dfr_plat_task_time(void)			ns that the caller was on a CPU
 *
 * Foreign memory: 0 or -EFAULT, never a fault; `size` is 1, 2, 4 or 8 for loads
 *   int dfr_plat_load(const struct dfr_firing *, u64 addr, unsigned size, u64 *value)		P
 *   int dfr_plat_load_user(const struct dfr_firing *, u64 addr, unsigned size, u64 *value)	P
 *   int dfr_plat_copy(const struct dfr_firing *, void *dst, u64 addr, size_t n)			P
 *   int dfr_plat_copy_user(const struct dfr_firing *, void *dst, u64 addr, size_t n)		P
 *   long dfr_plat_copy_str(..., char *dst, u64 addr, size_t room)	P: length without NUL; always terminated
 *   long dfr_plat_copy_str_user(...)					P
 *   int dfr_plat_store_user(const struct dfr_firing *, u64 addr, const void *src, size_t n)	P (copyout)
 *
 * Who fires
 *   void dfr_plat_context(const struct dfr_firing *, struct dfr_context *)	P
 *   Parts of it, each for its own cost only:					P
 *   u32 dfr_plat_pid(struct dfr_firing *), dfr_plat_tid(...), dfr_plat_level_of(...)
 *   u64 dfr_plat_who(struct dfr_firing *)		changes when task or process does
 *   u64 dfr_plat_cgroups(struct dfr_firing *)		changes when the task's cgroup does
 *   void dfr_plat_comm(struct dfr_firing *, u64 words[2])	execname, padded with zeros
 *   bool dfr_plat_comm_is(struct dfr_firing *, const u64 words[2])
 *   u64 dfr_plat_thread_key(struct dfr_firing *)	DFR_THREAD_KEY() of the context
 *   u64 dfr_plat_register_arg(const void *regs, u32 n)	P: argument n, from 1, of a function at its
 *							entry; no firing has such registers in user space
 *   u64 dfr_plat_builtin(const struct dfr_firing *, u32 id, u64 index)
 *		P: curthread ppid uid gid errno ipl vtimestamp stackdepth ustackdepth caller ucaller nspid cgroup
 *		   uregs[index] captured[index]; returns 0 where it has no meaning
 *   unsigned dfr_plat_stack(const struct dfr_firing *, u64 *pcs, unsigned max)		P
 *   unsigned dfr_plat_ustack(const struct dfr_firing *, u64 *pcs, unsigned max)	P
 *   bool dfr_plat_owned(const struct dfr_firing *, u32 uid, u32 gid)	P: is it this user's own task, and may
 *		he trace it? In the kernel the firing may be NULL
 *   bool dfr_plat_progenyof(const struct dfr_firing *, u32 pid)			P
 *   u64 dfr_plat_secret(void)				nobody can guess it: for hashes; tests may fix it
 *   long dfr_plat_subr(const struct dfr_firing *, u32 subr, const u64 *args, char *buffer, size_t room, u64 *result)
 *		P: mutex_owned and kin, d_path, getf: only the platform can answer; -ENOSYS: it cannot
 *
 * Destructive
 *   int dfr_plat_raise(const struct dfr_firing *, int sig), dfr_plat_stop(...)		P
 *   int dfr_plat_chill(u64 ns), dfr_plat_breakpoint(void), dfr_plat_panic(void)	P
 *
 * Others
 *   u32 dfr_plat_crc32c(u32 crc, const void *p, size_t n)	P
 *   void dfr_plat_log(const char *fmt, ...)
 *   const u8 *dfr_plat_boot_id(void)				16 bytes
 *   size_t dfr_plat_machine(char *buffer, size_t room)		key=value lines for the catalog
 *   int dfr_plat_symbol(const char *name, u64 *address)	for DOF relocations; -ENOENT
 *   void dfr_plat_native_build(struct dfr_difo *)		native code for a verified DIFO, or nothing
 *   void dfr_plat_native_free(struct dfr_difo *)
 *   int dfr_plat_anchor(struct dfr_state *, u32 kind, u32 cpu, u32 half, void *p, size_t size, size_t unit)
 *		lists this memory in anchors for readers of a dead machine; in user space only who asks is told
 *   bool dfr_plat_examined(void)	whether there may be such readers: if not, memory that is not used is not touched
 *   void dfr_plat_unanchor(struct dfr_state *)			before the state's memory is freed
 */

static inline __attribute__((__always_inline__)) u64 dfr_hash_word(u64 hash, u64 word, u64 factor)
{
	return dfr_plat_fold(hash ^ word, factor);
}

/*
 * What a table takes of a hash after the last word. Keys of one word in a regular order (numbers,
 * addresses) have hashes whose bits move together: for one factor in a hundred they fill some buckets
 * with fifty times their share. The upper half of a second product does not show that order.
 */
static inline __attribute__((__always_inline__)) u32 dfr_hash_end(u64 hash, u64 factor)
{
	return (u32)(hash * factor >> 32);
}

/* Process context. */
static inline void dfr_hashkey_make(struct dfr_hashkey *key)
{
	key->hk_start = dfr_plat_secret();
	key->hk_factor =
		(dfr_plat_secret() ^ 0x9e3779b97f4a7c15ULL) | 1; /* a fixed secret may be a small number */
}

/* Probe context. The task that fires; found out when it is first asked for in a firing. */
static inline const struct dfr_context *dfr_firing_context(struct dfr_firing *firing)
{
	if (!(firing->fr_flags & DFR_FR_CONTEXT)) {
		dfr_plat_context(firing, &firing->fr_context);
		dfr_smp_wmb(); /* an NMI that sees the flag asks for the level (nested_hit()) */
		firing->fr_flags |= DFR_FR_CONTEXT;
	}
	return &firing->fr_context;
}

#endif
