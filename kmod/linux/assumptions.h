/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module assumes about the kernel that no exported interface promises: the whole list, one
 * row each. It is a document first. assume.c expands it into the checks that run when the module
 * loads. The stage house (tests/stages) checks that kmod/ looks up no name, uses no private
 * structure and registers no callback without a row here. To use something new of the kernel, add
 * its row.
 *
 *   PART      something that works only while all of its rows hold, and the text
 *             that says what is off when one does not
 *   CALLED    a function that the module calls. Checked by BTF: its prototype
 *   LOOKED_AT a symbol that is read or compared. Checked by a test of
 *             assume_tests.c, because BTF has no types of variables
 *   HOOKED    a function at whose entry ftrace calls the module. Checked by BTF:
 *             the parameters that the handler reads. "..." stands for any others;
 *             NULL: it reads none, or shows them as they are, with the types that
 *             BTF has. Where several rows have the same text, kernels name the
 *             function differently, and one of them must exist
 *   TRACEPOINT  one with a handler of our own. Checked by BTF: its parameters
 *   MEMBER    a member of a structure that is private, or reached without an
 *             exported function. Checked by BTF: its place and size
 *   CALLBACK  a type of functions that the kernel calls, because they were given
 *             to one of CALLED. Checked by BTF
 *   BEHAVES   an assumption without a name to look up, and the test that shows it
 *   BUILT     a callback, or a structure, that is given to an exported function.
 *             The compiler checks it against the header; the kernel checks that
 *             the header is its own when it loads us (vermagic, symbol CRCs)
 *
 * Where the kernel has no BTF, rows that BTF would check hold only on listed kernels
 * (DFR_KERNEL_LISTED in compat.h: those that the guests boot).
 *
 * Types are written as btf_read.c renders them; `const` is passed over. Rows that are named in the
 * module's parameter distrust=NAME,NAME are taken not to hold.
 */

/* A file that includes this defines the macros that it needs; the others expand to nothing. */
#ifndef PART
#define PART(id, off)
#endif
#ifndef CALLED
#define CALLED(name, result, args, part)
#endif
#ifndef LOOKED_AT
#define LOOKED_AT(name, test, part)
#endif
#ifndef HOOKED_AS
#define HOOKED_AS(id, name, args, off)
#endif
#ifndef TRACEPOINT
#define TRACEPOINT(name, args, off)
#endif
#ifndef MEMBER
#define MEMBER(tag, member, offset, size, part)
#endif
#ifndef CALLBACK
#define CALLBACK(name, result, args, part)
#endif
#ifndef BEHAVES
#define BEHAVES(name, test, part)
#endif
#ifndef BUILT
#define BUILT(name, held)
#endif
#define HOOKED(name, args, off) HOOKED_AS(name, #name, args, off)
/* A member of a structure in the kernel's headers: it must lie where the header says. */
#define OF_HEADER(tag, member, part)                                                                         \
	MEMBER(tag, member, offsetof(struct tag, member), sizeof_field(struct tag, member), part)
/* A member of a private structure: it must lie as in our own structure that stands for it. */
#define STANDS_FOR(tag, member, ours, our_member, part)                                                      \
	MEMBER(tag, member, offsetof(struct ours, our_member), sizeof_field(struct ours, our_member), part)

PART(SYMBOLS, "names of kernel addresses, and kinst")
PART(PLACES, "system calls at their functions, and at the kernel's dispatcher")
PART(FBT, "fbt")
PART(KPROBES_OFF, "the notice that kprobes are switched off")
PART(KPROBES_SKIPPED, "kinst on some CPUs (hits there are counted as missed)")
PART(FTRACE_ENDED, "the message that ftrace failed while a hook was added")
PART(RETURNS, "returns of functions: fbt:::return, vfs:::return, io:::wait-done, proc:::exec-failure and "
	      "signal-clear, system calls at their functions")
PART(GROUPS, "groups of sdt and rawtp (each event is in vmlinux or its module)")
PART(TRACE_ARGS, "arguments of sdt and rawtp beyond the fifth")
PART(MOUNTS, "the mount point of io's args[2], and d_path() beyond a file system's root")
PART(IO_DIRECT, "io's args[2] for direct I/O of file systems")
PART(CLOCK, "the quick clock (the kernel's own function is used)")
PART(STACKS, "stack(), stackdepth and caller")
PART(QUICK_STACKS, "quick stacks (each address is looked up)")
PART(NATIVE, "native code (programs are interpreted)")
PART(COMMAND_LINE, "dfr.off on the command line, and the command line in recordings")
PART(BOOT_ID, "the kernel's own boot id in recordings")
PART(TYPES, "the check that a program was compiled for this kernel's types")
#ifdef CONFIG_ARM64
PART(VMALLOC, "kernel addresses outside the linear map")
#endif

