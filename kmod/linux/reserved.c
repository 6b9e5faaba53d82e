// SPDX-License-Identifier: GPL-2.0
/*
 * Reserved memory (formats/abi/reserved.h): the parameter reserved= names a region that the kernel's command line has
 * taken from the kernel, SIZE@ADDRESS by memmap=SIZE$ADDRESS, or NAME by reserve_mem=SIZE:ALIGN:NAME (which a
 * kernel before 6.12 does not know, and which need not be at one place in each boot). States with the option memory=reserved have what
 * anchors list there, and the anchors, so that after a warm reset the next boot's module, of whatever kernel,
 * has them at hand; reserved_old.c gives them to readers.
 *
 * The area of this boot is taken by the first state that asks for it, so that a boot which records nothing there
 * costs no older recording. Of the other area nothing is read here but its heads.
 *
 * A reset may drop what is in the caches only: on panic and before a restart the pages in use are written back.
 */
#include "kmod/linux/assume.h"
#include "kmod/linux/compat.h"
#include "kmod/linux/reserved.h"
#include "kmod/linux/reserved_heads.h"

#include <linux/bitmap.h>
#include <linux/crash_dump.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/suspend.h>

static char *reserved;
module_param(reserved, charp, 0400);
MODULE_PARM_DESC(reserved,
		 "SIZE@ADDRESS that memmap= reserves, or NAME that reserve_mem= does: for states with "
		 "memory=reserved (default: none)");

#define RECORD_PAGES (DFR_RESERVED_RECORD_PAGES + DFR_RESERVED_TEXT_PAGES)
#define PAGES_BEFORE (1 + DFR_RESERVED_RECORDS * RECORD_PAGES) /* those of states */
#define AREA_LEAST   (64 * PAGE_SIZE)
#define AREA_MOST    (1ULL << 30) /* what is in use of it a dying machine writes back */

/* Why states have none of it; NULL: they may. */
static const char *none = "no memory is reserved (the module's parameter reserved=)";
static struct dfr_reserved_areas areas;
static u8 *region;     /* its mapping */
static bool requested; /* it is ours in /proc/iomem */
static size_t area_bytes;
static u8 *mine;	    /* the area of this boot */
static unsigned long *used; /* its pages; NULL: no state has asked for it yet */
static unsigned int area_pages;
static bool taken;		    /* the area has this boot's heads */
static bool hibernating;	    /* no state gets any */
static DEFINE_MUTEX(reserved_lock); /* of these, and for taking the area; innermost */

static u8 *area_at(u32 area)
{
	return region + area * area_bytes;
}

static u8 *head_at(u32 area, unsigned int copy)
{
	return area_at(area) + (copy ? area_bytes - PAGE_SIZE : 0);
}

static void write_back(void *p, size_t n)
{
	arch_wb_cache_pmem(p, n);
	mb(); /* the instruction that writes a line back is not ordered by itself */
}

/* The area of this boot. */

static void write_heads(const struct dfr_reserved_head *head)
{
	unsigned int copy;

	for (copy = 0; copy < 2; copy++) {
		memcpy(head_at(areas.ra_mine, copy), head, sizeof(*head));
		write_back(head_at(areas.ra_mine, copy), sizeof(*head));
	}
}

/* Written back, because a reset that drops what is in the caches must not bring back what an older boot has left. */
static void clear(u8 *p, size_t size)
{
	size_t at, n;

	for (at = 0; at < size; at += n) {
		n = min_t(size_t, size - at, 1 << 20);
		memset(p + at, 0, n);
		write_back(p + at, n);
		cond_resched();
	}
}

/*
 * Of a page that no state has only the beginning, where anchors and blocks have their magic: the first state waits, with
 * the engine's lock, until this is done.
 */
static void forget_pages(void)
{
	unsigned long page;

	for (page = PAGES_BEFORE; page < area_pages - 1; page++) {
		memset(mine + page * PAGE_SIZE, 0, SMP_CACHE_BYTES);
		arch_wb_cache_pmem(mine + page * PAGE_SIZE, SMP_CACHE_BYTES);
		if (!(page % 4096))
			cond_resched();
	}
	mb(); /* as in write_back() */
}

/* reserved_lock is held. */
static bool take_area(void)
{
	static const struct dfr_reserved_head erased;
	struct dfr_reserved_head head = dfr_reserved_head_of(&areas);
	unsigned long *map;

	if (taken)
		return true;
	map = used ?: dfr_plat_alloc_shared(BITS_TO_LONGS(area_pages) * sizeof(*map));
	if (!map)
		return false;
	write_heads(&erased);
	clear(mine, PAGES_BEFORE * PAGE_SIZE);
	clear(mine + area_bytes - PAGE_SIZE, PAGE_SIZE);
	forget_pages();
	write_heads(&head);
	bitmap_set(map, 0, PAGES_BEFORE);
	bitmap_set(map, area_pages - 1, 1);
	smp_store_release(&used, map); /* for a panic */
	taken = true;
	return true;
}

const char *dfr_plat_not_reserved(void)
{
	return none;
}

