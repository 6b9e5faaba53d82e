// SPDX-License-Identifier: GPL-2.0
/*
 * Mapping blocks into a reader: block n of CPU c is at DFR_MAP_OFFSET(c, n), each block in a slot of
 * the largest block's size. A mapping may span several slots; a slot without a block, and the rest
 * of a slot behind a smaller block, is a hole (SIGBUS). Mappings are read-only for good, so user
 * space cannot write what the kernel reads.
 *
 * mmap() inserts the pages of blocks that exist; a fault inserts those of blocks that the ring gets
 * later. Each inserted page is referenced, so if the state ends first, its pages live until the
 * mapping goes. Process context; mmap_lock is held.
 *
 * The engine's lock is not taken, because its holders wait for locks whose holders wait for
 * mmap_lock (kmod/LOCKS.md). fl_map keeps the holding in place. The ring of a started state only
 * grows, so the number of a block stays valid as long as the state lives.
 */
#include "kmod/linux/compat.h"
#include "kmod/linux/device.h"

#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#define SLOT_SHIFT 18
#define CPU_SHIFT  40

/*
 * More than any ring has. A larger range is refused, because walking terabytes of holes would hold
 * mmap_lock for long.
 */
#define MAPPED_MAX (1ULL << 36)

static struct page *page_of(const void *p)
{
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

/*
 * Reserved memory belongs to no kernel, so it need not have a struct page, and nothing keeps what is mapped of it:
 * who still has a mapping when the state has ended sees what is recorded there next. Only the privileged have one.
 */
static int map_page(struct vm_area_struct *vma, unsigned long address, const u8 *p)
{
	vm_fault_t fault;

	if (!dfr_reserved_has(p))
		return vm_insert_page(vma, address, page_of(p));
	fault = vmf_insert_pfn(vma, address, dfr_reserved_pfn(p));
	return fault == VM_FAULT_NOPAGE ? 0 : -ENOMEM;
}

/* Inserts the pages of one block from offset `from` in its slot, at most `room` bytes. */
static int map_block(struct vm_area_struct *vma, unsigned long address, const u8 *block, u32 size, u32 from,
		     unsigned long room)
{
	u32 at;
	int error;

	for (at = from; at < size && at - from < room; at += PAGE_SIZE) {
		error = map_page(vma, address + (at - from), block + at);
		if (error)
			return error;
	}
	return 0;
}

struct place {
	u32 pl_cpu;
	u32 pl_block;
	u32 pl_within; /* its slot */
};

static struct place place_of(u64 offset)
{
	struct place place = {
		.pl_cpu = offset >> CPU_SHIFT,
		.pl_block = (offset >> SLOT_SHIFT) & ((1U << (CPU_SHIFT - SLOT_SHIFT)) - 1),
		.pl_within = offset & ((1U << SLOT_SHIFT) - 1),
	};

	return place;
}

static const u8 *block_at(const struct dfr_state *state, const struct place *place)
{
	if (place->pl_cpu >= dfr_plat_ncpus())
		return NULL;
	return (const u8 *)dfr_state_block(state, place->pl_cpu, place->pl_block);
}

/* fl_map is held. -ENOENT: the range has no block at all. */
static int map_range(const struct dfr_state *state, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	unsigned long address = vma->vm_start;
	u32 size = dfr_state_block_size(state);
	bool any = false;

	while (address < vma->vm_end) {
		struct place place = place_of(offset);
		unsigned long room =
			min_t(unsigned long, vma->vm_end - address, (1UL << SLOT_SHIFT) - place.pl_within);
		const u8 *block = block_at(state, &place);
		int error;

		if (fatal_signal_pending(current))
			return -EINTR;
		if (block) {
			error = map_block(vma, address, block, size, place.pl_within, room);
			if (error)
				return error;
			any = true;
		}
		address += room;
		offset += room;
		cond_resched();
	}
	return any ? 0 : -ENOENT;
}

/* fl_map is held. NULL: the state has no blocks, or there is no state. */
static const struct dfr_state *mapped_state(const struct dfr_holding *holding)
{
	return holding && smp_load_acquire(&holding->hd_started) ? holding->hd_state : NULL;
}

/* fl_map is held. */
static const u8 *byte_at(const struct dfr_state *state, u64 offset)
{
	struct place place = place_of(offset);
	const u8 *block = state ? block_at(state, &place) : NULL;

	if (!block || place.pl_within >= dfr_state_block_size(state))
		return NULL;
	return block + place.pl_within;
}

static vm_fault_t on_fault(struct vm_fault *fault)
{
	struct dfr_file *file = fault->vma->vm_file->private_data;
	vm_fault_t result = VM_FAULT_SIGBUS;
	const u8 *p;

	mutex_lock(&file->fl_map);
	p = byte_at(mapped_state(file->fl_holding), (u64)fault->pgoff << PAGE_SHIFT);
	/* Else the mapping is of a state that has ended. The kernel allows only one kind of pages in each. */
	if (p && dfr_reserved_has(p) != !!(fault->vma->vm_flags & VM_PFNMAP))
		p = NULL;
	if (p && dfr_reserved_has(p)) {
		result = vmf_insert_pfn(fault->vma, fault->address, dfr_reserved_pfn(p));
	} else if (p) {
		fault->page = page_of(p);
		get_page(fault->page);
		result = 0;
	}
	mutex_unlock(&file->fl_map);
	return result;
}

static const struct vm_operations_struct operations = {
	.fault = on_fault,
};

int dfr_device_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct dfr_file *file = filp->private_data;
	const struct dfr_state *state;
	int error = -ENXIO;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	if (vma->vm_end - vma->vm_start > MAPPED_MAX)
		return -EINVAL;
	/* It stays read-only, and is not inherited, grown or dumped. */
	dfr_vma_flags(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP, VM_MAYWRITE);
	vma->vm_ops = &operations;
	mutex_lock(&file->fl_map);
	state = mapped_state(file->fl_holding);
	if (state && dfr_state_option(state, DFR_OPT_MEMORY) == DFR_MEMORY_RESERVED)
		dfr_vma_flags(vma, VM_PFNMAP, 0); /* no struct page of these counts who uses it */
	if (file->fl_holding)
		error = state ? map_range(state, vma) : -ENOENT;
	mutex_unlock(&file->fl_map);
	return error;
}
