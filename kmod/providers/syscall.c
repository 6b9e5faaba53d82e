// SPDX-License-Identifier: GPL-2.0
/*
 * syscall: entry and return of every system call by name, 64-bit and 32-bit calls
 * under the name that the kernel's own tables give them.
 *
 *   entry   arg0..arg5  the call's arguments as registers hold them
 *   return  arg0, arg1  the result, -1 if it failed (then errno says why)
 *
 * A call is traced in one of two ways:
 *
 *   by its functions   (syscall_hook.c), while at most 32 calls are: the other calls
 *                      pay nothing.
 *   where all calls    so that every call pays: if more than 32 calls are traced, if
 *   pass               the call's functions cannot be hooked, or if the program sets
 *                      -x syscallhook=tracepoint. Entries fire in the functions that
 *                      choose a call's own by its number (x64_sys_call()), returns
 *                      from the tracepoint sys_exit. The tracepoint sys_enter serves
 *                      only kernels without such functions, because while it is in use
 *                      every call takes the kernel's slow path in and out.
 *
 * The way is chosen when the first of a call's two probes is armed, and kept until
 * neither is: a call that is being traced never moves from one way to the other, so
 * no event is lost or doubled when other programs start or stop.
 *
 * Therefore exit has no return; a call that seccomp refused has no entry; the child
 * of a fork has a return of its own, but only from the tracepoint; numbers without a
 * call in the kernel are not seen.
 *
 * Handlers are probe context with preemption off (if the kernel calls one with
 * preemption on, dfr_may_be_preempted() tells, and the handler switches it off);
 * everything else runs under the engine's lock.
 */
#include "kmod/providers/syscall.h"

#include <linux/nospec.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/hook.h"
#include "kmod/linux/resolve.h"
#include "kmod/providers/tracepoints.h"
#include "syscall_names.h" /* made by Kbuild from the kernel's unistd_*.h */

#define HOOKED_MAX 32

/* By number, the functions that the kernel's dispatch calls; empty on processors without return hooks. */
#ifdef DFR_ARCH_SYSCALL_TABLE
#define __SYSCALL(number, function)	     [number] = DFR_ARCH_SYSCALL #function,
#define __SYSCALL_NORETURN(number, function) __SYSCALL(number, function)
static const char *const native_functions[] = {
#include DFR_ARCH_SYSCALL_TABLE
};
#undef __SYSCALL
#define __SYSCALL(number, function)		      [number] = DFR_ARCH_COMPAT_SYSCALL #function,
#define __SYSCALL_WITH_COMPAT(number, native, compat) __SYSCALL(number, compat)
static const char *const compat_functions[] = {
#include DFR_ARCH_COMPAT_SYSCALL_TABLE
};
#else
static const char *const native_functions[] = { NULL };
static const char *const compat_functions[] = { NULL };
#endif

struct call_table {
	const char *const *ct_names; /* by number; NULL: no such call */
	const char *const *ct_functions;
	unsigned int ct_count;
	unsigned int ct_nfunctions;
	struct dfr_syscall **ct_calls; /* by number */
};

static struct dfr_syscall *native_calls[ARRAY_SIZE(dfr_syscall_names)];
static struct dfr_syscall *compat_calls[ARRAY_SIZE(dfr_compat_syscall_names)];

static const struct call_table tables[ABI_MAX] = {
	[ABI_NATIVE] = { dfr_syscall_names, native_functions, ARRAY_SIZE(dfr_syscall_names),
			 ARRAY_SIZE(native_functions), native_calls },
	[ABI_COMPAT] = { dfr_compat_syscall_names, compat_functions, ARRAY_SIZE(dfr_compat_syscall_names),
			 ARRAY_SIZE(compat_functions), compat_calls },
};

static struct dfr_syscall *calls; /* one for each name */
static unsigned int call_count;
static unsigned int hooked_count; /* armed calls with sy_hooked */

static struct dfr_provider provider;

/* --- Probe context. -------------------------------------------------------- */

