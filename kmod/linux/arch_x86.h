/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module knows about x86-64: which registers hold the arguments of
 * functions and system calls, which addresses are the kernel's, how its stack is
 * walked. Small inlines for probe context; arch_x86.c has the rest.
 */
#ifndef DFR_KMOD_LINUX_ARCH_X86_H
#define DFR_KMOD_LINUX_ARCH_X86_H

#include <asm/cpu_entry_area.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unwind.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/sched.h>

#define DFR_SYSCALL_ARGS  6
#define DFR_FUNCTION_ARGS 6

/*
 * The halves of a product, xored. In assembler, because the compiler's 128-bit product would save
 * three registers.
 */
static __always_inline u64 dfr_arch_fold(u64 a, u64 b)
{
	u64 high;

	asm("mulq %2" : "+a"(a), "=d"(high) : "rm"(b) : "cc");
	return a ^ high;
}

/*
 * Probe context. Is this a kernel address, so that a load there may be tried? A load from a user
 * address would be an oops under SMAP, one from a non-canonical address a #GP, so both must be
 * refused before. A load within the kernel half may still fault, but that fault is caught.
 */
static inline bool dfr_arch_kernel_address(u64 addr)
{
	return ((s64)addr >> __VIRTUAL_MASK_SHIFT) == -1;
}

/* Probe context. Is [addr, addr + n) user memory? n is below a page. */
static inline bool dfr_arch_user_address(u64 addr, size_t n)
{
	return addr < TASK_SIZE_MAX && n <= TASK_SIZE_MAX - addr;
}

/* Is a device mapped there? A load could have side effects. Slow path, see arch_x86.c. */
bool dfr_arch_device_address(u64 addr);

static inline bool dfr_arch_needs_device_check(u64 addr)
{
	return (addr >= VMALLOC_START && addr <= VMALLOC_END) || addr >= FIXADDR_TOT_START;
}

/*
 * The functions of system calls: their tables by number, the prefixes of their names, and the
 * functions that choose among them.
 */
#define DFR_ARCH_SYSCALL_TABLE		<asm/syscalls_64.h>
#define DFR_ARCH_COMPAT_SYSCALL_TABLE	<asm/syscalls_32.h>
#define DFR_ARCH_SYSCALL		"__x64_"
#define DFR_ARCH_COMPAT_SYSCALL		"__ia32_"
#define DFR_ARCH_SYSCALL_CHOOSER	"x64_sys_call"
#define DFR_ARCH_COMPAT_SYSCALL_CHOOSER "ia32_sys_call"

/* Arguments of a system call at its entry, from the registers of the caller. */
static inline void dfr_arch_syscall_args(const struct pt_regs *regs, u64 args[DFR_SYSCALL_ARGS])
{
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

/* The same for a 32-bit call (int 0x80, sysenter of a 32-bit program). */
static inline void dfr_arch_compat_syscall_args(const struct pt_regs *regs, u64 args[DFR_SYSCALL_ARGS])
{
	args[0] = (u32)regs->bx;
	args[1] = (u32)regs->cx;
	args[2] = (u32)regs->dx;
	args[3] = (u32)regs->si;
	args[4] = (u32)regs->di;
	args[5] = (u32)regs->bp;
}

/* The function of a system call gets a pointer to the caller's registers as its only argument. */
static inline const struct pt_regs *dfr_arch_syscall_regs(const struct pt_regs *regs)
{
	return (const struct pt_regs *)regs->di;
}

/*
 * At a function's entry: makes it return to the trampoline, as the kernel's rethook_hook() does. The
 * node is linked before the return address is replaced, because an unwinder that meets the
 * trampoline looks for the node.
 */
static __always_inline void dfr_arch_divert_return(struct rethook_node *node, struct pt_regs *regs,
						   unsigned long trampoline)
{
	unsigned long *to = (unsigned long *)regs->sp;

	node->frame = regs->sp;
	node->ret_addr = *to;
	node->llist.next = current->rethooks.first;
	barrier();
	WRITE_ONCE(current->rethooks.first, &node->llist);
	barrier();
	WRITE_ONCE(*to, trampoline);
}

/* The second argument of a function whose arguments are integers, as 32 bits. */
static inline unsigned long dfr_arch_second_argument(const struct pt_regs *regs)
{
	return (u32)regs->si;
}

/* The processor's counter (TSC) and the names of its two clocksources. It is read in program order. */
#define DFR_ARCH_COUNTER       DFR_ROW_clocksource_tsc
#define DFR_ARCH_EARLY_COUNTER DFR_ROW_clocksource_tsc_early
static __always_inline u64 dfr_arch_cycles(void)
{
	return rdtsc_ordered();
}

/* The number of the system call in the table of its ABI. */
static inline unsigned long dfr_arch_syscall_number(const struct pt_regs *regs)
{
	return (int)regs->orig_ax;
}

/* Is the system call that `current` is in a 32-bit one? */
static inline bool dfr_arch_compat_syscall(void)
{
	return in_ia32_syscall();
}

/* Arguments of a kernel function at its entry. */
static inline void dfr_arch_function_args(const struct pt_regs *regs, u64 args[DFR_FUNCTION_ARGS])
{
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->cx;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

/* Argument n, counted from 1. */
static __always_inline u64 dfr_arch_function_arg(const struct pt_regs *regs, u32 n)
{
	static const u8 places[DFR_FUNCTION_ARGS + 1] = {
		0,
		offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx),
		offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, r8),
		offsetof(struct pt_regs, r9),
	};

	return *(const u64 *)((const u8 *)regs + places[n]);
}