/* -- Symbols (resolve.c). kallsyms_lookup_name() itself is found by a kprobe and must find itself. */
CALLED(kallsyms_lookup, const char *, (unsigned long, unsigned long *, unsigned long *, char **, char *),
       SYMBOLS)
CALLED(kallsyms_on_each_match_symbol, int, (int (*)(void *, unsigned long), const char *, void *), PLACES)

/* -- fbt (fbt.c, blacklist.c): the list of ftrace's patch sites, and where the kernel forbids kprobes. */
CALLED(ftrace_rec_iter_start, struct ftrace_rec_iter *, (void), FBT)
CALLED(ftrace_rec_iter_next, struct ftrace_rec_iter *, (struct ftrace_rec_iter *), FBT)
CALLED(ftrace_rec_iter_record, struct dyn_ftrace *, (struct ftrace_rec_iter *), FBT)
CALLED(__module_address, struct module *, (unsigned long), FBT)
OF_HEADER(dyn_ftrace, ip, FBT)
OF_HEADER(dyn_ftrace, flags, FBT)
LOOKED_AT(ftrace_lock, mutex, FBT)
LOOKED_AT(__init_begin, begin, FBT)
LOOKED_AT(__init_end, end_of_init, FBT)
CALLED(within_kprobe_blacklist, bool, (unsigned long), FBT)
CALLED(arch_within_kprobe_blacklist, bool, (unsigned long), FBT)
LOOKED_AT(kprobe_blacklist, list, FBT)
LOOKED_AT(kprobe_mutex, mutex, FBT)
OF_HEADER(kprobe_blacklist_entry, list, FBT)
OF_HEADER(kprobe_blacklist_entry, start_addr, FBT)
OF_HEADER(kprobe_blacklist_entry, end_addr, FBT)

/* -- kinst. */
LOOKED_AT(kprobes_all_disarmed, boolean, KPROBES_OFF)
LOOKED_AT(current_kprobe, no_kprobe, KPROBES_SKIPPED)

/* -- Hooks of all providers (hook.c). */
LOOKED_AT(ftrace_disabled, flag, FTRACE_ENDED)

/* -- Returns (rethook.[ch]): the kernel's pools and trampoline, which our own hook uses. */
CALLED(rethook_alloc, struct rethook *, DFR_RETHOOK_ALLOC_TYPES, RETURNS)
CALLED(rethook_free, void, (struct rethook *), RETURNS)
LOOKED_AT(arch_rethook_trampoline, text, RETURNS)
CALLBACK(rethook_handler_t, void, (DFR_RETHOOK_HANDLER_TYPES), RETURNS)
#ifdef CONFIG_RETHOOK
OF_HEADER(task_struct, rethooks, RETURNS)
#endif
OF_HEADER(rethook, data, RETURNS)
OF_HEADER(rethook, handler, RETURNS)
OF_HEADER(rethook, pool, RETURNS)
OF_HEADER(rethook_node, llist, RETURNS)
OF_HEADER(rethook_node, rethook, RETURNS)
OF_HEADER(rethook_node, ret_addr, RETURNS)
OF_HEADER(rethook_node, frame, RETURNS)
#if DFR_RETHOOK_OWN_NODES
CALLED(rethook_add_node, void, (struct rethook *, struct rethook_node *), RETURNS)
OF_HEADER(rethook_node, freelist, RETURNS)
OF_HEADER(freelist_head, head, RETURNS)
OF_HEADER(freelist_node, refs, RETURNS)
OF_HEADER(freelist_node, next, RETURNS)
#else
OF_HEADER(objpool_head, nr_objs, RETURNS)
OF_HEADER(objpool_head, cpu_slots, RETURNS)
#if DFR_OBJPOOL_COUNTS_CPUS
OF_HEADER(objpool_head, nr_possible_cpus, RETURNS)
#endif
OF_HEADER(objpool_slot, head, RETURNS)
OF_HEADER(objpool_slot, last, RETURNS)
OF_HEADER(objpool_slot, mask, RETURNS)
MEMBER(objpool_slot, entries, offsetof(struct objpool_slot, entries), 0, RETURNS)
#endif

