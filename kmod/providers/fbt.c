// SPDX-License-Identifier: GPL-2.0
/*
 * fbt: entry and return of every traceable function of the kernel and of its
 * modules. One ftrace_ops serves all entries, one pool of return hooks all
 * returns; nothing is patched while no fbt probe is armed. Probes are created when
 * a pattern asks for them (fbt_provide()): those of a function that it names, or of
 * all functions; from then on those of each module when it is loaded (module_coming()).
 *
 *   entry   arg0.. the function's arguments (DFR_FUNCTION_ARGS in registers, the rest on the stack)
 *   return  arg0   0 (the address of the return instruction is not known), arg1 the returned value
 *
 * fbt_enter(), fbt_return() and fbt_getarg() run in probe context, fbt_suspend()
 * and fbt_resume() on the last CPU with interrupts off, everything else in process
 * context, mostly under fbt_lock or the engine's lock. fbt_enter() looks up the
 * function in a hash table by the address of its ftrace site. fbt_commit() builds
 * a new table for each batch of changes and replaces the old one as a whole. The
 * file is long because sites, filter and table are one state under one lock.
 */
#include "kmod/linux/linux.h"

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/static_call.h>
#include <linux/syscore_ops.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/blacklist.h"
#include "kmod/linux/compat.h"
#include "kmod/linux/hook.h"
#include "kmod/linux/resolve.h"
#include "kmod/linux/rethook.h"

static unsigned int fbt_return_nodes = 4096;
module_param_named(fbt_return_nodes, fbt_return_nodes, uint, 0444);
MODULE_PARM_DESC(fbt_return_nodes, "functions that can be inside a return probe at once");

/* One ftrace site. Functions of one name (static ones of several files) share their probes. */
struct fbt_function {
	unsigned long ff_ip;
	struct dfr_probe *ff_entry;   /* NULL: its module was unloaded */
	struct dfr_probe *ff_return;  /* NULL: that, or returns() refuses it */
	struct fbt_function *ff_twin; /* next site that shares the probes */
	bool ff_entry_armed;
	bool ff_return_armed;
	bool ff_filtered; /* its site is in the filter of fbt_ops */
};

#define FBT_SITE_OFFSET 8  /* a function's site lies at most so far behind its start */
#define FBT_NAMES	16 /* so many functions are listed by name; then all are */

#define FBT_CHUNK 256
struct fbt_chunk {
	struct fbt_chunk *fc_next;
	unsigned int fc_used;
	struct fbt_function fc_function[FBT_CHUNK];
};

/*
 * A function of an unloaded module, kept until a function of the same name
 * comes back (take_gone()). Its fbt_function is not reused for any other function, because
 * a return hook that is still pending has its address and would fire the other's probe.
 */
struct fbt_gone {
	struct fbt_gone *fg_next;
	struct fbt_function *fg_function;
	const char *fg_module; /* this and fg_name are the engine's strings, which it keeps */
	const char *fg_name;
};

/*
 * Armed functions by the address of their site: open addressing, at most half full.
 * The slot itself says what is armed, so that fbt_enter() need not read the fbt_function.
 */
struct fbt_slot {
	unsigned long fs_ip;		/* 0: the slot is empty */
	struct dfr_probe *fs_entry;	/* NULL: its entry is not armed */
	struct fbt_function *fs_return; /* NULL: its return is not armed */
	struct fbt_function *fs_function;
};
static_assert(sizeof(struct fbt_slot) == 32);

struct fbt_table {
	unsigned long ft_mask; /* for an offset in bytes into ft_slot */
	struct fbt_slot ft_slot[];
};

static struct fbt_table fbt_nothing = { .ft_slot = { { .fs_ip = 0 } } };

static DEFINE_MUTEX(fbt_lock);
static struct fbt_chunk *fbt_chunks;
static struct fbt_gone *fbt_gone;
static bool fbt_asked; /* for functions: those of modules that come are listed too */
static bool fbt_modules_listed;
static bool fbt_listed;				   /* the probes of all functions have been created */
static bool fbt_partial;			   /* a listing failed: the next one lists all */
static struct fbt_table *fbt_table = &fbt_nothing; /* read in probe context */
static struct rethook *fbt_returns;
static bool fbt_registered;
static unsigned long fbt_init_begin, fbt_init_end;

static struct ftrace_rec_iter *no_iter_start(void)
{
	return NULL;
}

static struct ftrace_rec_iter *no_iter_next(struct ftrace_rec_iter *iter)
{
	return NULL;
}

static struct dyn_ftrace *no_iter_record(struct ftrace_rec_iter *iter)
{
	return NULL;
}

DEFINE_STATIC_CALL(dfr_iter_start, no_iter_start);
DEFINE_STATIC_CALL(dfr_iter_next, no_iter_next);
DEFINE_STATIC_CALL(dfr_iter_record, no_iter_record);
static struct mutex *fbt_ftrace_lock;

