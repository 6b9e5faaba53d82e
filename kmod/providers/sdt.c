// SPDX-License-Identifier: GPL-2.0
/*
 * sdt and rawtp: every tracepoint of the kernel and of its modules as a probe,
 * sdt:GROUP::EVENT and rawtp:GROUP::EVENT. GROUP is the trace event system that
 * declares it ("sched"); a tracepoint without trace event is in "vmlinux" or in
 * its module's name. Both pass the tracepoint's arguments; they differ in how
 * the compiler types and names args[]. For sys_enter and sys_exit the syscall
 * provider has handlers of its own; here they are tracepoints like all others.
 *
 * A tracepoint calls its handlers as C functions: five arguments are in registers
 * beside the data pointer, the rest on the caller's stack. handle_5() serves all
 * tracepoints of up to five. Beyond that each count has its own handler, because a
 * handler that declares more parameters than it gets would read foreign stack slots,
 * and the compiler might even write to them.
 *
 * Handlers are probe context with preemption off. Everything else is process context,
 * mostly under sdt_lock.
 */
#include "kmod/linux/linux.h"

#include <linux/module.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/compat.h"

#define SDT_REGISTER_ARGS 5
#define SDT_ARGS_MAX	  12

enum { SDT_TYPED, SDT_RAW, SDT_KINDS };

struct sdt_point {
	struct list_head spt_list;
	struct tracepoint *spt_tracepoint;
	struct dfr_probe *spt_probe[SDT_KINDS]; /* NULL: no memory, or another tracepoint has that name */
	bool spt_armed[SDT_KINDS];
	bool spt_registered;
	u32 spt_nargs;
};

static LIST_HEAD(sdt_points);
static DEFINE_MUTEX(sdt_lock); /* guards the list and spt_registered; taken inside the engine's lock */
static bool sdt_listed;
static struct dfr_provider sdt_providers[SDT_KINDS];

/* --- Probe context. ------------------------------------------------------ */

static __always_inline void fire_both(struct sdt_point *point, const u64 *args)
{
	if (READ_ONCE(point->spt_armed[SDT_TYPED]))
		dfr_fire(point->spt_probe[SDT_TYPED], args, point->spt_nargs, NULL);
	if (READ_ONCE(point->spt_armed[SDT_RAW]))
		dfr_fire(point->spt_probe[SDT_RAW], args, point->spt_nargs, NULL);
}

/* Some kernels call the handlers of system calls' tracepoints with preemption on. */
static noinline void fire_preemptible(struct sdt_point *point, const u64 *args)
{
	preempt_disable_notrace();
	fire_both(point, args);
	preempt_enable_notrace();
}

static __always_inline void fire(struct sdt_point *point, const u64 *args)
{
	if (dfr_may_be_preempted())
		fire_preemptible(point, args);
	else
		fire_both(point, args);
}

