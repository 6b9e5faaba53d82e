// SPDX-License-Identifier: GPL-2.0
/*
 * io: block I/O, bio by bio. arg0 and arg1 are both the bio (io.d makes bufinfo_t
 * and devinfo_t from it), arg2 is a struct file, 0 if the bio leads to no file, arg3
 * is the errno in done and wait-done, else 0.
 *
 *   start, done             a bio is given to a device's queue; it is complete
 *   wait-start, wait-done   the current thread starts to wait for its bio; it has waited
 *
 * A bio leads to pages and these to an inode, but not to the file that a process
 * opened. So make_file() makes a struct file for the firing from the inode, one of
 * its names and one mount of its file system. Only a bio of a file system's direct
 * I/O leads to the real struct file (direct_file()).
 *
 * Handlers are probe context.
 */
#include "kmod/providers/events.h"

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/uaccess.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/compat.h"
#include "kmod/linux/linux.h"

enum { START, DONE, WAIT_START, WAIT_DONE, PROBES };
static struct dfr_event_probe probes[PROBES];

/* bi_end_io of most file systems' direct I/O; bi_private then points to a pointer to the kiocb. */
static unsigned long direct_end_io;
static bool mounts_known; /* struct mount has the layout that assumptions.h expects */

/*
 * A word of kernel memory; 0 if it cannot be read. Not dfr_plat_load(), because its check
 * for mapped devices calls functions that may be traced, and this runs before dfr_fire()
 * guards against recursion. What a bio leads to is memory, so the check is not needed.
 */
static u64 load(const void *address)
{
	u64 value;

	if (!dfr_arch_kernel_address((u64)(unsigned long)address))
		return 0;
	__get_kernel_nofault(&value, address, u64, fault);
	return value;
fault:
	return 0;
}

/* The errno of each status. Filled at load, because blk_status_to_errno() may be traced, too. */
#ifdef BLK_STS_INVAL
#define STATUS_LAST ((__force u8)BLK_STS_INVAL)
#else
#define STATUS_LAST ((__force u8)BLK_STS_OFFLINE)
#endif
static u8 errnos[STATUS_LAST + 1];

static void ask_errnos(void)
{
	unsigned int i;

	for (i = 1; i <= STATUS_LAST; i++)
		errnos[i] = (u8)-blk_status_to_errno((__force blk_status_t)i);
}

static u64 errno_of(blk_status_t status)
{
	return (__force u8)status <= STATUS_LAST ? errnos[(__force u8)status] : EIO;
}

/* The inode whose page the bio carries; anonymous memory (direct I/O, swap) has none. */
static struct inode *inode_of(const struct bio *bio)
{
	const struct address_space *mapping;
	struct folio *folio;
	struct page *page;

	if (!bio_has_data((struct bio *)bio) || !bio->bi_io_vec)
		return NULL;
	page = bio->bi_io_vec[0].bv_page;
	folio = page ? page_folio(page) : NULL;
	/* Memory from a slab (a file system's metadata) has the slab's own words where others have a mapping. */
	if (!folio || folio_test_slab(folio))
		return NULL;
	mapping = folio->mapping;
	if (!mapping || ((unsigned long)mapping & DFR_MAPPING_FLAGS))
		return NULL;
	return (struct inode *)load(&mapping->host);
}

/* Some mount of the file system. The list is read without its lock, so the mount is checked to be of `sb`. */
static struct vfsmount *mount_of(const struct super_block *sb)
{
	unsigned long instance = load(DFR_FIRST_MOUNT(sb));
	struct dfr_mount_head *mount = DFR_MOUNT_AT(instance);

	if (!mounts_known || !instance || (struct super_block *)load(&mount->mh_mnt.mnt_sb) != sb)
		return NULL;
	return &mount->mh_mnt;
}

static loff_t position_of(const struct bio_vec *part)
{
	const struct folio *folio = page_folio(part->bv_page);

	return ((loff_t)(folio->index + folio_page_idx(folio, part->bv_page)) << PAGE_SHIFT) +
	       part->bv_offset;
}

static bool make_file(const struct bio *bio, struct file *file)
{
	struct inode *inode = inode_of(bio);
	struct super_block *sb = inode ? (struct super_block *)load(&inode->i_sb) : NULL;
	unsigned long alias;

	if (!sb)
		return false;
	memset(file, 0, sizeof(*file));
	file->f_inode = inode;
	file->f_pos = position_of(&bio->bi_io_vec[0]);
	alias = load(&inode->i_dentry.first);
	if (alias)
		file->DFR_FILE_PATH.dentry =
			container_of((struct hlist_node *)alias, struct dentry, DFR_DENTRY_ALIAS);
	file->DFR_FILE_PATH.mnt = mount_of(sb);
	return true;
}