static __always_inline struct dfr_syscall *call_of(unsigned long number, enum abi abi)
{
	const struct call_table *table = &tables[abi];

	if (unlikely(number >= table->ct_count))
		return NULL;
	return table->ct_calls[array_index_nospec(number, table->ct_count)];
}

struct dfr_syscall *dfr_syscall_of(unsigned long number, enum abi abi)
{
	return call_of(number, abi);
}

static __always_inline void get_args(enum abi abi, u64 args[DFR_SYSCALL_ARGS])
{
	if (abi == ABI_COMPAT)
		dfr_arch_compat_syscall_args(task_pt_regs(current), args);
	else
		dfr_arch_syscall_args(task_pt_regs(current), args);
}

static noinline void fire_with_args(struct dfr_syscall *call, enum abi abi, struct pt_regs *regs)
{
	u64 args[DFR_SYSCALL_ARGS];

	get_args(abi, args);
	dfr_fire(call->sy_entry, args, ARRAY_SIZE(args), regs);
}

void dfr_syscall_fire_entry(struct dfr_syscall *call, enum abi abi, struct pt_regs *regs)
{
	if (dfr_probe_reads_args(call->sy_entry))
		fire_with_args(call, abi, regs);
	else
		dfr_fire(call->sy_entry, NULL, 0, regs);
}

/* 0: the call succeeded. The kernel's internal restart codes are shown as EINTR, as user space sees them. */
static int error_of(long result)
{
	if (likely(result >= 0) || result < -MAX_ERRNO)
		return 0;
	return result <= -512 && result >= -516 ? EINTR : -result;
}

/* args[2] is no argument of the probe: the raw result, for dfr_syscall_errno(). */
static __always_inline void fire_return(struct dfr_syscall *call, long result, struct pt_regs *regs)
{
	u64 args[3] = { result, result, result };

	if (unlikely(result < 0) && error_of(result))
		args[0] = args[1] = -1;
	dfr_fire(call->sy_return, args, 2, regs);
}

void dfr_syscall_fire_return(struct dfr_syscall *call, long result, struct pt_regs *regs)
{
	fire_return(call, result, regs);
}

static u8 *armed_of(const struct dfr_probe *probe)
{
	struct dfr_syscall *call = probe->pb_cookie;

	return probe == call->sy_entry ? &call->sy_entry_armed : &call->sy_return_armed;
}

/*
 * Where all calls pass, those that are not traced there cost the hook, too. One in 64 is charged, to the probes that
 * want the hook in turn.
 */
static noinline void passed(bool entry)
{
	static unsigned int last;
	unsigned int i, at = READ_ONCE(last);

	for (i = 0; i < call_count; i++) {
		const struct dfr_probe *probe;

		at = at + 1 < call_count ? at + 1 : 0;
		probe = entry ? calls[at].sy_entry : calls[at].sy_return;
		if (READ_ONCE(*armed_of(probe)) != DFR_WHERE_ALL_PASS)
			continue;
		WRITE_ONCE(last, at);
		dfr_probe_passed(probe);
		return;
	}
	/* The last one goes just now, or the hook could not be taken away. */
	this_cpu_write(dfr_refusals, DFR_REFUSALS);
}

/* Where all calls pass: whether the call's probe fires there, and not nowhere or in its functions. */
static __always_inline bool fires_here(const struct dfr_probe *probe, const u8 *armed, bool entry)
{
	if (READ_ONCE(*armed) == DFR_WHERE_ALL_PASS)
		return dfr_probe_wants(probe);
	if (dfr_refusal_due())
		passed(entry);
	return false;
}

static __always_inline void entered(struct dfr_syscall *call, enum abi abi, struct pt_regs *regs)
{
	if (call && fires_here(call->sy_entry, &call->sy_entry_armed, true))
		dfr_syscall_fire_entry(call, abi, regs);
}

static noinline void compat_entered(unsigned long number, struct pt_regs *regs)
{
	entered(call_of(number, ABI_COMPAT), ABI_COMPAT, regs);
}

/*
 * The addresses of x64_sys_call() and ia32_sys_call(). Their second argument is the call's
 * number, which their callers have already bounded with array_index_nospec(). As with the
 * tracepoint sys_enter, calls that seccomp refused or a debugger skipped do not get here.
 */
