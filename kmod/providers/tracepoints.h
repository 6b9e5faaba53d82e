/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel tracepoint found by name, registered while it has users. For
 * providers with a handler of their own (syscall, proc, sched, io); every
 * tracepoint as a probe is the sdt provider's business. Process context under
 * the engine's lock.
 */
#ifndef DFR_KMOD_PROVIDERS_TRACEPOINTS_H
#define DFR_KMOD_PROVIDERS_TRACEPOINTS_H

#include <linux/types.h>

struct tracepoint;

struct dfr_tracepoint {
	const char *tp_name;
	void *tp_probe; /* DFR_HANDLER(name, f), of the type that assumptions.h has for it */
	void *tp_data;
	struct tracepoint *tp_point;
	unsigned int tp_users; /* armed probes that it serves */
	bool tp_registered;
};

/* -ENOENT: this kernel has no such tracepoint, or another one. Tracepoints are never exported, only listed. */
int dfr_tracepoint_find(struct dfr_tracepoint *point);
/* Registers or unregisters, as tp_users says. */
int dfr_tracepoint_update(struct dfr_tracepoint *point);
/* After unregistering, before the handler's code or data goes. */
void dfr_tracepoint_sync(void);

#endif