/* -- Tracepoints as probes (sdt.c). Their arguments come in registers and on the stack, as BPF takes them. */
LOOKED_AT(ftrace_events, list, GROUPS)
LOOKED_AT(event_mutex, mutex, GROUPS)
OF_HEADER(trace_event_call, list, GROUPS)
OF_HEADER(trace_event_call, class, GROUPS)
OF_HEADER(trace_event_call, tp, GROUPS)
OF_HEADER(trace_event_call, flags, GROUPS)
OF_HEADER(trace_event_class, system, GROUPS)
LOOKED_AT(__start__bpf_raw_tp, begin, TRACE_ARGS)
LOOKED_AT(__stop__bpf_raw_tp, raw_tracepoints, TRACE_ARGS)
OF_HEADER(bpf_raw_event_map, tp, TRACE_ARGS)
OF_HEADER(bpf_raw_event_map, num_args, TRACE_ARGS)

/*
 * -- System calls (syscall.c, syscall_hook.c). The hooks check at each call that a function
 * __x64_sys_* has the caller's registers as its only argument. From 6.13 on sys_enter and sys_exit
 * may come with preemption on; the handlers ask for that and switch it off.
 */
TRACEPOINT(sys_enter, (void *, struct pt_regs *, long), "syscall")
TRACEPOINT(sys_exit, (void *, struct pt_regs *, long), "syscall")
#ifdef CONFIG_X86_64
HOOKED(x64_sys_call, "(struct pt_regs *, unsigned int)",
       "entries of all system calls at the kernel's dispatcher (the tracepoint is used)")
HOOKED(ia32_sys_call, "(struct pt_regs *, unsigned int)",
       "entries of all system calls at the kernel's dispatcher (the tracepoint is used)")
#endif

/* -- proc (proc.c). */
TRACEPOINT(sched_process_fork, (void *, struct task_struct *, struct task_struct *),
	   "proc:::create, lwp-create")
TRACEPOINT(sched_process_exec, (void *, struct task_struct *, pid_t, struct linux_binprm *),
	   "proc:::exec-success")
#if DFR_TRACEPOINT_TELLS_LAST
TRACEPOINT(sched_process_exit, (void *, struct task_struct *, bool), "proc:::exit, lwp-exit")
#else
HOOKED(taskstats_exit, "(struct task_struct *, int)", "proc:::exit, lwp-exit")
#endif
TRACEPOINT(signal_generate, (void *, int, struct kernel_siginfo *, struct task_struct *, int, int),
	   "proc:::signal-send, signal-discard")
TRACEPOINT(signal_deliver, (void *, int, struct kernel_siginfo *, struct k_sigaction *),
	   "proc:::signal-handle")
HOOKED(schedule_tail, NULL, "proc:::start, lwp-start")
#ifdef CONFIG_X86_64
HOOKED(__x64_sys_execve, "(struct pt_regs *)", "proc:::exec, exec-failure")
HOOKED(__x64_sys_execveat, "(struct pt_regs *)", "proc:::exec, exec-failure of execveat()")
HOOKED(__x64_sys_rt_sigtimedwait, "(struct pt_regs *)", "proc:::signal-clear")
#ifdef CONFIG_IA32_EMULATION
HOOKED(__ia32_compat_sys_execve, "(struct pt_regs *)", "proc:::exec, exec-failure of 32-bit calls")
HOOKED(__ia32_compat_sys_execveat, "(struct pt_regs *)",
       "proc:::exec, exec-failure of execveat() as a 32-bit call")
HOOKED(__ia32_compat_sys_rt_sigtimedwait_time32, "(struct pt_regs *)",
       "proc:::signal-clear of 32-bit calls with 32 bits of time")
HOOKED(__ia32_compat_sys_rt_sigtimedwait_time64, "(struct pt_regs *)",
       "proc:::signal-clear of 32-bit calls with 64 bits of time")
#endif
#elif defined(CONFIG_ARM64)
HOOKED(__arm64_sys_execve, "(struct pt_regs *)", "proc:::exec, exec-failure")
HOOKED(__arm64_sys_execveat, "(struct pt_regs *)", "proc:::exec, exec-failure of execveat()")
HOOKED(__arm64_sys_rt_sigtimedwait, "(struct pt_regs *)", "proc:::signal-clear")
#endif

/* -- sched (sched.c). */
TRACEPOINT(sched_switch, (void *, bool, struct task_struct *, struct task_struct *, unsigned int),
	   "sched:::off-cpu, preempt, sleep")