static unsigned long choosers[ABI_MAX];

static __always_inline void chosen(unsigned long ip, struct ftrace_ops *ops, struct pt_regs *regs)
{
	unsigned long number = dfr_arch_second_argument(regs);

	if (unlikely(ip - choosers[ABI_NATIVE] >= SITE_BYTES))
		compat_entered(number, regs);
	else if (likely(number < ARRAY_SIZE(native_calls)))
		entered(native_calls[number], ABI_NATIVE, regs);
}
DFR_FTRACE_CALLBACK(on_choice, chosen)

static void on_enter(void *data, struct pt_regs *regs, long number)
{
	if (dfr_may_be_preempted()) {
		preempt_disable_notrace();
		on_enter(data, regs, number);
		preempt_enable_notrace();
		return;
	}
	if (unlikely(dfr_arch_compat_syscall()))
		compat_entered(number, regs);
	else
		entered(call_of(number, ABI_NATIVE), ABI_NATIVE, regs);
}

static __always_inline void left(enum abi abi, struct pt_regs *regs, long result)
{
	/* After rt_sigreturn the number is -1, and call_of() returns NULL: `result` is no call's result. */
	struct dfr_syscall *call = call_of(dfr_arch_syscall_number(regs), abi);

	if (call && fires_here(call->sy_return, &call->sy_return_armed, false))
		dfr_syscall_fire_return(call, result, regs);
}

static noinline void compat_left(struct pt_regs *regs, long result)
{
	left(ABI_COMPAT, regs, result);
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	if (dfr_may_be_preempted()) {
		preempt_disable_notrace();
		on_exit(data, regs, result);
		preempt_enable_notrace();
		return;
	}
	if (unlikely(dfr_arch_compat_syscall()))
		compat_left(regs, result);
	else
		left(ABI_NATIVE, regs, result);
}

/* The built-in `errno`; 0 in every probe other than a system call's return. */
u64 dfr_syscall_errno(const struct dfr_firing *firing)
{
	const struct dfr_probe *probe = firing->fr_probe;

	if (probe->pb_provider != &provider || firing->fr_nargs != 2)
		return 0;
	return error_of(firing->fr_args[2]);
}

/* The arguments of an entry that fired without them, because dfr_probe_reads_args() was false then. */
static u64 getarg(const struct dfr_firing *firing, unsigned int n)
{
	u64 args[DFR_SYSCALL_ARGS];

	if (firing->fr_nargs || n >= DFR_SYSCALL_ARGS || firing->fr_probe->pb_nargs != DFR_SYSCALL_ARGS)
		return 0;
	get_args(dfr_syscall_abi(), args);
	return args[n];
}

/* --- Arming. ----------------------------------------------------------------- */

static struct dfr_tracepoint enter_point = { .tp_name = "sys_enter",
					     .tp_probe = DFR_HANDLER(sys_enter, on_enter) };
static struct dfr_tracepoint exit_point = { .tp_name = "sys_exit",
					    .tp_probe = DFR_HANDLER(sys_exit, on_exit) };

static struct ftrace_ops choice_ops = {
	.func = on_choice,
	.flags = FTRACE_OPS_FL_PERMANENT,
};
static bool choice_registered;

static int watch_choosers(void)
{
	enum abi abi;
	int error = choosers[ABI_NATIVE] && choosers[ABI_COMPAT] ? 0 : -ENOENT;

	for (abi = 0; abi < ABI_MAX && !error; abi++)
		error = ftrace_set_filter_ip(&choice_ops, choosers[abi], 0, 0);
	error = error ?: dfr_ops_start(&choice_ops);
	if (error)
		dfr_ops_reset(&choice_ops);
	choice_registered = !error;
	return error;
}

static void leave_choosers(void)
{
	choice_registered = dfr_ops_end(&choice_ops) != 0;
}

/*
 * Entries of all calls: in the choosers, or if that fails by the tracepoint sys_enter.
 * Whichever of the two is in use stays in use until no entry needs it.
 */
