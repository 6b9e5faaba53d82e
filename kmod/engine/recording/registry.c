// SPDX-License-Identifier: GPL-2.0
/*
 * The registry: providers and their probes. Which of them a description matches is in match.c, who
 * listens in arm.c, what happens when a probe fires in fire.c. Process context throughout.
 *
 * Three locks. en_lock guards states and the list of providers; callers of engine.h hold it, for as
 * long as arming takes. Listing does not take it. Inside it, en_provide_lock guards the list of
 * providers as well and is held while they are asked one by one for probes that are made on demand.
 * en_probe_lock, inside both, guards probes and strings; it is held here and in match.c only, never
 * across a call to a provider, so that `provide` may create probes. A probe's strings are interned: equal
 * text is one pointer, so matching 80,000 probes is a walk of pointer comparisons.
 *
 * A probe that has gone (its module was unloaded) leaves its id to the probe that comes back under
 * the same names, so that ids, and catalogs which tell of them, do not grow each time a module is
 * loaded. So pb_born tells which probes are new, not their ids.
 */
#include "kmod/engine/recording/store.h"

#define EN_FIRST_ROOM DFR_GROUP_PROBES
#define EN_HASH_FIRST 1024

/* Moves all gone probes to a new hash table; the order in its chains does not matter. */
static void move_gone(struct dfr_engine *engine, struct dfr_probe **table, u32 size)
{
	struct dfr_probe *probe, *next, **slot;
	u32 i;

	for (i = 0; engine->en_gone && i < engine->en_byname_size; i++)
		for (probe = engine->en_gone[i]; probe; probe = next) {
			next = probe->pb_hash;
			slot = &table[dfr_string_hash(probe->pb_function) & (size - 1)];
			probe->pb_hash = *slot;
			*slot = probe;
		}
	dfr_plat_free(engine->en_gone);
	engine->en_gone = table;
}

static int byname_grow(struct dfr_engine *engine)
{
	u32 size = engine->en_byname_size ? engine->en_byname_size * 4 : EN_HASH_FIRST;
	struct dfr_probe **table = dfr_plat_alloc_shared(size * sizeof(*table));
	struct dfr_probe **gone = dfr_plat_alloc_shared(size * sizeof(*gone));
	struct dfr_probe *probe, **tail;
	u32 id;

	if (!table || !gone) {
		dfr_plat_free(table);
		dfr_plat_free(gone);
		return -ENOMEM;
	}
	move_gone(engine, gone, size);
	dfr_plat_free(engine->en_byname);
	engine->en_byname = table;
	engine->en_byname_size = size;
	/* Inserts the highest id first, so that chains are in order of id. */
	for (id = engine->en_nprobes; id >= 1; id--) {
		probe = engine->en_byid[id];
		if (!probe)
			continue;
		tail = &table[dfr_string_hash(probe->pb_function) & (size - 1)];
		probe->pb_hash = *tail;
		*tail = probe;
	}
	return 0;
}

static int byid_grow(struct dfr_engine *engine)
{
	u32 room = engine->en_room ? engine->en_room * 2 : EN_FIRST_ROOM;
	struct dfr_probe **table = dfr_plat_alloc_shared(room * sizeof(*table));
	struct dfr_namegroup *groups = dfr_plat_alloc_shared(room / DFR_GROUP_PROBES * sizeof(*groups));

	if (!table || !groups) {
		dfr_plat_free(table);
		dfr_plat_free(groups);
		return -ENOMEM;
	}
	if (engine->en_byid) {
		memcpy(table, engine->en_byid, engine->en_room * sizeof(*table));
		memcpy(groups, engine->en_groups, engine->en_room / DFR_GROUP_PROBES * sizeof(*groups));
	}
	dfr_plat_free(engine->en_byid);
	dfr_plat_free(engine->en_groups);
	engine->en_byid = table;
	engine->en_groups = groups;
	engine->en_room = room;
	return 0;
}

