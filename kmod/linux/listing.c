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

static bool count_one(const struct dfr_probe *probe, void *arg)
{
	++*(u32 *)arg;
	return true;
}

/* The engine's lock is held. */
u32 dfr_device_probe_count(void)
{
	static const char *const all[4] = { "", "", "", "" };
	u32 n = 0;

	dfr_probes_match(dfr_engine_instance, all, count_one, &n);
	return n;
}

struct listing {
	u32 li_first;
	u32 li_next; /* the first that did not fit, 0: all did */
	u8 *li_buffer;
	size_t li_room;
	size_t li_used;
};

static bool list_one(const struct dfr_probe *probe, void *arg)
{
	const char *names[4] = { probe->pb_provider->pv_name, probe->pb_module,
				 probe->pb_function, probe->pb_name };
	struct listing *listing = arg;
	struct dfr_cat_probe *entry;
	size_t length[4], size = sizeof(*entry);
	char *text;
	int i;

	if (probe->pb_id < listing->li_first)
		return true;
	for (i = 0; i < 4; i++) {
		length[i] = strlen(names[i]) + 1;
		size += length[i];
	}
	size = ALIGN(size, 8);
	if (size > listing->li_room - listing->li_used) {
		listing->li_next = probe->pb_id;
		return false;
	}
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
	listing.li_first = io.id;
	listing.li_room = min_t(u64, io.bytes, LISTING_MAX);
	listing.li_buffer = kvzalloc(listing.li_room, GFP_KERNEL);
	if (!listing.li_buffer)
		return -ENOMEM;
	dfr_mutex_lock(lock);
	dfr_probes_match(dfr_engine_instance, pattern, list_one, &listing);
	dfr_mutex_unlock(lock);
	io.id = listing.li_next;
	io.bytes = listing.li_used;
	if (copy_to_user(u64_to_user_ptr(io.buffer), listing.li_buffer, listing.li_used))
		error = -EFAULT;
	kvfree(listing.li_buffer);
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}
