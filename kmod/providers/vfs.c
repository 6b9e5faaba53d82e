// SPDX-License-Identifier: GPL-2.0
/*
 * vfs: the operations that every file system serves, under stable names:
 * vfs::read:entry, vfs::read:return and so on. Each is the kernel function that
 * all file systems go through; entry passes its arguments, return passes 0 and
 * the result, as fbt does. Handlers are probe context.
 *
 * A file is created in one of two ways: by vfs_create() (mknod, and servers in the
 * kernel), or by open(), which calls the file system directly and then opens the
 * new file. on_open() sees the second way: it fires vfs::create:entry with the
 * arguments that vfs_create() would have had, and at once vfs::create:return with
 * the result 0. An open() that fails to create the file fires neither.
 */
#include "kmod/providers/events.h"

#include <linux/fs.h>
#include "kmod/linux/compat.h"
#include "kmod/linux/linux.h"

struct operation {
	const char *op_name;
	const char *op_function[2]; /* its name and a NULL, as ho_names must be */
	u32 op_nargs;
};

static const struct operation operations[] = {
	{ "open", { "vfs_open" }, 2 },		{ "read", { "vfs_read" }, 4 },
	{ "write", { "vfs_write" }, 4 },	{ "fsync", { "vfs_fsync_range" }, 4 },
	{ "llseek", { "ksys_lseek" }, 3 },	{ "create", { "vfs_create" }, 5 },
	{ "mkdir", { "vfs_mkdir" }, 4 },	{ "rmdir", { "vfs_rmdir" }, 3 },
	{ "mknod", { "vfs_mknod" }, 5 },	{ "unlink", { "vfs_unlink" }, 4 },
	{ "link", { "vfs_link" }, 5 },		{ "symlink", { "vfs_symlink" }, 4 },
	{ "rename", { "vfs_rename" }, 1 },	{ "getattr", { "vfs_getattr_nosec" }, 4 },
	{ "setattr", { "notify_change" }, 4 },	{ "statfs", { "statfs_by_dentry" }, 2 },
	{ "iterate", { "iterate_dir" }, 2 },	{ "truncate", { "vfs_truncate" }, 2 },
	{ "lookup", { "filename_lookup" }, 5 }, { "fallocate", { "vfs_fallocate" }, 4 },
};
#define OPERATIONS ARRAY_SIZE(operations)

static struct dfr_hook hooks[OPERATIONS];
static struct dfr_event_probe probes[2 * OPERATIONS]; /* for each operation its entry and its return */
static struct dfr_event_probe *create_probes;	      /* entry and return of create, in probes[] */

static void on_entry(struct dfr_hook *hook, struct pt_regs *regs)
{
	struct dfr_event_probe *entry = &probes[2 * (hook - hooks)], *ret = entry + 1;
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	dfr_event_fire(entry, args, entry->ep_nargs, regs);
	if (READ_ONCE(ret->ep_armed))
		dfr_hook_return(hook, ret, regs, &ret->ep_probe);
}

static void on_return(void *cookie, struct pt_regs *regs)
{
	u64 args[2] = { 0, regs_return_value(regs) };

	dfr_event_fire(cookie, args, 2, regs);
}

/* do_dentry_open(file, ...): every opened file passes it; FMODE_CREATED: this open() has created it. */
static void on_open(struct dfr_hook *hook, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];
	const struct file *file;
	const struct dentry *dentry;

	dfr_arch_function_args(regs, args);
	file = (const struct file *)args[0];
	if (!(file->f_mode & FMODE_CREATED))
		return;
	dentry = file->f_path.dentry;
	args[0] = (u64)dfr_mount_idmap(file->f_path.mnt);
	args[1] = (u64)d_inode(dentry->d_parent);
	args[2] = (u64)dentry;
	args[3] = d_is_positive(dentry) ? d_inode(dentry)->i_mode : 0;
	args[4] = !!(file->f_flags & O_EXCL);
	dfr_event_fire(&create_probes[0], args, create_probes[0].ep_nargs, regs);
	args[0] = 0;
	args[1] = 0;
	dfr_event_fire(&create_probes[1], args, create_probes[1].ep_nargs, regs);
}

static const char *const open_functions[] = { "do_dentry_open", NULL };
static struct dfr_hook open_hook = { .ho_names = open_functions, .ho_enter = on_open };

static struct dfr_events vfs = {
	.ev_name = "vfs",
	.ev_module = "vmlinux",
	.ev_probes = probes,
	.ev_count = 2 * OPERATIONS,
};

int dfr_vfs_init(void)
{
	unsigned int i;

	for (i = 0; i < OPERATIONS; i++) {
		const struct operation *operation = &operations[i];

		hooks[i].ho_names = operation->op_function;
		hooks[i].ho_enter = on_entry;
		hooks[i].ho_return = on_return;
		probes[2 * i] = (struct dfr_event_probe){
			.ep_name = "entry",
			.ep_function = operation->op_name,
			.ep_nargs = operation->op_nargs,
			.ep_hooks = { &hooks[i] },
		};
		probes[2 * i + 1] = (struct dfr_event_probe){
			.ep_name = "return",
			.ep_function = operation->op_name,
			.ep_nargs = 2,
			.ep_returns = true,
			.ep_hooks = { &hooks[i] },
		};
		if (strcmp(operation->op_name, "create"))
			continue;
		create_probes = &probes[2 * i];
		create_probes[0].ep_hooks[1] = &open_hook;
		create_probes[1].ep_hooks[1] = &open_hook;
	}
	return dfr_events_init(&vfs);
}

void dfr_vfs_exit(void)
{
	dfr_events_exit(&vfs);
}
