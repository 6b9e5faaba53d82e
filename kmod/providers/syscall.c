// SPDX-License-Identifier: GPL-2.0
/*
 * syscall::NAME:entry and syscall::NAME:return, module "vmlinux", for every
 * system call that the kernel was built with. One pair of probes a name: a
 * 32-bit program's call fires the same probes as a 64-bit one's.
 *
 *   entry    arg0 to arg5: the arguments as the caller passed them
 *   return   arg0 = arg1: the result, -1 where the call failed; errno says why
 *
 * Fed by the tracepoints sys_enter and sys_exit, which are registered only while
 * one of the probes is armed: they cost every system call. What follows from
 * them: exit has no return; the child of a fork returns (from its own point of
 * view) once; a call that was refused by seccomp has a return and no entry.
 *
 * Handlers are probe context with preemption off; everything else runs under the
 * engine's lock.
 */
#include "kmod/linux/linux.h"
#include "kmod/providers/tracepoints.h"

#include <linux/nospec.h>
#include <linux/string.h>
#include "syscall_names.h" /* made by Kbuild from the kernel's unistd_*.h */

enum abi { ABI_NATIVE, ABI_COMPAT, ABI_MAX };

struct call_table {
	const char *const *ct_names; /* by number; NULL: no such call */
	unsigned int ct_count;
	struct dfr_probe **ct_entry; /* by number */
	struct dfr_probe **ct_return;
};

static struct dfr_probe *native_entry[ARRAY_SIZE(dfr_syscall_names)];
static struct dfr_probe *native_return[ARRAY_SIZE(dfr_syscall_names)];
static struct dfr_probe *compat_entry[ARRAY_SIZE(dfr_compat_syscall_names)];
static struct dfr_probe *compat_return[ARRAY_SIZE(dfr_compat_syscall_names)];

static const struct call_table tables[ABI_MAX] = {
	[ABI_NATIVE] = { dfr_syscall_names, ARRAY_SIZE(dfr_syscall_names), native_entry,
			 native_return },
	[ABI_COMPAT] = { dfr_compat_syscall_names, ARRAY_SIZE(dfr_compat_syscall_names),
			 compat_entry, compat_return },
};

static char entry_cookie, return_cookie;

/* Probe context. NULL: an unknown number, or nobody listens. */
static __always_inline struct dfr_probe *probe_of(unsigned long number, bool compat, bool entry)
{
	const struct call_table *table = &tables[compat ? ABI_COMPAT : ABI_NATIVE];
	struct dfr_probe *probe;

	if (number >= table->ct_count)
		return NULL;
	number = array_index_nospec(number, table->ct_count);
	probe = (entry ? table->ct_entry : table->ct_return)[number];
	return probe && dfr_probe_enabled(probe) ? probe : NULL;
}

static void on_enter(void *data, struct pt_regs *regs, long number)
{
	bool compat = dfr_arch_compat_syscall();
	struct dfr_probe *probe = probe_of(number, compat, true);
	u64 args[DFR_SYSCALL_ARGS];

	if (!probe)
		return;
	if (compat)
		dfr_arch_compat_syscall_args(regs, args);
	else
		dfr_arch_syscall_args(regs, args);
	dfr_fire(probe, args, ARRAY_SIZE(args), regs);
}

/* 0: it succeeded. Codes that only restart the call are what the program would see: EINTR. */
static int error_of(long result)
{
	if (result >= 0 || result < -MAX_ERRNO)
		return 0;
	return result <= -512 && result >= -516 ? EINTR : -result;
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	struct dfr_probe *probe;
	u64 args[2];

	/* -1 after a signal's return: that was not a call's result. */
	probe = probe_of(syscall_get_nr(current, regs), dfr_arch_compat_syscall(), false);
	if (!probe)
		return;
	args[0] = args[1] = error_of(result) ? -1 : result;
	dfr_fire(probe, args, ARRAY_SIZE(args), regs);
}

/* Probe context: the built-in `errno`; 0 in every probe but a system call's return. */
u64 dfr_syscall_errno(const struct dfr_firing *firing)
{
	struct pt_regs *regs = firing->fr_regs;

	if (firing->fr_probe->pb_cookie != &return_cookie || !regs)
		return 0;
	return error_of(syscall_get_return_value(current, regs));
}

static struct dfr_tracepoint enter_point = { .tp_name = "sys_enter", .tp_probe = on_enter };
static struct dfr_tracepoint exit_point = { .tp_name = "sys_exit", .tp_probe = on_exit };

static struct dfr_tracepoint *point_of(const struct dfr_probe *probe)
{
	return probe->pb_cookie == &entry_cookie ? &enter_point : &exit_point;
}

static int arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	point_of(probe)->tp_users++;
	return 0;
}

static void disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	point_of(probe)->tp_users--;
}

/* Entry goes first and leaves last, so a call that is seen to return was seen to start. */
static int commit(struct dfr_provider *provider)
{
	int error = dfr_tracepoint_update(&enter_point);

	return error ?: dfr_tracepoint_update(&exit_point);
}

static const struct dfr_provider_ops operations = {
	.arm = arm,
	.disarm = disarm,
	.commit = commit,
};

static struct dfr_provider provider = { .pv_name = "syscall", .pv_ops = &operations };

/* The pair of a name that another table had before, or a new one. */
static int provide(const struct call_table *table, unsigned int number)
{
	const struct call_table *native = &tables[ABI_NATIVE];
	const char *name = table->ct_names[number];
	unsigned int i;

	for (i = 0; table != native && i < native->ct_count; i++) {
		if (!native->ct_names[i] || strcmp(native->ct_names[i], name))
			continue;
		table->ct_entry[number] = native->ct_entry[i];
		table->ct_return[number] = native->ct_return[i];
		return 0;
	}
	table->ct_entry[number] = dfr_probe_create(&provider, "vmlinux", name, "entry",
						   DFR_SYSCALL_ARGS, &entry_cookie);
	table->ct_return[number] =
		dfr_probe_create(&provider, "vmlinux", name, "return", 2, &return_cookie);
	return table->ct_entry[number] && table->ct_return[number] ? 0 : -ENOMEM;
}

static int provide_all(void)
{
	unsigned int abi, number;
	int error;

	for (abi = 0; abi < ABI_MAX; abi++) {
		for (number = 0; number < tables[abi].ct_count; number++) {
			if (!tables[abi].ct_names[number])
				continue;
			error = provide(&tables[abi], number);
			if (error)
				return error;
		}
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
	if (error)
		dfr_provider_unregister(&provider);
	else
		dfr_probes_created(dfr_engine_instance);
	return error;
}

void dfr_syscall_exit(void)
{
	dfr_provider_unregister(&provider);
	dfr_tracepoint_sync();
}