static struct dfr_probe *probe_find(struct dfr_engine *engine, const struct dfr_provider *provider,
				    const char *module, const char *function, const char *name)
{
	struct dfr_probe *probe;

	for (probe = engine->en_byname[dfr_string_hash(function) & (engine->en_byname_size - 1)]; probe;
	     probe = probe->pb_hash)
		if (probe->pb_function == function && probe->pb_name == name && probe->pb_module == module &&
		    probe->pb_provider == provider)
			return probe;
	return NULL;
}

/* Keeps the chain in order of id. */
static void probe_hash_insert(struct dfr_engine *engine, struct dfr_probe *probe)
{
	struct dfr_probe **link =
		&engine->en_byname[dfr_string_hash(probe->pb_function) & (engine->en_byname_size - 1)];

	while (*link && (*link)->pb_id < probe->pb_id)
		link = &(*link)->pb_hash;
	probe->pb_hash = *link;
	*link = probe;
}

/*
 * The name of a gone probe's provider, interned, in pb_cookie: pb_provider would not do, because the
 * provider may go too and come back elsewhere in memory.
 */
static const char *gone_provider(const struct dfr_probe *probe)
{
	return probe->pb_cookie;
}

/*
 * Takes the gone probe of these names out of en_gone; all but its id is cleared. The number of
 * arguments must be the same, because the probe's entry in catalogs tells it. NULL: there is none.
 */
static struct dfr_probe *take_gone(struct dfr_engine *engine, const struct dfr_provider *provider,
				   const char *module, const char *function, const char *name, u32 nargs)
{
	struct dfr_probe **link = &engine->en_gone[dfr_string_hash(function) & (engine->en_byname_size - 1)];
	struct dfr_probe *probe;
	u32 id;

	for (; (probe = *link); link = &probe->pb_hash) {
		if (probe->pb_function != function || probe->pb_name != name || probe->pb_module != module ||
		    probe->pb_nargs != nargs || strcmp(gone_provider(probe), provider->pv_name))
			continue;
		*link = probe->pb_hash;
		id = probe->pb_id;
		memset(probe, 0, sizeof(*probe));
		probe->pb_id = id;
		return probe;
	}
	return NULL;
}

static struct dfr_probe *new_probe(struct dfr_engine *engine)
{
	struct dfr_probe *probe;

	if (engine->en_nprobes + 1 >= engine->en_room && byid_grow(engine))
		return NULL;
	if (engine->en_nprobes >= 2 * engine->en_byname_size)
		byname_grow(engine);
	probe = dfr_plat_alloc_shared(sizeof(*probe));
	if (probe)
		probe->pb_id = ++engine->en_nprobes;
	return probe;
}

static void group_add(struct dfr_engine *engine, const struct dfr_probe *probe)
{
	struct dfr_namegroup *group = &engine->en_groups[probe->pb_id / DFR_GROUP_PROBES];
	int i;

	group->ng_confined |= probe->pb_provider->pv_flags & DFR_PV_CONFINED;
	group->ng_born = probe->pb_born;
	for (i = 0; i < DFR_GROUP_NAMES; i++) {
		if (!group->ng_names[i])
			group->ng_names[i] = probe->pb_name;
		if (group->ng_names[i] == probe->pb_name)
			return;
	}
	group->ng_more = true;
}

static struct dfr_probe *probe_create(struct dfr_engine *engine, struct dfr_provider *provider,
				      const char *module, const char *function, const char *name, u32 nargs,
				      void *cookie, u32 flags)
{
	struct dfr_probe *probe;

	module = dfr_string_intern(engine, module);
	function = dfr_string_intern(engine, function);
	name = dfr_string_intern(engine, name);
	if (!module || !function || !name || probe_find(engine, provider, module, function, name))
		return NULL;
	probe = take_gone(engine, provider, module, function, name, nargs);
	if (!probe)
		probe = new_probe(engine);
	if (!probe)
		return NULL;
	probe->pb_born = ++engine->en_births;
	probe->pb_provider = provider;
	probe->pb_cookie = cookie;
	probe->pb_nargs = nargs;
	probe->pb_flags |= flags;
	probe->pb_module = module;
	probe->pb_function = function;
	probe->pb_name = name;
	engine->en_byid[probe->pb_id] = probe;
	if (dfr_probe_open(probe))
		engine->en_births_open = probe->pb_born;
	group_add(engine, probe);
	probe_hash_insert(engine, probe);
	return probe;
}

