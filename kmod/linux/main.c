// SPDX-License-Identifier: GPL-2.0
/*
 * The module: starts its parts in order, and ends them in reverse order. Start reading here; then
 * linux.h (what the files share), holding.c (a state's life), device.c (how programs reach it),
 * kmod/providers (where probes come from) and kmod/engine (what happens when one fires).
 *
 * Init requests no module, and takes no lock that a task which waits for a module may hold, because
 * it may run inside the kernel's own module requests at boot.
 */
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"
#include "kmod/linux/resolve.h"

#include <linux/init.h>
#include <linux/module.h>

struct dfr_engine *dfr_engine_instance;

static bool off;
module_param(off, bool, 0400);
MODULE_PARM_DESC(off, "start nothing: no device, no probe, no boot program (default: no)");

/*
 * Is `dfr.off` on the kernel's command line? Looked up here because the boot shim, which may load
 * the module, does not turn such words into parameters.
 */
static bool switched_off(void)
{
	const char *line = dfr_command_line(), *at = line;
	bool yes;

	for (; at && (at = strstr(at, "dfr.off")) != NULL; at++) {
		const char *end = at + strlen("dfr.off");

		if (at != line && at[-1] != ' ')
			continue;
		if (!*end || *end == ' ' || *end == '\n')
			return true;
		if (*end == '=' && (kstrtobool(end + 1, &yes) || yes))
			return true; /* as the shim: what the kernel does not read as no */
	}
	return false;
}

struct part {
	const char *mp_name;
	int (*mp_init)(void);
	void (*mp_exit)(void);
	bool mp_started;
};

/* If a provider cannot start, the others still do, and the log says so. */
static struct part providers[] = {
	{ "syscall", dfr_syscall_init, dfr_syscall_exit },
	{ "fbt", dfr_fbt_init, dfr_fbt_exit },
	{ "profile", dfr_profile_init, dfr_profile_exit },
	{ "sdt", dfr_sdt_init, dfr_sdt_exit },
	{ "proc", dfr_proc_init, dfr_proc_exit },
	{ "sched", dfr_sched_init, dfr_sched_exit },
	{ "io", dfr_io_init, dfr_io_exit },
	{ "vfs", dfr_vfs_init, dfr_vfs_exit },
	{ "kinst", dfr_kinst_init, dfr_kinst_exit },
};

static int start_providers(void)
{
	int i, error;

	for (i = 0; i < ARRAY_SIZE(providers); i++) {
		error = providers[i].mp_init();
		providers[i].mp_started = !error;
		if (error)
			pr_warn("dfr: provider %s is not available on this kernel (error %d)\n",
				providers[i].mp_name, error);
	}
	return 0;
}

static void stop_providers(void)
{
	int i;

	for (i = ARRAY_SIZE(providers) - 1; i >= 0; i--)
		if (providers[i].mp_started)
			providers[i].mp_exit();
}

static int start_signals(void)
{
	dfr_destructive_init();
	return 0;
}

static int start_engine(void)
{
	dfr_engine_instance = dfr_engine_create(NULL);
	if (!dfr_engine_instance)
		return -ENOMEM;
	dfr_engine_govern(dfr_engine_instance, 0);
	return 0;
}

static void end_engine(void)
{
	dfr_engine_destroy(dfr_engine_instance);
}

static int start_boot_program(void)
{
	dfr_anonymous_start();
	return 0;
}

/*
 * In the order of their start. They are ended in reverse order: at unload all, or if one fails those
 * before it.
 */
static const struct phase {
	int (*ph_start)(void);
	void (*ph_end)(void);
} phases[] = {
	{ dfr_reserved_init, dfr_reserved_exit },
	{ dfr_panic_record_init, dfr_panic_record_exit },
	{ dfr_panic_text_init, dfr_panic_text_exit },
	{ start_signals, dfr_destructive_exit },
	{ start_engine, end_engine },
	{ start_providers, stop_providers },
	{ dfr_hotplug_init, dfr_hotplug_exit },
	{ dfr_panic_init, dfr_panic_exit },
	{ start_boot_program, dfr_holdings_end },
	{ dfr_device_init, dfr_device_exit },
	{ dfr_reserved_old_init, dfr_reserved_old_exit },
};

static void end_phases(unsigned int n)
{
	while (n--)
		phases[n].ph_end();
	rcu_barrier(); /* descriptors are freed by RCU callbacks: slab's own, but ours to wait for */
}

static int __init dfr_init(void)
{
	const char *refusal;
	unsigned int n;
	int error = dfr_resolve_init();

	if (error)
		pr_warn("dfr: no kernel symbol table (error %d): symbols of programs will not resolve\n",
			error);
	off |= switched_off();
	if (off) {
		pr_info("dfr: switched off by dfr.off; nothing was started\n");
		return 0;
	}
	refusal = dfr_assume_refuses();
	if (refusal) {
		pr_err("dfr: not loaded: %s\n", refusal);
		return -EOPNOTSUPP;
	}
	dfr_assume_init();
	dfr_clock_init();
	dfr_platform_init();
	dfr_jit_init();
	dfr_stack_init();
	dfr_subr_init();
	for (n = 0; n < ARRAY_SIZE(phases); n++) {
		error = phases[n].ph_start();
		if (error) {
			end_phases(n);
			return error;
		}
	}
	return 0;
}

static void __exit dfr_exit(void)
{
	if (!off)
		end_phases(ARRAY_SIZE(phases));
}

module_init(dfr_init);
module_exit(dfr_exit);

/* For providers in other modules. */
struct dfr_engine *dfr_kernel_engine(void)
{
	return dfr_engine_instance;
}
EXPORT_SYMBOL_GPL(dfr_kernel_engine);
EXPORT_SYMBOL_GPL(dfr_provider_register);
EXPORT_SYMBOL_GPL(dfr_provider_unregister);
EXPORT_SYMBOL_GPL(dfr_probe_create);
EXPORT_SYMBOL_GPL(dfr_probe_find);
EXPORT_SYMBOL_GPL(dfr_probe_lost);
EXPORT_SYMBOL_GPL(dfr_probes_created);
EXPORT_SYMBOL_GPL(dfr_probes_remove);
EXPORT_SYMBOL_GPL(dfr_probes_remove_if);
EXPORT_SYMBOL_GPL(dfr_probe_wants_other);
EXPORT_SYMBOL_GPL(dfr_probe_refused);
EXPORT_PER_CPU_SYMBOL_GPL(dfr_refusals);
EXPORT_SYMBOL_GPL(dfr_fire);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("D flight recorder");
MODULE_VERSION("1");
