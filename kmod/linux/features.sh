#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What compat.h must know of a kernel, as flags of its compiler: which of two forms
# that kernel's own headers declare. Stable series and distributions take over what
# newer kernels changed (6.12.117 has the syscore functions of 6.19), so a version
# does not tell. Kbuild calls it with the folder of the kernel's headers.
#
#   kmod/linux/features.sh /usr/src/linux-headers-6.12.117+deb12-common/include
include=$1

has() { # has FEATURE EXPRESSION FILE...: one of the files, as far as they exist, has a line that matches
	feature=$1 expression=$2
	shift 2
	for file in "$@"; do
		grep -qsE "$expression" "$include/$file" && echo "-DDFR_HAS_$feature" && return
	done
}

has ARCH_FTRACE_REGS 'arch_ftrace_regs' linux/ftrace.h linux/ftrace_regs.h
has RETHOOK_RETURN 'rethook_handler_t\).*unsigned long' linux/rethook.h
has RETHOOK_OBJPOOL 'rethook_alloc\(.*int num' linux/rethook.h
has OBJPOOL_POSSIBLE 'nr_possible_cpus;' linux/objpool.h
has FIRST_MOUNT 'struct mount[[:space:]]*\*s_mounts;' linux/fs.h linux/fs/super_types.h
has WRITABLE_PATH 'struct path[[:space:]]*__f_path;' linux/fs.h
has DENTRY_UNION '\} d_u;' linux/dcache.h
has MNT_IDMAP 'mnt_idmap\(' linux/fs.h linux/mount.h
has EXIT_OF_PROCESS 'struct task_struct \*p, bool group_dead' trace/events/sched.h
has CRC32C_LE '__crc32c_le\(' linux/crc32.h
has MUTEX_LIST 'struct list_head[[:space:]]*wait_list' linux/mutex.h linux/mutex_types.h
has SYSCORE ' register_syscore\(' linux/syscore_ops.h
has VM_FLAGS_MOD 'void vm_flags_mod\(' linux/mm.h
has RESERVE_MEM 'int reserve_mem_find_by_name\(' linux/mm.h
has HRTIMER_SETUP ' hrtimer_setup\(' linux/hrtimer.h
exit 0
