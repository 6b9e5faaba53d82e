// SPDX-License-Identifier: GPL-2.0
/*
 * kinst: any instruction of a kernel function, kinst::FUNCTION:OFFSET with the
 * offset in decimal from the function's start. Each probe is a kprobe and takes
 * milliseconds to arm, so it is for tens of instructions, not thousands. Probes are
 * created when a pattern names a function, or when a module is loaded that has a
 * function which an enabled program names. There is no probe at an offset inside an
 * instruction, or where the kernel forbids kprobes.
 *
 * The probes have no arguments; stack() and uregs use the registers. kinst_hit() is
 * probe context; everything else is process context under the engine's lock.
 */
#include "kmod/linux/linux.h"

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/blacklist.h"
#include "kmod/linux/hook.h"
#include "kmod/linux/resolve.h"

#define KINST_PROBES_MAX 16384

struct kinst {
	struct list_head ki_list;
	struct kprobe ki_kprobe;
	struct dfr_probe *ki_probe;
	unsigned long ki_address;
	bool ki_registered;
	u64 ki_missed; /* kprobes count each registration's own */
};

static DEFINE_MUTEX(kinst_lock); /* of these three, and of ki_missed; innermost */
static LIST_HEAD(kinsts);
static unsigned int kinst_count;
static unsigned int kinst_made; /* ever */
static struct dfr_provider kinst_provider;
static DEFINE_PER_CPU(const struct kinst *, kinst_running); /* stays set when a firing dies in an oops */

/*
 * A kprobe is a breakpoint, at a function's start a call by ftrace, and after some time, where the kernel can do that, a
 * jump; who fires must not depend on it. kprobes do not nest, so nobody else sets dfr_breakpoint meanwhile.
 */
static int kinst_hit(struct kprobe *kprobe, struct pt_regs *regs)
{
	struct kinst *kinst = container_of(kprobe, struct kinst, ki_kprobe);
	unsigned long behind = instruction_pointer(regs);

	/* The kernel's is a byte further, where the next instruction may be, and the stack is another. */
	instruction_pointer_set(regs, kinst->ki_address);
	raw_cpu_write(kinst_running, kinst);
	raw_cpu_write(dfr_breakpoint, dfr_arch_breakpoint(regs));
	barrier(); /* for an NMI, which comes between any two instructions */
	dfr_fire(kinst->ki_probe, NULL, 0, regs);
	barrier();
	raw_cpu_write(dfr_breakpoint, 0);
	raw_cpu_write(kinst_running, NULL);
	instruction_pointer_set(regs, behind);
	return 0;
}

static int create(const char *module, const char *function, unsigned long start, unsigned long offset)
{
	struct kinst *kinst;
	char name[24];

	snprintf(name, sizeof(name), "%lu", offset);
	if (dfr_probe_find(&kinst_provider, module, function, name))
		return 0;
	if (kinst_count >= KINST_PROBES_MAX)
		return -E2BIG;
	kinst = dfr_plat_alloc_shared(sizeof(*kinst));
	if (!kinst)
		return -ENOMEM;
	kinst->ki_address = start + offset;
	kinst->ki_probe = dfr_probe_create(&kinst_provider, module, function, name, 0, kinst);
	if (!kinst->ki_probe) {
		dfr_plat_free(kinst);
		return -ENOMEM;
	}
	mutex_lock(&kinst_lock);
	list_add(&kinst->ki_list, &kinsts);
	kinst_count++;
	WRITE_ONCE(kinst_made, kinst_made + 1);
	mutex_unlock(&kinst_lock);
	return 0;
}

/*
 * Creates a probe at each offset in [from, to) where the kernel accepts a kprobe. To find
 * out, it registers a disabled one at each: that patches nothing, but is refused inside an
 * instruction and where kprobes are forbidden. They are unregistered in one call, because
 * every such call waits for all CPUs. For each offset the kernel decodes the function from its
 * start, so a long function takes the square of its length: a kill ends it.
 */
