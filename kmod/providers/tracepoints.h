/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel tracepoint found by name, registered while it has users. For
 * providers with a handler of their own (syscall, proc, sched, io); sdt.c makes
 * a probe of every tracepoint by itself. Process context under the engine's lock.
 */
#ifndef DFR_KMOD_PROVIDERS_TRACEPOINTS_H
#define DFR_KMOD_PROVIDERS_TRACEPOINTS_H

#include <linux/types.h>

struct tracepoint;

struct dfr_tracepoint {
	const char *tp_name;
	void *tp_probe; /* DFR_HANDLER(name, f): f must have the type that assumptions.h gives */
	void *tp_data;
	struct tracepoint *tp_point;
	unsigned int tp_users; /* armed probes that it serves */
	bool tp_registered;
};

/*
 * Looks through the kernel's list of tracepoints, because most are not exported. -ENOENT:
 * there is none of that name, or it has other parameters than its handler.
 */
int dfr_tracepoint_find(struct dfr_tracepoint *point);
/* Registers or unregisters, as tp_users says. */
int dfr_tracepoint_update(struct dfr_tracepoint *point);
/* Waits until no unregistered handler runs any more: before its code or data are freed. */
void dfr_tracepoint_sync(void);

#endif