/* Who only asks takes no area, because a state that does not fit must not cost an older recording. */
u64 dfr_reserved_left(void)
{
	u64 pages = 0;

	mutex_lock(&reserved_lock);
	if (!none)
		pages = area_pages - (taken ? bitmap_weight(used, area_pages) : PAGES_BEFORE + 1);
	mutex_unlock(&reserved_lock);
	return pages * PAGE_SIZE;
}

void *dfr_reserved_alloc(size_t size)
{
	unsigned int count = PAGE_ALIGN(size) >> PAGE_SHIFT;
	unsigned long at = area_pages;

	mutex_lock(&reserved_lock);
	if (!none && !hibernating && take_area()) {
		at = bitmap_find_next_zero_area(used, area_pages, 0, count, 0);
		if (at < area_pages)
			bitmap_set(used, at, count);
	}
	mutex_unlock(&reserved_lock);
	if (at >= area_pages)
		return NULL;
	clear(mine + at * PAGE_SIZE, (size_t)count * PAGE_SIZE);
	return mine + at * PAGE_SIZE;
}

void dfr_reserved_free(void *p, size_t size)
{
	mutex_lock(&reserved_lock);
	bitmap_clear(used, ((u8 *)p - mine) >> PAGE_SHIFT, PAGE_ALIGN(size) >> PAGE_SHIFT);
	mutex_unlock(&reserved_lock);
}

bool dfr_reserved_has(const void *p)
{
	return region && (const u8 *)p >= mine && (const u8 *)p < mine + area_bytes;
}

u64 dfr_reserved_pfn(const void *p)
{
	return (areas.ra_address + ((const u8 *)p - region)) >> PAGE_SHIFT;
}

void *dfr_reserved_record(unsigned int which)
{
	return smp_load_acquire(&used) ? mine + (1 + which * RECORD_PAGES) * PAGE_SIZE : NULL;
}

/* Bounded by the area's size. A page that is taken meanwhile is not worth a lock. */
void dfr_reserved_write_back(void)
{
	const unsigned long *map = smp_load_acquire(&used);
	struct dfr_reserved_head head;
	unsigned long page;

	if (!map || !READ_ONCE(taken))
		return;
	for_each_set_bit(page, map, area_pages) arch_wb_cache_pmem(mine + page * PAGE_SIZE, PAGE_SIZE);
	mb();
	head = dfr_reserved_last_head_of(&areas);
	write_heads(&head);
}

/* Before a restart, when devices are down: process context, on the last CPU that runs tasks. */
static void before_restart(DFR_SYSCORE_ARGS)
{
	dfr_reserved_write_back();
}

DFR_SYSCORE(reserved_syscore, .shutdown = before_restart);

/* A hibernated image has no memory but the kernel's: a state would wake up to rings and tables of nobody's. */
static int on_sleep(struct notifier_block *block, unsigned long event, void *data)
{
	bool in_use;

	if (event != PM_HIBERNATION_PREPARE && event != PM_POST_HIBERNATION)
		return NOTIFY_DONE;
	mutex_lock(&reserved_lock);
	in_use = taken && find_next_bit(used, area_pages, PAGES_BEFORE) < area_pages - 1;
	hibernating = event == PM_HIBERNATION_PREPARE && !in_use;
	taken &= in_use; /* what the area is after the machine was off, nobody knows */
	mutex_unlock(&reserved_lock);
	if (!in_use || event == PM_POST_HIBERNATION)
		return NOTIFY_DONE;
	pr_warn("dfr: no hibernation while a state has memory=reserved: stop it first (dfr shows it)\n");
	return notifier_from_errno(-EBUSY);
}

static struct notifier_block sleep_block = { .notifier_call = on_sleep };

/* Finding the region. */

static int add_bytes(struct resource *part, void *sum)
{
	*(u64 *)sum += resource_size(part);
	return 0;
}

/* SIZE@ADDRESS, each with K, M or G. */
static bool parse(const char *text)
{
	char *end;

	areas.ra_bytes = memparse(text, &end);
	if (end == text || *end != '@')
		return false;
	text = end + 1;
	areas.ra_address = memparse(text, &end);
	return end != text && !*end;
}

/*
 * Has the kernel's command line a memmap=SIZE$ADDRESS, perhaps behind others and commas, with all of the range?
 * Firmware and devices have ranges that /proc/iomem calls Reserved, too.
 */
static bool on_command_line(u64 start, u64 bytes)
{
	const char *at = dfr_command_line();

	while (at && (at = strstr(at, "memmap=")) != NULL) {
		char *end = (char *)at + strlen("memmap=") - 1;

		do {
			u64 size = memparse(end + 1, &end), from;

			if (*end == '$') {
				from = memparse(end + 1, &end);
				if (from <= start && start - from < size && bytes <= size - (start - from))
					return true;
			}
			end += strcspn(end, ", \n"); /* of a range of another kind, or of none */
		} while (*end == ',');
		at = end;
	}
	return false;
}

