// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/dfr: the control interface of formats/abi/control.h. A descriptor has at most one holding.
 * Its requests are handled one by one (fl_busy), so that the holding does not change during one.
 * Every structure is copied in once, checked, worked on as a kernel copy and copied out. No user
 * memory is touched under the engine's lock, because a fault there may wait for a file system. Only
 * enable, go and keep take that lock, so reading, listing and stopping do not wait for a task that
 * arms. Process context; kmod/LOCKS.md says which lock is inside which.
 *
 * Mapping is in mapping.c, probe listing in listing.c.
 */
#include "kmod/linux/device.h"

#include <linux/fs.h>
#include <linux/hrtimer.h>
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

/*
 * Takes the engine's lock. Its holder may be arming for seconds, so a task that is killed stops
 * waiting: -EINTR, and nothing has changed. Whoever gets the lock also does what others have left
 * undone because it was taken.
 */
static noinline int __must_check dfr_device_lock(void)
{
	if (dfr_mutex_lock_killable(engine_lock()))
		return -EINTR;
	dfr_holdings_settle();
	return 0;
}

static void dfr_device_unlock(void)
{
	dfr_mutex_unlock(engine_lock());
	dfr_hotplug_settle(false);
}

static void say_something(struct dfr_file *file)
{
	WRITE_ONCE(file->fl_words, file->fl_words + 1);
}