static int create_range(const char *module, const char *function, unsigned long start, unsigned long from,
			unsigned long to)
{
	struct kprobe *tried = dfr_plat_alloc_shared(array_size(to - from, sizeof(*tried)));
	struct kprobe **legal = dfr_plat_alloc_shared(array_size(to - from, sizeof(*legal)));
	unsigned long offset;
	int n = 0, i, result, error = tried && legal ? 0 : -ENOMEM;

	for (offset = from; !error && offset < to; offset++) {
		struct kprobe *probe = &tried[offset - from];

		error = dfr_plat_proceed();
		if (error)
			break;
		probe->addr = (kprobe_opcode_t *)(start + offset);
		probe->flags = KPROBE_FLAG_DISABLED;
		result = register_kprobe(probe);
		if (!result)
			legal[n++] = probe;
		else if (result == -ENOMEM)
			error = result;
	}
	if (n)
		unregister_kprobes(legal, n);
	for (i = 0; i < n; i++) {
		result = create(module, function, start, from + (legal[i] - tried));
		error = error ?: result;
	}
	dfr_plat_free(legal);
	dfr_plat_free(tried);
	return error;
}

#define KINST_FUNCTION_MAX (64UL * 1024) /* bytes: half a minute's decoding */

/* An empty offset or `*` means every instruction. */
static bool names_all(const char *const pattern[4])
{
	return !pattern[3][0] || !strcmp(pattern[3], "*");
}

/* The start of the function, which a pattern must name without wildcards; 0: there is none. */
static unsigned long function_of(const char *const pattern[4])
{
	unsigned long offset;

	if (!pattern[0][0] || !dfr_glob(pattern[0], "kinst") || !dfr_glob_is_name(pattern[2]) ||
	    (!names_all(pattern) && kstrtoul(pattern[3], 10, &offset)))
		return 0;
	return dfr_resolve(pattern[2]);
}

/*
 * Until module_put() the module stays, or a probe could be made of an address that it no longer has. false: it goes
 * already. *owner NULL: it is the kernel itself.
 */
static bool hold_module(unsigned long address, struct module **owner)
{
	bool held;

	preempt_disable();
	*owner = dfr_module_at(address);
	held = !*owner || try_module_get(*owner);
	preempt_enable();
	return held;
}

/*
 * The kernel itself returns and calls through these (mitigations of what processors speculate) on the way to our handler,
 * and keeps no list of them.
 */
static bool is_on_every_return(const char *function)
{
	return strstr(function, "_thunk") || strstr(function, "_safe_ret") ||
	       strstr(function, "_untrain_ret");
}

/*
 * `coming`: the function must be in this module; NULL: anywhere but in init code, which may have run, and gone, before
 * the probe is made.
 */
static int provide(const char *const pattern[4], const struct module *coming)
{
	unsigned long start = function_of(pattern), size, at, offset = 0;
	char *module = NULL, *buffer = NULL;
	struct module *owner;
	int error = 0;

	if (is_on_every_return(pattern[2]) || dfr_runs_dead(pattern[2]))
		return 0;
	if (!start || (coming && !within_module(start, coming)) || !hold_module(start, &owner))
		return 0;
	if (!coming && owner && within_module_init(start, owner))
		goto out;
	buffer = dfr_plat_alloc_shared(KSYM_NAME_LEN);
	error = buffer ? 0 : -ENOMEM;
	if (error)
		goto out;
	if (!dfr_symbol_at(start, &size, &at, &module, buffer))
		goto out;
	if (!module)
		module = "vmlinux";
	if (pattern[1][0] && !dfr_glob(pattern[1], module))
		goto out;
	if (names_all(pattern)) {
		error = size > KINST_FUNCTION_MAX ? -EFBIG : create_range(module, pattern[2], start, 0, size);
	} else if (!kstrtoul(pattern[3], 10, &offset) && offset < size) {
		error = create_range(module, pattern[2], start, offset, offset + 1);
	}
out:
	dfr_plat_free(buffer);
	module_put(owner);
	return error;
}

