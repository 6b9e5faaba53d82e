/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives what differs between kernel versions one name each. The only file of the module that looks
 * at LINUX_VERSION_CODE; processors are in arch_*.h. It is meant to build for both kernels that the
 * guest harness boots (6.1, 6.12) and for those between them.
 */
#ifndef DFR_KMOD_LINUX_COMPAT_H
#define DFR_KMOD_LINUX_COMPAT_H

#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/seqlock.h>
#include <linux/timekeeper_internal.h>
#include <linux/tracepoint.h>
#include <linux/version.h>
#include "kmod/linux/arch.h"

/* The registers that an ftrace callback was given. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define DFR_FTRACE_REGS(fregs) dfr_arch_ftrace_regs(fregs)
#else
#define DFR_FTRACE_REGS(fregs) dfr_arch_ftrace_regs(arch_ftrace_regs(fregs))
#endif

/*
 * rethook: from 6.6 on a handler gets the return address as a parameter, and from 6.7 on the pool's
 * nodes are in an objpool of the kernel's, not allocated by us. rethook.c hides the second; a
 * handler is written
 *
 *	static void h(DFR_RETHOOK_HANDLER_ARGS) { ... node, data, regs ... }
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define DFR_RETHOOK_HANDLER_ARGS  struct rethook_node *node, void *data, struct pt_regs *regs
#define DFR_RETHOOK_HANDLER_TYPES struct rethook_node *, void *, struct pt_regs *
#else
#define DFR_RETHOOK_HANDLER_ARGS                                                                             \
	struct rethook_node *node, void *data, unsigned long ret_addr, struct pt_regs *regs
#define DFR_RETHOOK_HANDLER_TYPES struct rethook_node *, void *, unsigned long, struct pt_regs *
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define DFR_RETHOOK_OWN_NODES	1
#define DFR_RETHOOK_ALLOC_TYPES (void *, rethook_handler_t)
#else
#define DFR_RETHOOK_OWN_NODES	0
#define DFR_RETHOOK_ALLOC_TYPES (void *, rethook_handler_t, int, int)
#endif

/* Up to 6.3, kallsyms_on_each_symbol() passed the module to its visitor, too. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define DFR_SYMBOL_VISITOR_ARGS	 void *data, const char *name, struct module *module, unsigned long address
#define DFR_SYMBOL_VISITOR_TYPES void *, const char *, struct module *, unsigned long
#else
#define DFR_SYMBOL_VISITOR_ARGS	 void *data, const char *name, unsigned long address
#define DFR_SYMBOL_VISITOR_TYPES void *, const char *, unsigned long
#endif

/*
 * Kernels whose private parts are known to be as assumptions.h says, because the guest harness boots
 * them. On these, a row whose type cannot be checked for want of BTF is taken to hold.
 */
#define DFR_IS_SERIES(major, minor)                                                                          \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0) &&                                            \
	 LINUX_VERSION_CODE < KERNEL_VERSION(major, (minor) + 1, 0))
#define DFR_KERNEL_LISTED (DFR_IS_SERIES(6, 1) || DFR_IS_SERIES(6, 12))

/*
 * The head of struct mount (fs/mount.h), which is private to the file systems: the members up to the
 * vfsmount, which everybody has. The same in 6.1 to 6.12.
 */
struct dfr_mount_head {
	struct hlist_node mh_hash;
	struct dfr_mount_head *mh_parent;
	struct dentry *mh_mountpoint;
	struct vfsmount mh_mnt;
};

/*
 * Offset of mnt_instance in struct mount, which links it to its super block's mounts. assumptions.h
 * checks it.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define DFR_MOUNT_INSTANCE 120
#else
#define DFR_MOUNT_INSTANCE 128
#endif

/*
 * The kernel's struct tk_fast, which is private to its timekeeping: what ktime_get_mono_fast_ns()
 * reads. The same in 6.1 to 6.12; assumptions.h checks it.
 */
struct dfr_fast_timekeeper {
	seqcount_latch_t fk_latch;
	struct tk_read_base fk_base[2];
};

/* A mount's mapping of user ids: the first argument of vfs_create() and similar functions. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define dfr_mount_idmap(mnt) mnt_user_ns(mnt)
#else
#define dfr_mount_idmap(mnt) mnt_idmap(mnt)
#endif

/*
 * May a tracepoint's handler be preempted? From 6.13 on handlers of system calls may, and older
 * kernels may have taken that over, so it asks the preemption count, not the version. Others never
 * may.
 */
static __always_inline bool dfr_may_be_preempted(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_COUNT) && unlikely(!preempt_count());
}

/* Makes a mapping stay read-only, and keeps it from being inherited, grown or dumped. */
static inline void dfr_vma_lock_down(struct vm_area_struct *vma)
{
	unsigned long set = VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags = (vma->vm_flags & ~(unsigned long)VM_MAYWRITE) | set;
#else
	vm_flags_mod(vma, set, VM_MAYWRITE);
#endif
}

/* A timer that expires in hard interrupt context, on -rt kernels too. */
static inline void dfr_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	timer->function = function;
#else
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#endif
}

#endif
