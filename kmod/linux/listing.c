// SPDX-License-Identifier: GPL-2.0
/*
 * Listing probes through the device: those that match a pattern, in order of id, as many as fit into
 * the caller's buffer; the caller continues at the id that it is given. Entries are those of the
 * catalog, so readers need one parser. Process context, without the engine's lock, because somebody
 * may hold that to arm.
 */
#include "kmod/linux/device.h"

#include <linux/slab.h>
#include <linux/uaccess.h>

#define LISTING_MIN 4096
#define LISTING_MAX (1024UL * 1024)

struct listing {
	u8 *lg_buffer;
	size_t lg_room;
	size_t lg_used;
	u32 lg_rest; /* the first that did not fit; 0: all did */
};

/* False: it does not fit into the rest of the buffer. */
static bool list_one(const struct dfr_probe *probe, struct listing *listing)
{
	const char *names[4] = { probe->pb_provider->pv_name, probe->pb_module, probe->pb_function,
				 probe->pb_name };
	struct dfr_cat_probe *entry;
	size_t length[4], size = sizeof(*entry);
	char *text;
	int i;

	for (i = 0; i < 4; i++) {
		length[i] = strlen(names[i]) + 1;
		size += length[i];
	}
	size = ALIGN(size, 8);
	if (size > listing->lg_room - listing->lg_used)
		return false;
	entry = (struct dfr_cat_probe *)(listing->lg_buffer + listing->lg_used);
	entry->head.type = DFR_CAT_PROBE;
	entry->head.size = size;
	entry->id = probe->pb_id;
	entry->nargs = probe->pb_nargs;
	if (entry->nargs != ~0U && probe->pb_provider->pv_ops->shared &&
	    probe->pb_provider->pv_ops->shared(probe))
		entry->nargs |= DFR_CAT_SHARED;
	text = (char *)(entry + 1);
	for (i = 0; i < 4; text += length[i++])
		memcpy(text, names[i], length[i]);
	listing->lg_used += size;
	return true;
}

static bool list_next(const struct dfr_probe *probe, void *arg)
{
	struct listing *listing = arg;

	if (list_one(probe, listing))
		return true;
	listing->lg_rest = probe->pb_id;
	return false;
}

int dfr_device_probes(struct dfr_file *file, void __user *arg)
{
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
	listing.lg_room = min_t(u64, io.bytes, LISTING_MAX);
	listing.lg_buffer = dfr_device_buffer(file, listing.lg_room);
	if (!listing.lg_buffer)
		return -ENOMEM;
	error = dfr_probes_match(dfr_engine_instance, pattern, io.id, file->fl_rights.rt_confined, list_next,
				 &listing);
	io.id = listing.lg_rest;
	io.bytes = listing.lg_used;
	if (copy_to_user(u64_to_user_ptr(io.buffer), listing.lg_buffer, listing.lg_used))
		error = -EFAULT;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}
