// SPDX-License-Identifier: GPL-2.0
/*
 * What the panic's record has besides the reason (formats/abi/anchor.h): the registers and the stack
 * of the CPU that panics and the end of the kernel's log, as texts in memory that is allocated at load.
 * Any context of a dying machine: no lock, nothing allocated, each text bounded. A fault in here is
 * one more oops of a CPU that panics already: what was published before stays.
 */
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"

#include "formats/abi/anchor.h"

#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kmsg_dump.h>
#include <linux/module.h>

#define TEXT_ORDER    3
#define TEXT_SIZE     (PAGE_SIZE << TEXT_ORDER)
#define REGISTERS_MAX 1024
#define STACK_MAX     (8 * 1024)
#define STACK_DEPTH   64

static char *texts[DFR_PANIC_BUFFERS];

/* Without the memory for them a panic's record has its reason alone. */
int dfr_panic_text_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		texts[i] = (char *)__get_free_pages(DFR_GFP_SHARED | __GFP_ZERO, TEXT_ORDER);
	for (i = 0; i < ARRAY_SIZE(texts) && texts[i]; i++)
		;
	if (i == ARRAY_SIZE(texts))
		return 0;
	dfr_panic_text_exit();
	pr_warn("dfr: no memory for the registers, stack and log of a panic: its reason alone will be "
		"noted\n");
	return 0;
}

void dfr_panic_text_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		free_pages((unsigned long)texts[i], TEXT_ORDER);
		texts[i] = NULL;
	}
}

/*
 * From here up, without the frames of this module at the top: those of the callback that noticed the end.
 * The registers are those of the last trap on the way. The kernel has no unwind information for
 * __crash_kexec() (STACK_FRAME_NON_STANDARD).
 */
static void walk_stack(char *stack, size_t *stack_bytes, char *registers, size_t *register_bytes)
{
	struct dfr_arch_walk walk;
	const struct pt_regs *regs;
	unsigned int depth = 0;
	unsigned long pc = 0;

	*stack_bytes = *register_bytes = 0;
	if (!dfr_part_works(DFR_PART_STACKS))
		return;
	dfr_arch_walk_start(&walk, NULL);
	for (;; dfr_panic_is_crash_entry(pc) ? dfr_arch_walk_leave_entry(&walk) : dfr_arch_walk_next(&walk)) {
		regs = dfr_arch_walk_registers(&walk);
		if (regs && !*register_bytes)
			*register_bytes = dfr_arch_registers_text(regs, registers, REGISTERS_MAX);
		pc = dfr_arch_walk_pc(&walk);
		if (!pc || depth == STACK_DEPTH)
			break;
		if (!depth && within_module_core(pc, THIS_MODULE))
			continue;
		*stack_bytes += scnprintf(stack + *stack_bytes, STACK_MAX - *stack_bytes, "%016lx %pB\n", pc,
					  (void *)pc);
		depth++;
	}
}

static size_t end_of_log(char *to, size_t room)
{
	struct kmsg_dump_iter iter = {};
	size_t bytes = 0;

	kmsg_dump_rewind(&iter);
	return kmsg_dump_get_buffer(&iter, false, to, room, &bytes) ? bytes : 0;
}

bool dfr_panic_text(unsigned int buffer, struct dfr_panic_texts *made)
{
	char *text = texts[buffer];
	size_t bytes[DFR_PANIC_TEXTS];
	unsigned int i;

	if (!text)
		return false;
	walk_stack(text + REGISTERS_MAX, &bytes[DFR_PANIC_STACK], text, &bytes[DFR_PANIC_REGISTERS]);
	bytes[DFR_PANIC_LOG] =
		end_of_log(text + REGISTERS_MAX + STACK_MAX, TEXT_SIZE - REGISTERS_MAX - STACK_MAX);
	memset(made, 0, sizeof(*made));
	made->pfn = virt_to_phys(text) >> PAGE_SHIFT;
	made->at[DFR_PANIC_REGISTERS] = 0;
	made->at[DFR_PANIC_STACK] = REGISTERS_MAX;
	made->at[DFR_PANIC_LOG] = REGISTERS_MAX + STACK_MAX;
	for (i = 0; i < DFR_PANIC_TEXTS; i++) {
		made->bytes[i] = bytes[i];
		made->checksum[i] = ~dfr_plat_crc32c(~0u, text + made->at[i], bytes[i]);
	}
	return true;
}