void dfr_device_set_holding(struct dfr_file *file, struct dfr_holding *holding)
{
	mutex_lock(&file->fl_map);
	if (holding != file->fl_holding)
		WRITE_ONCE(file->fl_triggers, 0);
	file->fl_holding = holding;
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

static bool count_probe(const struct dfr_probe *probe, void *count)
{
	++*(u32 *)count;
	return true;
}

/* A user without privilege is told of those that he may have: the others tell what somebody else traces. */
static u32 count_probes(const struct dfr_file *file)
{
	static const char *const any[4] = { "", "", "", "" };
	u32 count = 0;

	if (!file->fl_rights.rt_confined)
		return dfr_probe_count(dfr_engine_instance);
	dfr_probes_match(dfr_engine_instance, any, 0, true, count_probe, &count);
	return count;
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
	/* To ask it, the kernel compiles a program, which interrupts all CPUs; confined programs are interpreted. */
	if (!file->fl_rights.rt_confined && dfr_jit_works())
		info.flags |= DFR_INFO_JIT;
	if (file->fl_rights.rt_confined)
		info.flags |= DFR_INFO_CONFINED;
	memcpy(info.boot_id, dfr_plat_boot_id(), sizeof(info.boot_id));
	info.probes = count_probes(file);
	info.states = dfr_holding_count(&file->fl_rights);
	if (!file->fl_rights.rt_confined && dfr_holding_known(DFR_ANONYMOUS_NAME))
		info.flags |= DFR_INFO_ANONYMOUS;
	return dfr_device_copy_out(arg, &info, sizeof(info));
}

/* The engine's lock is held. The state owns the program if there is no error. */
static int enable_locked(struct dfr_file *file, struct dfr_program *program, struct dfr_ioc_enable *io,
			 struct dfr_refusal *why)
{
	struct dfr_holding *holding = file->fl_holding;
	int error;

	if (!holding) {
		error = dfr_holding_create(&file->fl_rights, file, &holding);
		if (error)
			return error;
	}
	error = dfr_state_add(holding->hd_state, program, io->flags, &io->matched, why);
	if (error && !file->fl_holding)
		dfr_holding_destroy(holding); /* the first program makes the state, or nothing does */
	else if (!file->fl_holding)	      /* a mapping of one that is there keeps fl_map for seconds */
		dfr_device_set_holding(file, holding);
	return error;
}

void *dfr_device_buffer(struct dfr_file *file, size_t size)
{
	file->fl_buffer =
		file->fl_rights.rt_confined ? dfr_plat_alloc(size) : dfr_request_alloc(size, &file->fl_lent);
	return file->fl_buffer;
}

static void free_buffer(struct dfr_file *file)
{
	dfr_request_free(file->fl_buffer, file->fl_lent);
	file->fl_buffer = NULL;
	file->fl_lent = 0;
}

/* A copy of what a request points to, in its buffer, or an error as a pointer. */
static void *copy_array_in(struct dfr_file *file, u64 from, size_t size)
{
	void *copy = dfr_device_buffer(file, size);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	return copy_from_user(copy, u64_to_user_ptr(from), size) ? ERR_PTR(-EFAULT) : copy;
}

static int load_program(struct dfr_file *file, const struct dfr_ioc_enable *io, struct dfr_program **program,
			struct dfr_refusal *why)
{
	void *dof = copy_array_in(file, io->dof, io->dof_size);
	int error;

	if (IS_ERR(dof))
		return PTR_ERR(dof);
	error = dfr_holding_load(&file->fl_rights, dof, io->dof_size, program, why);
	free_buffer(file); /* it may be large, and this may wait for the engine's lock now */
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
		error = dfr_device_lock();
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

static int start(struct dfr_holding *holding, u32 *cpu)
{
	int error = dfr_device_lock();

	if (error)
		return error;
	error = dfr_holding_go(holding, cpu);
	dfr_device_unlock();
	dfr_hotplug_settle(true); /* what he who asks does from here on is recorded, wherever he runs */
	return error;
}

static int ioctl_go(struct dfr_file *file, void __user *arg,
		    int (*action)(struct dfr_holding *holding, u32 *cpu))
{
	struct dfr_ioc_go io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	/*
	 * A confined state's BEGIN and END run in the task that asks, so it must be one of the
	 * user's own.
	 */
	if (file->fl_rights.rt_confined &&
	    !dfr_plat_owned(NULL, file->fl_rights.rt_uid, file->fl_rights.rt_gid))
		return -EPERM;
	error = file->fl_holding ? action(file->fl_holding, &io.cpu) : -ENXIO;
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
	if (file->fl_holding)
		dfr_state_status(file->fl_holding->hd_state, &io);
	else
		error = -ENXIO;
	io.size = size;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

/* Most blocks that one call may take or release. This bounds the copy; a consumer may call again. */
#define DFR_TAKE_MAX 4096

static int ioctl_take(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_taken *taken;
	struct dfr_ioc_take io;
	bool left = false;
	u32 count = 0;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if ((io.flags && io.flags != DFR_TAKE_FLUSH && io.flags != DFR_TAKE_ORPHANS) || !io.count)
		return -EINVAL;
	if (io.cpu != DFR_ALL_CPUS && io.cpu >= dfr_plat_ncpus())
		return -EINVAL;
	io.count = min_t(u32, io.count, DFR_TAKE_MAX);
	taken = dfr_device_buffer(file, io.count * sizeof(*taken));
	if (!taken)
		return -ENOMEM;
	error = file->fl_holding ? dfr_state_take(file->fl_holding->hd_state, io.cpu, io.flags, taken,
						  io.count, &count, &left)
				 : -ENXIO;
	if (!error && copy_to_user(u64_to_user_ptr(io.taken), taken, count * sizeof(*taken)))
		error = -EFAULT;
	io.count = count;
	io.flags |= left ? DFR_TAKE_LEFT : 0;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

static int release_blocks(struct dfr_file *file, const struct dfr_ioc_taken *taken, u32 count)
{
	int error = file->fl_holding ? 0 : -ENXIO;
	u32 i;

	for (i = 0; i < count && !error; i++)
		error = taken[i].cpu >= dfr_plat_ncpus()
				? -EINVAL
				: dfr_state_release(file->fl_holding->hd_state, taken[i].cpu, taken[i].block,
						    taken[i].seq);
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
	taken = copy_array_in(file, io.taken, io.count * sizeof(*taken));
	if (IS_ERR(taken))
		return PTR_ERR(taken);
	return release_blocks(file, taken, io.count);
}

#define DFR_CATALOG_COPY_MAX (1024 * 1024)

/* The buffer is only as large as what is new, because most calls find little or nothing. */
static int copy_catalog(struct dfr_file *file, struct dfr_ioc_catalog *io)
{
	struct dfr_state *state = file->fl_holding->hd_state;
	u64 room = min_t(u64, io->bytes, DFR_CATALOG_COPY_MAX);
	void *buffer;

	io->bytes = dfr_state_catalog(state, io->offset, NULL, 0, &io->committed);
	if (!room || io->offset >= io->committed)
		return 0;
	room = min(room, io->committed - io->offset);
	buffer = dfr_device_buffer(file, room);
	if (!buffer)
		return -ENOMEM;
	io->bytes = dfr_state_catalog(state, io->offset, buffer, room, &io->committed);
	return copy_to_user(u64_to_user_ptr(io->buffer), buffer, io->bytes) ? -EFAULT : 0;
}

static int ioctl_catalog(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_catalog io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	error = file->fl_holding ? copy_catalog(file, &io) : -ENXIO;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

#define DFR_AGGSNAP_CONFINED (16UL * 1024 * 1024)

/* The buffer is not larger than the table, whatever the request says. */
static int ioctl_aggsnap(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_aggsnap io;
	struct dfr_state *state;
	size_t room;
	void *buffer;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!file->fl_holding)
		return -ENXIO;
	state = file->fl_holding->hd_state;
	room = min_t(u64, io.bytes, dfr_state_aggsnap_most(state));
	if (file->fl_rights.rt_confined)
		room = min(room, DFR_AGGSNAP_CONFINED);
	buffer = dfr_device_buffer(file, max_t(size_t, room, 1));
	if (!buffer)
		return -ENOMEM;
	error = dfr_state_aggsnap(state, buffer, room, &io.bytes, file->fl_views);
	if (!error && copy_to_user(u64_to_user_ptr(io.buffer), buffer, min_t(u64, io.bytes, room)))
		error = -EFAULT;
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
	return file->fl_holding ? dfr_state_aggclear(file->fl_holding->hd_state, io.varid, io.remove)
				: -ENXIO;
}

/* A name must be printable and without spaces, because it is used in lines of text and on command lines. */
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

static int keep(struct dfr_file *file, const char *name)
{
	int error;

	if (!file->fl_holding)
		return -ENXIO;
	if (!name[0])
		return -EINVAL;
	error = dfr_device_lock();
	if (error)
		return error;
	error = dfr_holding_keep(file->fl_holding, name, false);
	dfr_device_unlock();
	return error;
}

static int view(struct dfr_file *file, const char *name)
{
	struct dfr_holding *holding;
	int error;

	if (file->fl_holding)
		return -EBUSY;
	error = dfr_holding_view(file, name[0] ? name : DFR_ANONYMOUS_NAME, &holding);
	if (error)
		return error;
	file->fl_views = true;
	dfr_device_set_holding(file, holding);
	return 0;
}

static int claim(struct dfr_file *file, const char *name)
{
	struct dfr_holding *holding;
	int error;

	if (file->fl_holding)
		return -EBUSY; /* one state a descriptor */
	error = dfr_holding_claim(file, name[0] ? name : DFR_ANONYMOUS_NAME, &holding);
	if (!error)
		dfr_device_set_holding(file, holding);
	return error;
}

static int end(struct dfr_file *file, const char *name)
{
	return dfr_holding_end(file, name[0] ? name : DFR_ANONYMOUS_NAME);
}

static int ioctl_named(struct dfr_file *file, void __user *arg,
		       int (*action)(struct dfr_file *file, const char *name))
{
	struct dfr_ioc_name io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	return check_name(io.name) ?: action(file, io.name);
}

#define DFR_STATES_TEXT_MAX (1024 * 1024) /* of some 40,000 states */

static int ioctl_states(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_states io;
	size_t room, need;
	char *buffer;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	room = min_t(u64, io.bytes, DFR_STATES_TEXT_MAX);
	buffer = dfr_device_buffer(file, room + 1);
	if (!buffer)
		return -ENOMEM;
	need = dfr_holding_describe(&file->fl_rights, buffer, room + 1);
	if (copy_to_user(u64_to_user_ptr(io.buffer), buffer, min(need, room)))
		error = -EFAULT;
	else if (need > room)
		error = -ENOSPC;
	io.bytes = need;
	return error == -EFAULT ? error : dfr_device_copy_out(arg, &io, sizeof(io)) ?: error;
}

static int ioctl_option(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_option io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!file->fl_holding)
		return -ENXIO;
	io.value = dfr_state_option(file->fl_holding->hd_state, io.option);
	return dfr_device_copy_out(arg, &io, sizeof(io));
}

static int ioctl_room(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_room io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!file->fl_holding)
		return -ENXIO;
	dfr_state_room(file->fl_holding->hd_state, &io.wanted, &io.left);
	return dfr_device_copy_out(arg, &io, sizeof(io));
}

/* So many blocks are listed by one call. */
#define DFR_SEEN_MAX 4096

static int ioctl_blocks(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_seen *seen;
	struct dfr_ioc_blocks io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!file->fl_holding || !smp_load_acquire(&file->fl_holding->hd_started))
		return -ENXIO;
	if (!io.count || io.cpu >= dfr_plat_ncpus())
		return -EINVAL;
	io.count = min_t(u32, io.count, DFR_SEEN_MAX);
	seen = dfr_device_buffer(file, io.count * sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	dfr_state_blocks(file->fl_holding->hd_state, &io, seen);
	if (copy_to_user(u64_to_user_ptr(io.seen), seen, io.count * sizeof(*seen)))
		error = -EFAULT;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

static int ioctl_triggers(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_trigger *triggers;
	struct dfr_ioc_triggers io;
	u64 seen = 0;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!file->fl_holding || !smp_load_acquire(&file->fl_holding->hd_started))
		return -ENXIO;
	io.count = min_t(u32, io.count, DFR_REASONS_MAX + 1);
	triggers = dfr_device_buffer(file, (io.count + 1) * sizeof(*triggers));
	if (!triggers)
		return -ENOMEM;
	error = dfr_state_triggers(file->fl_holding->hd_state, &io, triggers, &seen);
	if (!error && copy_to_user(u64_to_user_ptr(io.triggers), triggers, io.count * sizeof(*triggers)))
		error = -EFAULT;
	if (error && error != -ENOSPC)
		return error;
	if (!error)
		WRITE_ONCE(file->fl_triggers, seen);
	return dfr_device_copy_out(arg, &io, sizeof(io)) ?: error; /* ENOSPC: count says how many */
}

static int ioctl_cost(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_cpu_cost *costs;
	struct dfr_ioc_cost io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	if (error)
		return error;
	if (!file->fl_holding || !smp_load_acquire(&file->fl_holding->hd_started))
		return -ENXIO;
	if (!io.count || io.cpu >= dfr_plat_ncpus())
		return -EINVAL;
	io.count = min_t(u32, io.count, dfr_plat_ncpus());
	costs = dfr_device_buffer(file, io.count * sizeof(*costs));
	if (!costs)
		return -ENOMEM;
	dfr_state_cost(file->fl_holding->hd_state, &io, costs);
	if (copy_to_user(u64_to_user_ptr(io.costs), costs, io.count * sizeof(*costs)))
		error = -EFAULT;
	return error ?: dfr_device_copy_out(arg, &io, sizeof(io));
}

/* Lines of printable characters, of any language: what a terminal would obey is refused. */
static int check_mark(const char text[DFR_MARK_MAX])
{
	size_t i, n = strnlen(text, DFR_MARK_MAX);

	if (!n || n == DFR_MARK_MAX)
		return -EINVAL;
	for (i = 0; i < n; i++)
		if ((u8)text[i] < ' ' || text[i] == 0x7f)
			return -EINVAL;
	return 0;
}

static int ioctl_mark(struct dfr_file *file, void __user *arg)
{
	struct dfr_ioc_mark io;
	int error = dfr_device_copy_in(&io, sizeof(io), arg);

	error = error ?: check_mark(io.text);
	if (error)
		return error;
	io.time = dfr_plat_clock(NULL);
	error = dfr_holding_mark(io.text, io.time, &io.states);
	return dfr_device_copy_out(arg, &io, sizeof(io)) ?: error; /* of some: states says how many have it */
}

/* Users without privilege may have no states that outlive their consumer, and nothing to do with those of others. */
static bool for_the_privileged(unsigned int cmd)
{
	return cmd == DFR_IOC_KEEP || cmd == DFR_IOC_CLAIM || cmd == DFR_IOC_END || cmd == DFR_IOC_VIEW ||
	       cmd == DFR_IOC_MARK;
}

/* Of a holding that a descriptor only looks at. */
static bool changes_holding(unsigned int cmd)
{
	return cmd == DFR_IOC_ENABLE || cmd == DFR_IOC_GO || cmd == DFR_IOC_STOP || cmd == DFR_IOC_TAKE ||
	       cmd == DFR_IOC_RELEASE || cmd == DFR_IOC_AGGCLEAR || cmd == DFR_IOC_KEEP;
}

/* These look at each CPU, there: they interrupt all of them, at the cost of whoever runs. */
static bool interrupts_cpus(unsigned int cmd)
{
	return cmd == DFR_IOC_TAKE || cmd == DFR_IOC_BLOCKS || cmd == DFR_IOC_COST || cmd == DFR_IOC_AGGSNAP;
}

/* So a descriptor of a user without privilege makes one such request a millisecond at most. -EINTR: killed meanwhile. */
static int rest(struct dfr_file *file)
{
	while (ktime_before(ktime_get(), file->fl_rests)) {
		set_current_state(TASK_KILLABLE);
		schedule_hrtimeout(&file->fl_rests, HRTIMER_MODE_ABS);
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	file->fl_rests = ktime_add_us(ktime_get(), USEC_PER_MSEC);
	return 0;
}

static long handle(struct dfr_file *file, unsigned int cmd, void __user *arg)
{
	if (file->fl_rights.rt_confined && for_the_privileged(cmd))
		return -EPERM;
	if (file->fl_views && changes_holding(cmd))
		return -EBADF;
	if (file->fl_rights.rt_confined && interrupts_cpus(cmd) && rest(file))
		return -EINTR;
	switch (cmd) {
	case DFR_IOC_INFO: return ioctl_info(file, arg);
	case DFR_IOC_ENABLE: return ioctl_enable(file, arg);
	case DFR_IOC_GO: return ioctl_go(file, arg, start);
	case DFR_IOC_STOP: return ioctl_go(file, arg, dfr_holding_stop);
	case DFR_IOC_STATUS: return ioctl_status(file, arg);
	case DFR_IOC_TAKE: return ioctl_take(file, arg);
	case DFR_IOC_RELEASE: return ioctl_release(file, arg);
	case DFR_IOC_CATALOG: return ioctl_catalog(file, arg);
	case DFR_IOC_AGGSNAP: return ioctl_aggsnap(file, arg);
	case DFR_IOC_AGGCLEAR: return ioctl_aggclear(file, arg);
	case DFR_IOC_KEEP: return ioctl_named(file, arg, keep);
	case DFR_IOC_CLAIM: return ioctl_named(file, arg, claim);
	case DFR_IOC_END: return ioctl_named(file, arg, end);
	case DFR_IOC_PROBES: return dfr_device_probes(file, arg);
	case DFR_IOC_STATES: return ioctl_states(file, arg);
	case DFR_IOC_OPTION: return ioctl_option(file, arg);
	case DFR_IOC_VIEW: return ioctl_named(file, arg, view);
	case DFR_IOC_BLOCKS: return ioctl_blocks(file, arg);
	case DFR_IOC_MARK: return ioctl_mark(file, arg);
	case DFR_IOC_TRIGGERS: return ioctl_triggers(file, arg);
	case DFR_IOC_COST: return ioctl_cost(file, arg);
	case DFR_IOC_ROOM: return ioctl_room(file, arg);
	}
	return -ENOTTY;
}

static long device_ioctl(struct file *filp, unsigned int cmd, unsigned long value)
{
	struct dfr_file *file = filp->private_data;
	long result;

	say_something(file);
	/* One request of a descriptor at a time, which also bounds what requests allocate. */
	if (mutex_lock_killable(&file->fl_busy))
		return -EINTR;
	result = handle(file, cmd, (void __user *)value);
	free_buffer(file);
	mutex_unlock(&file->fl_busy);
	say_something(file); /* also of a request that took long */
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
	list_for_each_entry (other, &confined_files, fl_list)
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

	file = kzalloc(sizeof(*file), DFR_GFP);
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

/*
 * The last reference to the descriptor is gone. An exiting task gets no signal that could end a
 * wait, so this must not wait for a task that arms.
 */
static int device_release(struct inode *inode, struct file *filp)
{
	struct dfr_file *file = filp->private_data;

	if (file->fl_rights.rt_confined)
		remove_confined(file);
	if (file->fl_views)
		dfr_holding_unview(file);
	else if (file->fl_holding)
		dfr_holding_let_go(file->fl_holding);
	put_pid(file->fl_opener);
	kfree_rcu(file, fl_rcu);
	return 0;
}

static bool has_triggers(const struct dfr_file *file, const struct dfr_state *state)
{
	return dfr_state_triggered(state) > READ_ONCE(file->fl_triggers);
}

/* fl_map is held. A state that has not started has no rings yet. */
static __poll_t events_of(const struct dfr_file *file, __poll_t wanted)
{
	const struct dfr_holding *holding = file->fl_holding;
	__poll_t events = 0;

	if (!holding)
		return EPOLLERR;
	if (smp_load_acquire(&holding->hd_started)) {
		if (dfr_state_readable(holding->hd_state))
			events |= EPOLLIN | EPOLLRDNORM;
		if (wanted & EPOLLPRI && !has_triggers(file, holding->hd_state))
			dfr_state_await_trigger(holding->hd_state);
		if (wanted & EPOLLPRI && has_triggers(file, holding->hd_state))
			events |= EPOLLPRI;
	}
	if (dfr_state_activity(holding->hd_state) >= DFR_DRAINING)
		events |= EPOLLIN | EPOLLHUP;
	return events;
}

static __poll_t device_poll(struct file *filp, poll_table *wait)
{
	struct dfr_file *file = filp->private_data;
	__poll_t events;

	say_something(file);
	poll_wait(filp, &file->fl_wait, wait);
	mutex_lock(&file->fl_map);
	events = events_of(file, poll_requested_events(wait));
	mutex_unlock(&file->fl_map);
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