/* --- Probe context. ------------------------------------------------------ */

/*
 * Where the search for `ip` begins, for slot_at(). The multiplication spreads sites that
 * are close together in the text over the whole table.
 */
static __always_inline unsigned long home_of(unsigned long ip)
{
	return ip * 0x61c88647;
}

/* `at`: an offset in bytes, which wraps around at the end of the table. */
static __always_inline struct fbt_slot *slot_at(struct fbt_table *table, unsigned long at)
{
	return (struct fbt_slot *)((u8 *)table->ft_slot + (at & table->ft_mask));
}

static __always_inline const struct fbt_slot *find(unsigned long ip)
{
	struct fbt_table *table = READ_ONCE(fbt_table);
	unsigned long at = home_of(ip);
	const struct fbt_slot *slot;

	for (;; at += sizeof(*slot)) {
		slot = slot_at(table, at);
		if (likely(slot->fs_ip == ip))
			return slot;
		if (!slot->fs_ip)
			return slot; /* empty: nothing is armed at ip */
	}
}

static noinline void fire_with_args(struct dfr_probe *probe, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];

	if (!dfr_probe_wants(probe))
		return;
	dfr_arch_function_args(regs, args);
	dfr_fire(probe, args, DFR_FUNCTION_ARGS, regs);
}

static __always_inline void fire_entry(struct dfr_probe *probe, struct pt_regs *regs)
{
	if (dfr_probe_reads_args(probe))
		fire_with_args(probe, regs);
	else
		dfr_fire_bare(probe, regs);
}

static __always_inline void hook_return(struct fbt_function *returns, struct pt_regs *regs)
{
	dfr_return_hook(fbt_returns, returns, regs, &returns->ff_return);
}

/*
 * Fires the entry before it hooks the return, because hooking replaces the return address
 * on the stack: the entry probe's stack() must still find the caller there.
 */
static noinline void entered_both(struct dfr_probe *entry, struct fbt_function *returns, struct pt_regs *regs)
{
	fire_entry(entry, regs);
	hook_return(returns, regs);
}

/*
 * dfr_probe_passes_by() skips this entry, and dfr_refusal_due() has chosen it, as about one
 * in 64 of those skipped, to be reported to the governor.
 */
static noinline void refused(struct dfr_probe *entry, struct fbt_function *returns, struct pt_regs *regs)
{
	dfr_probe_refused(entry);
	if (returns)
		hook_return(returns, regs);
}

/*
 * Every path makes at most one call, as its last act, so no value has to survive a call
 * and the compiler need not save registers.
 */
static __always_inline void entered(unsigned long ip, struct ftrace_ops *ops, struct pt_regs *regs)
{
	const struct fbt_slot *slot = find(ip);
	struct dfr_probe *entry = READ_ONCE(slot->fs_entry);
	struct fbt_function *returns = READ_ONCE(slot->fs_return);

	if (entry && dfr_probe_passes_by(entry)) {
		if (dfr_refusal_due()) {
			refused(entry, returns, regs);
			return;
		}
		entry = NULL;
	}
	if (entry && returns)
		entered_both(entry, returns, regs);
	else if (entry)
		fire_entry(entry, regs);
	else if (returns)
		hook_return(returns, regs);
}

DFR_FTRACE_CALLBACK(fbt_enter, entered)

static noinline void fire_return(struct dfr_probe *probe, struct pt_regs *regs)
{
	u64 args[2] = { 0, regs_return_value(regs) };

	dfr_fire(probe, args, 2, regs);
}

static void fbt_return(DFR_RETHOOK_HANDLER_ARGS)
{
	struct fbt_function *function = dfr_return_cookie(node);
	struct dfr_probe *probe = READ_ONCE(function->ff_return);

	if (unlikely(!probe))
		return;
	if (dfr_probe_reads_args(probe))
		fire_return(probe, regs);
	else
		dfr_fire_bare(probe, regs);
}

/*
 * Arguments that the firing does not carry: those that the function gets on the stack; and
 * all of them if the probe fired bare, because dfr_probe_reads_args() was false then.
 */
static u64 fbt_getarg(const struct dfr_firing *firing, unsigned int n)
{
	const struct pt_regs *regs = firing->fr_regs;
	u64 args[DFR_FUNCTION_ARGS], value;

	if (!regs)
		return 0;
	if (firing->fr_probe->pb_nargs != DFR_FUNCTION_ARGS) /* a return probe */
		return n == 1 ? regs_return_value((struct pt_regs *)regs) : 0;
	if (n < DFR_FUNCTION_ARGS) {
		dfr_arch_function_args(regs, args);
		return args[n];
	}
	if (dfr_plat_load(firing, dfr_arch_stack_args(regs) + 8 * (u64)(n - DFR_FUNCTION_ARGS), 8, &value))
		return 0;
	return value;
}

/* --- Making probes. ------------------------------------------------------ */