TRACEPOINT(sched_waking, (void *, struct task_struct *), "sched:::wakeup")
TRACEPOINT(sched_wakeup_new, (void *, struct task_struct *), "sched:::wakeup of new threads")
HOOKED(finish_task_switch, NULL, "sched:::on-cpu")
HOOKED_AS(finish_task_switch_isra_0, "finish_task_switch.isra.0", NULL, "sched:::on-cpu")
HOOKED_AS(finish_task_switch_constprop_0, "finish_task_switch.constprop.0", NULL, "sched:::on-cpu")
HOOKED(enqueue_task_fair, "(struct rq *, struct task_struct *, int)", "sched:::enqueue of normal threads")
HOOKED(enqueue_task_rt, "(struct rq *, struct task_struct *, int)", "sched:::enqueue of real-time threads")
HOOKED(enqueue_task_dl, "(struct rq *, struct task_struct *, int)", "sched:::enqueue of deadline threads")
HOOKED(enqueue_task_stop, "(struct rq *, struct task_struct *, int)", "sched:::enqueue of stopper threads")
HOOKED(enqueue_task_scx, "(struct rq *, struct task_struct *, int)", "sched:::enqueue of normal threads")
HOOKED(dequeue_task_fair, "(struct rq *, struct task_struct *, int)", "sched:::dequeue of normal threads")
HOOKED(dequeue_task_rt, "(struct rq *, struct task_struct *, int)", "sched:::dequeue of real-time threads")
HOOKED(dequeue_task_dl, "(struct rq *, struct task_struct *, int)", "sched:::dequeue of deadline threads")
HOOKED(dequeue_task_stop, "(struct rq *, struct task_struct *, int)", "sched:::dequeue of stopper threads")
HOOKED(dequeue_task_scx, "(struct rq *, struct task_struct *, int)", "sched:::dequeue of normal threads")
HOOKED(do_sched_yield, NULL, "sched:::surrender")
HOOKED(scheduler_tick, NULL, "sched:::tick")
HOOKED(sched_tick, NULL, "sched:::tick")
HOOKED(set_user_nice, "(struct task_struct *, long)", "sched:::change-pri")

/* -- io (io.c). */
TRACEPOINT(block_bio_queue, (void *, struct bio *), "io:::start")
TRACEPOINT(block_bio_complete, (void *, struct request_queue *, struct bio *), "io:::done of bios")
TRACEPOINT(block_rq_complete, (void *, struct request *, blk_status_t, unsigned int), "io:::done of requests")
HOOKED(submit_bio_wait, "(struct bio *)", "io:::wait-start, wait-done")
STANDS_FOR(mount, mnt_parent, dfr_mount_head, mh_parent, MOUNTS)
STANDS_FOR(mount, mnt_mountpoint, dfr_mount_head, mh_mountpoint, MOUNTS)
STANDS_FOR(mount, mnt, dfr_mount_head, mh_mnt, MOUNTS)
#ifdef DFR_MOUNT_INSTANCE
MEMBER(mount, mnt_instance, DFR_MOUNT_INSTANCE, sizeof(struct list_head), MOUNTS)
#endif
LOOKED_AT(iomap_dio_bio_end_io, text, IO_DIRECT)
MEMBER(iomap_dio, iocb, 0, sizeof(struct kiocb *), IO_DIRECT)

/* -- vfs (vfs.c): arguments are shown as they are. */
HOOKED(vfs_open, NULL, "vfs::open:")
HOOKED(vfs_read, NULL, "vfs::read:")
HOOKED(vfs_write, NULL, "vfs::write:")
HOOKED(vfs_fsync_range, NULL, "vfs::fsync:")
HOOKED(ksys_lseek, NULL, "vfs::llseek:")
HOOKED(vfs_create, NULL, "vfs::create: by vfs_create()")
HOOKED(vfs_mkdir, NULL, "vfs::mkdir:")
HOOKED(vfs_rmdir, NULL, "vfs::rmdir:")
HOOKED(vfs_mknod, NULL, "vfs::mknod:")
HOOKED(vfs_unlink, NULL, "vfs::unlink:")
HOOKED(vfs_link, NULL, "vfs::link:")
HOOKED(vfs_symlink, NULL, "vfs::symlink:")
HOOKED(vfs_rename, NULL, "vfs::rename:")
HOOKED(vfs_getattr_nosec, NULL, "vfs::getattr:")
HOOKED(notify_change, NULL, "vfs::setattr:")
HOOKED(statfs_by_dentry, NULL, "vfs::statfs:")
HOOKED(iterate_dir, NULL, "vfs::iterate:")
HOOKED(vfs_truncate, NULL, "vfs::truncate:")
HOOKED(filename_lookup, NULL, "vfs::lookup:")
HOOKED(vfs_fallocate, NULL, "vfs::fallocate:")
HOOKED(do_dentry_open, "(struct file *, ...)", "vfs::create: by open()")

