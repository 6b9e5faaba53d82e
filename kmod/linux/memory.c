// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: pages that live as long as a state and can be mapped and anchored, and copies from foreign
 * memory that may not be there. The copies run in probe context: interrupts off, possibly NMI; a
 * fault is an error code.
 */
#include "formats/abi/block.h"
#include "kmod/linux/linux.h"

#include <linux/swap.h>
#include <linux/vmalloc.h>

/*
 * What may add up leaves a sixteenth of the machine's memory free, for the processes that are there
 * already: else their next page would call the OOM killer. Bytes that an allocation has asked for and
 * does not have yet count as taken, because several may ask at once.
 */
static atomic64_t asked_for;

static s64 memory_left(void)
{
	return (s64)(si_mem_available() - (long)(totalram_pages() / 16)) * (s64)PAGE_SIZE;
}

u64 dfr_plat_memory_left(bool reserved)
{
	if (reserved)
		return dfr_reserved_left();
	return (u64)max_t(s64, memory_left() - atomic64_read(&asked_for), 0);
}

static bool ask_for(size_t size)
{
	if (size > LONG_MAX / 2)
		return false;
	if (atomic64_add_return((s64)size, &asked_for) <= memory_left())
		return true;
	atomic64_sub((s64)size, &asked_for);
	return false;
}

/* It has them now, or has failed. */
static void asked(size_t size)
{
	atomic64_sub((s64)size, &asked_for);
}

static void *allocate(size_t size, gfp_t gfp)
{
	void *p;

	if (size <= PAGE_SIZE)
		return kvzalloc(size, gfp);
	if (!ask_for(size))
		return NULL;
	/* kvzalloc() refuses more than 2 GiB, which a state's variables may have. */
	p = size > INT_MAX ? __vmalloc(size, gfp | __GFP_ZERO) : kvzalloc(size, gfp);
	asked(size);
	return p;
}

void *dfr_plat_alloc(size_t size)
{
	return allocate(size, DFR_GFP);
}

void *dfr_plat_alloc_shared(size_t size)
{
	return allocate(size, DFR_GFP_SHARED);
}

/*
 * Buffers that go with their request may take of that sixteenth, so much together, because what was recorded while memory
 * got short is to be read then.
 */
#define DFR_LENT_MOST (4L << 20)
static atomic64_t lent_bytes;

void *dfr_request_alloc(size_t size, size_t *lent)
{
	void *p = NULL;

	*lent = min_t(size_t, size, DFR_LENT_MOST + 1);
	if (atomic64_add_return((s64)*lent, &lent_bytes) <= DFR_LENT_MOST)
		p = kvzalloc(size, DFR_GFP);
	if (p)
		return p;
	atomic64_sub((s64)*lent, &lent_bytes);
	*lent = 0;
	return dfr_plat_alloc(size);
}

void dfr_request_free(void *p, size_t lent)
{
	dfr_plat_free(p);
	atomic64_sub((s64)lent, &lent_bytes);
}

/*
 * Contiguous frames in chunks of up to the largest block, if the allocator has them at hand: then an
 * anchor lists a block as one run. Otherwise smaller chunks, down to single pages, which only need
 * longer lists.
 */
#define DFR_CHUNK_ORDER get_order(DFR_BLOCK_MAX)
#define DFR_CHUNK_PAGES (1U << DFR_CHUNK_ORDER)

static unsigned int fill_chunk(struct page **pages, unsigned int room)
{
	unsigned int i, order = min_t(unsigned int, DFR_CHUNK_ORDER, ilog2(room));
	struct page *page;

	for (;; order--) {
		gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;

		page = alloc_pages(gfp | (order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL), order);
		if (page || !order)
			break;
	}
	if (!page)
		return 0;
	split_page(page, order);
	for (i = 0; i < 1U << order; i++)
		pages[i] = page + i;
	return 1U << order;
}

static void *alloc_mapped(size_t size)
{
	unsigned int i = 0, n, count = PAGE_ALIGN(size) >> PAGE_SHIFT;
	struct page **pages = dfr_plat_alloc(count * sizeof(*pages));
	void *p = NULL;

	if (!pages)
		return NULL;
	for (; i < count; i += n) {
		n = fill_chunk(pages + i, count - i);
		if (!n)
			break;
	}
	if (i == count)
		p = vmap(pages, count, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (p)
		return p; /* vfree() frees pages and array */
	while (i)
		__free_page(pages[--i]);
	dfr_plat_free(pages);
	return NULL;
}

void *dfr_plat_alloc_pages(bool reserved, size_t size)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY;
	void *p = NULL;

	if (!size || size >> PAGE_SHIFT > UINT_MAX)
		return NULL;
	if (reserved)
		return dfr_reserved_alloc(size);
	if (!ask_for(size))
		return NULL;
	if (size <= DFR_BLOCK_MAX)
		p = alloc_pages_exact(size, gfp);
	p = p ?: alloc_mapped(size);
	asked(size);
	return p;
}

