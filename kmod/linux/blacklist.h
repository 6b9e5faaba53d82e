/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses where the kernel forbids kprobes, asked for all functions at once. The kernel's own
 * within_kprobe_blacklist() walks a list of a thousand areas and looks up the function's name, which
 * takes 5,000 instructions each time. This takes a sorted copy of the list, and asks the kernel
 * itself only about functions whose name has a suffix. And functions that the module itself
 * leaves alone. Process context.
 */
#ifndef DFR_KMOD_LINUX_BLACKLIST_H
#define DFR_KMOD_LINUX_BLACKLIST_H

#include <linux/types.h>

struct dfr_blacklist;

/* Called at load. -ENOENT: this kernel's list cannot be read. */
int dfr_blacklist_init(void);
/* A copy of the list as it is now. NULL: no memory. */
struct dfr_blacklist *dfr_blacklist_read(void);
/* Is a probe forbidden at this address, which is in the function of that name? */
bool dfr_blacklist_has(const struct dfr_blacklist *list, unsigned long address, const char *name);
void dfr_blacklist_free(struct dfr_blacklist *list);
/*
 * Does a CPU that goes offline run this function, or a part of it, when it has been reported dead?
 * Nobody waits for what fires there then, neither the kernel's grace periods nor those who take its
 * rings: it has no probe.
 */
bool dfr_runs_dead(const char *name);

#endif
