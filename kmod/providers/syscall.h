/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two files of the syscall provider share: syscall.c (probes, and the
 * places that every call passes) and syscall_hook.c (the functions of single
 * calls, so that other calls pay nothing).
 */
#ifndef DFR_KMOD_PROVIDERS_SYSCALL_H
#define DFR_KMOD_PROVIDERS_SYSCALL_H

#include "kmod/linux/linux.h"

enum abi { ABI_NATIVE, ABI_COMPAT, ABI_MAX };

#define SITE_BYTES 16 /* a function's ftrace site lies within this many bytes of its start */

/* Whose returns a call's functions hook. */
enum dfr_hooks_returns {
	DFR_HOOKS_NONE,
	DFR_HOOKS_ALL,
	DFR_HOOKS_CONFINED /* only users without privilege listen: their own, of a small pool */
};

/* Where a call's probe fires from. */
enum dfr_armed {
	DFR_NOT_ARMED,
	DFR_AT_FUNCTIONS, /* the call's own */
	DFR_WHERE_ALL_PASS
};

/* A system call by its name: its probes, and how they are fired. */
struct dfr_syscall {
	struct dfr_probe *sy_entry;
	struct dfr_probe *sy_return;
	unsigned long sy_function[ABI_MAX]; /* 0: this ABI has no such call */
	bool sy_returns;		    /* its function returns to its caller, with a result */
	u8 sy_entry_armed; /* enum dfr_armed; this and the next three are read in probe context */
	u8 sy_return_armed;
	u8 sy_hooks_returns; /* enum dfr_hooks_returns */
	bool sy_hooked;	     /* armed at its functions; a call that was says so until it is armed again */
	bool sy_filtered;    /* its functions are in the filter of syscall_hook.c's ops */
};

/* The ABI of the system call that `current` is in. */
static __always_inline enum abi dfr_syscall_abi(void)
{
	return dfr_arch_compat_syscall() ? ABI_COMPAT : ABI_NATIVE;
}

/* These three: probe context. The call of that number, or NULL. */
struct dfr_syscall *dfr_syscall_of(unsigned long number, enum abi abi);
void dfr_syscall_fire_entry(struct dfr_syscall *call, enum abi abi, struct pt_regs *regs);
void dfr_syscall_fire_return(struct dfr_syscall *call, long result, struct pt_regs *regs);

/* syscall_hook.c; process context under the engine's lock. */
void dfr_syscall_hook_choose(struct dfr_syscall *call); /* at each commit */
int dfr_syscall_hook_add(struct dfr_syscall *call);
void dfr_syscall_hook_remove(struct dfr_syscall *call);
void dfr_syscall_hook_exit(void);

#endif