/* NULL, or why memory outside the kernel's cannot be had. */
static const char *request_range(u64 start, u64 bytes)
{
	u64 sum = 0;

	if (region_intersects(start, bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) != REGION_DISJOINT)
		return "the kernel uses that memory: its command line does not have memmap= with this range";
	walk_iomem_res_desc(IORES_DESC_RESERVED, IORESOURCE_MEM, start, start + bytes - 1, &sum, add_bytes);
	if (sum != bytes)
		return "that memory is not reserved: /proc/iomem does not have all of it as Reserved";
	if (!on_command_line(start, bytes))
		return "the kernel's command line does not have memmap= with this range";
	requested = request_mem_region(start, bytes, "dfr");
	return requested ? NULL : "another driver has that memory";
}

/* Memory by name is not requested from anybody: does ramoops (mem_name=NAME) or a trace instance (...@NAME) have it too? */
static bool others_have(const char *name)
{
	static const char ramoops[] = "mem_name=";
	const char *line = dfr_command_line(), *at = line;
	size_t n = strlen(name), before = strlen(ramoops);

	for (; at && (at = strstr(at, name)) != NULL; at++) {
		bool ends = !at[n] || at[n] == ' ' || at[n] == ',' || at[n] == '"';

		if (ends && at > line &&
		    (at[-1] == '@' ||
		     ((size_t)(at - line) >= before && !strncmp(at - before, ramoops, before))))
			return true;
	}
	return false;
}

/* NULL, or why the region cannot be had. */
static const char *find_region(const char *wanted)
{
	bool named = dfr_reserve_mem(wanted, &areas.ra_address, &areas.ra_bytes);
	u64 start, bytes;
	const char *why;

	if (!named && !parse(wanted))
		return "it is not SIZE@ADDRESS, and no memory of that name is reserved by reserve_mem= (6.12 "
		       "and newer)";
	start = areas.ra_address;
	bytes = areas.ra_bytes;
	if (!PAGE_ALIGNED(start) || bytes & (2 * PAGE_SIZE - 1) || bytes / 2 < AREA_LEAST ||
	    bytes / 2 > AREA_MOST || start + bytes < start)
		return "it is not between 512 KiB and 2 GiB, or not a multiple of 8 KiB, or its address is "
		       "not one of 4 KiB";
	if (named && others_have(wanted))
		return "the kernel's command line gives the memory of that name to somebody else, too";
	why = named ? NULL : request_range(start, bytes);
	if (why)
		return why;
	region = memremap(start, bytes, MEMREMAP_WB);
	if (region)
		return NULL;
	if (requested)
		release_mem_region(start, bytes);
	requested = false;
	return "it cannot be mapped";
}

static void find_areas(void)
{
	const void *heads[DFR_RESERVED_AREAS][2];
	u32 area;

	area_bytes = areas.ra_bytes / DFR_RESERVED_AREAS;
	area_pages = area_bytes >> PAGE_SHIFT;
	memcpy(areas.ra_boot_id, dfr_plat_boot_id(), sizeof(areas.ra_boot_id));
	for (area = 0; area < DFR_RESERVED_AREAS; area++) {
		heads[area][0] = head_at(area, 0);
		heads[area][1] = head_at(area, 1);
	}
	dfr_reserved_find(&areas, heads);
	mine = area_at(areas.ra_mine);
	if (areas.ra_old >= 0)
		dfr_reserved_old_is(area_at(areas.ra_old), areas.ra_address + areas.ra_old * area_bytes,
				    area_bytes);
}

/*
 * The parameter; or dfr.reserved= of the kernel's command line, looked up here because not everybody who loads the
 * module makes parameters of such words.
 */
static const char *range_wanted(void)
{
	static char word[64];
	const char *line = dfr_command_line(), *at;

	if (reserved || !line)
		return reserved;
	for (at = line; (at = strstr(at, "dfr.reserved=")) != NULL; at++)
		if (at == line || at[-1] == ' ')
			sscanf(at, "dfr.reserved=%63s", word);
	return word;
}

/* Why this boot takes no area; NULL: it may. The other boots' area is there for readers in any case. */
static const char *not_this_boot(void)
{
	if (is_kdump_kernel())
		return "a crash kernel leaves reserved memory as it is";
	if (!dfr_boot_id_is_kernels())
		return "reserved memory needs the kernel's boot id, which was not found";
	return NULL;
}

int dfr_reserved_init(void)
{
	const char *range = range_wanted(), *why;

	if (!range || !*range)
		return 0;
	why = find_region(range);
	if (why) {
		none = "the memory of the module's parameter reserved= cannot be used: the kernel's log says "
		       "why";
		pr_warn("dfr: reserved=%s is left alone: %s\n", range, why);
		return 0;
	}
	find_areas();
	none = not_this_boot();
	dfr_syscore_register(&reserved_syscore);
	if (register_pm_notifier(&sleep_block))
		pr_warn("dfr: hibernation would not be refused to states with memory=reserved\n");
	return 0;
}

void dfr_reserved_exit(void)
{
	if (!region)
		return;
	unregister_pm_notifier(&sleep_block);
	dfr_syscore_unregister(&reserved_syscore);
	memunmap(region);
	if (requested)
		release_mem_region(areas.ra_address, areas.ra_bytes);
	requested = false;
	dfr_plat_free(used);
	used = NULL;
	taken = false;
	region = NULL;
}
