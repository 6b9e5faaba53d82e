/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module knows about arm64, under the same names as in arch_x86.h. It has been compiled
 * against Debian's headers and has not run yet. Debian's arm64 kernels have no rethook, so functions
 * have no return probes there, and the tracepoints serve for the returns of system calls. ustack()
 * follows frame records.
 */
#ifndef DFR_KMOD_LINUX_ARCH_ARM64_H
#define DFR_KMOD_LINUX_ARCH_ARM64_H

#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/timex.h>

#define DFR_SYSCALL_ARGS  6
#define DFR_FUNCTION_ARGS 8

/* Halves of a product, xored. */
static __always_inline u64 dfr_arch_fold(u64 a, u64 b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}

/* Probe context. Is this a kernel address, so that a load there may be tried? */
static inline bool dfr_arch_kernel_address(u64 addr)
{
	return addr >= PAGE_OFFSET;
}

/* Probe context. Is [addr, addr + n) user memory? n is below a page. */
static inline bool dfr_arch_user_address(u64 addr, size_t n)
{
	return addr < TASK_SIZE_MAX && n <= TASK_SIZE_MAX - addr;
}

void dfr_arch_init(void);

/* Is a device mapped there? A load could have side effects. Slow path, see arch_arm64.c. */
bool dfr_arch_device_address(u64 addr);

/* The linear map of memory holds no device. */
static inline bool dfr_arch_needs_device_check(u64 addr)
{
	return !__is_lm_address(addr);
}

/*
 * Prefixes of the names of system calls' functions. There is no table of them
 * (DFR_ARCH_SYSCALL_TABLE is not defined): without return hooks all calls go by the tracepoints.
 */
#define DFR_ARCH_SYSCALL		"__arm64_"
#define DFR_ARCH_COMPAT_SYSCALL		DFR_ARCH_SYSCALL
#define DFR_ARCH_SYSCALL_CHOOSER	""
#define DFR_ARCH_COMPAT_SYSCALL_CHOOSER ""

/* Arguments of a system call at its entry, from the registers of the caller. */
static inline void dfr_arch_syscall_args(const struct pt_regs *regs, u64 args[DFR_SYSCALL_ARGS])
{
	int i;

	args[0] = regs->orig_x0;
	for (i = 1; i < DFR_SYSCALL_ARGS; i++)
		args[i] = regs->regs[i];
}

/* The same for a call of a 32-bit program. */
static inline void dfr_arch_compat_syscall_args(const struct pt_regs *regs, u64 args[DFR_SYSCALL_ARGS])
{
	int i;

	dfr_arch_syscall_args(regs, args);
	for (i = 0; i < DFR_SYSCALL_ARGS; i++)
		args[i] = (u32)args[i];
}

/* The function of a system call gets a pointer to the caller's registers as its only argument. */
static inline const struct pt_regs *dfr_arch_syscall_regs(const struct pt_regs *regs)
{
	return (const struct pt_regs *)regs->regs[0];
}

/* The second argument of a function whose arguments are integers, as 32 bits. */
static inline unsigned long dfr_arch_second_argument(const struct pt_regs *regs)
{
	return (u32)regs->regs[1];
}

/* The number of the system call in the table of its ABI. */
static inline unsigned long dfr_arch_syscall_number(const struct pt_regs *regs)
{
	return regs->syscallno;
}

/* Is the system call that `current` is in a 32-bit one? */
static inline bool dfr_arch_compat_syscall(void)
{
	return is_compat_task();
}

/* Arguments of a kernel function at its entry. */
static inline void dfr_arch_function_args(const struct pt_regs *regs, u64 args[DFR_FUNCTION_ARGS])
{
	int i;

	for (i = 0; i < DFR_FUNCTION_ARGS; i++)
		args[i] = regs->regs[i];
}

/* Argument n, counted from 1. */
static __always_inline u64 dfr_arch_function_arg(const struct pt_regs *regs, u32 n)
{
	return regs->regs[n - 1];
}

/* Where the arguments beyond the registers lie on the stack at a function's entry. */
static inline u64 dfr_arch_stack_args(const struct pt_regs *regs)
{
	return regs->sp;
}

