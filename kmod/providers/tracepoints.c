// SPDX-License-Identifier: GPL-2.0
/*
 * Finding and registering kernel tracepoints by name. Process context under the
 * engine's lock.
 */
#include "kmod/providers/tracepoints.h"

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "kmod/linux/assume.h"

static void look_at(struct tracepoint *candidate, void *arg)
{
	struct dfr_tracepoint *point = arg;

	if (!strcmp(candidate->name, point->tp_name))
		point->tp_point = candidate;
}

int dfr_tracepoint_find(struct dfr_tracepoint *point)
{
	if (dfr_tracepoint_holds(point->tp_name))
		for_each_kernel_tracepoint (look_at, point)
			;
	return point->tp_point ? 0 : -ENOENT;
}

int dfr_tracepoint_update(struct dfr_tracepoint *point)
{
	bool wanted = point->tp_users > 0;
	int error;

	if (wanted == point->tp_registered)
		return 0;
	if (wanted)
		error = tracepoint_probe_register(point->tp_point, point->tp_probe, point->tp_data);
	else
		error = tracepoint_probe_unregister(point->tp_point, point->tp_probe, point->tp_data);
	if (!error)
		point->tp_registered = wanted;
	return error;
}

void dfr_tracepoint_sync(void)
{
	tracepoint_synchronize_unregister();
}