static int kinst_provide(struct dfr_provider *provider, const char *const pattern[4])
{
	return provide(pattern, NULL);
}

static int kinst_arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct kinst *kinst = probe->pb_cookie;
	int error;

	if (kinst->ki_registered)
		return 0; /* kinst_disarm() could not take it out */
	memset(&kinst->ki_kprobe, 0, sizeof(kinst->ki_kprobe));
	kinst->ki_probe = probe; /* create(), which others do not wait for, may not have got it yet */
	kinst->ki_kprobe.addr = (kprobe_opcode_t *)kinst->ki_address;
	kinst->ki_kprobe.pre_handler = kinst_hit;
	error = register_kprobe(&kinst->ki_kprobe);
	kinst->ki_registered = !error;
	return error;
}

static bool runs(const struct kinst *kinst)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu)
		if (READ_ONCE(*per_cpu_ptr(&kinst_running, cpu)) == kinst)
			return true;
	return false;
}

/*
 * Where a firing has died in an oops, the kernel's mark of the kprobe that runs on that CPU stays on this kprobe, or on
 * the one that the kernel has made of it, and each fault there reads it. So neither is freed, ever: the kprobe stays
 * registered, without a handler, also when this module goes. What runs a grace period after it was disabled has died,
 * whether or not the kernel has told of it.
 */
static bool disable_and_keep_if_dead(struct kinst *kinst)
{
	int error = disable_kprobe(&kinst->ki_kprobe);

	if (!runs(kinst))
		return false;
	dfr_plat_synchronize();
	if (!runs(kinst))
		return false;
	if (error) /* ftrace could not disable it */
		dfr_code_stays();
	else
		kinst->ki_kprobe.pre_handler = NULL;
	return true;
}

static void kinst_disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct kinst *kinst = probe->pb_cookie;

	if (!kinst->ki_registered || disable_and_keep_if_dead(kinst))
		return;
	unregister_kprobe(&kinst->ki_kprobe);
	mutex_lock(&kinst_lock);
	kinst->ki_missed += kinst->ki_kprobe.nmissed;
	kinst->ki_kprobe.nmissed = 0;
	mutex_unlock(&kinst_lock);
	/*
	 * unregister_kprobe() sets addr to NULL if it cannot take the kprobe out: one at a
	 * function's start is called by ftrace, which takes nothing out after an error of its own.
	 */
	kinst->ki_registered = !kinst->ki_kprobe.addr;
	if (kinst->ki_registered)
		dfr_code_stays();
}

/*
 * The kernel counts hits that come in a handler of any kprobe on their CPU, without saying which, so what dfr_fire()
 * itself hits for another kinst probe is among them. CPUs may count at once, and one count is lost then. What its
 * blacklists of handlers keep from being hit it does not count.
 */
static u64 kinst_missed(const struct dfr_probe *probe, s64 only, bool *off)
{
	const struct kinst *kinst = probe->pb_cookie;
	const bool *all_off = (const bool *)dfr_kernel(kprobes_all_disarmed);
	u64 missed;

	mutex_lock(&kinst_lock);
	missed = kinst->ki_missed + kinst->ki_kprobe.nmissed;
	mutex_unlock(&kinst_lock);
	*off = all_off && READ_ONCE(*all_off);
	return missed;
}

/* --- Modules that are loaded and unloaded. ------------------------------- */

struct coming {
	struct module *wm_module;
	int wm_error;
};

static void provide_wanted(const char *const pattern[4], void *arg)
{
	struct coming *coming = arg;
	int error = provide(pattern, coming->wm_module);

	coming->wm_error = coming->wm_error ?: error;
}

static bool is_wanted(const char *const pattern[4], void *module)
{
	unsigned long start = function_of(pattern);

	return start && within_module(start, module) &&
	       dfr_glob(pattern[1], ((const struct module *)module)->name);
}