/*
 * The registers that an ftrace callback was given. ftrace saves only those of the calling convention
 * and no processor state, so this makes a copy that reads like registers of an exception in the
 * kernel. It has no pc, because it is at a function's entry.
 */
static inline struct pt_regs *dfr_arch_entry_regs(struct pt_regs *copy, const unsigned long long x[], u64 fp,
						  u64 lr, u64 sp)
{
	memcpy(copy->regs, x, 9 * sizeof(copy->regs[0]));
	copy->regs[29] = fp;
	copy->regs[30] = lr;
	copy->sp = sp;
	copy->pstate = PSR_MODE_EL1h;
	return copy;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#define dfr_arch_ftrace_regs(fregs)                                                                          \
	dfr_arch_entry_regs(&(struct pt_regs){}, (const void *)(fregs)->regs, (fregs)->fp, (fregs)->lr,      \
			    (fregs)->sp)
#else
#define dfr_arch_ftrace_regs(fregs)                                                                          \
	dfr_arch_entry_regs(&(struct pt_regs){}, (const void *)(fregs)->regs.regs, (fregs)->regs.regs[29],   \
			    (fregs)->regs.regs[30], (fregs)->regs.sp)
#endif

/* The pc of these registers; 0: they are those of a function's entry. */
static inline u64 dfr_arch_within_function(const struct pt_regs *regs)
{
	return regs->pc;
}

/* The frame pointer of user code; the caller's frame pointer and the return address are stored there. */
static inline u64 dfr_arch_user_frame(const struct pt_regs *regs)
{
	return regs->regs[29];
}

/*
 * A walk up the kernel stack of `current`, along its frame records: start, then pc and next in turn
 * until pc is 0. A walk that starts from registers begins with the caller.
 */
struct dfr_arch_walk {
	u64 aw_fp;
	u64 aw_pc;
	bool aw_on_task_stack; /* an interrupt's stack leads there, once, and never back */
};

void dfr_arch_walk_start(struct dfr_arch_walk *walk, struct pt_regs *regs);
void dfr_arch_walk_next(struct dfr_arch_walk *walk);

static inline void dfr_arch_walk_leave_entry(struct dfr_arch_walk *walk)
{
	dfr_arch_walk_next(walk);
}

/* The walk does not know of traps. */
static inline const struct pt_regs *dfr_arch_walk_registers(struct dfr_arch_walk *walk)
{
	return NULL;
}

static inline size_t dfr_arch_registers_text(const struct pt_regs *regs, char *to, size_t room)
{
	return 0;
}

static inline unsigned long dfr_arch_walk_pc(struct dfr_arch_walk *walk)
{
	return walk->aw_pc;
}

/* Never called: Debian's kernels for arm64 have no rethook, so no pool is ever made. */
static inline void dfr_arch_divert_return(struct rethook_node *node, struct pt_regs *regs,
					  unsigned long trampoline)
{
}

/* The processor's counter has fewer than 64 bits, so the kernel's function gives the time (clock.h). */
#define DFR_ARCH_COUNTER       DFR_ROWS /* none */
#define DFR_ARCH_EARLY_COUNTER DFR_ROWS
static inline u64 dfr_arch_cycles(void)
{
	return get_cycles();
}

/* The kernel's CRC-32C uses the processor's instructions itself, so none are used here. */
static inline bool dfr_arch_has_crc32c(void)
{
	return false;
}

static inline u32 dfr_arch_crc32c(u32 crc, const u8 *p, size_t n)
{
	return crc;
}

/* uregs[index]: x0 to x30, sp, pc, pstate. */
u64 dfr_arch_user_register(const struct pt_regs *regs, u64 index);

/* A kprobe's breakpoint adds nothing to the preemption count here. */
static inline u32 dfr_arch_breakpoint(const struct pt_regs *regs)
{
	return 0;
}

/* The attribute of a function that no pointer points to: arm64 needs none. */
#define dfr_arch_direct

/* Adds to a 64-bit counter that only one CPU writes. */
#define dfr_arch_count(p, n) WRITE_ONCE(*(p), *(p) + (n))

/* Probe context. Takes one off this CPU's copy of a counter. True: it is below 0 now. */
#define dfr_arch_count_down(counter) ((s32)raw_cpu_sub_return(counter, 1) < 0)

#endif