static const char *const never_return[] = {
	"do_exit",
	"do_group_exit",
	"make_task_dead",
	"kthread_exit",
	"do_task_dead",
	"kthread_complete_and_exit",
	"__x64_sys_exit",
	"__x64_sys_exit_group",
	"__ia32_sys_exit",
	"__ia32_sys_exit_group",
	"__module_put_and_kthread_exit",
	"panic",
	"nmi_panic",
	"rewind_stack_and_make_dead",
	"cpu_startup_entry",
	"stop_this_cpu",
	"x86_64_start_kernel",
	"cpu_bringup_and_idle",
	/* of a CPU that goes offline: its idle task starts from the beginning when the CPU comes back */
	"do_idle",
	/* of BPF: an exception leaves them, and what calls a program's functions is between it and the program's frame */
	"bpf_throw",
	"bpf_loop",
	"bpf_find_vma",
	"bpf_for_each_map_elem",
	"bpf_for_each_array_elem",
	"bpf_for_each_hash_elem",
	"bpf_user_ringbuf_drain",
	"bpf_rbtree_add_impl",
};

/*
 * A kernel with lockdep calls these between a hooked return and fbt_return(). If their
 * own returns were hooked, that would recurse without end: they have no return probes.
 */
static const char *const return_path[] = {
	"rcu_read_lock_any_held",
	"rcu_read_lock_held_common",
	"rcu_lockdep_current_cpu_online",
};

/*
 * Patching code puts breakpoints into it for a moment. The functions that handle a
 * breakpoint are on the kernel's kprobe blacklist; those that patch are named here, or
 * have a name that begins with text_poke or, in newer kernels, with smp_text_poke.
 * Neither have fbt probes, because they must not run into breakpoints themselves.
 */
static const char *const untouchable[] = {
	"do_sync_core",
	"kgdb_ll_trap",
};

/* Called for tens of thousands of names: the first letter decides about most without a call of strcmp(). */
static bool is_one_of(const char *const *names, unsigned int n, const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (names[i][0] == name[0] && !strcmp(names[i], name))
			return true;
	return false;
}

static bool patches_text(const char *name)
{
	const char *at = name + strspn(name, "_");

	at += strncmp(at, "smp_", 4) ? 0 : 4;
	return !strncmp(at, "text_poke", 9) || is_one_of(untouchable, ARRAY_SIZE(untouchable), name);
}

static bool may_be_probed(const struct dfr_blacklist *forbidden, unsigned long ip, const char *name)
{
	return !dfr_blacklist_has(forbidden, ip, name) && !patches_text(name) && !dfr_runs_dead(name);
}

static bool returns(const char *name)
{
	return dfr_part_works(DFR_PART_RETURNS) && !is_one_of(never_return, ARRAY_SIZE(never_return), name) &&
	       !is_one_of(return_path, ARRAY_SIZE(return_path), name);
}

static struct fbt_function *new_function(void)
{
	struct fbt_chunk *chunk = fbt_chunks;

	if (!chunk || chunk->fc_used == FBT_CHUNK) {
		chunk = dfr_plat_alloc_shared(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->fc_next = fbt_chunks;
		fbt_chunks = chunk;
	}
	return &chunk->fc_function[chunk->fc_used++];
}

static struct dfr_provider fbt_provider;

static struct fbt_function *take_gone(const char *module, const char *name)
{
	struct fbt_gone **link, *gone;
	struct fbt_function *function;

	for (link = &fbt_gone; (gone = *link); link = &gone->fg_next) {
		if (strcmp(gone->fg_name, name) || strcmp(gone->fg_module, module))
			continue;
		function = gone->fg_function;
		*link = gone->fg_next;
		dfr_plat_free(gone);
		return function;
	}
	return NULL;
}

/*
 * After dfr_probe_create() returned NULL: if the name has an entry probe already, this site
 * shares the probes of the first function of that name; if not, there was no memory.
 */
static int join_twins(struct fbt_function *function, const char *module, const char *name)
{
	struct dfr_probe *known = dfr_probe_find(&fbt_provider, module, name, "entry");
	struct fbt_function *first = known ? known->pb_cookie : NULL;

	if (!first)
		return -ENOMEM;
	function->ff_entry = first->ff_entry;
	function->ff_return = first->ff_return;
	function->ff_entry_armed = first->ff_entry_armed;
	function->ff_return_armed = first->ff_return_armed;
	function->ff_twin = first->ff_twin;
	first->ff_twin = function;
	return 0;
}

/*
 * pb_cookie is the first function of the name; join_twins() links the others behind it.
 * Read without fbt_lock, so the answer may miss a function that is just being added.
 */
static bool fbt_shared(const struct dfr_probe *probe)
{
	const struct fbt_function *first = probe->pb_cookie;

	return READ_ONCE(first->ff_twin);
}

/* The first function of the name, if the site at `ip` is it or one of its twins. */
static struct fbt_function *known_function(unsigned long ip, const char *module, const char *name)
{
	struct dfr_probe *known = dfr_probe_find(&fbt_provider, module, name, "entry");
	struct fbt_function *first = known ? known->pb_cookie : NULL;
	struct fbt_function *function = first;

