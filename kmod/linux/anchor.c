// SPDX-License-Identifier: GPL-2.0
/*
 * Anchors (formats/abi/anchor.h): pages that let a dead machine's memory be read without symbols or
 * page tables. They are written and erased in process context, but for the panic's (panic_record.c).
 */
#include "kmod/linux/linux.h"

#include "formats/abi/anchor.h"

#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

/* An anchor on its two pages, and the state that it belongs to. */
struct anchor {
	struct list_head an_list;
	const struct dfr_state *an_state;
	struct dfr_anchor *an_page;
	struct dfr_anchor *an_copy;
};

static LIST_HEAD(anchors);
static DEFINE_MUTEX(anchors_lock); /* of the list and of generation; innermost */
static u64 generation;
static u64 load; /* formats/abi/anchor.h says why nobody is to see it */

void dfr_anchor_init(void)
{
	load = dfr_plat_secret();
}

/*
 * The key is hidden from the compiler, which would otherwise put the finished magic into the
 * module's code, where a scanner would take it for an anchor.
 */
static void write_magic(u64 magic[4])
{
	u64 key = DFR_ANCHOR_KEY;

	OPTIMIZER_HIDE_VAR(key);
	magic[0] = DFR_ANCHOR_WORD0 ^ key;
	magic[1] = DFR_ANCHOR_WORD1 ^ key;
	magic[2] = DFR_ANCHOR_WORD2 ^ key;
	magic[3] = DFR_ANCHOR_WORD3 ^ key;
}

/* Not of vmalloc()'s memory: to look that up must not come into a panic's path. */
static u64 direct_pfn(const void *p)
{
	return dfr_reserved_has(p) ? dfr_reserved_pfn(p) : virt_to_phys((void *)p) >> PAGE_SHIFT;
}

/* Scanners ignore a page with a wrong checksum, so only the checksum must be stored last. */
void dfr_anchor_publish(struct dfr_anchor *page, u64 of)
{
	page->self_pfn = direct_pfn(page);
	memcpy(page->boot_id, dfr_plat_boot_id(), sizeof(page->boot_id));
	page->generation = of;
	page->load = load;
	page->checksum = 0;
	write_magic(page->magic);
	smp_store_release(&page->checksum, ~dfr_plat_crc32c(~0u, page, PAGE_SIZE));
}

static u64 pfn_of(const void *p)
{
	return is_vmalloc_addr(p) && !dfr_reserved_has(p) ? vmalloc_to_pfn(p) : direct_pfn(p);
}

/* Lists pages from `p` on until the anchor is full; returns how many it has listed. */
static size_t list_pages(struct dfr_anchor *page, const u8 *p, size_t pages, size_t unit)
{
	struct dfr_anchor_run *run = NULL;
	size_t n;

	for (n = 0; n < pages; n++) {
		u64 pfn = pfn_of(p + n * PAGE_SIZE);

		if (run && run->pfn + run->pages == pfn) {
			run->pages++;
			continue;
		}
		if (page->runs == DFR_ANCHOR_RUNS_MAX)
			break;
		run = &page->run[page->runs++];
		run->pfn = pfn;
		run->pages = 1;
		run->offset = unit;
	}
	return n;
}

/*
 * The last pages of a full anchor may be the first part of a block. They are taken off again, so
 * that the block goes to the next part as a whole.
 */
static void cut_to_whole_blocks(struct dfr_anchor *page, size_t extra)
{
	while (extra) {
		struct dfr_anchor_run *run = &page->run[page->runs - 1];
		size_t n = min_t(size_t, extra, run->pages);

		run->pages -= n;
		extra -= n;
		if (!run->pages)
			page->runs--;
	}
}