static void module_coming(struct module *module)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	unsigned int before = READ_ONCE(kinst_made);
	struct coming coming = { .wm_module = module };

	dfr_mutex_lock(lock);
	dfr_patterns_wanted(dfr_engine_instance, provide_wanted, &coming);
	dfr_mutex_unlock(lock);
	if (READ_ONCE(kinst_made) != before)
		dfr_probes_created(dfr_engine_instance);
	if (coming.wm_error)
		dfr_probes_missing(&kinst_provider, module->name, coming.wm_error, is_wanted, module);
}

struct kinst_forgotten {
	const struct module *kf_module;
	bool kf_all; /* false: its init code alone */
};

static bool passes(const struct kinst *kinst, const struct kinst_forgotten *forgotten)
{
	return within_module_init(kinst->ki_address, forgotten->kf_module) ||
	       (forgotten->kf_all && within_module(kinst->ki_address, forgotten->kf_module));
}

static bool probe_passes(const struct dfr_probe *probe, void *forgotten)
{
	return passes(probe->pb_cookie, forgotten);
}

/* Most modules have none, and their loading need not wait for who arms others. */
static bool any_passes(const struct kinst_forgotten *forgotten)
{
	const struct kinst *kinst;
	bool any = false;

	mutex_lock(&kinst_lock);
	list_for_each_entry (kinst, &kinsts, ki_list)
		any = any || passes(kinst, forgotten);
	mutex_unlock(&kinst_lock);
	return any;
}

/*
 * Forgets the module's instructions, because they will be at other addresses when it is
 * loaded again. Between the two steps no new one is created, because provide() holds the
 * module meanwhile, and init code that has run is no module's. A kinst whose kprobe could
 * not be taken out (ki_registered) is never freed.
 */
static void forget(struct module *module, bool all)
{
	struct kinst_forgotten forgotten = { .kf_module = module, .kf_all = all };
	struct kinst *kinst, *next;

	if (!any_passes(&forgotten))
		return;
	dfr_probes_remove_if(&kinst_provider, probe_passes, &forgotten);
	mutex_lock(&kinst_lock);
	list_for_each_entry_safe (kinst, next, &kinsts, ki_list) {
		if (!passes(kinst, &forgotten))
			continue;
		list_del(&kinst->ki_list);
		if (!kinst->ki_registered)
			dfr_plat_free(kinst);
		kinst_count--;
	}
	mutex_unlock(&kinst_lock);
}

static int kinst_module_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (data == THIS_MODULE)
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING) /* before its init runs */
		module_coming(data);
	else if (event == MODULE_STATE_LIVE) /* behind its init, whose code goes */
		forget(data, false);
	else if (event == MODULE_STATE_GOING)
		forget(data, true);
	return NOTIFY_DONE;
}

/* Runs before the kernel's notifier for kprobes, which disables the kprobes of a module that is unloaded. */
static struct notifier_block kinst_modules = {
	.notifier_call = kinst_module_event,
	.priority = INT_MAX,
};

/* --- Loading and unloading dfr. ------------------------------------------ */

static const struct dfr_provider_ops kinst_ops = {
	.provide = kinst_provide,
	.arm = kinst_arm,
	.disarm = kinst_disarm,
	.missed = kinst_missed,
};

static struct dfr_provider kinst_provider = {
	.pv_name = "kinst",
	.pv_ops = &kinst_ops,
};

int dfr_kinst_init(void)
{
	int error;

	if (!dfr_kernel(kallsyms_lookup))
		return -ENOENT;
	error = dfr_provider_register(dfr_engine_instance, &kinst_provider);
	if (error)
		return error;
	error = register_module_notifier(&kinst_modules);
	if (error)
		dfr_provider_unregister(&kinst_provider);
	return error;
}

void dfr_kinst_exit(void)
{
	struct kinst *kinst, *next;

	unregister_module_notifier(&kinst_modules);
	dfr_provider_unregister(&kinst_provider);
	list_for_each_entry_safe (kinst, next, &kinsts, ki_list)
		if (!kinst->ki_registered)
			dfr_plat_free(kinst);
}