	while (function && function->ff_ip != ip)
		function = function->ff_twin;
	return function ? first : NULL;
}

/* `function` is the first of its name. A listing before this one may have had no memory for the probe. */
static int add_return(struct fbt_function *function, const char *module, const char *name)
{
	struct dfr_probe *probe;

	if (function->ff_return || !returns(name))
		return 0;
	probe = dfr_probe_create(&fbt_provider, module, name, "return", 2, function);
	if (!probe)
		return -ENOMEM;
	for (; function; function = function->ff_twin)
		WRITE_ONCE(function->ff_return, probe);
	return 0;
}

static int add_function(unsigned long ip, const char *module, const char *name)
{
	struct fbt_function *function = take_gone(module, name) ?: new_function();

	if (!function)
		return -ENOMEM;
	function->ff_ip = ip;
	function->ff_entry = dfr_probe_create_as(&fbt_provider, module, name, "entry", DFR_FUNCTION_ARGS,
						 function, DFR_PB_REGISTERS);
	if (!function->ff_entry)
		return join_twins(function, module, name);
	return add_return(function, module, name);
}

static bool is_in_some_module(unsigned long ip)
{
	bool is;

	preempt_disable(); /* so that the module is not freed meanwhile */
	is = dfr_module_at(ip) != NULL;
	preempt_enable();
	return is;
}

/*
 * Code that is freed when the kernel, or a module that is just being loaded, is initialized; and all of a module that
 * goes, because nobody will tell again that it has gone.
 */
static bool in_passing_text(unsigned long ip)
{
	const struct module *module;
	bool found;

	if (ip >= fbt_init_begin && ip < fbt_init_end)
		return true;
	preempt_disable(); /* so that the module is not freed meanwhile */
	module = dfr_module_at(ip);
	found = module && (module->state == MODULE_STATE_GOING || within_module_init(ip, module));
	preempt_enable();
	return found;
}

/* Which functions are listed. */
struct fbt_choice {
	const struct module *fh_module; /* those of one module; NULL: of the kernel and of all modules */
	const char *fh_name;		/* those of one name; NULL: all */
	bool fh_modules;		/* and all of the modules' beside those of that name */
	unsigned long fh_place[16];	/* where the kernel itself has that name */
	u32 fh_places;
};

static bool is_chosen(const struct fbt_choice *choice, unsigned long ip)
{
	u32 i;

	if (choice->fh_module)
		return within_module(ip, choice->fh_module);
	if (!choice->fh_name)
		return true;
	for (i = 0; i < choice->fh_places; i++)
		if (ip - choice->fh_place[i] <= FBT_SITE_OFFSET)
			return true;
	return choice->fh_modules && is_in_some_module(ip);
}

/*
 * The addresses of the chosen ones of ftrace's records, without init code. The first pass counts, the second copies,
 * so that no memory is allocated under ftrace_lock.
 */
static unsigned long *collect(const struct fbt_choice *choice, unsigned int *count)
{
	unsigned int room = 0, n = 0, pass;
	unsigned long *ips = NULL;
	struct ftrace_rec_iter *iter;

	for (pass = 0; pass < 2; pass++) {
		if (pass) {
			room = n + 1024; /* a module may load meanwhile; module_coming() adds the rest */
			ips = dfr_plat_alloc_shared(array_size(room, sizeof(*ips)));
			if (!ips)
				return NULL;
			n = 0;
		}
		mutex_lock(fbt_ftrace_lock);
		for (iter = static_call(dfr_iter_start)(); iter; iter = static_call(dfr_iter_next)(iter)) {
			const struct dyn_ftrace *record = static_call(dfr_iter_record)(iter);

			if (!record->ip || (record->flags & FTRACE_FL_DISABLED))
				continue;
			if (!is_chosen(choice, record->ip) || in_passing_text(record->ip))
				continue;
			if (ips && n < room)
				ips[n] = record->ip;
			n++;
		}
		mutex_unlock(fbt_ftrace_lock);
	}
	*count = min(n, room);
	return ips;
}

/*
 * Creates the probes of the chosen functions. A site can be met a second time, after a listing of one name or one that
 * ran out of memory, or because the listing of all saw a module that was just being loaded: known_function() keeps it
 * from being added twice.
 */
static int list_functions(const struct fbt_choice *choice)
{
	static bool again;
	bool may_be_there = choice->fh_module || again;
	struct dfr_blacklist *forbidden = dfr_blacklist_read();
	char *buffer = dfr_plat_alloc_shared(KSYM_NAME_LEN);
	unsigned int count = 0, i;
	unsigned long *ips;
	int error = 0;

	ips = buffer && forbidden ? collect(choice, &count) : NULL;
	if (!ips)
		error = -ENOMEM;
	for (i = 0; i < count && !error; i++) {
		struct fbt_function *known = NULL;
		unsigned long size, offset;
		char *owner = NULL;
		const char *name = dfr_symbol_at(ips[i], &size, &offset, &owner, buffer);

		/* A site far behind its symbol's start is left over from a discarded weak function. */
		if (!name || offset > FBT_SITE_OFFSET || strstarts(name, "__ftrace_invalid_address__"))
			continue;
		if (choice->fh_name && !owner && strcmp(choice->fh_name, name))
			continue;
		if (!may_be_probed(forbidden, ips[i], name))
			continue;
		owner = owner ?: "vmlinux";
		if (may_be_there)
			known = known_function(ips[i], owner, name);
		error = known ? add_return(known, owner, name) : add_function(ips[i], owner, name);
		cond_resched();
	}
	again = true;
	dfr_plat_free(ips);
	dfr_plat_free(buffer);
	dfr_blacklist_free(forbidden);
	return error;
}

static bool can_match(const char *const pattern[4])
{
	return dfr_glob(pattern[3], "entry") || dfr_glob(pattern[3], "return");
}

/*
 * True: the functions of this name can be listed without the others. Not after the FBT_NAMES-th, because each listing
 * goes over all of ftrace's records.
 */
static bool choose_name(struct fbt_choice *choice, const char *name)
{
	static unsigned int names;

	if (fbt_partial || !dfr_glob_is_name(name) || !dfr_part_works(DFR_PART_PLACES) || names == FBT_NAMES)
		return false;
	choice->fh_places = dfr_places_of(name, choice->fh_place, ARRAY_SIZE(choice->fh_place));
	if (choice->fh_places > ARRAY_SIZE(choice->fh_place))
		return false;
	choice->fh_name = name;
	choice->fh_modules = !fbt_modules_listed;
	names += choice->fh_places != 0;
	return true;
}

static int provide(const char *name)
{
	struct fbt_choice choice = { NULL };
	bool one;
	int error;

	/* A name that was listed before. */
	if (!fbt_partial && dfr_probe_find(&fbt_provider, "vmlinux", name, "entry"))
		return 0;
	fbt_asked = true;
	one = choose_name(&choice, name);
	if (one && !choice.fh_places && !choice.fh_modules)
		return 0; /* the kernel has no such function */
	error = list_functions(&choice);
	if (error)
		fbt_partial = true;
	else
		fbt_modules_listed = true;
	if (!error && !one)
		WRITE_ONCE(fbt_listed, true);
	return error;
}

/* Looking up the names of all functions takes a while: only for patterns that can match an fbt probe. */
static int fbt_provide(struct dfr_provider *unused, const char *const pattern[4])
{
	int error;

	if (READ_ONCE(fbt_listed) || !dfr_glob(pattern[0], "fbt") || !can_match(pattern))
		return 0;
	mutex_lock(&fbt_lock);
	error = provide(pattern[2]);
	mutex_unlock(&fbt_lock);
	return error;
}

/* --- Arming. ------------------------------------------------------------- */

/* ff_entry does not tell: another task may have made the probe and not written it yet. */
static bool is_return(const struct dfr_probe *probe)
{
	return !(probe->pb_flags & DFR_PB_REGISTERS);
}

static int set_armed(struct dfr_probe *probe, bool armed)
{
	struct fbt_function *function = probe->pb_cookie;

	/* Whoever lists functions meanwhile may be adding a twin. */
	mutex_lock(&fbt_lock);
	for (; function; function = function->ff_twin)
		WRITE_ONCE(*(is_return(probe) ? &function->ff_return_armed : &function->ff_entry_armed),
			   armed);
	mutex_unlock(&fbt_lock);
	return 0;
}

static int fbt_arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	if (is_return(probe) && !fbt_returns) {
		int error = dfr_return_pool_create(fbt_return_nodes, fbt_return, NULL, &fbt_returns);

		if (error)
			return error;
	}
	return set_armed(probe, true);
}

