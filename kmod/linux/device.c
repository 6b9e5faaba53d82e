// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/dfr: the control interface of formats/abi/control.h. A descriptor holds
 * at most one session. Every structure is copied in once, checked, worked on as
 * the kernel's own copy and copied out; no user memory is touched under the
 * engine's lock: a fault there may wait for somebody's file system. Process
 * context; which lock is inside which: kmod/LOCKS.md.
 *
 * Mapping is in mapping.c, probe listing in listing.c.
 */
#include "kmod/linux/device.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

static struct dfr_mutex *engine_lock(void)
{
	return dfr_engine_lock(dfr_engine_instance);
}

int dfr_device_lock(struct dfr_file *file)
{
	WRITE_ONCE(file->fl_words, file->fl_words + 1);
	if (dfr_mutex_lock_killable(engine_lock()))
		return -EINTR;
	dfr_device_reap();
	return 0;
}

void dfr_device_unlock(void)
{
	dfr_mutex_unlock(engine_lock());
	dfr_hotplug_settle(false);
}

void dfr_device_set_session(struct dfr_file *file, struct dfr_session *session)
{
	mutex_lock(&file->fl_map);
	file->fl_session = session;
	mutex_unlock(&file->fl_map);
}

int dfr_device_copy_in(void *to, size_t size, const void __user *from)
{
	u32 given;
	int error;

	if (get_user(given, (const u32 __user *)from))
		return -EFAULT;
	if (given < sizeof(u32) || given > PAGE_SIZE)
		return -EINVAL;
	error = copy_struct_from_user(to, size, from, given);
	*(u32 *)to = given; /* what was checked, whatever stands there by now */
	return error;
}

int dfr_device_copy_out(void __user *to, const void *from, size_t size)
{
	u32 given = *(const u32 *)from;

	return copy_to_user(to, from, min_t(size_t, given, size)) ? -EFAULT : 0;
}

static int ioctl_info(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_info info;
	int error = dfr_device_copy_in(&info, sizeof(info), arg);

	if (error)
		return error;
	info.version = DFR_CONTROL_VERSION;
	info.cpus = dfr_plat_ncpus();
	info.flags = dfr_destructive_allowed() ? DFR_INFO_DESTRUCTIVE : 0;
	if (dfr_jit_works())
		info.flags |= DFR_INFO_JIT;
	if (file->fl_rights.rt_confined)
		info.flags |= DFR_INFO_CONFINED;
	memcpy(info.boot_id, dfr_plat_boot_id(), sizeof(info.boot_id));
	error = dfr_device_lock(file);
	if (error)
		return error;
	info.probes = dfr_probe_count(dfr_engine_instance);
	info.states = dfr_session_count(&file->fl_rights);
	if (dfr_session_find(DFR_ANONYMOUS_NAME))
		info.flags |= DFR_INFO_ANONYMOUS;
	dfr_device_unlock();
	return dfr_device_copy_out(arg, &info, sizeof(info));
}

/* The lock is held. The program is the state's if there is no error. */
static int enable_locked(struct dfr_file *file, struct dfr_program *program, struct dfr_ioc_enable *io,
			 struct dfr_refusal *why)
{
	struct dfr_session *session = file->fl_session;
	int error;

	if (!session) {
		error = dfr_session_create(&file->fl_rights, &session);
		if (error)
			return error;
		WRITE_ONCE(session->ss_owner, file);
	}
	error = dfr_state_add(session->ss_state, program, io->flags, &io->matched, why);
	if (error && !file->fl_session)
		dfr_session_destroy(session); /* the first program makes the state, or nothing does */
	else
		dfr_device_set_session(file, session);
	return error;
}

static int load_program(struct dfr_file *file, const struct dfr_ioc_enable *io, struct dfr_program **program,
			struct dfr_refusal *why)
{
	void *dof = vmemdup_user(u64_to_user_ptr(io->dof), io->dof_size);
	int error;

	if (IS_ERR(dof))
		return PTR_ERR(dof);
	error = dfr_session_load(&file->fl_rights, dof, io->dof_size, program, why);
	kvfree(dof);
	return error;
}

