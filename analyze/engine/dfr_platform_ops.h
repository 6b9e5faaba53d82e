/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's platform operations in user space (in-process engine and replay).
 * kmod/engine/platform.h defines what they mean, and only it includes this file;
 * dfr_env.h defines who "current" is. Usable from C++.
 *
 * A firing holds its CPU's lock from dfr_plat_irq_save() to _restore(). A thread
 * may take the lock again while it holds it, as interrupts may be switched off
 * twice. A firing must hold the lock while it reads anything that teardown frees,
 * because there is no RCU here: dfr_plat_synchronize() takes every CPU's lock
 * once, and so waits for the firings that had begun.
 *
 * Loads from kernel addresses always fault in user space. In a live environment
 * user addresses are this process's own; they are read by system call, so that a
 * bad address is an error and not a signal.
 */
#ifndef DFR_PLATFORM_OPS_H
#define DFR_PLATFORM_OPS_H

#include "analyze/engine/dfr_env.h"
#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Defined in user_platform.c. */
void* dfr_user_alloc(size_t size);
void dfr_user_free(void* p);
void* dfr_user_alloc_pages(size_t size);
void dfr_user_free_pages(void* p, size_t size);
unsigned long dfr_user_lock_cpu(struct dfr_engine* engine, unsigned cpu);
void dfr_user_unlock_cpu(unsigned long flags);
void dfr_user_synchronize(void);
u64 dfr_user_clock(int which);
u64 dfr_user_clock_offset(int which); /* what added to the monotonic clock gives that clock */
int dfr_user_read(void* dst, u64 addr, size_t n);
int dfr_user_write(u64 addr, const void* src, size_t n);
long dfr_user_read_str(char* dst, u64 addr, size_t room);
bool dfr_user_progenyof(const struct dfr_env* env, u32 pid);
u64 dfr_user_secret(void);
u32 dfr_user_crc32c(u32 crc, const void* p, size_t n);
void dfr_user_log(const char* fmt, ...) __attribute__((format(printf, 1, 2)));
const u8* dfr_user_boot_id(void);
size_t dfr_user_machine(char* buffer, size_t room);
int dfr_user_raise(int sig);
int dfr_user_chill(u64 ns);
const struct dfr_env* dfr_user_default_env(void);

size_t dfr_user_agg_base(size_t halves);

/* Memory. */
static inline void* dfr_plat_alloc(size_t size) {
	return dfr_user_alloc(size);
}
static inline void dfr_plat_free(void* p) {
	dfr_user_free(p);
}
static inline void* dfr_plat_alloc_pages(bool reserved, size_t size) {
	(void)reserved; /* nothing here outlives the process */
	return dfr_user_alloc_pages(size);
}
static inline void dfr_plat_free_pages(void* p, size_t size) {
	dfr_user_free_pages(p, size);
}
static inline size_t dfr_plat_agg_base(size_t halves) {
	return dfr_user_agg_base(halves);
}
static inline void* dfr_plat_alloc_shared(size_t size) {
	return dfr_plat_alloc(size);
}

static inline u64 dfr_plat_memory_left(bool reserved) {
	return reserved ? dfr_user_reserved_left : ~0ull;
}
static inline const char* dfr_plat_not_reserved(void) {
	return NULL;
}

/* Order. */
#define dfr_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define dfr_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define dfr_read_once(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define dfr_write_once(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define dfr_cmpxchg(p, old_value, new_value)                                                                 \
	({                                                                                                   \
		__typeof__(*(p)) dfr_seen_ = (old_value);                                                    \
		__atomic_compare_exchange_n((p), &dfr_seen_, (new_value), 0, __ATOMIC_ACQ_REL,               \
		                            __ATOMIC_ACQUIRE);                                               \
		dfr_seen_;                                                                                   \
	})