static void fbt_disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	set_armed(probe, false);
}

static struct ftrace_ops fbt_ops = {
	.func = fbt_enter,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

static bool site_armed(const struct fbt_function *function)
{
	return function->ff_entry_armed || function->ff_return_armed;
}

static unsigned int count_armed(void)
{
	const struct fbt_chunk *chunk;
	unsigned int i, n = 0;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used; i++)
			n += site_armed(&chunk->fc_function[i]);
	return n;
}

static unsigned int count_sites(void)
{
	const struct fbt_chunk *chunk;
	unsigned int n = 0;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		n += chunk->fc_used;
	return n;
}

static void forget_filter(void)
{
	struct fbt_chunk *chunk;
	unsigned int i;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used; i++)
			chunk->fc_function[i].ff_filtered = false;
}

static void fill(struct fbt_table *table)
{
	struct fbt_chunk *chunk;
	unsigned long at;
	unsigned int i;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used; i++) {
			struct fbt_function *function = &chunk->fc_function[i];

			if (!site_armed(function))
				continue;
			at = home_of(function->ff_ip);
			while (slot_at(table, at)->fs_ip)
				at += sizeof(struct fbt_slot);
			*slot_at(table, at) = (struct fbt_slot){
				.fs_ip = function->ff_ip,
				.fs_entry = function->ff_entry_armed ? function->ff_entry : NULL,
				.fs_return = function->ff_return_armed ? function : NULL,
				.fs_function = function,
			};
		}
}