static int ioctl_enable(struct dfr_file *file, void __user *arg)
{
	struct dfr_refusal why = { .rf_section = ~0u };
	struct dfr_program *program = NULL;
	struct dfr_ioc_enable io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (io.flags & ~DFR_ENABLE_ZERO_OK)
		return -EINVAL;
	if (io.dof_size < sizeof(struct dof_header))
		return -EINVAL;
	if (io.dof_size > (file->fl_rights.rt_confined ? DFR_CONFINED_DOF_MAX : DOF_LOADSZ_MAX))
		return -E2BIG;
	io.matched = 0;
	error = load_program(file, &io, &program, &why);
	if (error == -EFAULT)
		return error;
	if (!error)
		error = dfr_device_lock(file);
	if (!error) {
		error = enable_locked(file, program, &io, &why);
		dfr_device_unlock();
		program = error ? program : NULL;
	}
	dfr_program_free(program);
	io.error_section = why.rf_section;
	io.error_offset = why.rf_offset;
	BUILD_BUG_ON(sizeof(io.reason) != sizeof(why.rf_reason));
	memcpy(io.reason, why.rf_reason, sizeof(io.reason));
	io.reason[sizeof(io.reason) - 1] = 0;
	return dfr_device_copy_out(arg, &io, sizeof(io)) ?: error;
}

