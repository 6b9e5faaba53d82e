// SPDX-License-Identifier: GPL-2.0
/*
 * The end of the machine: writes down why, where a reader of its memory finds
 * it. Rings need nothing here: what is committed is readable at any instant.
 * Nothing in this file may wait, allocate or take a lock.
 */
#include "kmod/linux/linux.h"

#include <linux/notifier.h>
#include <linux/panic_notifier.h>

static int on_panic(struct notifier_block *block, unsigned long event, void *reason)
{
	dfr_anchor_panic(reason ? reason : "");
	return NOTIFY_DONE;
}

/* First of all: others have been known not to return. */
static struct notifier_block panic_block = {
	.notifier_call = on_panic,
	.priority = INT_MAX,
};

int dfr_panic_init(void)
{
	return atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
}

void dfr_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
}