/*
 * Where the arguments beyond the registers lie on the stack at a function's entry: above the return
 * address.
 */
static inline u64 dfr_arch_stack_args(const struct pt_regs *regs)
{
	return regs->sp + 8;
}

/* The registers that an ftrace callback was given. */
#define dfr_arch_ftrace_regs(fregs) (&(fregs)->regs)

/*
 * The ip of these registers; 0: they are those of a function's entry, for which ftrace stores no
 * segment.
 */
static inline u64 dfr_arch_within_function(const struct pt_regs *regs)
{
	return regs->cs ? regs->ip : 0;
}

/* The frame pointer of user code; the caller's frame pointer and the return address are stored there. */
static inline u64 dfr_arch_user_frame(const struct pt_regs *regs)
{
	return regs->bp;
}

/*
 * A walk up the kernel stack of `current`, by the kernel's own unwinder: start, then pc and next in
 * turn until pc is 0. A walk that starts from registers begins with the caller.
 */
struct dfr_arch_walk {
	struct unwind_state aw_unwind;
};

extern unsigned long dfr_arch_text_begin, dfr_arch_text_size; /* of the kernel itself */
void dfr_arch_init(void);

static inline void dfr_arch_walk_start(struct dfr_arch_walk *walk, struct pt_regs *regs)
{
	unwind_start(&walk->aw_unwind, current, regs, NULL);
}

/*
 * Nearly all frames return into the kernel's own text, and the last one to user mode. These are
 * recognised here, because unwind_get_return_address() would search all code of modules, probes and
 * BPF for the address.
 */
static inline unsigned long dfr_arch_walk_pc(struct dfr_arch_walk *walk)
{
	struct unwind_state *unwind = &walk->aw_unwind;

	if (unwind_done(unwind) || (unwind->regs && user_mode(unwind->regs)))
		return 0;
#ifdef CONFIG_UNWINDER_ORC
	if (likely(unwind->ip - dfr_arch_text_begin < dfr_arch_text_size))
		return unwind->ip;
#endif
	return unwind_get_return_address(unwind);
}

static inline void dfr_arch_walk_next(struct dfr_arch_walk *walk)
{
	unwind_next_frame(&walk->aw_unwind);
}

/*
 * The same where pc is the entry of a function: the return address is on top of its stack, and the unwinder need not
 * know the function.
 */
static inline void dfr_arch_walk_leave_entry(struct dfr_arch_walk *walk)
{
#ifdef CONFIG_UNWINDER_ORC
	walk->aw_unwind.ip = *(unsigned long *)walk->aw_unwind.sp;
	walk->aw_unwind.sp += sizeof(unsigned long);
#else
	dfr_arch_walk_next(walk);
#endif
}

/* All registers, as the trap has saved them which the walk has come to; else NULL. */
static inline const struct pt_regs *dfr_arch_walk_registers(struct dfr_arch_walk *walk)
{
	bool partial = false;
	const struct pt_regs *regs = unwind_get_entry_regs(&walk->aw_unwind, &partial);

	return partial ? NULL : regs;
}

/* As DFR_PANIC_REGISTERS has them (formats/abi/anchor.h); returns their bytes. */
size_t dfr_arch_registers_text(const struct pt_regs *regs, char *to, size_t room);

/* The processor's own CRC-32C instruction works on general registers, so it may be used in any context. */
static inline bool dfr_arch_has_crc32c(void)
{
	return boot_cpu_has(X86_FEATURE_XMM4_2);
}
u32 dfr_arch_crc32c(u32 crc, const u8 *p, size_t n);

/* uregs[index]: the numbering of <sys/regset.h> for amd64 as DTrace scripts use it. */
u64 dfr_arch_user_register(const struct pt_regs *regs, u64 index);

/*
 * Probe context, in a kprobe's handler: what a breakpoint that has led here has added to the preemption count. 0: none has
 * (a jump, or ftrace), or it was hit in an NMI. A breakpoint does not change stacks, and an NMI's is in the entry area.
 */
static inline u32 dfr_arch_breakpoint(const struct pt_regs *regs)
{
	bool on_nmi_stack = (unsigned long)regs - CPU_ENTRY_AREA_BASE < CPU_ENTRY_AREA_MAP_SIZE;

	return in_nmi() && !on_nmi_stack ? NMI_OFFSET + HARDIRQ_OFFSET : 0;
}

/* How percpu.h names this CPU's copy in an instruction; only newer kernels define it. */
#ifndef __my_cpu_var
#define __my_cpu_var(var) (var)
#endif

/* A function that no pointer points to needs no landing pad (endbr) for indirect calls. */
#define dfr_arch_direct __noendbr

/* Adds to a 64-bit counter that only one CPU writes, in one instruction. */
#define dfr_arch_count(p, n)                                                                                 \
	({                                                                                                   \
		BUILD_BUG_ON(sizeof(*(p)) != sizeof(u64));                                                   \
		asm volatile("addq %1, %0" : "+m"(*(p)) : "er"((u64)(n)));                                   \
	})

/* Probe context. Takes one off this CPU's copy of a counter. True: it is below 0 now. */
#define dfr_arch_count_down(counter)                                                                         \
	({                                                                                                   \
		bool below_;                                                                                 \
                                                                                                             \
		asm volatile("decl " __percpu_arg([var])                                                     \
			     : "=@ccs"(below_), [var] "+m"(__my_cpu_var(counter)));                          \
		below_;                                                                                      \
	})

#endif