struct dfr_probe *dfr_probe_create(struct dfr_provider *provider, const char *module, const char *function,
				   const char *name, u32 nargs, void *cookie)
{
	return dfr_probe_create_as(provider, module, function, name, nargs, cookie, 0);
}

struct dfr_probe *dfr_probe_create_as(struct dfr_provider *provider, const char *module, const char *function,
				      const char *name, u32 nargs, void *cookie, u32 flags)
{
	struct dfr_engine *engine = provider->pv_engine;
	struct dfr_probe *probe;

	dfr_mutex_lock(&engine->en_probe_lock);
	probe = probe_create(engine, provider, module, function, name, nargs, cookie, flags);
	dfr_mutex_unlock(&engine->en_probe_lock);
	return probe;
}

struct dfr_probe *dfr_probe_find(struct dfr_provider *provider, const char *module, const char *function,
				 const char *name)
{
	struct dfr_engine *engine = provider->pv_engine;
	struct dfr_probe *probe = NULL;

	dfr_mutex_lock(&engine->en_probe_lock);
	module = dfr_string_find(engine, module);
	function = dfr_string_find(engine, function);
	name = dfr_string_find(engine, name);
	if (module && function && name)
		probe = probe_find(engine, provider, module, function, name);
	dfr_mutex_unlock(&engine->en_probe_lock);
	return probe;
}

void dfr_probes_created(struct dfr_engine *engine)
{
	struct dfr_state *state;

	dfr_mutex_lock(&engine->en_lock);
	for (state = engine->en_states; state; state = state->st_next)
		dfr_state_match_new(state);
	dfr_mutex_unlock(&engine->en_lock);
}

static int provider_add(struct dfr_engine *engine, struct dfr_provider *provider)
{
	struct dfr_provider **tail;

	for (tail = &engine->en_providers; *tail; tail = &(*tail)->pv_next)
		if (!(provider->pv_flags & DFR_PV_TWIN) && !strcmp((*tail)->pv_name, provider->pv_name))
			return -EEXIST;
	provider->pv_engine = engine;
	provider->pv_next = NULL;
	*tail = provider;
	return 0;
}

int dfr_provider_register(struct dfr_engine *engine, struct dfr_provider *provider)
{
	int error;

	dfr_mutex_lock(&engine->en_lock);
	dfr_mutex_lock(&engine->en_provide_lock);
	error = provider_add(engine, provider);
	dfr_mutex_unlock(&engine->en_provide_lock);
	dfr_mutex_unlock(&engine->en_lock);
	return error;
}

/* Takes a probe without ECBs off every list. It goes to en_gone, which keeps its id for its names. */
static void probe_remove(struct dfr_engine *engine, struct dfr_probe *probe)
{
	struct dfr_probe **gone =
		&engine->en_gone[dfr_string_hash(probe->pb_function) & (engine->en_byname_size - 1)];
	struct dfr_probe **link =
		&engine->en_byname[dfr_string_hash(probe->pb_function) & (engine->en_byname_size - 1)];

	while (*link != probe)
		link = &(*link)->pb_hash;
	*link = probe->pb_hash;
	engine->en_byid[probe->pb_id] = NULL;
	probe->pb_cookie = (void *)dfr_string_intern(engine, probe->pb_provider->pv_name);
	probe->pb_provider = NULL;
	if (!probe->pb_cookie) {
		dfr_plat_free(probe);
		return;
	}
	probe->pb_hash = *gone;
	*gone = probe;
}

