// SPDX-License-Identifier: GPL-2.0
/*
 * What the module knows about x86-64 and is too long for arch_x86.h: which kernel addresses are
 * devices, and the registers that uregs[] numbers. Probe context: no lock, no sleep, no fault.
 */
#include "arch_x86.h"

#include <asm/fixmap.h>
#include <asm/pgtable.h>
#include <linux/kernel.h>
#include "kmod/linux/assume.h"

/*
 * ioremap() and memremap() map devices among the vmalloc areas. The list of areas is behind a lock,
 * so the page tables are read instead: a mapping that is not write-back cached, or of a frame that
 * has no struct page, is taken for a device. The tables of the kernel half are only ever extended,
 * or their leaves cleared, so a walk without lock sees either the old or the new entry.
 */
bool dfr_arch_device_address(u64 addr)
{
	unsigned int level;
	pte_t *pte, entry;

	if (addr >= FIXADDR_TOT_START)
		return true; /* the local APIC and its like are here */
	pte = lookup_address(addr, &level);
	if (!pte)
		return true;
	entry = READ_ONCE(*pte);
	if (!(pte_flags(entry) & _PAGE_PRESENT))
		return true;
	if (pte_flags(entry) & (_PAGE_PCD | _PAGE_PWT))
		return true;
	return !pfn_valid(pte_pfn(entry));
}

unsigned long dfr_arch_text_begin, dfr_arch_text_size;

void dfr_arch_init(void)
{
#ifdef CONFIG_UNWINDER_ORC
	dfr_arch_text_begin = dfr_kernel(_stext);
	dfr_arch_text_size = dfr_kernel(_etext) - dfr_arch_text_begin;
#endif
}

u32 dfr_arch_crc32c(u32 crc, const u8 *p, size_t n)
{
	unsigned long sum = crc;

	for (; n >= sizeof(u64); n -= sizeof(u64), p += sizeof(u64))
		asm("crc32q %1, %0" : "+r"(sum) : "m"(*(const u64 *)p));
	for (; n; n--, p++)
		asm("crc32b %1, %k0" : "+r"(sum) : "m"(*p));
	return (u32)sum;
}

/* In the order of DTrace's amd64 register names: R15 first, then as the frame is pushed. */
static const u16 register_offset[] = {
	offsetof(struct pt_regs, r15),	   offsetof(struct pt_regs, r14),
	offsetof(struct pt_regs, r13),	   offsetof(struct pt_regs, r12),
	offsetof(struct pt_regs, r11),	   offsetof(struct pt_regs, r10),
	offsetof(struct pt_regs, r9),	   offsetof(struct pt_regs, r8),
	offsetof(struct pt_regs, di),	   offsetof(struct pt_regs, si),
	offsetof(struct pt_regs, bp),	   offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, dx),	   offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, ax),	   0 /* trap number: Linux does not keep it */,
	offsetof(struct pt_regs, orig_ax), offsetof(struct pt_regs, ip),
	offsetof(struct pt_regs, cs),	   offsetof(struct pt_regs, flags),
	offsetof(struct pt_regs, sp),	   offsetof(struct pt_regs, ss),
};

u64 dfr_arch_user_register(const struct pt_regs *regs, u64 index)
{
	if (index >= ARRAY_SIZE(register_offset) || index == 15)
		return 0;
	return *(const unsigned long *)((const u8 *)regs + register_offset[index]);
}

size_t dfr_arch_registers_text(const struct pt_regs *regs, char *to, size_t room)
{
	return scnprintf(
		to, room,
		"mode=%s ip=%lx sp=%lx flags=%lx ax=%lx bx=%lx cx=%lx dx=%lx si=%lx di=%lx bp=%lx r8=%lx "
		"r9=%lx r10=%lx r11=%lx r12=%lx r13=%lx r14=%lx r15=%lx orig_ax=%lx cs=%x ss=%x",
		user_mode((struct pt_regs *)regs) ? "user" : "kernel", regs->ip, regs->sp, regs->flags,
		regs->ax, regs->bx, regs->cx, regs->dx, regs->si, regs->di, regs->bp, regs->r8, regs->r9,
		regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15, regs->orig_ax,
		(u16)regs->cs, (u16)regs->ss);
}