#define dfr_plat_direct
static inline u64 dfr_plat_fold(u64 a, u64 b) {
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}
static inline u64 dfr_plat_top_bit(u64 value) {
	return 63u ^ (unsigned)__builtin_clzll(value);
}
#define dfr_count(p, n) dfr_write_once((p), *(p) + (n))
static inline void dfr_atomic_add(u64* p, u64 v) {
	__atomic_fetch_add(p, v, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)
#define dfr_smp_mb() __asm__ __volatile__("mfence" ::: "memory")
/* x86 keeps stores in order with stores and loads with loads, so a compiler barrier is enough. */
#define dfr_smp_wmb() __asm__ __volatile__("" ::: "memory")
#define dfr_smp_rmb() __asm__ __volatile__("" ::: "memory")
#define dfr_relax() __asm__ __volatile__("pause" ::: "memory")
#else
#define dfr_smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define dfr_smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define dfr_smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define dfr_relax() __asm__ __volatile__("" ::: "memory")
#endif

/* Exclusion. */
struct dfr_mutex {
	pthread_mutex_t mx;
};
static inline void dfr_mutex_init(struct dfr_mutex* mutex) {
	pthread_mutex_init(&mutex->mx, NULL);
}
static inline void dfr_mutex_lock(struct dfr_mutex* mutex) {
	pthread_mutex_lock(&mutex->mx);
}
static inline bool dfr_mutex_trylock(struct dfr_mutex* mutex) {
	return pthread_mutex_trylock(&mutex->mx) == 0;
}
static inline void dfr_mutex_unlock(struct dfr_mutex* mutex) {
	pthread_mutex_unlock(&mutex->mx);
}

static inline int dfr_plat_proceed(void) {
	return dfr_user_proceed ? dfr_user_proceed() : 0;
}

static inline unsigned dfr_plat_cpu(void) {
	return dfr_user_cpu;
}
static inline unsigned dfr_plat_ncpus(void) {
	return dfr_user_ncpus();
}
static inline bool dfr_plat_cpu_online(unsigned cpu) {
	return cpu < dfr_user_ncpus();
}
static inline bool dfr_plat_cpu_left(unsigned cpu) {
	(void)cpu;
	return false;
}

static inline unsigned long dfr_plat_irq_save(struct dfr_engine* engine, unsigned cpu_hint) {
	(void)cpu_hint;
	return dfr_user_lock_cpu(engine, dfr_user_cpu);
}

static inline void dfr_plat_irq_restore(struct dfr_engine* engine, unsigned long flags) {
	(void)engine;
	dfr_user_unlock_cpu(flags);
}

static inline void dfr_plat_on_cpu(struct dfr_engine* engine, unsigned cpu, void (*fn)(void*), void* arg) {
	unsigned mine = dfr_user_cpu;
	unsigned long flags = dfr_user_lock_cpu(engine, cpu);

	dfr_user_cpu = cpu;
	if (dfr_user_visit)
		dfr_user_visit(cpu);
	fn(arg);
	dfr_user_cpu = mine;
	dfr_user_unlock_cpu(flags);
}

static inline void dfr_plat_synchronize(void) {
	dfr_user_synchronize();
}
static inline u64 dfr_plat_grace_begin(void) {
	return 0;
}
static inline bool dfr_plat_grace_over(u64 from) {
	(void)from;
	dfr_user_synchronize();
	return true;
}
static inline void dfr_plat_grace_hurry(void) {
	dfr_user_synchronize();
}
static inline void dfr_plat_wake(struct dfr_state* state) {
	if (dfr_user_wake)
		dfr_user_wake(state);
}

/* Who fires. A firing without an environment has the thread's default one (dfr_user_env). */
static inline const struct dfr_env* dfr_plat_env(const struct dfr_firing* firing) {
	if (firing && firing->fr_env)
		return (const struct dfr_env*)firing->fr_env;
	return dfr_user_default_env();
}

static inline void dfr_plat_context(const struct dfr_firing* firing, struct dfr_context* context) {
	const struct dfr_env* env = dfr_plat_env(firing);

	context->cx_task = env->ev_task;
	context->cx_pid = env->ev_pid;
	context->cx_tid = env->ev_tid;
	context->cx_level = env->ev_level;
	memcpy(context->cx_comm, env->ev_comm, sizeof(context->cx_comm));
}

static inline u32 dfr_plat_pid(struct dfr_firing* firing) {
	return dfr_firing_context(firing)->cx_pid;
}
static inline u32 dfr_plat_tid(struct dfr_firing* firing) {
	return dfr_firing_context(firing)->cx_tid;
}
static inline u32 dfr_plat_level_of(struct dfr_firing* firing) {
	return dfr_firing_context(firing)->cx_level;
}
static inline u64 dfr_plat_who(struct dfr_firing* firing) {
	return (u64)dfr_firing_context(firing)->cx_task | (u64)dfr_firing_context(firing)->cx_pid << 32;
}
static inline u64 dfr_plat_cgroups(struct dfr_firing* firing) {
	return dfr_plat_env(firing)->ev_cgroup;
}
static inline void dfr_plat_comm(struct dfr_firing* firing, u64 words[2]) {
	memcpy(words, dfr_firing_context(firing)->cx_comm, 16);
}
static inline bool dfr_plat_comm_is(struct dfr_firing* firing, const u64 words[2]) {
	return !memcmp(words, dfr_firing_context(firing)->cx_comm, 16);
}
static inline u64 dfr_plat_thread_key(struct dfr_firing* firing) {
	const struct dfr_context* context = dfr_firing_context(firing);

	return DFR_THREAD_KEY(context->cx_task, context->cx_level & 3, context->cx_tid == 0);
}

/* Clock. `which` of dfr_user_clock(): a CLOCK_ number. */
static inline u64 dfr_plat_clock(const struct dfr_firing* firing) {
	const struct dfr_env* env = dfr_plat_env(firing);

	return env->ev_time ? env->ev_time : dfr_user_clock(1);
}

static inline bool dfr_plat_clock_quick(const struct dfr_firing* firing, u64* time) {
	*time = dfr_plat_clock(firing);
	return true;
}

static inline u64 dfr_plat_register_arg(const void* regs, u32 n) {
	(void)regs;
	(void)n;
	return 0;
}

static inline u64 dfr_plat_wall_offset(const struct dfr_firing* firing) {
	const struct dfr_env* env = dfr_plat_env(firing);

	return env->ev_time ? (u64)env->ev_wall : dfr_user_clock_offset(0);
}

static inline void dfr_plat_offsets(u64* wall, u64* boot) {
	*wall = dfr_plat_wall_offset(NULL);
	*boot = dfr_user_clock_offset(7);
}

static inline u64 dfr_plat_task_time(void) {
	return dfr_user_clock(3);
}

/* Foreign memory. */
static inline int dfr_plat_load(const struct dfr_firing* firing, u64 addr, unsigned size, u64* value) {
	(void)firing;
	(void)addr;
	(void)size;
	*value = 0;
	return -EFAULT;
}

static inline int dfr_plat_copy(const struct dfr_firing* firing, void* dst, u64 addr, size_t n) {
	(void)firing;
	(void)dst;
	(void)addr;
	return n ? -EFAULT : 0;
}

static inline long dfr_plat_copy_str(const struct dfr_firing* firing, char* dst, u64 addr, size_t room) {
	(void)firing;
	(void)addr;
	if (room)
		dst[0] = '\0';
	return -EFAULT;
}

static inline int dfr_plat_copy_user(const struct dfr_firing* firing, void* dst, u64 addr, size_t n) {
	return dfr_plat_env(firing)->ev_flags & DFR_ENV_LIVE ? dfr_user_read(dst, addr, n) : -EFAULT;
}

static inline int dfr_plat_load_user(const struct dfr_firing* firing, u64 addr, unsigned size, u64* value) {
	/* Little endian: `size` bytes at the start of `value` are its low bytes. */
	*value = 0;
	return dfr_plat_copy_user(firing, value, addr, size);
}

static inline long dfr_plat_copy_str_user(const struct dfr_firing* firing, char* dst, u64 addr, size_t room) {
	if (room)
		dst[0] = '\0';
	return dfr_plat_env(firing)->ev_flags & DFR_ENV_LIVE ? dfr_user_read_str(dst, addr, room) : -EFAULT;
}

static inline int dfr_plat_store_user(const struct dfr_firing* firing, u64 addr, const void* src, size_t n) {
	return dfr_plat_env(firing)->ev_flags & DFR_ENV_LIVE ? dfr_user_write(addr, src, n) : -EFAULT;
}

/*
 * Captured inputs, in replay only: what `captured[index]` is. A string or struct
 * is memory of the firing (dfr_plat_firing_room()), which the engine reads
 * directly. NULL: the program reads an input that the caller did not give.
 */
#define DFR_PLAT_HAS_CAPTURED 1
static inline const struct dfr_captured* dfr_env_captured(const struct dfr_env* env, u64 index) {
	return index < env->ev_ncaptured ? &env->ev_captured[index] : NULL;
}

/* To be read: if this firing has not got it, the reader faults, and the firing's caller is told, too (ev_missing). */
static inline const struct dfr_captured* dfr_plat_captured(const struct dfr_firing* firing, u64 index) {
	const struct dfr_env* env = dfr_plat_env(firing);
	const struct dfr_captured* captured = dfr_env_captured(env, index);

	if (captured && captured->fault == DFR_CAPTURED_MISSING && env->ev_missing)
		env->ev_missing(env->ev_cookie, index);
	return captured;
}

/* Whether this firing has the input; if not, reports it to the firing's caller (ev_missing). */
static inline bool dfr_plat_captured_there(const struct dfr_firing* firing, u64 index) {
	const struct dfr_env* env = dfr_plat_env(firing);
	const struct dfr_captured* captured = dfr_env_captured(env, index);

	if (captured && captured->fault != DFR_CAPTURED_MISSING)
		return true;
	if (env->ev_missing)
		env->ev_missing(env->ev_cookie, index);
	return false;
}

/* How many bytes there are from addr to the end of the captured value that contains it; 0: none does. */
static inline u64 dfr_plat_firing_room(const struct dfr_firing* firing, u64 addr) {
	const struct dfr_env* env = dfr_plat_env(firing);
	u32 i;

	for (i = 0; i < env->ev_ncaptured; i++) {
		const struct dfr_captured* captured = &env->ev_captured[i];

		if (captured->size && addr >= captured->value && addr - captured->value < captured->size)
			return captured->size - (addr - captured->value);
	}
	return 0;
}

/* The case numbers are ids of formats/abi/dif.h, which is not included, to keep include order simple. */
static inline u64 dfr_plat_builtin(const struct dfr_firing* firing, u32 id, u64 index) {
	const struct dfr_env* env = dfr_plat_env(firing);

	(void)index;
	switch (id) {
	case 0x102: /* vtimestamp */ return env->ev_vtime;
	case 0x103: /* ipl */ return env->ev_ipl;
	case 0x110: /* stackdepth */ return env->ev_nstack;
	case 0x111: /* caller */ return env->ev_caller;
	case 0x11b: /* ustackdepth */ return env->ev_nustack;
	case 0x11c: /* ucaller */ return env->ev_ucaller;
	case 0x11d: /* ppid */ return env->ev_ppid;
	case 0x201: /* nspid */ return env->ev_nspid;
	case 0x202: /* cgroup */ return env->ev_cgroup;
	case 0x11e: /* uid */ return env->ev_uid;
	case 0x11f: /* gid */ return env->ev_gid;
	case 0x120: /* errno */ return (u64)(s64)env->ev_errno;
	default: return 0;
	}
}

static inline unsigned dfr_user_stack(const u64* from, unsigned n, u64* pcs, unsigned max) {
	if (n > max)
		n = max;
	if (n)
		memcpy(pcs, from, n * sizeof(*pcs));
	return n;
}

static inline unsigned dfr_plat_stack(const struct dfr_firing* firing, u64* pcs, unsigned max) {
	const struct dfr_env* env = dfr_plat_env(firing);

	return dfr_user_stack(env->ev_stack, env->ev_nstack, pcs, max);
}

static inline unsigned dfr_plat_ustack(const struct dfr_firing* firing, u64* pcs, unsigned max) {
	const struct dfr_env* env = dfr_plat_env(firing);

	return dfr_user_stack(env->ev_ustack, env->ev_nustack, pcs, max);
}

static inline bool dfr_plat_owned(const struct dfr_firing* firing, u32 uid, u32 gid) {
	return dfr_plat_env(firing)->ev_uid == uid && dfr_plat_env(firing)->ev_gid == gid;
}

static inline u64 dfr_plat_masked(u64 index, u64 size) {
	return index < size ? index : 0;
}

static inline bool dfr_plat_progenyof(const struct dfr_firing* firing, u32 pid) {
	return dfr_user_progenyof(dfr_plat_env(firing), pid);
}

static inline u64 dfr_plat_secret(void) {
	return dfr_user_secret();
}

static inline long dfr_plat_subr(const struct dfr_firing* firing, u32 subr, const u64* args, char* buffer,
                                 size_t room, u64* result) {
	(void)firing;
	(void)subr;
	(void)args;
	(void)buffer;
	(void)room;
	*result = 0;
	return -ENOSYS;
}

/* Destructive actions: only in a live environment, never in replay. */
static inline int dfr_plat_raise(const struct dfr_firing* firing, int sig) {
	return dfr_plat_env(firing)->ev_flags & DFR_ENV_LIVE ? dfr_user_raise(sig) : -EPERM;
}

static inline int dfr_plat_stop(const struct dfr_firing* firing) {
	return dfr_plat_raise(firing, 19 /* SIGSTOP */);
}

static inline int dfr_plat_chill(u64 ns) {
	return dfr_user_chill(ns);
}
static inline int dfr_plat_breakpoint(void) {
	return -ENOSYS;
}
static inline int dfr_plat_panic(void) {
	return -ENOSYS;
}

/* Others. */
static inline u32 dfr_plat_crc32c(u32 crc, const void* p, size_t n) {
	return dfr_user_crc32c(crc, p, n);
}
#define dfr_plat_log(...) dfr_user_log(__VA_ARGS__)
static inline const u8* dfr_plat_boot_id(void) {
	return dfr_user_boot_id();
}
static inline size_t dfr_plat_machine(char* buffer, size_t room) {
	return dfr_user_machine(buffer, room);
}

static inline int dfr_plat_symbol(const char* name, u64* address) {
	return dfr_user_symbol ? dfr_user_symbol(name, address) : -ENOENT;
}

static inline void dfr_plat_native_build(struct dfr_difo* difo) {
	(void)difo;
}
static inline void dfr_plat_native_free(struct dfr_difo* difo) {
	(void)difo;
}

static inline int dfr_plat_anchor(struct dfr_state* state, u32 kind, u32 cpu, u32 half, void* p, size_t size,
                                  size_t unit) {
	if (dfr_user_anchor)
		dfr_user_anchor(state, kind, cpu, half, p, size, unit);
	return 0;
}

static inline bool dfr_plat_examined(void) {
	return dfr_user_anchor != NULL;
}

static inline void dfr_plat_unanchor(struct dfr_state* state) {
	(void)state;
}

#ifdef __cplusplus
}
#endif

#endif
