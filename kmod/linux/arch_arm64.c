// SPDX-License-Identifier: GPL-2.0
/*
 * What the module knows about arm64 and is too long for arch_arm64.h. Probe context: no lock, no
 * sleep, no fault. It has been compiled but never run.
 */
#include "kmod/linux/arch_arm64.h"

#include <asm/memory.h>
#include <linux/pgtable.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "kmod/linux/assume.h"

/* Is it write-back memory, in which a load has no side effects? */
static bool is_memory(u64 entry)
{
	u64 kind = entry & PTE_ATTRINDX_MASK;

	return kind == PTE_ATTRINDX(MT_NORMAL) || kind == PTE_ATTRINDX(MT_NORMAL_TAGGED);
}

static struct mm_struct *kernel_mm;

void dfr_arch_init(void)
{
	kernel_mm = (struct mm_struct *)dfr_kernel(init_mm);
}

/*
 * Addresses outside the linear map are looked up in the page tables: a mapping that is not normal
 * memory is a device. Tables of the kernel's half are only ever extended, or their leaves cleared,
 * so a walk without lock sees either the old or the new entry.
 */
bool dfr_arch_device_address(u64 addr)
{
	p4d_t *p4d;
	pud_t *pud, pud_entry;
	pmd_t *pmd, pmd_entry;
	pgd_t *pgd;
	pte_t pte;

	if (!kernel_mm)
		return true;
	pgd = pgd_offset_pgd(kernel_mm->pgd, addr);
	if (pgd_none(READ_ONCE(*pgd)))
		return true;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(READ_ONCE(*p4d)))
		return true;
	pud = pud_offset(p4d, addr);
	pud_entry = READ_ONCE(*pud);
	if (pud_none(pud_entry) || pud_sect(pud_entry))
		return pud_none(pud_entry) || !is_memory(pud_val(pud_entry));
	pmd = pmd_offset(pud, addr);
	pmd_entry = READ_ONCE(*pmd);
	if (pmd_none(pmd_entry) || pmd_sect(pmd_entry))
		return pmd_none(pmd_entry) || !is_memory(pmd_val(pmd_entry));
	pte = READ_ONCE(*pte_offset_kernel(pmd, addr));
	return !pte_present(pte) || !is_memory(pte_val(pte));
}

/* A frame record, as a function leaves it on the stack: its caller's record and where it returns to. */
struct frame_record {
	u64 fm_caller;
	u64 fm_return;
};

/* Return addresses may carry a signature in the bits that all kernel addresses have set. */
static u64 without_signature(u64 pc)
{
	return pc | GENMASK_ULL(63, vabits_actual);
}

static bool on_task_stack(u64 fp)
{
	return fp - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

void dfr_arch_walk_next(struct dfr_arch_walk *walk)
{
	struct frame_record record;
	u64 fp = walk->aw_fp;

	walk->aw_pc = 0;
	if (!dfr_arch_kernel_address(fp) || (fp & 7) ||
	    (dfr_arch_needs_device_check(fp) && dfr_arch_device_address(fp)))
		return;
	if (copy_from_kernel_nofault(&record, (void *)fp, sizeof(record)) || !record.fm_return)
		return;
	if (record.fm_caller <= fp && (walk->aw_on_task_stack || !on_task_stack(record.fm_caller)))
		record.fm_caller = 0; /* stacks grow down: this is the last frame */
	walk->aw_on_task_stack |= on_task_stack(record.fm_caller);
	walk->aw_fp = record.fm_caller;
	walk->aw_pc = without_signature(record.fm_return);
}

void dfr_arch_walk_start(struct dfr_arch_walk *walk, struct pt_regs *regs)
{
	walk->aw_fp = regs ? regs->regs[29] : (unsigned long)__builtin_frame_address(0);
	walk->aw_on_task_stack = on_task_stack(walk->aw_fp);
	if (regs && !dfr_arch_within_function(regs))
		walk->aw_pc = without_signature(regs->regs[30]); /* its record is not made yet */
	else
		dfr_arch_walk_next(walk);
}

u64 dfr_arch_user_register(const struct pt_regs *regs, u64 index)
{
	switch (index) {
	case 0 ... 30: return regs->regs[index];
	case 31: return regs->sp;
	case 32: return regs->pc;
	case 33: return regs->pstate;
	}
	return 0;
}