/*
 * patch() has no memory for a new table: takes the disarmed probes out of the current one,
 * because they may be removed once fbt_commit() has returned.
 */
static void clear_disarmed(void)
{
	struct fbt_slot *slot = fbt_table->ft_slot;
	struct fbt_slot *end = (struct fbt_slot *)((u8 *)slot + fbt_table->ft_mask) + 1;

	for (; slot < end; slot++) {
		if (slot->fs_ip && !slot->fs_function->ff_entry_armed)
			WRITE_ONCE(slot->fs_entry, NULL);
		if (slot->fs_ip && !slot->fs_function->ff_return_armed)
			WRITE_ONCE(slot->fs_return, NULL);
	}
	dfr_plat_synchronize();
}

static void replace_table(struct fbt_table *table)
{
	struct fbt_table *old = fbt_table;

	smp_store_release(&fbt_table, table);
	if (old != &fbt_nothing) {
		dfr_plat_synchronize();
		dfr_plat_free(old);
	}
}

/*
 * Sites are patched FBT_BATCH at a time, because the kernel makes each change of a filter
 * without a pause: tens of thousands of sites would keep the CPU busy for so long that the
 * kernel's watchdog reports it.
 */
#define FBT_BATCH 2048

/*
 * ips[0] to ips[n - 1], a part of take_changes()' list in its order, were not patched: sets
 * their ff_filtered back to `filtered`, so that the next commit tries again.
 */
static void not_changed(const unsigned long *ips, unsigned int n, bool filtered)
{
	struct fbt_chunk *chunk;
	unsigned int i;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used && n; i++)
			if (chunk->fc_function[i].ff_ip == *ips) {
				chunk->fc_function[i].ff_filtered = filtered;
				ips++;
				n--;
			}
}

static int change_filter(unsigned long *ips, unsigned int n, bool remove)
{
	unsigned int at, count;
	int error = 0;

	for (at = 0; at < n; at += count) {
		count = min_t(unsigned int, n - at, FBT_BATCH);
		/*
		 * The task that starts this state is being killed and will read nothing of it: stop.
		 * Removals, and changes that are made for other states, are always finished.
		 */
		if (!remove && dfr_holding_starts == current && fatal_signal_pending(current))
			error = -EINTR;
		error = error ?: ftrace_set_filter_ips(&fbt_ops, ips + at, count, remove, 0);
		if (!error && !fbt_registered) {
			error = dfr_ops_start(&fbt_ops);
			fbt_registered = !error;
		}
		if (error) {
			not_changed(ips + at, n - at, remove);
			/*
			 * fbt_ops did not start, so nothing of it was patched. No site may stay in its
			 * filter: ftrace would call fbt_enter() there at the next start, and a site that is
			 * added twice cannot be taken out by removing it once.
			 */
			if (!fbt_registered)
				dfr_ops_reset(&fbt_ops);
			break;
		}
		cond_resched();
	}
	return error;
}

/*
 * Lists in `ips` the sites that must be added to the filter (armed) or removed from it
 * (!armed), and sets their ff_filtered as if that were done. Returns how many there are.
 */
static unsigned int take_changes(unsigned long *ips, bool armed)
{
	struct fbt_chunk *chunk;
	unsigned int i, n = 0;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used; i++) {
			struct fbt_function *function = &chunk->fc_function[i];

			if (site_armed(function) == armed && function->ff_filtered != armed) {
				function->ff_filtered = armed;
				ips[n++] = function->ff_ip;
			}
		}
	return n;
}

/*
 * While fbt starts (fbt_ops is not registered yet), the functions that patch code may
 * themselves be among those that are being armed. The table stays empty until all sites
 * are patched, so that fbt_enter() finds nothing and returns at once. ftrace frees old
 * copies of the filter in RCU callbacks; a single callback frees tens of thousands of
 * entries, by functions that may be traced too. So after a large start rcu_barrier() waits
 * for them before the table is filled.
 */
static int update_filter(unsigned long *ips, struct fbt_table *table)
{
	bool starting = !fbt_registered;
	unsigned int n;
	int error, removed;

	if (!starting)
		replace_table(table);
	n = take_changes(ips, true);
	error = change_filter(ips, n, false);
	if (starting) {
		if (n > FBT_BATCH)
			rcu_barrier();
		replace_table(table);
	} else {
		removed = change_filter(ips, take_changes(ips, false), true);
		error = error ?: removed;
	}
	return error;
}