void dfr_plat_free_pages(void *p, size_t size)
{
	if (!p)
		return;
	if (dfr_reserved_has(p))
		dfr_reserved_free(p, size);
	else if (is_vmalloc_addr(p))
		vfree(p);
	else
		free_pages_exact(p, size);
}

/* How many bytes of [addr, addr + n) lie in addr's page. */
static size_t in_page(u64 addr, size_t n)
{
	return min_t(size_t, n, PAGE_SIZE - (addr & ~PAGE_MASK));
}

/* Probe context. Copies n bytes of kernel memory that lie in one page. */
static int copy_in_page(u8 *dst, u64 addr, size_t n)
{
	const u8 *from = (const u8 *)(unsigned long)addr;

	if (!dfr_plat_kernel_range(addr, 1))
		return -EFAULT;
	for (; n >= sizeof(u64); n -= sizeof(u64), dst += sizeof(u64), from += sizeof(u64))
		__get_kernel_nofault(dst, from, u64, fault);
	for (; n; n--, dst++, from++)
		__get_kernel_nofault(dst, from, u8, fault);
	return 0;
fault:
	return -EFAULT;
}

int dfr_plat_copy(const struct dfr_firing *firing, void *dst, u64 addr, size_t n)
{
	u8 *to = dst;

	while (n) {
		size_t part = in_page(addr, n);
		int error = copy_in_page(to, addr, part);

		if (error)
			return error;
		to += part;
		addr += part;
		n -= part;
	}
	return 0;
}

int dfr_plat_load_user(const struct dfr_firing *firing, u64 addr, unsigned int size, u64 *value)
{
	u64 v = 0; /* little endian: the low bytes */

	if (!dfr_arch_user_address(addr, size))
		return -EFAULT;
	addr = dfr_plat_masked(addr, TASK_SIZE_MAX); /* users without privilege choose it */
	if (copy_from_user_nofault(&v, (const void __user *)(unsigned long)addr, size))
		return -EFAULT;
	*value = v;
	return 0;
}

int dfr_plat_copy_user(const struct dfr_firing *firing, void *dst, u64 addr, size_t n)
{
	if (!dfr_arch_user_address(addr, n))
		return -EFAULT;
	addr = dfr_plat_masked(addr, TASK_SIZE_MAX);
	return copy_from_user_nofault(dst, (const void __user *)(unsigned long)addr, n) ? -EFAULT : 0;
}

/*
 * Unlike copies from there, the kernel's function does not ask whose memory is loaded: in a kernel thread, or in an NMI
 * between two tasks, it is that of somebody else. The copy of a byte asks.
 */
int dfr_plat_store_user(const struct dfr_firing *firing, u64 addr, const void *src, size_t n)
{
	u8 seen;

	if (!dfr_arch_user_address(addr, n) || !current->mm || current->flags & PF_KTHREAD ||
	    dfr_plat_copy_user(firing, &seen, addr, sizeof(seen)))
		return -EFAULT;
	return copy_to_user_nofault((void __user *)(unsigned long)addr, src, n) ? -EFAULT : 0;
}

/*
 * Strings are copied in pieces that do not cross a page, so that a string which ends just before an
 * unmapped page is read whole. Bytes behind the NUL stay in the buffer, where nobody reads them.
 */
#define DFR_STR_PIECE 64

typedef int copy_piece(char *dst, u64 addr, size_t n);

static int piece_kernel(char *dst, u64 addr, size_t n)
{
	return copy_in_page((u8 *)dst, addr, n);
}

static int piece_user(char *dst, u64 addr, size_t n)
{
	return dfr_plat_copy_user(NULL, dst, addr, n);
}

static __always_inline long copy_str(char *dst, u64 addr, size_t room, copy_piece *copy)
{
	size_t done = 0;

	if (!room)
		return -EFAULT;
	while (done < room - 1) {
		size_t n = in_page(addr + done, min_t(size_t, room - 1 - done, DFR_STR_PIECE));
		const char *nul;

		if (copy(dst + done, addr + done, n)) {
			dst[0] = 0;
			return -EFAULT;
		}
		nul = memchr(dst + done, 0, n);
		if (nul)
			return nul - dst;
		done += n;
	}
	dst[done] = 0;
	return done;
}

long dfr_plat_copy_str(const struct dfr_firing *firing, char *dst, u64 addr, size_t room)
{
	return copy_str(dst, addr, room, piece_kernel);
}

long dfr_plat_copy_str_user(const struct dfr_firing *firing, char *dst, u64 addr, size_t room)
{
	return copy_str(dst, addr, room, piece_user);
}
