/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives what differs between kernels one name each; processors are in arch_*.h. What the kernel's headers
 * declare they tell themselves (DFR_HAS_*, by features.sh), because stable series take over what newer kernels
 * changed. The only file of the module that looks at LINUX_VERSION_CODE, which says how a kernel behaves, and where
 * private members lie, which assumptions.h checks. The guest harness boots 6.1, 6.12 and the newest of
 * trixie-backports (7.3); it is meant to build for those between them, too.
 */
#ifndef DFR_KMOD_LINUX_COMPAT_H
#define DFR_KMOD_LINUX_COMPAT_H

#include <linux/crc32.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/rcupdate.h>
#include <linux/sched/coredump.h>
#include <linux/seqlock.h>
#include <linux/syscore_ops.h>
#include <linux/timekeeper_internal.h>
#include <linux/tracepoint.h>
#include <linux/version.h>
#if __has_include(<linux/sched/exec_state.h>)
#include <linux/sched/exec_state.h>
#define DFR_HAS_EXEC_STATE
#endif
#include "kmod/linux/arch.h"

/* The registers that an ftrace callback was given. */
#ifdef DFR_HAS_ARCH_FTRACE_REGS
#define DFR_FTRACE_REGS(fregs) dfr_arch_ftrace_regs(arch_ftrace_regs(fregs))
#else
#define DFR_FTRACE_REGS(fregs) dfr_arch_ftrace_regs(fregs)
#endif

/*
 * rethook: from 6.6 on a handler gets the return address as a parameter, and from 6.7 on the pool's
 * nodes are in an objpool of the kernel's, not allocated by us. rethook.c hides the second; a
 * handler is written
 *
 *	static void h(DFR_RETHOOK_HANDLER_ARGS) { ... node, data, regs ... }
 */
#ifndef DFR_HAS_RETHOOK_RETURN
#define DFR_RETHOOK_HANDLER_ARGS  struct rethook_node *node, void *data, struct pt_regs *regs
#define DFR_RETHOOK_HANDLER_TYPES struct rethook_node *, void *, struct pt_regs *
#else
#define DFR_RETHOOK_HANDLER_ARGS                                                                             \
	struct rethook_node *node, void *data, unsigned long ret_addr, struct pt_regs *regs
#define DFR_RETHOOK_HANDLER_TYPES struct rethook_node *, void *, unsigned long, struct pt_regs *
#endif
#ifndef DFR_HAS_RETHOOK_OBJPOOL
#define DFR_RETHOOK_OWN_NODES	1
#define DFR_RETHOOK_ALLOC_TYPES (void *, rethook_handler_t)
#else
#define DFR_RETHOOK_OWN_NODES	0
#define DFR_RETHOOK_ALLOC_TYPES (void *, rethook_handler_t, int, int)
#endif

/* Does objpool_pop() read how many CPUs there may be from the pool? Stable series have taken that over from 6.13. */
#ifdef DFR_HAS_OBJPOOL_POSSIBLE
#define DFR_OBJPOOL_COUNTS_CPUS 1
#else
#define DFR_OBJPOOL_COUNTS_CPUS 0
#endif

/*
 * Kernels whose private parts are known to be as assumptions.h says, because the guest harness boots
 * them. On these, a row whose type cannot be checked for want of BTF is taken to hold.
 */
#define DFR_IS_SERIES(major, minor)                                                                          \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0) &&                                            \
	 LINUX_VERSION_CODE < KERNEL_VERSION(major, (minor) + 1, 0))
#define DFR_KERNEL_LISTED (DFR_IS_SERIES(6, 1) || DFR_IS_SERIES(6, 12) || DFR_IS_SERIES(7, 3))

/* Did fbt pass its storms on kernels like this? On 7.3 one of seven ended in a panic, whose cause is not known. */
#define DFR_FBT_PROVEN (LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))

/*
 * The head of struct mount (fs/mount.h), which is private to the file systems: the members up to the
 * vfsmount, which everybody has. The same in 6.1 to 7.3.
 */
struct dfr_mount_head {
	struct hlist_node mh_hash;
	struct dfr_mount_head *mh_parent;
	struct dentry *mh_mountpoint;
	struct vfsmount mh_mnt;
};

/*
 * Offset of mnt_instance in struct mount, which links it to its super block's mounts; assumptions.h
 * checks it. From 6.18 on a super block points to its first mount itself.
 */
#ifdef DFR_HAS_FIRST_MOUNT
#define DFR_FIRST_MOUNT(sb)    (&(sb)->s_mounts)
#define DFR_MOUNT_AT(instance) ((struct dfr_mount_head *)(instance))
#else
#define DFR_MOUNT_INSTANCE     (LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0) ? 120 : 128)
#define DFR_FIRST_MOUNT(sb)    (&(sb)->s_mounts.next)
#define DFR_MOUNT_AT(instance) ((struct dfr_mount_head *)((instance)-DFR_MOUNT_INSTANCE))
#endif