static bool any_probe(const struct dfr_engine *engine, const struct dfr_going *going, bool enabled)
{
	const struct dfr_probe *probe;
	u32 id;

	for (id = 1; id <= engine->en_nprobes; id++) {
		probe = engine->en_byid[id];
		if (probe && dfr_probe_goes(going, probe) && (!enabled || dfr_read_once(&probe->pb_ecbs)))
			return true;
	}
	return false;
}

/* Its caller has waited for firings: one may still use a probe whose last ECB has just been unlinked. */
static int probes_remove(struct dfr_engine *engine, const struct dfr_going *going)
{
	struct dfr_probe *probe;
	u32 id;

	if (any_probe(engine, going, true))
		return -EBUSY;
	for (id = 1; id <= engine->en_nprobes; id++) {
		probe = engine->en_byid[id];
		if (probe && dfr_probe_goes(going, probe))
			probe_remove(engine, probe);
	}
	return 0;
}

int dfr_probes_remove_if(struct dfr_provider *provider,
			 bool (*goes)(const struct dfr_probe *probe, void *arg), void *arg)
{
	struct dfr_engine *engine = provider->pv_engine;
	struct dfr_going going = { .go_provider = provider, .go_goes = goes, .go_arg = arg };
	struct dfr_state *state;
	int error = 0;
	bool any;

	dfr_mutex_lock(&engine->en_lock);
	dfr_mutex_lock(&engine->en_probe_lock);
	any = any_probe(engine, &going, false);
	dfr_mutex_unlock(&engine->en_probe_lock);
	for (state = engine->en_states; state && any; state = state->st_next)
		dfr_state_unlink_probes(state, &going);
	if (any)
		dfr_plat_synchronize();
	dfr_mutex_lock(&engine->en_probe_lock);
	if (any)
		error = probes_remove(engine, &going);
	dfr_mutex_unlock(&engine->en_probe_lock);
	dfr_mutex_unlock(&engine->en_lock);
	return error;
}

static bool of_module(const struct dfr_probe *probe, void *module)
{
	return !module || !strcmp(probe->pb_module, module);
}

int dfr_probes_remove(struct dfr_provider *provider, const char *module)
{
	return dfr_probes_remove_if(provider, of_module, (void *)module);
}

int dfr_provider_unregister(struct dfr_provider *provider)
{
	struct dfr_engine *engine = provider->pv_engine;
	struct dfr_going going = { .go_provider = provider, .go_goes = of_module };
	struct dfr_provider **link;
	int error;

	dfr_mutex_lock(&engine->en_lock);
	dfr_plat_synchronize();
	dfr_mutex_lock(&engine->en_provide_lock);
	dfr_mutex_lock(&engine->en_probe_lock);
	error = probes_remove(engine, &going);
	dfr_mutex_unlock(&engine->en_probe_lock);
	if (!error) {
		for (link = &engine->en_providers; *link && *link != provider; link = &(*link)->pv_next)
			;
		if (*link)
			*link = provider->pv_next;
	}
	dfr_mutex_unlock(&engine->en_provide_lock);
	dfr_mutex_unlock(&engine->en_lock);
	return error;
}

const struct dfr_probe *dfr_probe_by_id(const struct dfr_engine *engine, u32 id)
{
	return id && id <= engine->en_nprobes ? engine->en_byid[id] : NULL;
}

u32 dfr_probe_count(const struct dfr_engine *engine)
{
	return dfr_read_once(&engine->en_nprobes);
}

/* Life. */

static int dtrace_arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	(void)provider;
	(void)probe;
	return 0;
}

static void dtrace_disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	(void)provider;
	(void)probe;
}

static const struct dfr_provider_ops dtrace_ops = { .arm = dtrace_arm, .disarm = dtrace_disarm };

