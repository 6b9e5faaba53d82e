/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel forbids to kprobes, asked for all functions at once. The kernel's
 * own question goes through a list of a thousand areas and looks the function's name
 * up, 5,000 instructions each time; this takes a copy of the list, sorted, and asks
 * the kernel itself only where a name decides as well. Process context.
 */
#ifndef DFR_KMOD_LINUX_BLACKLIST_H
#define DFR_KMOD_LINUX_BLACKLIST_H

#include <linux/types.h>

struct dfr_blacklist;

/* At load. -ENOENT: this kernel cannot be asked. */
int dfr_blacklist_init(void);
/* As it is now. NULL: no memory. */
struct dfr_blacklist *dfr_blacklist_read(void);
/* May no probe be at the address, which is in the function of that name? */
bool dfr_blacklist_has(const struct dfr_blacklist *list, unsigned long address, const char *name);
void dfr_blacklist_free(struct dfr_blacklist *list);

#endif
