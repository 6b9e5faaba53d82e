// SPDX-License-Identifier: GPL-2.0
/*
 * The catalog of a state (formats/abi/catalog.h): an append-only log in extents of whole pages, each
 * listed in an anchor. Process context under the state's lock; probe context only sets flags
 * (exit()), of which the next housekeeping writes an entry.
 *
 * An entry is copied first and published by advancing `committed` afterwards, so a scanner of a dead
 * memory sees whole entries only. Extents are never freed while the state lives, nor moved once
 * it was started (dfr_catalog_move()).
 *
 * The second copy of the log is for such a scanner only. It is made once the rings are, so that these lie between
 * the two. If memory for it runs out it ends there, which costs nothing but the safety.
 */
#include "formats/abi/anchor.h"
#include "kmod/engine/recording/store.h"

#define CATALOG_FIRST_EXTENT (32u * 1024)
#define CATALOG_LAST_EXTENT  (1024u * 1024)
#define CATALOG_PAGE	     4096u

static struct dfr_catalog *head_of(const struct dfr_state *state)
{
	return (struct dfr_catalog *)state->st_extents->ce_memory;
}

static int extent_add(struct dfr_state *state, size_t size)
{
	struct dfr_catlog_extent *extent = dfr_plat_alloc(sizeof(*extent));
	struct dfr_catlog_extent *last = state->st_extent_last;

	if (!extent)
		return -ENOMEM;
	extent->ce_size = size;
	extent->ce_memory = dfr_plat_alloc_pages(dfr_state_reserved(state), size);
	if (!extent->ce_memory) {
		dfr_plat_free(extent);
		return -ENOMEM;
	}
	extent->ce_start = last ? last->ce_start + last->ce_size : 0;
	if (last)
		last->ce_next = extent;
	else
		state->st_extents = extent;
	state->st_extent_last = extent;
	return 0;
}

static void anchor_extent(struct dfr_state *state, struct dfr_catlog_extent *extent)
{
	dfr_plat_anchor(state, DFR_ANCHOR_CATALOG, 0, 0, extent->ce_memory, extent->ce_size, extent->ce_size);
	if (extent->ce_copy)
		dfr_plat_anchor(state, DFR_ANCHOR_CATALOG, 0, 1, extent->ce_copy, extent->ce_size,
				extent->ce_size);
}

static void publish(struct dfr_state *state, u64 end)
{
	struct dfr_catalog *copy = (struct dfr_catalog *)state->st_extents->ce_copy;

	state->st_catalog_end = end;
	dfr_store_release(&head_of(state)->committed, end);
	if (copy)
		dfr_store_release(&copy->committed, end);
}

static void make_copy(struct dfr_state *state, struct dfr_catlog_extent *extent)
{
	extent->ce_copy = dfr_plat_alloc_pages(dfr_state_reserved(state), extent->ce_size);
	if (!extent->ce_copy)
		state->st_catalog_twice = false;
	else
		memcpy(extent->ce_copy, extent->ce_memory, extent->ce_size);
}

void dfr_catalog_copy(struct dfr_state *state)
{
	struct dfr_catlog_extent *extent;

	state->st_catalog_twice = true;
	for (extent = state->st_extents; extent && state->st_catalog_twice; extent = extent->ce_next) {
		make_copy(state, extent);
		if (extent->ce_copy)
			dfr_plat_anchor(state, DFR_ANCHOR_CATALOG, 0, 1, extent->ce_copy, extent->ce_size,
					extent->ce_size);
	}
}

/*
 * Makes room for `size` contiguous bytes at the log's end: if the last extent has too few left, a
 * FILL entry covers them and a new extent begins.
 */
static int make_room(struct dfr_state *state, size_t size)
{
	struct dfr_catlog_extent *last = state->st_extent_last;
	size_t left = (size_t)(last->ce_start + last->ce_size - state->st_catalog_end);
	size_t next = last->ce_size * 2;
	struct dfr_cat_entry *fill;
	int error;

	if (size <= left)
		return 0;
	if (next > CATALOG_LAST_EXTENT)
		next = CATALOG_LAST_EXTENT;
	if (next < size)
		next = (size + CATALOG_PAGE - 1) & ~(size_t)(CATALOG_PAGE - 1);
	error = extent_add(state, next);
	if (error)
		return error;
	if (left) {
		fill = (struct dfr_cat_entry *)(last->ce_memory + (state->st_catalog_end - last->ce_start));
		fill->type = DFR_CAT_FILL;
		fill->size = (u32)left;
		if (last->ce_copy)
			memcpy(last->ce_copy + (state->st_catalog_end - last->ce_start), fill, sizeof(*fill));
	}
	if (state->st_catalog_twice)
		make_copy(state, state->st_extent_last);
	anchor_extent(state, state->st_extent_last);
	publish(state, state->st_extent_last->ce_start);
	return 0;
}