/* BEGIN, END, ERROR have ids 1, 2, 3; state.c and fire.c fire them. */
static int create_dtrace(struct dfr_engine *engine)
{
	static const char *const names[] = { "BEGIN", "END", "ERROR" };
	struct dfr_probe *probe;
	u32 i;

	engine->en_dtrace.pv_name = "dtrace";
	engine->en_dtrace.pv_ops = &dtrace_ops;
	engine->en_dtrace.pv_flags = DFR_PV_USER_ARGS | DFR_PV_CONFINED;
	provider_add(engine, &engine->en_dtrace);
	for (i = 0; i < 3; i++) {
		probe = probe_create(engine, &engine->en_dtrace, "", "", names[i],
				     i == 2 ? DFR_ERROR_NARGS : 0, NULL, DFR_PB_DTRACE);
		if (!probe)
			return -ENOMEM;
		engine->en_own[probe->pb_id] = probe;
	}
	return 0;
}

static int create_cpus(struct dfr_engine *engine)
{
	u32 cpu;

	engine->en_ncpus = dfr_plat_ncpus();
	engine->en_cpus = dfr_plat_alloc_shared(engine->en_ncpus * sizeof(*engine->en_cpus));
	if (!engine->en_cpus)
		return -ENOMEM;
	for (cpu = 0; cpu < engine->en_ncpus; cpu++) {
		engine->en_cpus[cpu] = dfr_plat_alloc_shared(sizeof(**engine->en_cpus));
		if (!engine->en_cpus[cpu])
			return -ENOMEM;
		engine->en_cpus[cpu]->pc_firing.fr_engine = engine;
		engine->en_cpus[cpu]->pc_firing.fr_cpu = cpu;
		engine->en_cpus[cpu]->pc_error.fr_engine = engine;
#ifdef DFR_PLAT_ONE_ENGINE
		dfr_plat_set_cpu_slot(cpu, engine->en_cpus[cpu]);
#endif
	}
	return 0;
}

void dfr_engine_force(struct dfr_engine *engine, u32 forced)
{
	engine->en_forced = forced;
}

struct dfr_engine *dfr_engine_create(void *host)
{
	struct dfr_engine *engine = dfr_plat_alloc_shared(sizeof(*engine));

	if (!engine)
		return NULL;
	engine->en_host = host;
	dfr_mutex_init(&engine->en_lock);
	dfr_mutex_init(&engine->en_provide_lock);
	dfr_mutex_init(&engine->en_probe_lock);
	engine->en_machine_size = dfr_plat_machine(engine->en_machine, sizeof(engine->en_machine));
	if (dfr_strings_grow(engine) || byid_grow(engine) || byname_grow(engine) || create_cpus(engine) ||
	    create_dtrace(engine)) {
		dfr_engine_destroy(engine);
		return NULL;
	}
	return engine;
}

void dfr_engine_destroy(struct dfr_engine *engine)
{
	struct dfr_probe *probe;
	u32 i;

	if (!engine)
		return;
	while (engine->en_states)
		dfr_state_destroy(engine->en_states);
	dfr_limits_forget(engine);
	dfr_past_forget(engine);
	for (i = 1; i <= engine->en_nprobes; i++)
		dfr_plat_free(engine->en_byid[i]);
	for (i = 0; engine->en_gone && i < engine->en_byname_size; i++)
		while ((probe = engine->en_gone[i])) {
			engine->en_gone[i] = probe->pb_hash;
			dfr_plat_free(probe);
		}
	for (i = 0; engine->en_cpus && i < engine->en_ncpus; i++)
		dfr_plat_free(engine->en_cpus[i]);
	dfr_strings_free(engine);
	dfr_plat_free(engine->en_cpus);
	dfr_plat_free(engine->en_byid);
	dfr_plat_free(engine->en_groups);
	dfr_plat_free(engine->en_byname);
	dfr_plat_free(engine->en_gone);
	dfr_plat_free(engine);
}

void *dfr_engine_host(struct dfr_engine *engine)
{
	return engine->en_host;
}

struct dfr_mutex *dfr_engine_lock(struct dfr_engine *engine)
{
	return &engine->en_lock;
}
