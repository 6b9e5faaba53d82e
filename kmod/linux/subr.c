// SPDX-License-Identifier: GPL-2.0
/*
 * D subroutines that ask about the kernel's own objects: which task holds a lock, the path of a
 * struct path, the file of a descriptor. Probe context: nothing is locked. All reads are loads that
 * may fail, from objects that may change meanwhile, so walks are bounded and an answer may be out of
 * date.
 *
 * dfr_plat_subr() returns 0 with *result set; or the length of a string that it left in the buffer
 * (*result: where it starts); or -EFAULT with *result the address; or -ENOSYS.
 */
#include "kmod/linux/assume.h"
#include "kmod/linux/compat.h"
#include "kmod/linux/linux.h"

#include <linux/fdtable.h>
#include <linux/fs_struct.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/spinlock.h>

static int load(u64 addr, void *value, unsigned int size)
{
	u64 v;
	int error = dfr_plat_load(NULL, addr, size, &v);

	if (!error)
		memcpy(value, &v, size);
	return error;
}

#define LOAD(variable, address) load((u64)(unsigned long)(address), &(variable), sizeof(variable))

#ifdef CONFIG_PREEMPT_RT
/* On -rt a mutex is an rt_mutex: the lowest bit of its owner says that others wait. */
#define MUTEX_OWNER(m) (&((struct mutex *)(m))->rtmutex.owner)
#define OWNER_FLAGS    1UL
#else
#define MUTEX_OWNER(m) (&((struct mutex *)(m))->owner)
#define OWNER_FLAGS    7UL
#endif

static int mutex_owner_of(u64 mutex, u64 *result)
{
	unsigned long owner;

	*result = mutex;
	if (LOAD(owner, MUTEX_OWNER((unsigned long)mutex)))
		return -EFAULT;
	*result = owner & ~OWNER_FLAGS;
	return 0;
}

/* The number of readers that hold an rwlock_t, and whether a writer does. */
static int rwlock_of(u64 lock, u32 *readers, bool *writer)
{
#ifdef CONFIG_PREEMPT_RT
	return -ENOSYS;
#else
	u32 count;

	if (LOAD(count, &((rwlock_t *)(unsigned long)lock)->raw_lock.cnts))
		return -EFAULT;
	*readers = count >> _QR_SHIFT;
	*writer = (count & _QW_LOCKED) == _QW_LOCKED;
	return 0;
#endif
}

static int rwlock_answer(u32 subr, u64 lock, u64 *result)
{
	u32 readers;
	bool writer;
	int error = rwlock_of(lock, &readers, &writer);

	*result = lock;
	if (error)
		return error;
	*result = subr == DIF_SUBR_RW_READ_HELD ? readers > 0 : writer;
	return 0;
}

static int file_of(u64 fd, u64 *result)
{
	struct files_struct *files = current->files;
	struct fdtable *table;
	struct file *file;
	struct file **slots;
	unsigned int max;

	*result = 0;
	if (!files || LOAD(table, &files->fdt) || LOAD(max, &table->max_fds) || fd >= max)
		return 0;
	if (LOAD(slots, &table->fd) || LOAD(file, slots + fd))
		return 0;
	*result = (u64)(unsigned long)file;
	return 0;
}

/* The text of a path, written from its end to its beginning. */
struct path_text {
	char *px_start; /* of the buffer */
	char *px_at;
};

#define COMPONENTS_MAX 128

static int put_name(struct path_text *text, const struct dentry *dentry)
{
	const unsigned char *name;
	u32 length;

	if (LOAD(name, &dentry->d_name.name) || LOAD(length, &dentry->d_name.len))
		return -EFAULT;
	/* No addition: the program may have made the dentry itself, with any length. */
	if (length >= (size_t)(text->px_at - text->px_start))
		return -ENAMETOOLONG;
	text->px_at -= length;
	if (dfr_plat_copy(NULL, text->px_at, (u64)(unsigned long)name, length))
		return -EFAULT;
	*--text->px_at = '/';
	return 0;
}

static bool same_path(const struct path *a, const struct path *b)
{
	return a->mnt == b->mnt && a->dentry == b->dentry;
}

static bool mounts_known; /* struct mount has the layout that assumptions.h expects */

void dfr_subr_init(void)
{
	mounts_known = dfr_part_works(DFR_PART_MOUNTS);
}

/* Steps from the root of a mount to its mount point. 1: it is not mounted on anything. */
static int step_out(struct path *at)
{
	const struct dfr_mount_head *mount = container_of(at->mnt, struct dfr_mount_head, mh_mnt);
	struct dfr_mount_head *parent;
	struct dentry *mountpoint;

	if (!mounts_known)
		return -ENOSYS;
	if (LOAD(parent, &mount->mh_parent) || LOAD(mountpoint, &mount->mh_mountpoint))
		return -EFAULT;
	if (parent == mount)
		return 1;
	at->mnt = &parent->mh_mnt;
	at->dentry = mountpoint;
	return 0;
}

static int step_up(struct path_text *text, struct path *at)
{
	struct dentry *mount_root, *parent;
	int error;

	if (LOAD(mount_root, &at->mnt->mnt_root))
		return -EFAULT;
	if (at->dentry == mount_root)
		return step_out(at);
	if (LOAD(parent, &at->dentry->d_parent))
		return -EFAULT;
	if (parent == at->dentry)
		return 1;
	error = put_name(text, at->dentry);
	at->dentry = parent;
	return error;
}

static long path_of(u64 path, char *buffer, size_t room, u64 *result)
{
	struct path_text text = { buffer, buffer + room - 1 };
	struct path at, root = {};
	int i, error = 0;

	*result = path;
	if (room < 2)
		return -ENAMETOOLONG;
	if (dfr_plat_copy(NULL, &at, path, sizeof(at)))
		return -EFAULT;
	if (current->fs)
		root = current->fs->root;
	*text.px_at = 0;
	for (i = 0; i < COMPONENTS_MAX && !error && !same_path(&at, &root); i++)
		error = step_up(&text, &at);
	if (error < 0)
		return error;
	if (!*text.px_at)
		*--text.px_at = '/';
	*result = (u64)(unsigned long)text.px_at;
	return buffer + room - 1 - text.px_at;
}

long dfr_plat_subr(const struct dfr_firing *firing, u32 subr, const u64 *args, char *buffer, size_t room,
		   u64 *result)
{
	int error;

	switch (subr) {
	case DIF_SUBR_MUTEX_OWNER: return mutex_owner_of(args[0], result);
	case DIF_SUBR_MUTEX_OWNED:
		error = mutex_owner_of(args[0], result);
		if (!error)
			*result = *result != 0;
		return error;
	case DIF_SUBR_MUTEX_TYPE_ADAPTIVE: *result = 1; return 0;
	case DIF_SUBR_MUTEX_TYPE_SPIN: *result = 0; return 0;
	case DIF_SUBR_RW_READ_HELD:
	case DIF_SUBR_RW_WRITE_HELD:
	case DIF_SUBR_RW_ISWRITER: return rwlock_answer(subr, args[0], result);
	case DIF_SUBR_GETF: return file_of(args[0], result);
	case DIF_SUBR_D_PATH: return path_of(args[0], buffer, room, result);
	}
	return -ENOSYS;
}
