// SPDX-License-Identifier: GPL-2.0
/*
 * vfs: the operations that every file system serves, under stable names:
 * vfs::read:entry, vfs::read:return and so on. Each is the kernel function that
 * all file systems go through; entry passes its arguments, return 0 and the
 * result, as fbt does. Handlers are probe context.
 */
#include "kmod/providers/events.h"

#include "kmod/linux/linux.h"

struct operation {
	const char *op_name;
	const char *op_function[2]; /* and a NULL */
	u32 op_nargs;
};

static const struct operation operations[] = {
	{ "open", { "vfs_open" }, 2 },	     { "read", { "vfs_read" }, 4 },
	{ "write", { "vfs_write" }, 4 },     { "fsync", { "vfs_fsync_range" }, 4 },
	{ "llseek", { "ksys_lseek" }, 3 },   { "create", { "vfs_create" }, 5 },
	{ "mkdir", { "vfs_mkdir" }, 4 },     { "rmdir", { "vfs_rmdir" }, 3 },
	{ "mknod", { "vfs_mknod" }, 5 },     { "unlink", { "vfs_unlink" }, 4 },
	{ "link", { "vfs_link" }, 5 },	     { "symlink", { "vfs_symlink" }, 4 },
	{ "rename", { "vfs_rename" }, 1 },   { "getattr", { "vfs_getattr_nosec" }, 4 },
	{ "setattr", { "notify_change" }, 4 }, { "statfs", { "statfs_by_dentry" }, 2 },
	{ "iterate", { "iterate_dir" }, 2 }, { "truncate", { "vfs_truncate" }, 2 },
	{ "lookup", { "filename_lookup" }, 5 }, { "fallocate", { "vfs_fallocate" }, 4 },
};
#define OPERATIONS ARRAY_SIZE(operations)

static struct dfr_hook hooks[OPERATIONS];
static struct dfr_event_probe probes[2 * OPERATIONS]; /* entry, return of each */

static void on_entry(struct dfr_hook *hook, struct pt_regs *regs)
{
	struct dfr_event_probe *entry = &probes[2 * (hook - hooks)], *ret = entry + 1;
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	dfr_event_fire(entry, args, entry->ep_nargs, regs);
	if (READ_ONCE(ret->ep_armed) && !dfr_hook_return(hook, ret, regs))
		dfr_probe_lost(ret->ep_probe, DFR_LOSS_RETURN_POOL);
}

static void on_return(void *cookie, struct pt_regs *regs)
{
	u64 args[2] = { 0, regs_return_value(regs) };

	dfr_event_fire(cookie, args, 2, regs);
}

static struct dfr_events vfs = {
	.ev_name = "vfs", .ev_module = "vmlinux", .ev_probes = probes, .ev_count = 2 * OPERATIONS,
};

int dfr_vfs_init(void)
{
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++) {
		const struct operation *operation = &operations[i];

		hooks[i].hk_names = operation->op_function;
		hooks[i].hk_enter = on_entry;
		hooks[i].hk_return = on_return;
		probes[2 * i] = (struct dfr_event_probe){
			.ep_name = "entry", .ep_function = operation->op_name,
			.ep_nargs = operation->op_nargs, .ep_hooks = { &hooks[i] },
		};
		probes[2 * i + 1] = (struct dfr_event_probe){
			.ep_name = "return", .ep_function = operation->op_name,
			.ep_nargs = 2, .ep_hooks = { &hooks[i] },
		};
	}
	return dfr_events_init(&vfs);
}

void dfr_vfs_exit(void)
{
	dfr_events_exit(&vfs);
}