/* Takes the sites out in batches as well, except the last batch: unregistering fbt_ops takes that out. */
static void shrink_filter(void)
{
	unsigned int n = count_sites(), filtered;
	unsigned long *ips = dfr_plat_alloc_shared(array_size(n, sizeof(*ips)));

	filtered = ips ? take_changes(ips, false) : 0;
	if (filtered > FBT_BATCH)
		change_filter(ips, filtered - FBT_BATCH, true);
	dfr_plat_free(ips);
}

/*
 * No probe is armed any more. The table is emptied first, because the functions that take
 * the sites out are traced themselves until their own sites are out.
 */
static void disarm_all(void)
{
	replace_table(&fbt_nothing);
	if (fbt_registered) {
		shrink_filter();
		fbt_registered = dfr_ops_end(&fbt_ops) != 0;
	}
	if (!fbt_registered)
		forget_filter();
}

#define FBT_SLOTS_MIN 64

static int patch(unsigned int n)
{
	unsigned int slots = roundup_pow_of_two(2 * n + FBT_SLOTS_MIN);
	struct fbt_table *table = dfr_plat_alloc_shared(struct_size(table, ft_slot, slots));
	unsigned long *ips = dfr_plat_alloc_shared(array_size(count_sites(), sizeof(*ips)));
	int error = -ENOMEM;

	if (!table || !ips) {
		dfr_plat_free(table);
		clear_disarmed();
		goto out;
	}
	table->ft_mask = (slots - 1) * sizeof(struct fbt_slot);
	fill(table);
	error = update_filter(ips, table);
out:
	dfr_plat_free(ips);
	return error;
}

/*
 * With an empty filter ftrace would call fbt_enter() for every function, so fbt_ops is
 * unregistered while nothing is armed.
 */
static int fbt_commit(struct dfr_provider *provider)
{
	unsigned int n;
	int error = 0;

	mutex_lock(&fbt_lock);
	n = count_armed();
	if (n)
		error = patch(n);
	else
		disarm_all();
	mutex_unlock(&fbt_lock);
	return error;
}

/* --- Modules that are loaded and unloaded. ------------------------------- */

static bool is_in_module(const struct dfr_probe *probe, void *module)
{
	return within_module(((const struct fbt_function *)probe->pb_cookie)->ff_ip, module);
}

/*
 * Called while the function's probes still exist, because they have its names. Without
 * memory it is not remembered, and this fbt_function is never used again.
 */
static void remember(struct fbt_function *function, struct fbt_gone **going)
{
	struct fbt_gone *gone = dfr_plat_alloc_shared(sizeof(*gone));

	if (!gone)
		return;
	gone->fg_function = function;
	gone->fg_module = function->ff_entry->pb_module;
	gone->fg_name = function->ff_entry->pb_function;
	gone->fg_next = *going;
	*going = gone;
}

/*
 * Remembers the functions of a module that is being unloaded, and clears their ff_return,
 * so that fbt_return() fires nothing for returns that are still pending. False: it has none.
 */
static bool prepare_going(const struct module *module, struct fbt_gone **going)
{
	struct fbt_chunk *chunk;
	unsigned int i;
	bool any = false;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used; i++) {
			struct fbt_function *function = &chunk->fc_function[i];

			if (!function->ff_entry || !within_module(function->ff_ip, module))
				continue;
			any = true;
			remember(function, going);
			WRITE_ONCE(function->ff_return, NULL);
		}
	return any;
}

static void forget_functions(const struct module *module, struct fbt_gone *going)
{
	struct fbt_chunk *chunk;
	struct fbt_gone *gone;
	unsigned int i;

	for (chunk = fbt_chunks; chunk; chunk = chunk->fc_next)
		for (i = 0; i < chunk->fc_used; i++)
			if (within_module(chunk->fc_function[i].ff_ip, module))
				memset(&chunk->fc_function[i], 0, sizeof(chunk->fc_function[i]));
	while ((gone = going)) {
		going = gone->fg_next;
		gone->fg_next = fbt_gone;
		fbt_gone = gone;
	}
}

/*
 * A task that loads or unloads a module may wait here for long, while another task arms all
 * functions. The kernel does not report killable waits as hung tasks; a killed task waits on.
 */
static void lock_patiently(void)
{
	if (mutex_lock_killable(&fbt_lock))
		mutex_lock(&fbt_lock);
}

/* Removes the module's probes, and so disarms them, while ftrace still has the records of its sites. */
static void module_going(struct module *module)
{
	struct fbt_gone *going = NULL;
	bool any;

	lock_patiently();
	any = prepare_going(module, &going);
	mutex_unlock(&fbt_lock);
	if (!any)
		return;
	dfr_probes_remove_if(&fbt_provider, is_in_module, module);
	lock_patiently();
	forget_functions(module, going);
	mutex_unlock(&fbt_lock);
}