/*
 * Returns the place for an entry of `size` bytes, its head included: zeroed, with type and size
 * filled in. The caller fills in the rest and calls append_done(). NULL: no memory.
 */
static void *append(struct dfr_state *state, u32 type, size_t size)
{
	struct dfr_cat_entry *entry;
	struct dfr_catlog_extent *last;

	size = ((size + 7) & ~(size_t)7) + sizeof(struct dfr_cat_tail);
	if (size > 0xffffff00u || make_room(state, size))
		return NULL;
	last = state->st_extent_last;
	entry = (struct dfr_cat_entry *)(last->ce_memory + (state->st_catalog_end - last->ce_start));
	entry->type = type;
	entry->size = (u32)size;
	return entry;
}

static int append_done(struct dfr_state *state, void *entry)
{
	struct dfr_catlog_extent *extent = state->st_extent_last;
	size_t size = ((const struct dfr_cat_entry *)entry)->size;
	struct dfr_cat_tail *tail = (struct dfr_cat_tail *)((u8 *)entry + size) - 1;

	tail->place = (u32)(state->st_catalog_end / 8);
	tail->checksum = ~dfr_plat_crc32c(~0u, entry, size - sizeof(tail->checksum));
	if (extent->ce_copy)
		memcpy(extent->ce_copy + ((u8 *)entry - extent->ce_memory), entry, size);
	publish(state, state->st_catalog_end + size);
	return 0;
}

static void log_memory(struct dfr_state *state, u32 kind, u32 cpu, u32 half, size_t size)
{
	struct dfr_cat_memory *entry = append(state, DFR_CAT_MEMORY, sizeof(*entry));

	if (!entry)
		return;
	entry->kind = kind;
	entry->cpu = cpu;
	entry->half = half;
	entry->pages = (u32)((size + CATALOG_PAGE - 1) / CATALOG_PAGE);
	append_done(state, entry);
}

void dfr_state_anchor(struct dfr_state *state, u32 kind, u32 cpu, u32 half, void *p, size_t size, size_t unit)
{
	dfr_plat_anchor(state, kind, cpu, half, p, size, unit);
	log_memory(state, kind, cpu, half, size);
}

void dfr_catalog_anchor(struct dfr_state *state)
{
	struct dfr_catlog_extent *extent;

	for (extent = state->st_extents; extent; extent = extent->ce_next)
		anchor_extent(state, extent);
	log_memory(state, 0, 0, 0, 0);
}

int dfr_catalog_move(struct dfr_state *state)
{
	struct dfr_catlog_extent *extent;

	dfr_plat_unanchor(state);
	for (extent = state->st_extents; extent; extent = extent->ce_next) {
		u8 *memory = dfr_plat_alloc_pages(dfr_state_reserved(state), extent->ce_size);

		if (!memory)
			return -ENOMEM;
		memcpy(memory, extent->ce_memory, extent->ce_size);
		dfr_plat_free_pages(extent->ce_memory, extent->ce_size);
		extent->ce_memory = memory;
	}
	dfr_catalog_anchor(state);
	return 0;
}

int dfr_catalog_create(struct dfr_state *state)
{
	struct dfr_engine *engine = state->st_engine;
	struct dfr_catalog *head;
	struct dfr_cat_entry *entry;
	int error = extent_add(state, CATALOG_FIRST_EXTENT);

	if (error)
		return error;
	head = head_of(state);
	head->magic = DFR_CATALOG_MAGIC;
	head->version = DFR_CATALOG_VERSION;
	head->state_id = state->st_id;
	memcpy(head->boot_id, dfr_plat_boot_id(), sizeof(head->boot_id));
	publish(state, sizeof(*head));
	anchor_extent(state, state->st_extents);

	entry = append(state, DFR_CAT_MACHINE, sizeof(*entry) + engine->en_machine_size + 1);
	if (!entry)
		return -ENOMEM;
	memcpy(entry + 1, engine->en_machine, engine->en_machine_size);
	return append_done(state, entry);
}

