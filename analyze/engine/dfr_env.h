/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's surroundings in user space, as data: who "current" is for a
 * firing (dfr_env), and the machine that an engine runs on (dfr_host). For the
 * in-process engine the environment describes the process itself
 * (dfr_env_self()); in replay it describes the recorded firing. Plain C: the
 * caller of dfr_fire_env() fills it, the engine reads it through
 * dfr_platform_ops.h.
 *
 * Threads play CPUs: a thread sets dfr_user_cpu to the CPU that it plays, and
 * may set another between firings (replay does so for each firing). Two threads
 * may play the same CPU, because the CPU's lock keeps their firings apart.
 */
#ifndef DFR_ENGINE_ENV_H
#define DFR_ENGINE_ENV_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One captured input (replay). For a scalar, `value` is the value. For a string
 * or struct, `value` is the address of `size` bytes (a string's with its NUL),
 * which must stay there during the firing. `fault`: evaluating the input faulted
 * when it was recorded; the engine raises the fault only if the program reads
 * the input.
 */
struct dfr_captured {
	__u64 value;
	__u64 size;  /* 0: a scalar */
	__u32 fault; /* enum dif_fault + 1, or DFR_CAPTURED_MISSING; 0: none */
	__u64 fault_addr;
};

/* No record of this firing has the input. Not a recorded fault (DIF_FAULT_LIBRARY + 1). */
#define DFR_CAPTURED_MISSING 1001

struct dfr_env {
	__u32 ev_flags; /* DFR_ENV_* */
	__u32 ev_level; /* enum dfr_level */
	__u32 ev_task;  /* tid, or the CPU for its idle task */
	__u32 ev_pid;
	__u32 ev_tid;
	__u32 ev_ppid;
	__u32 ev_uid;
	__u32 ev_gid;
	__s32 ev_errno;
	__u32 ev_ncaptured;
	__u32 ev_nspid;
	__u64 ev_cgroup;
	char ev_comm[16]; /* NUL-terminated, zero-padded */

	__u64 ev_time; /* time of the firing; 0: the monotonic clock is read */
	__s64 ev_wall; /* ev_time + ev_wall is the time since the epoch, in ns; unused if ev_time is 0 */
	__u64 ev_vtime;
	__u64 ev_caller;
	__u64 ev_ucaller;
	__u32 ev_ipl;
	__u32 ev_nstack;
	__u32 ev_nustack;
	const __u64* ev_stack;
	const __u64* ev_ustack;
	const struct dfr_captured* ev_captured;
	/* The engine calls it if a clause is skipped, or faults, because the firing lacks input `index`; may be NULL. */
	void (*ev_missing)(void* cookie, __u64 index);
	void* ev_cookie;
	/* NULL: only pid and ppid are compared; with DFR_ENV_LIVE, all ancestors. */
	bool (*ev_progenyof)(const struct dfr_env* env, __u32 pid);
};
#define DFR_ENV_LIVE 0x1 /* "current" is this process: user loads and destructive actions are allowed */

/*
 * Who "current" is for firings of this thread that have no environment of their
 * own, such as BEGIN and END. Replay sets it, so that they fire at the recording's
 * times. NULL (at first): the process itself.
 */
extern __thread const struct dfr_env* dfr_user_env;

/* Fills in the process itself. Takes several system calls, so keep the result. */
void dfr_env_self(struct dfr_env* env);

/*
 * The machine of an engine: one lock per CPU; holding it stands for "interrupts
 * off". Pass one to dfr_engine_create(); engines created with NULL share one.
 * Engines that run in parallel threads should have one each, or they wait for
 * each other's locks.
 */
struct dfr_host;
struct dfr_host* dfr_host_create(void); /* NULL: no memory */
void dfr_host_destroy(struct dfr_host* host);

#define DFR_USER_CPUS_MAX 1024

/* The CPU that this thread plays; below dfr_user_ncpus(). */
extern __thread unsigned dfr_user_cpu;

/* The number of CPUs of all machines, at first 1. Set it before the first engine is created. */
void dfr_user_set_ncpus(unsigned ncpus);
unsigned dfr_user_ncpus(void);

/* Finds symbols for the relocations of a DOF that this thread loads; NULL: no symbol is known. */
extern __thread int (*dfr_user_symbol)(const char* name, __u64* address);

/* What the module lists in anchors: told to whoever wants to make an image of this process's recording. */
struct dfr_state;
extern __thread void (*dfr_user_anchor)(const struct dfr_state* state, __u32 kind, __u32 cpu, __u32 half,
                                        void* p, size_t size, size_t unit);
/* The engine calls it between pieces of long work, and gives up the work if it is not 0; may be NULL. */
extern __thread int (*dfr_user_proceed)(void);
/* The engine calls it in probe context where the kernel would wake the state's consumer; may be NULL. */
extern __thread void (*dfr_user_wake)(struct dfr_state* state);
/* dfr_plat_on_cpu() calls it as `cpu`, before its function; may be NULL. */
extern __thread void (*dfr_user_visit)(unsigned cpu);
/* Not 0: the key of hashes, in place of a random one, for tests. Set it before a state is created. */
extern __u64 dfr_user_fixed_secret;
/*
 * Bytes wanted for the table in which the aggregations of all CPUs are merged, for states that this thread
 * starts; 0: as many as in the kernel.
 */
extern __thread size_t dfr_user_agg_room;
/*
 * Whether this CPU has a closed block, or a table of aggregations that is half full: its consumer should
 * read now, or records and keys are lost. For the thread that plays the CPU.
 */
bool dfr_user_due(const struct dfr_state* state, unsigned cpu);
/* A number that changes when this CPU commits a record. For the thread that plays the CPU. */
__u64 dfr_user_recorded(const struct dfr_state* state, unsigned cpu);
/* Where dfr_state_aggsnap() has merged the aggregations of all CPUs; NULL: the state has none. */
struct dfr_aggtab;
const struct dfr_aggtab* dfr_user_aggregations(const struct dfr_state* state);
/* n > 0: this thread's nth allocation from now on fails, for tests. */
extern __thread unsigned long dfr_user_alloc_fails;

/* For tests: how much reserved memory there seems to be. */
extern __thread __u64 dfr_user_reserved_left;

#ifdef __cplusplus
}
#endif

#endif
