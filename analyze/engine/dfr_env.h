/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's surroundings in user space, as data: who "current" is for a
 * firing (dfr_env), and the machine that an engine runs on (dfr_host). In
 * process the environment is the process itself (dfr_env_self()); in replay it
 * is what was recorded. Plain C, read by the engine through
 * dfr_platform_ops.h; filled by whoever calls dfr_fire_env().
 *
 * Threads play CPUs: a thread says which CPU it is by setting dfr_user_cpu, and
 * may change its mind between firings (replay does, record by record). Two
 * threads may be the same CPU: the CPU's lock keeps them apart.
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
 * One captured input (replay). A scalar is its value; a string or struct is the
 * address of bytes that live as long as the firing, `size` of them (a string's
 * with its NUL). A fault was stored instead of a value: raised only if the
 * program evaluates the field.
 */
struct dfr_captured {
	__u64 value;
	__u64 size;  /* 0: value is a number */
	__u32 fault; /* enum dif_fault + 1; 0: none */
	__u64 fault_addr;
};

/* A fault that no recording holds: no record of this firing has the input (DIF_FAULT_LIBRARY + 1). */
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
	char ev_comm[16]; /* NUL-terminated, zero-padded */

	__u64 ev_time; /* 0: the monotonic clock now */
	__s64 ev_wall; /* with ev_time: ns to add for the time since the epoch */
	__u64 ev_vtime;
	__u64 ev_caller;
	__u64 ev_ucaller;
	__u32 ev_ipl;
	__u32 ev_nstack;
	__u32 ev_nustack;
	const __u64* ev_stack;
	const __u64* ev_ustack;
	const struct dfr_captured* ev_captured;
	/* A clause did not run because the firing lacks its input; NULL: nobody asks. */
	void (*ev_missing)(void* cookie, __u64 index);
	void* ev_cookie;
	bool (*ev_progenyof)(const struct dfr_env* env, __u32 pid); /* NULL: pid or ppid, no further */
};
#define DFR_ENV_LIVE 0x1 /* current is this process: user loads and destructive actions reach it */

/*
 * Who "current" is for firings of this thread that come without an environment:
 * BEGIN and END above all, which replay fires at the recording's times. NULL
 * (at first): the process itself.
 */
extern __thread const struct dfr_env* dfr_user_env;

/* The process itself. Costs a few system calls: make one and keep it. */
void dfr_env_self(struct dfr_env* env);

/*
 * The machine of an engine: one lock per CPU, which stands for "interrupts off".
 * Pass one to dfr_engine_create(), or NULL for one that all such engines share.
 * Engines that run side by side (parallel replay) want one each.
 */
struct dfr_host;
struct dfr_host* dfr_host_create(void); /* NULL: no memory */
void dfr_host_destroy(struct dfr_host* host);

#define DFR_USER_CPUS_MAX 1024

/* The CPU that this thread plays; below dfr_user_ncpus(). */
extern __thread unsigned dfr_user_cpu;

/* CPUs of the machine, at first 1. To be set before the first engine is created. */
void dfr_user_set_ncpus(unsigned ncpus);
unsigned dfr_user_ncpus(void);

/* Addresses for relocations of DOFs that this thread loads; NULL: no symbol is known. */
extern __thread int (*dfr_user_symbol)(const char* name, __u64* address);
/* Asked between the pieces of long work of this thread: not 0, it is given up; NULL: it never is. */
extern __thread int (*dfr_user_proceed)(void);
/* Called where a consumer may want to look, in probe context as the kernel's wake-up is; NULL: nobody waits. */
extern __thread void (*dfr_user_wake)(struct dfr_state* state);
/* Not 0: hashes are keyed with it and not at random, for tests. To be set before a state is created. */
extern __u64 dfr_user_fixed_secret;
/* Not 0: so many allocations from here, one fails. */
extern __thread unsigned long dfr_user_alloc_fails;

#ifdef __cplusplus
}
#endif

#endif