void dfr_catalog_free(struct dfr_state *state)
{
	struct dfr_catlog_extent *extent = state->st_extents;
	struct dfr_catlog_extent *next;

	for (; extent; extent = next) {
		next = extent->ce_next;
		dfr_plat_free_pages(extent->ce_memory, extent->ce_size);
		dfr_plat_free_pages(extent->ce_copy, extent->ce_size);
		dfr_plat_free(extent);
	}
	state->st_extents = NULL;
	state->st_extent_last = NULL;
}

/* A confined state's records are of its user's tasks alone, which nothing in them says. */
static int tell_user(struct dfr_state *state)
{
	static const char key[] = "confined=";
	const size_t length = sizeof(key) - 1;
	u32 uid = (u32)state->st_owner.te_words[0];
	u32 digits = 1, rest;
	struct dfr_cat_entry *entry;
	char *text;

	for (rest = uid / 10; rest; rest /= 10)
		digits++;
	entry = append(state, DFR_CAT_MACHINE, sizeof(*entry) + length + digits + 1);
	if (!entry)
		return -ENOMEM;
	text = (char *)(entry + 1);
	memcpy(text, key, length);
	for (text += length + digits; digits; digits--, uid /= 10)
		*--text = (char)('0' + uid % 10);
	return append_done(state, entry);
}

int dfr_catalog_state(struct dfr_state *state)
{
	int error = dfr_state_confined(state) ? tell_user(state) : 0;
	struct dfr_cat_state *entry;

	if (error)
		return error;
	entry = append(state, DFR_CAT_STATE, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->state_id = state->st_id;
	memcpy(entry->name, state->st_name, sizeof(entry->name));
	entry->cpus = state->st_engine->en_ncpus;
	entry->block_size = state->st_block_size;
	entry->blocks = state->st_nblocks;
	entry->policy = (u32)dfr_option(state, DFR_OPT_BUFPOLICY);
	entry->strsize = (u32)dfr_option(state, DFR_OPT_STRSIZE);
	entry->flags = state->st_anonymous;
	return append_done(state, entry);
}

int dfr_catalog_dof(struct dfr_state *state, u32 number, const void *dof, u32 size)
{
	struct dfr_cat_entry *entry = append(state, DFR_CAT_DOF, sizeof(*entry) + 8 + (size_t)size);
	u32 *words;

	if (!entry)
		return -ENOMEM;
	words = (u32 *)(entry + 1);
	words[0] = number;
	words[1] = size;
	memcpy(words + 2, dof, size);
	return append_done(state, entry);
}

/* Marks the probe as having its entry in this state's catalog; *before: whether it had one already. */
static int told(struct dfr_state *state, u32 probe, bool *before)
{
	u32 bits = state->st_told_bits ? state->st_told_bits : 4096;
	u8 *map;

	*before = false;
	if (probe >= state->st_told_bits) {
		while (bits <= probe)
			bits *= 2;
		map = dfr_plat_alloc(bits / 8);
		if (!map)
			return -ENOMEM;
		if (state->st_told)
			memcpy(map, state->st_told, state->st_told_bits / 8);
		dfr_plat_free(state->st_told);
		state->st_told = map;
		state->st_told_bits = bits;
	}
	*before = (state->st_told[probe / 8] >> (probe % 8)) & 1;
	state->st_told[probe / 8] |= (u8)(1u << (probe % 8));
	return 0;
}

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text) + 1;

	memcpy(p, text, n);
	return p + n;
}

int dfr_catalog_probe(struct dfr_state *state, const struct dfr_probe *probe)
{
	struct dfr_cat_probe *entry;
	size_t names = strlen(probe->pb_provider->pv_name) + strlen(probe->pb_module) +
		       strlen(probe->pb_function) + strlen(probe->pb_name) + 4;
	char *p;
	bool before;
	int error = told(state, probe->pb_id, &before);

	if (error || before)
		return error;
	entry = append(state, DFR_CAT_PROBE, sizeof(*entry) + names);
	if (!entry) {
		state->st_told[probe->pb_id / 8] &= (u8) ~(1u << (probe->pb_id % 8));
		return -ENOMEM;
	}
	entry->id = probe->pb_id;
	entry->nargs = probe->pb_nargs;
	p = put_text((char *)(entry + 1), probe->pb_provider->pv_name);
	p = put_text(p, probe->pb_module);
	p = put_text(p, probe->pb_function);
	put_text(p, probe->pb_name);
	return append_done(state, entry);
}