static u32 next_part(const struct dfr_state *state, u32 kind, u32 cpu, u32 half)
{
	struct anchor *anchor;

	/* The newest is the last: a ring's pieces come one after the other. */
	list_for_each_entry_reverse(anchor, &anchors, an_list)
	{
		const struct dfr_anchor *page = anchor->an_page;

		if (anchor->an_state == state && page->kind == kind && page->cpu == cpu && page->half == half)
			return page->part + 1;
	}
	return 0;
}

static void free_anchor(struct anchor *anchor)
{
	dfr_plat_free_pages(anchor->an_page, PAGE_SIZE);
	dfr_plat_free_pages(anchor->an_copy, PAGE_SIZE);
	kfree(anchor);
}

static struct dfr_anchor *page_for_anchor(bool reserved)
{
	return reserved ? dfr_reserved_alloc(PAGE_SIZE) : (void *)get_zeroed_page(DFR_GFP);
}

/* It stands where what it lists does: a warm reset leaves both, or neither. */
static struct anchor *add_anchor(const struct dfr_state *state, bool reserved)
{
	struct anchor *anchor = kzalloc(sizeof(*anchor), DFR_GFP);

	if (!anchor)
		return NULL;
	anchor->an_page = page_for_anchor(reserved);
	anchor->an_copy = page_for_anchor(reserved);
	if (!anchor->an_page || !anchor->an_copy) {
		free_anchor(anchor);
		return NULL;
	}
	anchor->an_state = state;
	list_add_tail(&anchor->an_list, &anchors);
	return anchor;
}

static void publish_both(struct anchor *anchor)
{
	memcpy(anchor->an_copy, anchor->an_page, PAGE_SIZE);
	dfr_anchor_publish(anchor->an_page, ++generation);
	dfr_anchor_publish(anchor->an_copy, generation);
}

/* anchors_lock is held. */
static int write_anchors(struct dfr_state *state, u32 kind, u32 cpu, u32 half, void *p, size_t size,
			 size_t unit)
{
	size_t pages = PAGE_ALIGN(size) >> PAGE_SHIFT;
	bool in_units =
		kind == DFR_ANCHOR_RING || kind == DFR_ANCHOR_SPEC; /* which no reader puts together again */
	size_t block = in_units ? DIV_ROUND_UP(unit, PAGE_SIZE) : 1;
	u32 part = next_part(state, kind, cpu, half);
	const u8 *at = p;

	BUILD_BUG_ON(sizeof(struct dfr_anchor) + DFR_ANCHOR_RUNS_MAX * sizeof(struct dfr_anchor_run) >
		     PAGE_SIZE);
	while (pages) {
		struct anchor *anchor = add_anchor(state, dfr_reserved_has(p));
		struct dfr_anchor *page;
		size_t n;

		if (!anchor)
			return -ENOMEM;
		page = anchor->an_page;
		page->state_id = dfr_state_id(state);
		page->kind = kind;
		page->cpu = cpu;
		page->half = half;
		page->part = part++;
		n = list_pages(page, at, pages, unit);
		if (n < pages) {
			cut_to_whole_blocks(page, n % block);
			n -= n % block;
		}
		publish_both(anchor);
		at += n * PAGE_SIZE;
		pages -= n;
	}
	return 0;
}

int dfr_plat_anchor(struct dfr_state *state, u32 kind, u32 cpu, u32 half, void *p, size_t size, size_t unit)
{
	int error;

	mutex_lock(&anchors_lock);
	error = write_anchors(state, kind, cpu, half, p, size, unit);
	mutex_unlock(&anchors_lock);
	return error;
}

void dfr_plat_unanchor(struct dfr_state *state)
{
	struct anchor *anchor, *next;

	mutex_lock(&anchors_lock);
	list_for_each_entry_safe (anchor, next, &anchors, an_list) {
		if (anchor->an_state != state)
			continue;
		memzero_explicit(anchor->an_page, PAGE_SIZE);
		memzero_explicit(anchor->an_copy, PAGE_SIZE);
		list_del(&anchor->an_list);
		free_anchor(anchor);
	}
	mutex_unlock(&anchors_lock);
}