#define A1  u64 a0
#define A2  A1, u64 a1
#define A3  A2, u64 a2
#define A4  A3, u64 a3
#define A5  A4, u64 a4
#define A6  A5, u64 a5
#define A7  A6, u64 a6
#define A8  A7, u64 a7
#define A9  A8, u64 a8
#define A10 A9, u64 a9
#define A11 A10, u64 a10
#define A12 A11, u64 a11
#define V5  a0, a1, a2, a3, a4
#define V6  V5, a5
#define V7  V6, a6
#define V8  V7, a7
#define V9  V8, a8
#define V10 V9, a9
#define V11 V10, a10
#define V12 V11, a11
#define HANDLER(n)                                                                                           \
	static void handle_##n(void *data, A##n)                                                             \
	{                                                                                                    \
		u64 args[n] = { V##n };                                                                      \
                                                                                                             \
		fire(data, args);                                                                            \
	}
HANDLER(5)
HANDLER(6)
HANDLER(7)
HANDLER(8)
HANDLER(9)
HANDLER(10)
HANDLER(11)
HANDLER(12)

static void *const handlers[] = {
	handle_5, handle_6, handle_7, handle_8, handle_9, handle_10, handle_11, handle_12,
};

static void *handler_of(const struct sdt_point *point)
{
	return handlers[max_t(u32, point->spt_nargs, SDT_REGISTER_ARGS) - SDT_REGISTER_ARGS];
}

/* --- Making probes. ------------------------------------------------------ */

/*
 * Which trace event system declares the event of each tracepoint: gathered for all events
 * when dfr is loaded, and for a module's events when that is loaded. No lock of dfr is held
 * meanwhile, because a task that holds event_mutex may wait for another process's mmap_lock
 * (perf and tracefs do, for uprobes).
 */
struct sdt_group {
	const struct tracepoint *sg_tracepoint;
	const char *sg_system;
};

struct sdt_groups {
	unsigned int gs_count;
	struct sdt_group gs_group[];
};

static struct sdt_groups *sdt_kernel_groups;

/* Is it the event of a tracepoint in this module? NULL: in the kernel or any module. */
static bool belongs(const struct trace_event_call *call, const struct module *module)
{
	return call->flags & TRACE_EVENT_FL_TRACEPOINT &&
	       (!module || within_module((unsigned long)call->tp, module));
}

/* Called with event_mutex held. Returns how many there are; writes the first `room` of them to `groups`. */
static unsigned int list_groups(struct list_head *events, const struct module *module,
				struct sdt_group *groups, unsigned int room)
{
	const struct trace_event_call *call;
	unsigned int n = 0;

	list_for_each_entry (call, events, list) {
		if (!belongs(call, module))
			continue;
		if (n < room)
			groups[n] = (struct sdt_group){ call->tp, call->class->system };
		n++;
	}
	return n;
}

/* NULL: none found, or no memory; then the tracepoints' group is "vmlinux" or their module's name. */
static struct sdt_groups *gather_groups(const struct module *module)
{
	struct list_head *events = (struct list_head *)dfr_kernel(ftrace_events);
	struct mutex *lock = (struct mutex *)dfr_kernel(event_mutex);
	struct sdt_groups *groups = NULL;
	unsigned int n;

	if (!events || !lock)
		return NULL;
	mutex_lock(lock);
	n = list_groups(events, module, NULL, 0);
	if (n)
		groups = dfr_plat_alloc_shared(struct_size(groups, gs_group, n));
	if (groups)
		groups->gs_count = list_groups(events, module, groups->gs_group, n);
	mutex_unlock(lock);
	return groups;
}

static const char *group_of(const struct tracepoint *tracepoint, const struct sdt_groups *groups)
{
	unsigned int i;

	for (i = 0; groups && i < groups->gs_count; i++)
		if (groups->gs_group[i].sg_tracepoint == tracepoint)
			return groups->gs_group[i].sg_system;
	return NULL;
}

/*
 * How many arguments a tracepoint passes: the kernel has a table of that for BPF,
 * and so has each module. -ENOENT: the tracepoint is in none of them, because it was
 * not declared in the way that fills the table (<trace/define_trace.h>).
 */
static int args_in(const struct bpf_raw_event_map *from, const struct bpf_raw_event_map *to,
		   const struct tracepoint *tracepoint)
{
	for (; from < to; from++)
		if (from->tp == tracepoint)
			return from->num_args;
	return -ENOENT;
}

static int args_of(const struct tracepoint *tracepoint, const struct module *module)
{
	static const struct bpf_raw_event_map *start, *stop;

	if (!start) {
		stop = (const void *)dfr_kernel(__stop__bpf_raw_tp);
		start = stop ? (const void *)dfr_kernel(__start__bpf_raw_tp) : NULL;
	}
	if (!start)
		return -ENOENT;
	if (module)
		return args_in(module->bpf_raw_events, module->bpf_raw_events + module->num_bpf_raw_events,
			       tracepoint);
	return args_in(start, stop, tracepoint);
}

/* 0 too if the probes are there already: another tracepoint has that name, or this one is listed again. */
static int add_point(struct tracepoint *tracepoint, const struct module *module,
		     const struct sdt_groups *groups)
{
	const char *group = group_of(tracepoint, groups) ?: (module ? module->name : "vmlinux");
	struct sdt_point *point = dfr_plat_alloc_shared(sizeof(*point));
	int kind, nargs = args_of(tracepoint, module), error = 0;

	if (!point)
		return -ENOMEM;
	point->spt_tracepoint = tracepoint;
	/* Unknown, or too many: pass the five in registers; to read one that is no argument does no harm. */
	point->spt_nargs = nargs < 0 || nargs > SDT_ARGS_MAX ? SDT_REGISTER_ARGS : nargs;
	for (kind = 0; kind < SDT_KINDS; kind++) {
		point->spt_probe[kind] = dfr_probe_create(&sdt_providers[kind], group, "", tracepoint->name,
							  point->spt_nargs, point);
		if (!point->spt_probe[kind] &&
		    !dfr_probe_find(&sdt_providers[kind], group, "", tracepoint->name))
			error = -ENOMEM;
	}
	if (point->spt_probe[SDT_TYPED] || point->spt_probe[SDT_RAW])
		list_add_tail(&point->spt_list, &sdt_points);
	else
		dfr_plat_free(point);
	return error;
}

struct sdt_listing {
	const char *sw_name; /* of the tracepoints that are listed; NULL: all are */
	int sw_error;
};

static void add_kernel_point(struct tracepoint *tracepoint, void *arg)
{
	struct sdt_listing *listing = arg;
	int result;

	if (listing->sw_name && strcmp(listing->sw_name, tracepoint->name))
		return;
	result = add_point(tracepoint, NULL, sdt_kernel_groups);
	listing->sw_error = listing->sw_error ?: result;
}

/* A tracepoint that is named is listed without the others. After an error, the next who asks has all listed again. */
static int sdt_provide(struct dfr_provider *provider, const char *const pattern[4])
{
	bool one = dfr_glob_is_name(pattern[3]);
	struct sdt_listing listing = { .sw_name = one ? pattern[3] : NULL };

	if (sdt_listed || (!dfr_glob(pattern[0], "sdt") && !dfr_glob(pattern[0], "rawtp")))
		return 0;
	mutex_lock(&sdt_lock);
	for_each_kernel_tracepoint (add_kernel_point, &listing)
		;
	sdt_listed = !one && !listing.sw_error;
	if (sdt_listed) {
		dfr_plat_free(sdt_kernel_groups);
		sdt_kernel_groups = NULL;
	}
	mutex_unlock(&sdt_lock);
	return listing.sw_error;
}

/* --- Arming. ------------------------------------------------------------- */

static int update(struct sdt_point *point)
{
	bool wanted = point->spt_armed[SDT_TYPED] || point->spt_armed[SDT_RAW];
	int error;

	if (wanted == point->spt_registered)
		return 0;
	if (wanted)
		error = tracepoint_probe_register(point->spt_tracepoint, handler_of(point), point);
	else
		error = tracepoint_probe_unregister(point->spt_tracepoint, handler_of(point), point);
	if (!error)
		point->spt_registered = wanted;
	return error;
}

static int kind_of(const struct dfr_probe *probe)
{
	return ((struct sdt_point *)probe->pb_cookie)->spt_probe[SDT_RAW] == probe ? SDT_RAW : SDT_TYPED;
}

static int sdt_arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct sdt_point *point = probe->pb_cookie;
	int error;

	mutex_lock(&sdt_lock);
	WRITE_ONCE(point->spt_armed[kind_of(probe)], true);
	error = update(point);
	if (error)
		WRITE_ONCE(point->spt_armed[kind_of(probe)], false);
	mutex_unlock(&sdt_lock);
	return error;
}