static int update_entries(void)
{
	bool wanted = enter_point.tp_users > 0;

	if (choice_registered && !wanted)
		leave_choosers();
	if (choice_registered || (wanted && !enter_point.tp_registered && !watch_choosers()))
		return 0;
	return dfr_tracepoint_update(&enter_point);
}

static struct dfr_tracepoint *point_of(const struct dfr_probe *probe)
{
	const struct dfr_syscall *call = probe->pb_cookie;

	return probe == call->sy_entry ? &enter_point : &exit_point;
}

static bool is_armed(const struct dfr_syscall *call)
{
	return call->sy_entry_armed || call->sy_return_armed;
}

/*
 * Does another call have the function, too? Calls that the kernel lacks share sys_ni_syscall(); a call without
 * arguments is one function with a name for each ABI, which the ABIs may give to different calls (getuid, getuid32).
 */
static bool is_shared(const char *function, unsigned long address, enum abi abi,
		      const struct dfr_syscall *call)
{
	static const char *const prefix[ABI_MAX] = { DFR_ARCH_SYSCALL, DFR_ARCH_COMPAT_SYSCALL };
	const char *name = function + strlen(prefix[abi]), *other;
	unsigned long there;
	unsigned int number;
	enum abi in;

	for (in = 0; in < ABI_MAX; in++)
		for (number = 0; number < tables[in].ct_nfunctions; number++) {
			other = tables[in].ct_functions[number];
			if (!other || call_of(number, in) == call || strcmp(other + strlen(prefix[in]), name))
				continue;
			if (in == abi || (dfr_places_of(other, &there, 1) == 1 && there == address))
				return true;
		}
	return false;
}

/* False: not in each of its ABIs is the call's function known, and serves this call alone. */
static bool find_functions(struct dfr_syscall *call)
{
	const struct call_table *table = tables;
	unsigned int number;
	const char *name;
	enum abi abi;

	if (!dfr_part_works(DFR_PART_RETURNS) || !dfr_part_works(DFR_PART_PLACES))
		return false;
	for (abi = 0; abi < ABI_MAX; abi++, table++)
		for (number = 0; number < table->ct_count; number++) {
			if (table->ct_calls[number] != call)
				continue;
			name = number < table->ct_nfunctions ? table->ct_functions[number] : NULL;
			if (!name || dfr_places_of(name, &call->sy_function[abi], 1) != 1 ||
			    is_shared(name, call->sy_function[abi], abi, call))
				return false;
		}
	return true;
}

static void arm_where_all_pass(const struct dfr_probe *probe)
{
	WRITE_ONCE(*armed_of(probe), DFR_WHERE_ALL_PASS);
	point_of(probe)->tp_users++;
}

static int arm(struct dfr_provider *unused, struct dfr_probe *probe)
{
	struct dfr_syscall *call = probe->pb_cookie;

	if (!is_armed(call)) {
		WRITE_ONCE(call->sy_hooked,
			   hooked_count <= HOOKED_MAX &&
				   dfr_arming_option(provider.pv_engine, DFR_OPT_SYSCALLHOOK) <= 0 &&
				   find_functions(call));
		hooked_count += call->sy_hooked;
	}
	if (call->sy_hooked)
		WRITE_ONCE(*armed_of(probe), DFR_AT_FUNCTIONS);
	else
		arm_where_all_pass(probe);
	return 0;
}

static void disarm(struct dfr_provider *unused, struct dfr_probe *probe)
{
	struct dfr_syscall *call = probe->pb_cookie;

	WRITE_ONCE(*armed_of(probe), DFR_NOT_ARMED);
	if (!call->sy_hooked)
		point_of(probe)->tp_users--;
	else if (!is_armed(call))
		hooked_count--;
}

/*
 * Moves a call from its functions to where all calls pass. Only while its functions are
 * not in the filter, so that it does not fire in both ways.
 */
static void unhook(struct dfr_syscall *call)
{
	hooked_count--;
	WRITE_ONCE(call->sy_hooked, false);
	if (call->sy_entry_armed)
		arm_where_all_pass(call->sy_entry);
	if (call->sy_return_armed)
		arm_where_all_pass(call->sy_return);
}