/* From 6.18 on a file's path is const, but under its other name. */
#ifdef DFR_HAS_WRITABLE_PATH
#define DFR_FILE_PATH __f_path
#else
#define DFR_FILE_PATH f_path
#endif

/* The member of struct dentry that links it to its inode's other names. */
#ifdef DFR_HAS_DENTRY_UNION
#define DFR_DENTRY_ALIAS d_u.d_alias
#else
#define DFR_DENTRY_ALIAS d_alias
#endif

/* The low bits of page->mapping that tell memory which no file has. */
#ifdef PAGE_MAPPING_FLAGS
#define DFR_MAPPING_FLAGS PAGE_MAPPING_FLAGS
#else
#define DFR_MAPPING_FLAGS FOLIO_MAPPING_FLAGS
#endif

/*
 * The kernel's struct tk_fast, which is private to its timekeeping: what ktime_get_mono_fast_ns()
 * reads. The same in 6.1 to 7.3; assumptions.h checks it.
 */
struct dfr_fast_timekeeper {
	seqcount_latch_t fk_latch;
	struct tk_read_base fk_base[2];
};

/* A mount's mapping of user ids: the first argument of vfs_create() and similar functions. */
#ifdef DFR_HAS_MNT_IDMAP
#define dfr_mount_idmap(mnt) mnt_idmap(mnt)
#else
#define dfr_mount_idmap(mnt) mnt_user_ns(mnt)
#endif

/*
 * May a tracepoint's handler be preempted? From 6.13 on handlers of system calls may, in 7.2 and 7.3
 * those of all tracepoints, and older kernels may have taken that over, so it asks the preemption
 * count, not the version.
 */
static __always_inline bool dfr_may_be_preempted(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_COUNT) && unlikely(!preempt_count());
}

/* Any context: may whoever `current` runs as look into its memory? Only of a process, not of a kernel thread. */
static inline bool dfr_owner_may_look(void)
{
#ifndef DFR_HAS_EXEC_STATE
	return get_dumpable(current->mm) == SUID_DUMP_USER;
#else
	/* Only the task itself replaces its own, so nobody frees it meanwhile. */
	const struct task_exec_state *state = rcu_access_pointer(current->exec_state);

	return state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
#endif
}

/* Does sched_process_exit say whether the process's last thread exits? From 6.16 on. */
#ifdef DFR_HAS_EXIT_OF_PROCESS
#define DFR_TRACEPOINT_TELLS_LAST 1
#else
#define DFR_TRACEPOINT_TELLS_LAST 0
#endif

/* CRC-32C without inversions. */
static inline u32 dfr_kernel_crc32c(u32 crc, const void *p, size_t n)
{
#ifdef DFR_HAS_CRC32C_LE
	return __crc32c_le(crc, p, n);
#else
	return crc32c(crc, p, n);
#endif
}

/* Has a mutex a list of its waiters? In 7.2 and 7.3 it points to the first of them. */
#ifdef DFR_HAS_MUTEX_LIST
#define DFR_MUTEX_HAS_LIST 1
#else
#define DFR_MUTEX_HAS_LIST 0
#endif

/*
 * What is called when the machine suspends and resumes, with one CPU and interrupts off. From 6.19 (and
 * 6.12.117) on the functions are given a pointer, so they are written `static int f(DFR_SYSCORE_ARGS)`.
 */
#ifndef DFR_HAS_SYSCORE
#define DFR_SYSCORE_ARGS		void
#define DFR_SYSCORE(name, ...)		static struct syscore_ops name = { __VA_ARGS__ }
#define dfr_syscore_register(syscore)	register_syscore_ops(syscore)
#define dfr_syscore_unregister(syscore) unregister_syscore_ops(syscore)
#else
#define DFR_SYSCORE_ARGS void *data
#define DFR_SYSCORE(name, ...)                                                                               \
	static const struct syscore_ops name##_ops = { __VA_ARGS__ };                                        \
	static struct syscore name = { .ops = &name##_ops }
#define dfr_syscore_register(syscore)	register_syscore(syscore)
#define dfr_syscore_unregister(syscore) unregister_syscore(syscore)
#endif

static inline void dfr_vma_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#ifdef DFR_HAS_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags & ~clear) | set;
#endif
}

/* The memory that reserve_mem=SIZE:ALIGN:NAME has reserved. False: there is none of that name, or the kernel has no such word. */
static inline bool dfr_reserve_mem(const char *name, u64 *start, u64 *bytes)
{
#ifndef DFR_HAS_RESERVE_MEM
	return false;
#else
	phys_addr_t at, size;

	if (!reserve_mem_find_by_name(name, &at, &size))
		return false;
	*start = at;
	*bytes = size;
	return true;
#endif
}

/* A timer that expires in hard interrupt context, on -rt kernels too. */
static inline void dfr_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *))
{
#ifdef DFR_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	timer->function = function;
#endif
}

#endif
