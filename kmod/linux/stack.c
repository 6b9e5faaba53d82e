// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel and user stacks of a firing. Probe context: bounded walks, no lock; a user stack ends at a
 * page that is not there.
 *
 * If the provider passes registers of the kernel (fbt, profile), a kernel stack starts there. If not
 * (tracepoints, BEGIN), it starts here, and the frames of this module and of the tracepoint
 * machinery are dropped.
 */
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"

#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

static bool ours(unsigned long pc)
{
	return within_module_core(pc, THIS_MODULE);
}

/* Among so many frames at the top, all up to the last one in this module belong to the act of probing. */
#define DFR_STACK_OWN_MAX 16

/* Inlined, because stack() is among the dearest actions: a call less for each. */
static __always_inline bool start_walk(struct dfr_arch_walk *walk, const struct dfr_firing *firing)
{
	struct pt_regs *regs = firing->fr_regs;
	bool exact = regs && !user_mode(regs) && kernel_stack_pointer(regs);

	dfr_arch_walk_start(walk, exact ? regs : NULL);
	return exact;
}

static bool known; /* the unwinder's state is as assumed */

void dfr_stack_init(void)
{
	known = dfr_part_works(DFR_PART_STACKS);
}

/*
 * At most `max` return addresses: written to pcs, or only counted. Inlined, and `keep` is a constant at
 * each call, so that stack() tests nothing for each frame.
 */
static __always_inline unsigned int walk_kernel(const struct dfr_firing *firing, bool keep, u64 *pcs,
						unsigned int max)
{
	struct dfr_arch_walk walk;
	unsigned int n = 0;
	unsigned long pc;
	bool exact;

	if (!known)
		return 0;
	exact = start_walk(&walk, firing);
	if (exact && max && dfr_arch_within_function(firing->fr_regs)) {
		if (keep)
			pcs[n] = dfr_arch_within_function(firing->fr_regs);
		n++;
	}
	for (; n < max && (pc = dfr_arch_walk_pc(&walk)) != 0; dfr_arch_walk_next(&walk)) {
		if (!exact && n < DFR_STACK_OWN_MAX && ours(pc)) {
			n = 0; /* what came before it was ours as well */
			continue;
		}
		if (keep)
			pcs[n] = pc;
		n++;
	}
	return n;
}

unsigned int dfr_plat_stack(const struct dfr_firing *firing, u64 *pcs, unsigned int max)
{
	/* The probe interrupted user mode (profile, a fault), so there is no kernel stack. */
	if (firing->fr_regs && user_mode((struct pt_regs *)firing->fr_regs) &&
	    firing->fr_regs != task_pt_regs(current))
		return 0;
	return walk_kernel(firing, true, pcs, max);
}

static unsigned int depth_of_stack(const struct dfr_firing *firing)
{
	return walk_kernel(firing, false, NULL, 256);
}

/* A frame of code that is built with -fno-omit-frame-pointer: the caller's frame and the return address. */
struct user_frame {
	u64 uf_next;
	u64 uf_return;
};

unsigned int dfr_plat_ustack(const struct dfr_firing *firing, u64 *pcs, unsigned int max)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct user_frame frame;
	unsigned int n = 0;
	u64 fp;

	if (!current->mm || !max)
		return 0;
	pcs[n++] = instruction_pointer(regs);
	for (fp = dfr_arch_user_frame(regs); n < max && fp && !(fp & 7); fp = frame.uf_next) {
		if (dfr_plat_copy_user(firing, &frame, fp, sizeof(frame)) || !frame.uf_return)
			break;
		pcs[n++] = frame.uf_return;
		if (frame.uf_next <= fp)
			break; /* stacks grow down: anything else is not a frame */
	}
	return n;
}

/*
 * The caller of the function that the probe is in. At a function's entry or return that is the first
 * frame, else the second.
 */
static u64 caller_of(const struct dfr_firing *firing)
{
	bool at_edge =
		!strcmp(firing->fr_probe->pb_name, "entry") || !strcmp(firing->fr_probe->pb_name, "return");
	unsigned int frame =
		at_edge && firing->fr_regs && !user_mode((struct pt_regs *)firing->fr_regs) ? 0 : 1;
	u64 pcs[2];

	return dfr_plat_stack(firing, pcs, 2) > frame ? pcs[frame] : 0;
}

static u64 user_caller(const struct dfr_firing *firing)
{
	u64 pcs[2];

	return dfr_plat_ustack(firing, pcs, 2) == 2 ? pcs[1] : 0;
}

u64 dfr_stack_builtin(const struct dfr_firing *firing, u32 id)
{
	u64 pcs[64];

	switch (id) {
	case DIF_VAR_STACKDEPTH: return depth_of_stack(firing);
	case DIF_VAR_USTACKDEPTH: return dfr_plat_ustack(firing, pcs, ARRAY_SIZE(pcs));
	case DIF_VAR_CALLER: return caller_of(firing);
	case DIF_VAR_UCALLER: return user_caller(firing);
	}
	return 0;
}
