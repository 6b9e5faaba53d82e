/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Providers made of a table: each probe names the tracepoints and hooked
 * functions that it is derived from, and the table's owner writes the handlers.
 * proc, sched, io and vfs are such tables. A probe is not created if this kernel
 * has none of its sources, so a program that asks for it gets an error that names it.
 */
#ifndef DFR_KMOD_PROVIDERS_EVENTS_H
#define DFR_KMOD_PROVIDERS_EVENTS_H

#include "kmod/engine/engine.h"
#include "kmod/linux/compat.h"
#include "kmod/linux/hook.h"
#include "kmod/providers/tracepoints.h"

#define DFR_EVENT_SOURCES 3

struct dfr_event_probe {
	const char *ep_name;
	const char *ep_function; /* NULL: the empty string */
	u32 ep_nargs;
	bool ep_returns; /* it fires when a hooked function returns */
	/* Its sources: those that this kernel has are used; at least one must exist. */
	struct dfr_tracepoint *ep_points[DFR_EVENT_SOURCES];
	struct dfr_hook *ep_hooks[DFR_EVENT_SOURCES];
	struct dfr_probe *ep_probe; /* NULL: not on this kernel */
	bool ep_armed;
};

struct dfr_events {
	const char *ev_name;
	const char *ev_module;
	struct dfr_event_probe *ev_probes;
	unsigned int ev_count;
	struct dfr_provider ev_provider;
};

int dfr_events_init(struct dfr_events *events);
void dfr_events_exit(struct dfr_events *events);

void dfr_event_fire_preemptible(const struct dfr_event_probe *event, const u64 *args, unsigned int nargs,
				void *regs);

/* Probe context, or a tracepoint's handler with preemption on: fires if the probe is armed. */
static __always_inline void dfr_event_fire(const struct dfr_event_probe *event, const u64 *args,
					   unsigned int nargs, void *regs)
{
	if (!READ_ONCE(event->ep_armed))
		return;
	if (dfr_may_be_preempted())
		dfr_event_fire_preemptible(event, args, nargs, regs);
	else
		dfr_fire(event->ep_probe, args, nargs, regs);
}

#endif