static void hook(struct dfr_syscall *call)
{
	int error = dfr_syscall_hook_add(call);

	if (!error)
		return;
	pr_warn("dfr: the functions of system call %s cannot be hooked (error %d): all calls are watched for "
		"it\n",
		call->sy_entry->pb_function, error);
	unhook(call);
}

/* Entries before returns: a call that begins between the two is seen to begin and to return. */
static int commit(struct dfr_provider *unused)
{
	bool many = hooked_count > HOOKED_MAX;
	unsigned int i;
	int error;

	for (i = 0; i < call_count; i++) {
		dfr_syscall_hook_choose(&calls[i]);
		if (!calls[i].sy_hooked || !is_armed(&calls[i]) || calls[i].sy_filtered)
			continue;
		if (many)
			unhook(&calls[i]);
		else
			hook(&calls[i]);
	}
	for (i = 0; i < call_count; i++)
		if (calls[i].sy_filtered && !is_armed(&calls[i]))
			dfr_syscall_hook_remove(&calls[i]);
	error = update_entries();
	return error ?: dfr_tracepoint_update(&exit_point);
}

static const struct dfr_provider_ops operations = {
	.arm = arm,
	.disarm = disarm,
	.commit = commit,
	.getarg = getarg,
};

static struct dfr_provider provider = {
	.pv_name = "syscall",
	.pv_ops = &operations,
	.pv_flags = DFR_PV_USER_ARGS | DFR_PV_CONFINED,
};

/* --- Making probes. ---------------------------------------------------------- */

/* Calls whose function does not return to its caller, or returns something that is no result. */
static const char *const no_return[] = { "exit", "exit_group", "rt_sigreturn", "sigreturn" };

/* The call of that name: the one that the other ABI has, or a new one. NULL: no memory. */
static struct dfr_syscall *named(const char *name)
{
	struct dfr_syscall *call;

	for (call = calls; call < calls + call_count; call++)
		if (!strcmp(call->sy_entry->pb_function, name))
			return call;
	call->sy_entry = dfr_probe_create(&provider, "vmlinux", name, "entry", DFR_SYSCALL_ARGS, call);
	call->sy_return = dfr_probe_create(&provider, "vmlinux", name, "return", 2, call);
	if (!call->sy_entry || !call->sy_return)
		return NULL;
	call->sy_returns = match_string(no_return, ARRAY_SIZE(no_return), name) < 0;
	call_count++;
	return call;
}

static int provide_all(void)
{
	unsigned int number;
	enum abi abi;

	calls = dfr_plat_alloc_shared(array_size(
		ARRAY_SIZE(dfr_syscall_names) + ARRAY_SIZE(dfr_compat_syscall_names), sizeof(*calls)));
	if (!calls)
		return -ENOMEM;
	for (abi = 0; abi < ABI_MAX; abi++)
		for (number = 0; number < tables[abi].ct_count; number++) {
			if (!tables[abi].ct_names[number])
				continue;
			tables[abi].ct_calls[number] = named(tables[abi].ct_names[number]);
			if (!tables[abi].ct_calls[number])
				return -ENOMEM;
		}
	return 0;
}

int dfr_syscall_init(void)
{
	int error = dfr_tracepoint_find(&enter_point);

	error = error ?: dfr_tracepoint_find(&exit_point);
	if (error)
		return error;
	error = dfr_provider_register(dfr_engine_instance, &provider);
	if (error)
		return error;
	error = provide_all();
	if (error) {
		dfr_provider_unregister(&provider);
		dfr_plat_free(calls);
		return error;
	}
	choosers[ABI_NATIVE] = dfr_hooked_address(DFR_ARCH_SYSCALL_CHOOSER);
	choosers[ABI_COMPAT] = dfr_hooked_address(DFR_ARCH_COMPAT_SYSCALL_CHOOSER);
	dfr_probes_created(dfr_engine_instance);
	return 0;
}

void dfr_syscall_exit(void)
{
	dfr_provider_unregister(&provider);
	dfr_syscall_hook_exit();
	dfr_tracepoint_sync();
	dfr_plat_free(calls);
}