int dfr_catalog_layout(struct dfr_state *state, const struct dfr_plan *plan, u32 dof)
{
	struct dfr_cat_layout *entry =
		append(state, DFR_CAT_LAYOUT, sizeof(*entry) + plan->pn_nfields * sizeof(entry->fields[0]));

	if (!entry)
		return -ENOMEM;
	entry->layout = plan->pn_layout;
	entry->dof = dof;
	entry->clause = plan->pn_clause->cl_index;
	entry->nfields = plan->pn_nfields;
	memcpy(entry->fields, plan->pn_fields, plan->pn_nfields * sizeof(entry->fields[0]));
	return append_done(state, entry);
}

int dfr_catalog_ecb(struct dfr_state *state, const struct dfr_ecb *ecb)
{
	struct dfr_cat_ecb *entry = append(state, DFR_CAT_ECB, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->epid = ecb->ec_epid;
	entry->probe = ecb->ec_probe->pb_id;
	entry->layout = ecb->ec_plan->pn_layout;
	entry->priority = dfr_ecb_priority(ecb);
	return append_done(state, entry);
}

int dfr_catalog_agg(struct dfr_state *state, const struct dfr_aggvar *var, const struct dfr_field *keys)
{
	struct dfr_cat_agg *entry =
		append(state, DFR_CAT_AGG, sizeof(*entry) + var->av_nkeys * sizeof(keys[0]));

	if (!entry)
		return -ENOMEM;
	entry->varid = var->av_varid;
	entry->kind = var->av_kind;
	entry->arg = var->av_arg;
	entry->flags = var->av_flags;
	entry->nkeys = var->av_nkeys;
	memcpy(entry->keys, keys, var->av_nkeys * sizeof(keys[0]));
	return append_done(state, entry);
}

static int write_event(struct dfr_state *state, const struct dfr_kept_event *event, const char *text)
{
	size_t bytes = text ? strlen(text) + 1 : 0;
	struct dfr_cat_event *entry = append(state, DFR_CAT_EVENT, sizeof(*entry) + bytes);

	if (!entry)
		return -ENOMEM;
	entry->event = event->vt_event;
	entry->value = event->vt_value;
	entry->time = event->vt_time;
	entry->error = event->vt_error;
	if (text)
		memcpy(entry + 1, text, bytes);
	return append_done(state, entry);
}

void dfr_catalog_catch_up(struct dfr_state *state)
{
	u32 done = 0;

	while (done < state->st_nevents && !write_event(state, &state->st_events[done], NULL))
		done++;
	if (!done)
		return;
	state->st_nevents -= done;
	memmove(state->st_events, state->st_events + done, state->st_nevents * sizeof(state->st_events[0]));
}

/* `text`: NULL: the event has none. Events stay in their order. */
static int add_event(struct dfr_state *state, const struct dfr_kept_event *event, const char *text)
{
	dfr_catalog_catch_up(state);
	return state->st_nevents ? -ENOMEM : write_event(state, event, text);
}

/* An event for which there is no memory is kept, without its text, for dfr_catalog_catch_up(). */
static int add_or_keep(struct dfr_state *state, const struct dfr_kept_event *event, const char *text)
{
	if (!add_event(state, event, text))
		return 0;
	if (state->st_nevents == DFR_EVENTS_KEPT) {
		dfr_plat_log("state %u: there is no memory to tell of event %u in its catalog",
			     dfr_state_number(state), event->vt_event);
		return -ENOMEM;
	}
	state->st_events[state->st_nevents++] = *event;
	return 0;
}

int dfr_catalog_event(struct dfr_state *state, u32 event, s32 value, u64 time)
{
	struct dfr_kept_event one = { .vt_event = event, .vt_value = value, .vt_time = time };

	return add_or_keep(state, &one, NULL);
}

static int add_unarmed(struct dfr_state *state, s32 which, int error, u64 time, const char *text)
{
	struct dfr_kept_event one = {
		.vt_event = DFR_EVENT_UNARMED, .vt_value = which, .vt_error = -error, .vt_time = time
	};

	return add_or_keep(state, &one, text);
}

int dfr_catalog_unarmed(struct dfr_state *state, s32 which, int error)
{
	return add_unarmed(state, which, error, dfr_plat_clock(NULL), NULL);
}

void dfr_catalog_off(struct dfr_state *state, u32 probe, u64 time)
{
	add_unarmed(state, (s32)probe, -ECANCELED, time, NULL);
}

int dfr_catalog_missing(struct dfr_state *state, const char *provider, const char *module, int error)
{
	const struct dfr_clause all = { .cl_pattern = { provider, module, "*", "*" } };
	char text[128];

	dfr_clause_text(&all, text, sizeof(text));
	return add_unarmed(state, 0, error, dfr_plat_clock(NULL), text);
}

int dfr_catalog_mark(struct dfr_state *state, const char *text, u64 time)
{
	struct dfr_kept_event mark = { .vt_event = DFR_EVENT_MARK, .vt_time = time };
	int error = -ENOSPC;

	if (state->st_marks < DFR_MARKS_MAX)
		error = add_event(state, &mark, text);
	if (!error)
		state->st_marks++;
	return error;
}

int dfr_state_mark(struct dfr_state *state, const char *text, u64 time)
{
	int error = -ENXIO;

	dfr_mutex_lock(&state->st_lock);
	if (dfr_read_once(&state->st_activity) == DFR_ACTIVE)
		error = dfr_catalog_mark(state, text, time);
	dfr_mutex_unlock(&state->st_lock);
	return error;
}

int dfr_state_catalog_add(struct dfr_state *state, const struct dfr_cat_entry *entry, const void *payload,
			  size_t bytes)
{
	struct dfr_cat_entry *to;

	if (entry->size < sizeof(*entry) || bytes > CATALOG_LAST_EXTENT)
		return -EINVAL;
	dfr_mutex_lock(&state->st_lock);
	to = append(state, entry->type, entry->size + bytes);
	if (to) {
		memcpy(to + 1, entry + 1, entry->size - sizeof(*entry));
		if (bytes)
			memcpy((u8 *)to + entry->size, payload, bytes);
		append_done(state, to);
	}
	dfr_mutex_unlock(&state->st_lock);
	return to ? 0 : -ENOMEM;
}

/*
 * dfr_state_clock() is called every second, but the log is never shortened, and each part of a recording has all of it. So
 * an entry is written only if the clocks have moved against each other by more than CLOCK_APART since the last entry
 * (somebody set one, or the machine slept). Beside these there is one after a minute, then after twice that, and so on, for
 * a scanner that finds the earlier ones damaged.
 */
#define CLOCK_APART 1000000ULL
#define CLOCK_LEAST 60000000000ULL

static bool apart(u64 before, u64 now)
{
	return now - before + CLOCK_APART > 2 * CLOCK_APART;
}

static bool clocks_agree(const struct dfr_cat_clock *last, u64 mono, u64 real, u64 boot)
{
	return last && !apart(last->real - last->mono, real - mono) &&
	       !apart(last->boot - last->mono, boot - mono);
}

void dfr_catalog_clock(struct dfr_state *state, u64 mono)
{
	struct dfr_cat_clock *entry;
	bool due = mono >= state->st_clock_due;
	u64 real, boot;

	dfr_plat_offsets(&real, &boot);
	real += mono;
	boot += mono;
	if (!due && clocks_agree(state->st_clock, mono, real, boot))
		return;
	entry = append(state, DFR_CAT_CLOCK, sizeof(*entry));
	if (!entry)
		return;
	entry->mono = mono;
	entry->real = real;
	entry->boot = boot;
	append_done(state, entry);
	state->st_clock = entry;
	if (due) {
		state->st_clock_wait = state->st_clock_wait ? 2 * state->st_clock_wait : CLOCK_LEAST;
		state->st_clock_due = mono + state->st_clock_wait;
	}
}

void dfr_state_clock(struct dfr_state *state, u64 now)
{
	dfr_mutex_lock(&state->st_lock);
	dfr_catalog_clock(state, now);
	dfr_mutex_unlock(&state->st_lock);
}

static size_t copy_out(const struct dfr_state *state, u64 offset, void *buffer, size_t room, u64 *committed)
{
	const struct dfr_catlog_extent *extent;
	u8 *to = buffer;
	u64 end = state->st_catalog_end;
	u64 inside, n;

	*committed = end;
	for (extent = state->st_extents; extent && room && offset < end; extent = extent->ce_next) {
		if (offset >= extent->ce_start + extent->ce_size)
			continue;
		inside = offset - extent->ce_start;
		n = extent->ce_size - inside;
		if (n > end - offset)
			n = end - offset;
		if (n > room)
			n = room;
		memcpy(to, extent->ce_memory + inside, n);
		to += n;
		room -= n;
		offset += n;
	}
	return (size_t)(to - (u8 *)buffer);
}

size_t dfr_state_catalog(struct dfr_state *state, u64 offset, void *buffer, size_t room, u64 *committed)
{
	size_t bytes;

	dfr_mutex_lock(&state->st_lock);
	dfr_catalog_catch_up(state);
	bytes = copy_out(state, offset, buffer, room, committed);
	dfr_mutex_unlock(&state->st_lock);
	return bytes;
}