static void sdt_disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct sdt_point *point = probe->pb_cookie;

	mutex_lock(&sdt_lock);
	WRITE_ONCE(point->spt_armed[kind_of(probe)], false);
	update(point);
	mutex_unlock(&sdt_lock);
}

/* --- Modules that are loaded and unloaded. ------------------------------- */

static bool is_wanted(const char *const pattern[4], void *unused)
{
	return !pattern[2][0] || !strcmp(pattern[2], "*"); /* tracepoints are in no function */
}

static void module_coming(struct module *module)
{
	struct sdt_groups *groups = gather_groups(module);
	int kind, result, error = 0;
	unsigned int i;

	mutex_lock(&sdt_lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		result = add_point(tracepoint_ptr_deref(module->tracepoints_ptrs + i), module, groups);
		error = error ?: result;
	}
	mutex_unlock(&sdt_lock);
	dfr_plat_free(groups);
	/* These take the engine's lock, so not under sdt_lock. */
	dfr_probes_created(dfr_engine_instance);
	for (kind = 0; kind < SDT_KINDS && error; kind++)
		dfr_probes_missing(&sdt_providers[kind], module->name, error, is_wanted, NULL);
}

static bool is_in(const struct sdt_point *point, const struct module *module)
{
	return within_module((unsigned long)point->spt_tracepoint, module);
}

