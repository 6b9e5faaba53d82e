// SPDX-License-Identifier: GPL-2.0
/*
 * What the providers that are tables (events.h) share: creates the probes whose
 * sources exist, and counts how many armed probes use each source. Process
 * context under the engine's lock, but for the first function.
 */
#include "kmod/providers/events.h"

#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"

void dfr_event_fire_preemptible(const struct dfr_event_probe *event, const u64 *args, unsigned int nargs,
				void *regs)
{
	preempt_disable_notrace();
	/* Asked again, because nobody waits for a handler that is preempted before here: the module may be going. */
	if (READ_ONCE(event->ep_armed))
		dfr_fire(event->ep_probe, args, nargs, regs);
	preempt_enable_notrace();
}

static int update_sources(struct dfr_event_probe *event)
{
	int i, error, first = 0;

	for (i = 0; i < DFR_EVENT_SOURCES; i++) {
		error = event->ep_points[i] ? dfr_tracepoint_update(event->ep_points[i]) : 0;
		first = first ?: error;
		error = event->ep_hooks[i] ? dfr_hook_update(event->ep_hooks[i]) : 0;
		first = first ?: error;
	}
	return first;
}

static void count_users(struct dfr_event_probe *event, int change)
{
	int i;

	for (i = 0; i < DFR_EVENT_SOURCES; i++) {
		if (event->ep_points[i] && event->ep_points[i]->tp_point)
			event->ep_points[i]->tp_users += change;
		if (event->ep_hooks[i] && dfr_hook_exists(event->ep_hooks[i]))
			event->ep_hooks[i]->ho_users += change;
	}
}

static void disarm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct dfr_event_probe *event = probe->pb_cookie;

	WRITE_ONCE(event->ep_armed, false);
	count_users(event, -1);
	update_sources(event);
}

static int arm(struct dfr_provider *provider, struct dfr_probe *probe)
{
	struct dfr_event_probe *event = probe->pb_cookie;
	int error;

	count_users(event, 1);
	WRITE_ONCE(event->ep_armed, true);
	error = update_sources(event);
	if (error)
		disarm(provider, probe);
	return error;
}

static const struct dfr_provider_ops ops = {
	.arm = arm,
	.disarm = disarm,
};

static bool has_source(struct dfr_event_probe *event)
{
	bool found = false;
	int i;

	if (event->ep_returns && !dfr_part_works(DFR_PART_RETURNS))
		return false;
	for (i = 0; i < DFR_EVENT_SOURCES; i++) {
		if (event->ep_points[i] && !dfr_tracepoint_find(event->ep_points[i]))
			found = true;
		if (event->ep_hooks[i] && dfr_hook_exists(event->ep_hooks[i]))
			found = true;
	}
	return found;
}

int dfr_events_init(struct dfr_events *events)
{
	unsigned int i;
	int error;

	events->ev_provider.pv_name = events->ev_name;
	events->ev_provider.pv_ops = &ops;
	error = dfr_provider_register(dfr_engine_instance, &events->ev_provider);
	if (error)
		return error;
	for (i = 0; i < events->ev_count; i++) {
		struct dfr_event_probe *event = &events->ev_probes[i];

		if (!has_source(event))
			continue;
		event->ep_probe =
			dfr_probe_create(&events->ev_provider, events->ev_module, event->ep_function ?: "",
					 event->ep_name, event->ep_nargs, event);
		if (!event->ep_probe) {
			dfr_provider_unregister(&events->ev_provider);
			return -ENOMEM;
		}
	}
	return 0;
}

void dfr_events_exit(struct dfr_events *events)
{
	unsigned int i;
	int k;

	dfr_provider_unregister(&events->ev_provider);
	dfr_tracepoint_sync();
	for (i = 0; i < events->ev_count; i++)
		for (k = 0; k < DFR_EVENT_SOURCES; k++)
			if (events->ev_probes[i].ep_hooks[k])
				dfr_hook_free(events->ev_probes[i].ep_hooks[k]);
}