/* -- The end of the machine (panic.c). */
HOOKED(panic, "(char *, ...)", "the reason of a panic that starts a crash kernel")
HOOKED(__crash_kexec, NULL, "the reason of an oops that starts a crash kernel")

/* -- Clock (clock.[ch]): the latched words of the timekeeper. It must also give the kernel's time. */
LOOKED_AT(tk_fast_mono, readable, CLOCK)
STANDS_FOR(tk_fast, seq, dfr_fast_timekeeper, fk_latch, CLOCK)
STANDS_FOR(tk_fast, base, dfr_fast_timekeeper, fk_base, CLOCK)
#ifdef CONFIG_X86_64
LOOKED_AT(clocksource_tsc, readable, CLOCK)
LOOKED_AT(clocksource_tsc_early, readable, CLOCK)
#endif

/* -- Stacks (stack.c, arch_*.h): the kernel's unwinder, whose state the module reads. */
#ifdef CONFIG_UNWINDER_ORC
OF_HEADER(unwind_state, stack_info, STACKS)
OF_HEADER(unwind_state, full_regs, STACKS)
OF_HEADER(unwind_state, ip, STACKS)
OF_HEADER(unwind_state, sp, STACKS)
OF_HEADER(unwind_state, regs, STACKS)
LOOKED_AT(_stext, begin_of_text, QUICK_STACKS)
LOOKED_AT(_etext, end_of_text, QUICK_STACKS)
#else
LOOKED_AT(_stext, begin_of_text, RETURNS)
LOOKED_AT(_etext, end_of_text, RETURNS)
#endif
#ifdef CONFIG_ARM64
LOOKED_AT(init_mm, readable, VMALLOC)
#endif

/* -- Native code (jit.c): a program is compiled and run, and must give the right 64 bits. */
BEHAVES(bpf_prog_select_runtime, native_code, NATIVE)

/* -- What the kernel says about itself (platform.c, main.c, btf.c). */
LOOKED_AT(saved_command_line, command_line, COMMAND_LINE)
LOOKED_AT(sysctl_bootid, uuid, BOOT_ID)
LOOKED_AT(__start_BTF, begin, TYPES)
LOOKED_AT(__stop_BTF, btf, TYPES)

/* -- Callbacks that the compiler checks against headers. */
BUILT(register_ftrace_function, "ftrace_func_t")
BUILT(ftrace_ops, "ftrace_func_t")
BUILT(register_kprobe, "kprobe_pre_handler_t")
BUILT(notifier_block, "notifier_fn_t")
BUILT(register_module_notifier, "notifier_fn_t")
BUILT(register_tracepoint_module_notifier, "notifier_fn_t")
BUILT(register_die_notifier, "notifier_fn_t")
BUILT(register_pm_notifier, "notifier_fn_t")
BUILT(atomic_notifier_chain_register, "notifier_fn_t")
BUILT(for_each_kernel_tracepoint, "void (*)(struct tracepoint *, void *)")
BUILT(hrtimer_init, "enum hrtimer_restart (*)(struct hrtimer *)")
BUILT(hrtimer_setup, "enum hrtimer_restart (*)(struct hrtimer *)")
BUILT(init_irq_work, "void (*)(struct irq_work *)")
BUILT(DECLARE_WORK, "work_func_t")
BUILT(DECLARE_DELAYED_WORK, "work_func_t")
BUILT(smp_call_function_single, "smp_call_func_t")
BUILT(on_each_cpu, "smp_call_func_t")
BUILT(cpuhp_setup_state_nocalls, "int (*)(unsigned int)")
BUILT(register_syscore_ops, "the types in struct syscore_ops")
BUILT(register_syscore, "the types in struct syscore_ops")
BUILT(syscore_ops, "the types in struct syscore_ops")
BUILT(misc_register, "struct miscdevice")
BUILT(file_operations, "the types in struct file_operations")
BUILT(vm_operations_struct, "the types in struct vm_operations_struct")
/*
 * It takes a pointer of any type. Ours are of TRACEPOINT's types (DFR_HANDLER), or of sdt's, which
 * takes arguments register by register, as BPF does.
 */
BUILT(tracepoint_probe_register, "DFR_HANDLER, and bpf_raw_event_map.num_args")