static bool probe_is_in(const struct dfr_probe *probe, void *module)
{
	return is_in(probe->pb_cookie, module);
}

static void module_going(struct module *module)
{
	struct sdt_point *point, *next;
	LIST_HEAD(gone);
	int kind;

	for (kind = 0; kind < SDT_KINDS; kind++)
		dfr_probes_remove_if(&sdt_providers[kind], probe_is_in, module);
	mutex_lock(&sdt_lock);
	list_for_each_entry_safe (point, next, &sdt_points, spt_list)
		if (is_in(point, module))
			list_move(&point->spt_list, &gone);
	mutex_unlock(&sdt_lock);
	if (list_empty(&gone))
		return;
	tracepoint_synchronize_unregister(); /* wait until none of their handlers runs */
	list_for_each_entry_safe (point, next, &gone, spt_list)
		dfr_plat_free(point);
}

/* The kernel calls it for every loaded module when it is registered, then for each that comes or goes. */
static int sdt_module_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct tp_module *which = data;

	if (which->mod == THIS_MODULE)
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING)
		module_coming(which->mod);
	else if (event == MODULE_STATE_GOING)
		module_going(which->mod);
	return NOTIFY_DONE;
}

static struct notifier_block sdt_modules = { .notifier_call = sdt_module_event };

/* --- Loading and unloading dfr. ------------------------------------------ */

static const struct dfr_provider_ops sdt_ops = {
	.provide = sdt_provide,
	.arm = sdt_arm,
	.disarm = sdt_disarm,
};

static struct dfr_provider sdt_providers[SDT_KINDS] = {
	[SDT_TYPED] = { .pv_name = "sdt", .pv_ops = &sdt_ops },
	[SDT_RAW] = { .pv_name = "rawtp", .pv_ops = &sdt_ops },
};

int dfr_sdt_init(void)
{
	int error = dfr_provider_register(dfr_engine_instance, &sdt_providers[SDT_TYPED]);

	if (error)
		return error;
	error = dfr_provider_register(dfr_engine_instance, &sdt_providers[SDT_RAW]);
	if (error)
		goto first;
	sdt_kernel_groups = gather_groups(NULL);
	error = register_tracepoint_module_notifier(&sdt_modules);
	if (!error)
		return 0;
	dfr_plat_free(sdt_kernel_groups);
	dfr_provider_unregister(&sdt_providers[SDT_RAW]);
first:
	dfr_provider_unregister(&sdt_providers[SDT_TYPED]);
	return error;
}

void dfr_sdt_exit(void)
{
	struct sdt_point *point, *next;

	unregister_tracepoint_module_notifier(&sdt_modules);
	dfr_provider_unregister(&sdt_providers[SDT_RAW]);
	dfr_provider_unregister(&sdt_providers[SDT_TYPED]);
	tracepoint_synchronize_unregister();
	list_for_each_entry_safe (point, next, &sdt_points, spt_list)
		dfr_plat_free(point);
	dfr_plat_free(sdt_kernel_groups);
}
