// SPDX-License-Identifier: GPL-2.0
/*
 * Listing probes through the device: those that match a pattern, in the order of
 * their ids, as many as the caller's buffer holds; the caller goes on from the
 * id that it is told. Entries are those of the catalog, so readers have one
 * parser. Process context.
 */
#include "kmod/linux/device.h"

#include <linux/slab.h>
#include <linux/uaccess.h>

#define LISTING_MIN 4096
#define LISTING_MAX (16UL * 1024 * 1024)

struct listing {
	u8 *li_buffer;
	size_t li_room;
	size_t li_used;
};

/* Providers that make probes on demand are asked on the way to the first match. */
static bool stop_at_once(const struct dfr_probe *probe, void *arg)
{
	return false;
}

static bool matches(const struct dfr_probe *probe, const char *const pattern[4])
{
	return dfr_glob(pattern[0], probe->pb_provider->pv_name) &&
	       dfr_glob(pattern[1], probe->pb_module) &&
	       dfr_glob(pattern[2], probe->pb_function) && dfr_glob(pattern[3], probe->pb_name);
}

/* False: it does not fit any more. */
static bool list_one(const struct dfr_probe *probe, struct listing *listing)
{
	const char *names[4] = { probe->pb_provider->pv_name, probe->pb_module,
				 probe->pb_function, probe->pb_name };
	struct dfr_cat_probe *entry;
	size_t length[4], size = sizeof(*entry);
	char *text;
	int i;

	for (i = 0; i < 4; i++) {
		length[i] = strlen(names[i]) + 1;
		size += length[i];
	}
	size = ALIGN(size, 8);
	if (size > listing->li_room - listing->li_used)
		return false;
	entry = (struct dfr_cat_probe *)(listing->li_buffer + listing->li_used);
	entry->head.type = DFR_CAT_PROBE;
	entry->head.size = size;
	entry->id = probe->pb_id;
	entry->nargs = probe->pb_nargs;
	text = (char *)(entry + 1);
	for (i = 0; i < 4; text += length[i++])
		memcpy(text, names[i], length[i]);
	listing->li_used += size;
	return true;
}

/* The engine's lock is held. Returns the id to go on from, 0: that was all. */
static u32 list_from(u32 id, const char *const pattern[4], struct listing *listing)
{
	const struct dfr_probe *probe;

	if (!id)
		dfr_probes_match(dfr_engine_instance, pattern, stop_at_once, NULL);
	for (id = max(id, 1u); id <= dfr_probe_count(dfr_engine_instance); id++) {
		probe = dfr_probe_by_id(dfr_engine_instance, id);
		if (probe && matches(probe, pattern) && !list_one(probe, listing))
			return id;
	}
	return 0;
}

int dfr_device_probes(struct dfr_file *file, void __user *arg)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	const char *pattern[4];
	struct listing listing = {};
	struct dfr_ioc_probes io;
	int i, error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	for (i = 0; i < 4; i++) {
		pattern[i] = io.pattern[i];
		if (strnlen(pattern[i], sizeof(io.pattern[i])) == sizeof(io.pattern[i]))
			return -EINVAL;
	}
	if (io.bytes < LISTING_MIN)
		return -EINVAL; /* room for any one entry, or the caller never gets on */
	listing.li_room = min_t(u64, io.bytes, LISTING_MAX);
	listing.li_buffer = dfr_plat_alloc(listing.li_room);
	if (!listing.li_buffer)
		return -ENOMEM;
	dfr_mutex_lock(lock);
	io.id = list_from(io.id, pattern, &listing);
	dfr_mutex_unlock(lock);
	io.bytes = listing.li_used;
	if (copy_to_user(u64_to_user_ptr(io.buffer), listing.li_buffer, listing.li_used))
		error = -EFAULT;
	dfr_plat_free(listing.li_buffer);
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}