static u64 direct_file(const struct bio *bio)
{
	const struct kiocb *iocb;

	if (!direct_end_io || (unsigned long)bio->bi_end_io != direct_end_io)
		return 0;
	iocb = (const struct kiocb *)load(bio->bi_private);
	return iocb ? load(&iocb->ki_filp) : 0;
}

static void fire(int which, struct bio *bio, blk_status_t status)
{
	u64 args[4] = { (u64)bio, (u64)bio, 0, 0 };
	struct file file;

	if (!READ_ONCE(probes[which].ep_armed))
		return;
	args[2] = direct_file(bio);
	if (!args[2] && make_file(bio, &file))
		args[2] = (u64)(unsigned long)&file;
	args[3] = errno_of(status);
	dfr_event_fire(&probes[which], args, ARRAY_SIZE(args), NULL);
}

static void on_queue(void *data, struct bio *bio)
{
	fire(START, bio, 0);
}

static void on_complete(void *data, struct request_queue *queue, struct bio *bio)
{
	fire(DONE, bio, bio->bi_status);
}

/*
 * `bytes` more bytes of a request's bios are complete: each bio that this finishes
 * fires "done". A flush has a bio of 0 bytes, which a completion of 0 bytes finishes.
 */
static void on_request_complete(void *data, struct request *request, blk_status_t status, unsigned int bytes)
{
	struct bio *bio;

	for (bio = request->bio; bio && bio->bi_iter.bi_size <= bytes; bio = bio->bi_next) {
		bytes -= bio->bi_iter.bi_size;
		fire(DONE, bio, status);
		if (!bytes)
			break;
	}
}

static void on_wait(struct dfr_hook *hook, struct pt_regs *regs)
{
	u64 args[DFR_FUNCTION_ARGS];

	dfr_arch_function_args(regs, args);
	fire(WAIT_START, (struct bio *)args[0], 0);
	if (READ_ONCE(probes[WAIT_DONE].ep_armed))
		dfr_hook_return(hook, (void *)args[0], regs, &probes[WAIT_DONE].ep_probe);
}

static void on_waited(void *cookie, struct pt_regs *regs)
{
	struct bio *bio = cookie;

	fire(WAIT_DONE, bio, bio->bi_status);
}

static struct dfr_tracepoint tp_queue = { .tp_name = "block_bio_queue",
					  .tp_probe = DFR_HANDLER(block_bio_queue, on_queue) };
static struct dfr_tracepoint tp_complete = { .tp_name = "block_bio_complete",
					     .tp_probe = DFR_HANDLER(block_bio_complete, on_complete) };
static struct dfr_tracepoint tp_request = { .tp_name = "block_rq_complete",
					    .tp_probe = DFR_HANDLER(block_rq_complete, on_request_complete) };
static const char *const wait_names[] = { "submit_bio_wait", NULL };
static struct dfr_hook hook_wait = {
	.ho_names = wait_names,
	.ho_enter = on_wait,
	.ho_return = on_waited,
};

static struct dfr_event_probe probes[PROBES] = {
	[START] = { .ep_name = "start", .ep_nargs = 4, .ep_points = { &tp_queue } },
	[DONE] = { .ep_name = "done", .ep_nargs = 4, .ep_points = { &tp_complete, &tp_request } },
	[WAIT_START] = { .ep_name = "wait-start", .ep_nargs = 4, .ep_hooks = { &hook_wait } },
	[WAIT_DONE] = { .ep_name = "wait-done",
			.ep_nargs = 4,
			.ep_returns = true,
			.ep_hooks = { &hook_wait } },
};

static struct dfr_events io = {
	.ev_name = "io",
	.ev_module = "vmlinux",
	.ev_probes = probes,
	.ev_count = PROBES,
};

int dfr_io_init(void)
{
	ask_errnos();
	mounts_known = dfr_part_works(DFR_PART_MOUNTS);
	direct_end_io = dfr_kernel(iomap_dio_bio_end_io);
	return dfr_events_init(&io);
}

void dfr_io_exit(void)
{
	dfr_events_exit(&io);
}
