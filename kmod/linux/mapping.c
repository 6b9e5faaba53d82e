// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping blocks into a reader: block n of CPU c stands at DFR_MAP_OFFSET(c, n),
 * each block in a slot of the largest block's size. A mapping may span several
 * slots; where a slot has no block, or beyond a smaller block's end, it has a
 * hole (SIGBUS). Read-only for ever: the kernel never reads what user space
 * could have written.
 *
 * Pages are put in at once, by reference: if the state ends first, they live
 * until the mapping goes. Process context; mmap_lock is held, then the engine's.
 */
#include "kmod/linux/compat.h"
#include "kmod/linux/device.h"

#include <linux/fs.h>
#include <linux/vmalloc.h>

#define SLOT_SHIFT 18
#define CPU_SHIFT 40

static struct page *page_of(const void *p)
{
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

/* The part of one block that lies in [from, from + room) of its slot. */
static int map_block(struct vm_area_struct *vma, unsigned long address, const u8 *block, u32 size,
		     u32 from, unsigned long room)
{
	u32 at;
	int error;

	for (at = from; at < size && at - from < room; at += PAGE_SIZE) {
		error = vm_insert_page(vma, address + (at - from), page_of(block + at));
		if (error)
			return error;
	}
	return 0;
}

/* The lock is held. -ENOENT: there is no block at all in the range. */
static int map_range(struct dfr_state *state, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	unsigned long address = vma->vm_start;
	u32 size = dfr_state_block_size(state);
	bool any = false;

	while (address < vma->vm_end) {
		u32 within = offset & ((1U << SLOT_SHIFT) - 1);
		unsigned long room = min_t(unsigned long, vma->vm_end - address,
					   (1UL << SLOT_SHIFT) - within);
		u32 cpu = offset >> CPU_SHIFT;
		u32 n = (offset >> SLOT_SHIFT) & ((1U << (CPU_SHIFT - SLOT_SHIFT)) - 1);
		const struct dfr_block *block = NULL;
		int error;

		if (offset >> CPU_SHIFT < dfr_plat_ncpus())
			block = dfr_state_block(state, cpu, n);
		if (block) {
			error = map_block(vma, address, (const u8 *)block, size, within, room);
			if (error)
				return error;
			any = true;
		}
		address += room;
		offset += room;
	}
	return any ? 0 : -ENOENT;
}

int dfr_device_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct dfr_mutex *lock = dfr_engine_lock(dfr_engine_instance);
	struct dfr_file *file = filp->private_data;
	int error = -ENXIO;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	dfr_vma_lock_down(vma);
	dfr_mutex_lock(lock);
	if (file->fl_session)
		error = map_range(file->fl_session->ss_state, vma);
	dfr_mutex_unlock(lock);
	return error;
}