static int ioctl_go(struct dfr_file *file, void __user *arg,
		    int (*action)(struct dfr_session *session, u32 *cpu))
{
	struct dfr_ioc_go io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	/* BEGIN and END run in the task that asks. */
	if (file->fl_rights.rt_confined && !dfr_plat_owned(NULL, file->fl_rights.rt_uid, file->fl_rights.rt_gid))
		return -EPERM;
	error = dfr_device_lock(file);
	if (error)
		return error;
	error = file->fl_session ? action(file->fl_session, &io.cpu) : -ENXIO;
	dfr_device_unlock();
	dfr_hotplug_settle(true); /* what he who asks does from here on is recorded, wherever he runs */
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

static int ioctl_status(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_status io;
	u32 size;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	size = io.size;
	memset(&io, 0, sizeof(io));
	error = dfr_device_lock(file);
	if (error)
		return error;
	if (file->fl_session)
		dfr_state_status(file->fl_session->ss_state, &io);
	else
		error = -ENXIO;
	dfr_device_unlock();
	io.size = size;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

/* Blocks that one call may take or give back: bounds the copy, not the consumer. */
#define DFR_TAKE_MAX 4096

static int ioctl_take(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_taken *taken;
	struct dfr_ioc_take io;
	u32 count = 0;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (io.flags & ~DFR_TAKE_FLUSH || !io.count)
		return -EINVAL;
	if (io.cpu != DFR_ALL_CPUS && io.cpu >= dfr_plat_ncpus())
		return -EINVAL;
	io.count = min_t(u32, io.count, DFR_TAKE_MAX);
	taken = dfr_plat_alloc(io.count * sizeof(*taken));
	if (!taken)
		return -ENOMEM;
	error = dfr_device_lock(file);
	if (!error) {
		error = file->fl_session ? dfr_state_take(file->fl_session->ss_state, io.cpu,
							  io.flags & DFR_TAKE_FLUSH, taken, io.count,
							  &count) :
					   -ENXIO;
		dfr_device_unlock();
	}
	if (!error && copy_to_user(u64_to_user_ptr(io.taken), taken, count * sizeof(*taken)))
		error = -EFAULT;
	dfr_plat_free(taken);
	io.count = count;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

/* The lock is held. */
static int release_locked(struct dfr_file *file, const struct dfr_ioc_taken *taken, u32 count)
{
	int error = file->fl_session ? 0 : -ENXIO;
	u32 i;

	for (i = 0; i < count && !error; i++)
		error = taken[i].cpu >= dfr_plat_ncpus() ?
				-EINVAL :
				dfr_state_release(file->fl_session->ss_state, taken[i].cpu,
						  taken[i].block, taken[i].seq);
	return error;
}

static int ioctl_release(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_release io;
	struct dfr_ioc_taken *taken;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!io.count || io.count > DFR_TAKE_MAX)
		return -EINVAL;
	taken = vmemdup_user(u64_to_user_ptr(io.taken), io.count * sizeof(*taken));
	if (IS_ERR(taken))
		return PTR_ERR(taken);
	error = dfr_device_lock(file);
	if (!error) {
		error = release_locked(file, taken, io.count);
		dfr_device_unlock();
	}
	kvfree(taken);
	return error;
}

#define DFR_CATALOG_COPY_MAX (1024 * 1024)

/* The lock is held. Most calls find little or nothing new: the copy is as large as that. */
static int copy_catalog(const struct dfr_state *state, struct dfr_ioc_catalog *io, void **buffer)
{
	u64 room = min_t(u64, io->bytes, DFR_CATALOG_COPY_MAX);

	io->bytes = dfr_state_catalog(state, io->offset, NULL, 0, &io->committed);
	if (!room || io->offset >= io->committed)
		return 0;
	room = min(room, io->committed - io->offset);
	*buffer = dfr_plat_alloc(room);
	if (!*buffer)
		return -ENOMEM;
	io->bytes = dfr_state_catalog(state, io->offset, *buffer, room, &io->committed);
	return 0;
}

static int ioctl_catalog(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_catalog io;
	void *buffer = NULL;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	error = dfr_device_lock(file);
	if (error)
		return error;
	error = file->fl_session ? copy_catalog(file->fl_session->ss_state, &io, &buffer) : -ENXIO;
	dfr_device_unlock();
	if (!error && io.bytes && copy_to_user(u64_to_user_ptr(io.buffer), buffer, io.bytes))
		error = -EFAULT;
	dfr_plat_free(buffer);
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

#define DFR_AGGSNAP_MAX (256UL * 1024 * 1024)
#define DFR_AGGSNAP_CONFINED (16UL * 1024 * 1024)

static int ioctl_aggsnap(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_aggsnap io;
	size_t room;
	void *buffer;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	room = min_t(u64, io.bytes, file->fl_rights.rt_confined ? DFR_AGGSNAP_CONFINED : DFR_AGGSNAP_MAX);
	buffer = dfr_plat_alloc(max_t(size_t, room, 1));
	if (!buffer)
		return -ENOMEM;
	io.bytes = 0;
	error = dfr_device_lock(file);
	if (!error) {
		error = file->fl_session ? dfr_state_aggsnap(file->fl_session->ss_state, buffer, room,
							     &io.bytes) :
					   -ENXIO;
		dfr_device_unlock();
	}
	if (!error && copy_to_user(u64_to_user_ptr(io.buffer), buffer, min_t(u64, io.bytes, room)))
		error = -EFAULT;
	dfr_plat_free(buffer);
	if (error && error != -ENOSPC)
		return error;
	return dfr_device_copy_out(arg, &io, sizeof(io)) ?: error; /* ENOSPC: bytes says how much */
}

static int ioctl_aggclear(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_aggclear io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (io.remove > 1)
		return -EINVAL;
	error = dfr_device_lock(file);
	if (error)
		return error;
	error = file->fl_session ?
			dfr_state_aggclear(file->fl_session->ss_state, io.varid, io.remove) :
			-ENXIO;
	dfr_device_unlock();
	return error;
}

/* A name is printable and has no space: it stands in lines of text and on command lines. */
static int check_name(const char name[DFR_NAME_MAX])
{
	size_t i, n = strnlen(name, DFR_NAME_MAX);

	if (n == DFR_NAME_MAX)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return -EINVAL;
	return 0;
}

/* The lock is held. */
static int keep_locked(struct dfr_file *file, const char *name)
{
	struct dfr_session *other;

	if (!file->fl_session)
		return -ENXIO;
	if (!name[0])
		return -EINVAL;
	other = dfr_session_find(name);
	if (other && other != file->fl_session)
		return -EEXIST;
	dfr_session_keep(file->fl_session, name, false);
	return 0;
}

/* The lock is held. */
static int claim_locked(struct dfr_file *file, const char *name)
{
	struct dfr_session *session;

	if (file->fl_session)
		return -EBUSY; /* one state a descriptor */
	session = dfr_session_find(name[0] ? name : DFR_ANONYMOUS_NAME);
	if (!session)
		return -ENOENT;
	if (session->ss_owner)
		return -EBUSY; /* one owner at a time */
	session->ss_owner = file;
	dfr_device_set_session(file, session);
	return 0;
}

/* The lock is held. */
static int end_locked(struct dfr_file *file, const char *name)
{
	struct dfr_session *session = dfr_session_find(name[0] ? name : DFR_ANONYMOUS_NAME);

	if (!session)
		return -ENOENT;
	if (session->ss_owner && session->ss_owner != file)
		return -EBUSY;
	if (session->ss_owner)
		dfr_device_set_session(file, NULL);
	dfr_session_destroy(session);
	return 0;
}

static int ioctl_named(struct dfr_file *file, void __user *arg,
		       int (*action)(struct dfr_file *file, const char *name))
{
	struct dfr_ioc_name io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	error = check_name(io.name);
	if (!error)
		error = dfr_device_lock(file);
	if (error)
		return error;
	error = action(file, io.name);
	dfr_device_unlock();
	return error;
}

#define DFR_STATES_TEXT_MAX (64 * 1024)

static int ioctl_states(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_states io;
	size_t room, need;
	char *buffer;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	room = min_t(u64, io.bytes, DFR_STATES_TEXT_MAX);
	buffer = dfr_plat_alloc(room + 1);
	if (!buffer)
		return -ENOMEM;
	error = dfr_device_lock(file);
	if (error) {
		dfr_plat_free(buffer);
		return error;
	}
	need = dfr_session_describe(&file->fl_rights, buffer, room + 1);
	dfr_device_unlock();
	if (copy_to_user(u64_to_user_ptr(io.buffer), buffer, min(need, room)))
		error = -EFAULT;
	else if (need > room)
		error = -ENOSPC;
	dfr_plat_free(buffer);
	io.bytes = need;
	return error == -EFAULT ? error : dfr_device_copy_out(arg, &io, sizeof(io)) ?: error;
}

static int ioctl_option(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_option io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	error = dfr_device_lock(file);
	if (error)
		return error;
	if (file->fl_session)
		io.value = dfr_state_option(file->fl_session->ss_state, io.option);
	else
		error = -ENXIO;
	dfr_device_unlock();
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

/* States that outlive their consumer are not for users without privilege. */
static bool for_the_privileged(unsigned int cmd)
{
	return cmd == DFR_IOC_KEEP || cmd == DFR_IOC_CLAIM || cmd == DFR_IOC_END;
}

static long handle(struct dfr_file *file, unsigned int cmd, void __user *arg)
{
	if (file->fl_rights.rt_confined && for_the_privileged(cmd))
		return -EPERM;
	switch (cmd) {
	case DFR_IOC_INFO:
		return ioctl_info(file, arg);
	case DFR_IOC_ENABLE:
		return ioctl_enable(file, arg);
	case DFR_IOC_GO:
		return ioctl_go(file, arg, dfr_session_go);
	case DFR_IOC_STOP:
		return ioctl_go(file, arg, dfr_session_stop);
	case DFR_IOC_STATUS:
		return ioctl_status(file, arg);
	case DFR_IOC_TAKE:
		return ioctl_take(file, arg);
	case DFR_IOC_RELEASE:
		return ioctl_release(file, arg);
	case DFR_IOC_CATALOG:
		return ioctl_catalog(file, arg);
	case DFR_IOC_AGGSNAP:
		return ioctl_aggsnap(file, arg);
	case DFR_IOC_AGGCLEAR:
		return ioctl_aggclear(file, arg);
	case DFR_IOC_KEEP:
		return ioctl_named(file, arg, keep_locked);
	case DFR_IOC_CLAIM:
		return ioctl_named(file, arg, claim_locked);
	case DFR_IOC_END:
		return ioctl_named(file, arg, end_locked);
	case DFR_IOC_PROBES:
		return dfr_device_probes(file, arg);
	case DFR_IOC_STATES:
		return ioctl_states(file, arg);
	case DFR_IOC_OPTION:
		return ioctl_option(file, arg);
	}
	return -ENOTTY;
}

static long device_ioctl(struct file *filp, unsigned int cmd, unsigned long value)
{
	struct dfr_file *file = filp->private_data;
	long result;

	/* What requests allocate is bounded by how many of them there are. */
	if (file->fl_rights.rt_confined && mutex_lock_killable(&file->fl_busy))
		return -EINTR;
	result = handle(file, cmd, (void __user *)value);
	if (file->fl_rights.rt_confined)
		mutex_unlock(&file->fl_busy);
	WRITE_ONCE(file->fl_words, file->fl_words + 1); /* also of a request that took long */
	return result;
}

#define DESCRIPTORS_PER_USER 16
static LIST_HEAD(confined_files);
static DEFINE_MUTEX(confined_lock);

static int add_confined(struct dfr_file *file)
{
	struct dfr_file *other;
	unsigned int n = 0;

	mutex_lock(&confined_lock);
	list_for_each_entry(other, &confined_files, fl_list)
		n += other->fl_rights.rt_uid == file->fl_rights.rt_uid;
	if (n < DESCRIPTORS_PER_USER)
		list_add(&file->fl_list, &confined_files);
	mutex_unlock(&confined_lock);
	return n < DESCRIPTORS_PER_USER ? 0 : -EDQUOT;
}

static void remove_confined(struct dfr_file *file)
{
	mutex_lock(&confined_lock);
	list_del(&file->fl_list);
	mutex_unlock(&confined_lock);
}

static int device_open(struct inode *inode, struct file *filp)
{
	struct dfr_file *file;
	int error;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	init_waitqueue_head(&file->fl_wait);
	mutex_init(&file->fl_busy);
	mutex_init(&file->fl_map);
	error = dfr_rights_of_current(&file->fl_rights);
	if (!error && file->fl_rights.rt_confined)
		error = add_confined(file);
	if (error) {
		kfree(file);
		return error;
	}
	file->fl_opener = get_pid(task_tgid(current));
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

/* The last descriptor is gone: a held state goes with it, a kept one runs on. The lock is held. */
static void let_go(struct dfr_file *file)
{
	if (file->fl_session && file->fl_session->ss_kept) {
		WRITE_ONCE(file->fl_session->ss_owner, NULL);
		dfr_state_disown(file->fl_session->ss_state);
	} else if (file->fl_session) {
		dfr_session_destroy(file->fl_session);
	}
	put_pid(file->fl_opener);
	kfree_rcu(file, fl_rcu);
}

/* Of tasks that ended while others had the lock: who has it next lets go for them. */
static LLIST_HEAD(orphans);

void dfr_device_reap(void)
{
	struct dfr_file *file, *next;

	if (llist_empty(&orphans))
		return;
	llist_for_each_entry_safe(file, next, llist_del_all(&orphans), fl_orphan)
		let_go(file);
}

/* A task that exits has no signal any more that could end its wait, so it does not wait at all. */
static bool lock_to_let_go(struct dfr_file *file)
{
	if (!(current->flags & PF_EXITING))
		return !dfr_device_lock(file);
	if (!dfr_mutex_trylock(engine_lock()))
		return false;
	dfr_device_reap();
	return true;
}

static int device_release(struct inode *inode, struct file *filp)
{
	struct dfr_file *file = filp->private_data;

	if (file->fl_rights.rt_confined)
		remove_confined(file);
	if (!lock_to_let_go(file)) {
		llist_add(&file->fl_orphan, &orphans);
		dfr_housekeeping_soon();
		return 0;
	}
	let_go(file);
	dfr_device_unlock();
	return 0;
}

static __poll_t device_poll(struct file *filp, poll_table *wait)
{
	struct dfr_file *file = filp->private_data;
	struct dfr_ioc_status status;
	__poll_t events = 0;

	poll_wait(filp, &file->fl_wait, wait);
	if (dfr_device_lock(file))
		return EPOLLERR; /* nobody will look at it: who asks has been killed */
	if (!file->fl_session) {
		events = EPOLLERR;
	} else {
		dfr_state_status(file->fl_session->ss_state, &status);
		if (dfr_state_readable(file->fl_session->ss_state))
			events |= EPOLLIN | EPOLLRDNORM;
		if (status.activity >= DFR_DRAINING)
			events |= EPOLLIN | EPOLLHUP;
	}
	dfr_device_unlock();
	return events;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = dfr_device_mmap,
	.poll = device_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dfr",
	.fops = &device_operations,
	.mode = 0600,
};

int dfr_device_init(void)
{
	device.mode = dfr_unprivileged ? 0666 : 0600;
	return misc_register(&device);
}

void dfr_device_exit(void)
{
	misc_deregister(&device);
}
