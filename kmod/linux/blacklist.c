// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses where the kernel forbids kprobes (blacklist.h). Process context.
 *
 * An address is forbidden by the architecture's own areas, by the list, or, if the function's name
 * has a suffix (a part that the compiler has cut off), by what forbids the function of the name
 * without it. The areas of the list may overlap, so they are merged: then at most one can hold an
 * address, the last that starts at or before it.
 */
#include "kmod/linux/blacklist.h"

#include "kmod/engine/platform.h"

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include "kmod/linux/assume.h"

struct area {
	unsigned long ar_start, ar_end;
};

struct dfr_blacklist {
	unsigned int bl_count;
	struct area bl_areas[];
};

static bool no_answer(unsigned long address)
{
	return true;
}

DEFINE_STATIC_CALL(dfr_within_blacklist, no_answer);
DEFINE_STATIC_CALL(dfr_within_arch_blacklist, no_answer);
static struct list_head *blacklist;
static struct mutex *blacklist_lock;

int dfr_blacklist_init(void)
{
	blacklist = (struct list_head *)dfr_kernel(kprobe_blacklist);
	blacklist_lock = (struct mutex *)dfr_kernel(kprobe_mutex);
	if (!blacklist || !blacklist_lock ||
	    dfr_call_kernel(dfr_within_arch_blacklist, arch_within_kprobe_blacklist))
		return -ENOENT;
	return dfr_call_kernel(dfr_within_blacklist, within_kprobe_blacklist);
}

static int by_start(const void *left, const void *right)
{
	const struct area *a = left, *b = right;

	return a->ar_start < b->ar_start ? -1 : a->ar_start > b->ar_start;
}

static void merge(struct dfr_blacklist *list)
{
	unsigned int i, n = 0;

	sort(list->bl_areas, list->bl_count, sizeof(list->bl_areas[0]), by_start, NULL);
	for (i = 0; i < list->bl_count; i++) {
		const struct area *area = &list->bl_areas[i];

		if (n && area->ar_start <= list->bl_areas[n - 1].ar_end)
			list->bl_areas[n - 1].ar_end = max(list->bl_areas[n - 1].ar_end, area->ar_end);
		else
			list->bl_areas[n++] = *area;
	}
	list->bl_count = n;
}

struct dfr_blacklist *dfr_blacklist_read(void)
{
	const struct kprobe_blacklist_entry *entry;
	struct dfr_blacklist *list;
	unsigned int n = 0;

	mutex_lock(blacklist_lock);
	list_for_each_entry (entry, blacklist, list)
		n++;
	list = dfr_plat_alloc_shared(struct_size(list, bl_areas, n));
	if (list)
		list_for_each_entry (entry, blacklist, list)
			list->bl_areas[list->bl_count++] =
				(struct area){ entry->start_addr, entry->end_addr };
	mutex_unlock(blacklist_lock);
	if (list)
		merge(list);
	return list;
}

static bool in_list(const struct dfr_blacklist *list, unsigned long address)
{
	unsigned int low = 0, high = list->bl_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list->bl_areas[middle].ar_start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < list->bl_areas[low - 1].ar_end;
}

bool dfr_blacklist_has(const struct dfr_blacklist *list, unsigned long address, const char *name)
{
	if (strchr(name, '.'))
		return static_call(dfr_within_blacklist)(address);
	return static_call(dfr_within_arch_blacklist)(address) || in_list(list, address);
}

void dfr_blacklist_free(struct dfr_blacklist *list)
{
	dfr_plat_free(list);
}

static const char *const dead[] = {
	"cpuhp_ap_report_dead",
	"cpuhp_ap_update_sync_state",
	"cpu_report_death",
	"arch_cpu_idle_dead",
	"play_dead",
	"play_dead_common",
	"native_play_dead",
	"xen_pv_play_dead",
	"sev_es_play_dead",
	"tboot_shutdown",
	"mwait_play_dead",
	"mwait_play_dead_cpuid_hint",
	"cpuidle_play_dead",
	"cpuidle_get_cpu_driver",
	"acpi_idle_play_dead",
	"acpi_processor_ffh_play_dead",
	"acpi_mp_play_dead",
	"intel_idle_enter_dead",
	"io_idle",
	"hlt_play_dead",
	"cond_wakeup_cpu0",
	"sev_es_ap_hlt_loop",
};

/* The compiler may have added a suffix to the name. */
bool dfr_runs_dead(const char *name)
{
	unsigned int i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(dead); i++) {
		if (dead[i][0] != name[0])
			continue;
		n = strlen(dead[i]);
		if (!strncmp(name, dead[i], n) && (!name[n] || name[n] == '.'))
			return true;
	}
	return false;
}