static bool is_wanted(const char *const pattern[4], void *module)
{
	return can_match(pattern) && dfr_glob(pattern[1], ((const struct module *)module)->name);
}

/*
 * dfr_probes_created() and dfr_probes_missing() take the engine's lock, which must not be taken inside fbt_lock. After
 * an error, the next who asks for functions has all of them listed again.
 */
static void module_coming(struct module *module)
{
	struct fbt_choice choice = { module };
	int error = 0;
	bool asked;

	lock_patiently();
	asked = fbt_asked;
	if (asked)
		error = list_functions(&choice);
	if (error) {
		fbt_partial = true;
		WRITE_ONCE(fbt_listed, false);
	}
	mutex_unlock(&fbt_lock);
	if (asked)
		dfr_probes_created(dfr_engine_instance);
	if (error)
		dfr_probes_missing(&fbt_provider, module->name, error, is_wanted, module);
}

static int fbt_module_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (data == THIS_MODULE)
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING) /* before its init runs, so that what init calls is traced */
		module_coming(data);
	else if (event == MODULE_STATE_GOING)
		module_going(data);
	return NOTIFY_DONE;
}

/* The lowest priority, so that ftrace has its records of a module before module_coming() runs. */
static struct notifier_block fbt_modules = {
	.notifier_call = fbt_module_event,
	.priority = INT_MIN,
};

/* --- Suspend and hibernation. -------------------------------------------- */

/*
 * The functions that are entered on the way into S3, or into the saving of a hibernation
 * image, never return: at the wake-up the task continues in a caller further out. Their
 * return hooks would stay first in the task's list, and the next hooked return would jump
 * to where those functions were called from. So between fbt_suspend() and fbt_resume(),
 * with one CPU and interrupts off, dfr_return_none takes the place of fbt_returns: no
 * return is hooked, each is counted as lost.
 */
static struct rethook *fbt_paused;

static int fbt_suspend(DFR_SYSCORE_ARGS)
{
	fbt_paused = fbt_returns;
	if (fbt_paused)
		WRITE_ONCE(fbt_returns, &dfr_return_none);
	return 0;
}

static void fbt_resume(DFR_SYSCORE_ARGS)
{
	WRITE_ONCE(fbt_returns, fbt_paused);
}

DFR_SYSCORE(fbt_syscore, .suspend = fbt_suspend, .resume = fbt_resume);

/* --- Loading and unloading dfr. ------------------------------------------ */

static const struct dfr_provider_ops fbt_provider_ops = {
	.provide = fbt_provide,
	.arm = fbt_arm,
	.disarm = fbt_disarm,
	.commit = fbt_commit,
	.getarg = fbt_getarg,
	.shared = fbt_shared,
};

static struct dfr_provider fbt_provider = {
	.pv_name = "fbt",
	.pv_ops = &fbt_provider_ops,
};

int dfr_fbt_init(void)
{
	int error;

	if (dfr_call_kernel(dfr_iter_start, ftrace_rec_iter_start) ||
	    dfr_call_kernel(dfr_iter_next, ftrace_rec_iter_next) ||
	    dfr_call_kernel(dfr_iter_record, ftrace_rec_iter_record) || !dfr_kernel(__module_address) ||
	    dfr_blacklist_init())
		return -ENOENT;
	fbt_ftrace_lock = (struct mutex *)dfr_kernel(ftrace_lock);
	fbt_init_begin = dfr_kernel(__init_begin);
	fbt_init_end = dfr_kernel(__init_end);
	error = dfr_return_none_init();
	if (error)
		return error;
	error = dfr_provider_register(dfr_engine_instance, &fbt_provider);
	if (error)
		goto no_provider;
	error = register_module_notifier(&fbt_modules);
	if (error)
		goto no_notifier;
	dfr_syscore_register(&fbt_syscore);
	return 0;

no_notifier:
	dfr_provider_unregister(&fbt_provider);
no_provider:
	dfr_return_none_exit();
	return error;
}

void dfr_fbt_exit(void)
{
	struct fbt_chunk *chunk, *next;
	struct fbt_gone *gone;

	dfr_syscore_unregister(&fbt_syscore);
	unregister_module_notifier(&fbt_modules);
	disarm_all();
	if (fbt_returns)
		dfr_return_pool_free(fbt_returns);
	/* Only now: before the pool was freed, a task could leave a hooked function and fire its probe. */
	dfr_provider_unregister(&fbt_provider);
	dfr_return_none_exit();
	for (chunk = fbt_chunks; chunk; chunk = next) {
		next = chunk->fc_next;
		dfr_plat_free(chunk);
	}
	while ((gone = fbt_gone)) {
		fbt_gone = gone->fg_next;
		dfr_plat_free(gone);
	}
}
