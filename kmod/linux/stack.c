// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel and user stacks of a firing. Probe context: bounded walks, no lock; a
 * user page that is not there ends a user stack.
 *
 * A kernel stack starts at the probe's own registers where the provider has
 * them (fbt, profile). Where it has not (tracepoints, BEGIN) it starts here and
 * the frames of this module and of the tracepoint machinery are dropped.
 */
#include "kmod/linux/linux.h"

#include <asm/unwind.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "kmod/linux/resolve.h"

static bool ours(unsigned long pc)
{
	return within_module_core(pc, THIS_MODULE);
}

/* Frames at the top that belong to the act of probing: all up to the last of ours. */
#define DFR_STACK_OWN_MAX 16

static bool start_walk(struct unwind_state *walk, const struct dfr_firing *firing)
{
	struct pt_regs *regs = firing->fr_regs;

	if (regs && !user_mode(regs) && regs->sp) {
		unwind_start(walk, current, regs, NULL);
		return true;
	}
	unwind_start(walk, current, NULL, NULL);
	return false;
}

/*
 * A walk from registers starts with who called; where the registers themselves
 * were is the first frame of an interrupted or returning function, but not of
 * one that is just being entered (ftrace gives such registers no segment).
 */
static u64 own_frame(const struct pt_regs *regs)
{
	return regs->cs ? regs->ip : 0;
}

static unsigned long text_begin, text_size; /* of the kernel itself */

void dfr_stack_init(void)
{
	text_begin = dfr_resolve("_stext");
	text_size = text_begin ? dfr_resolve("_etext") - text_begin : 0;
}

/*
 * Where the frame that the walk is at returns to; 0: not to kernel code, so the walk
 * ends. Nearly all return to the kernel itself, and the last to user mode: neither
 * need be looked for among all code that modules, probes and BPF have brought.
 */
static unsigned long return_address(struct unwind_state *walk)
{
	if (walk->regs && user_mode(walk->regs))
		return 0;
#ifdef CONFIG_UNWINDER_ORC
	if (likely(walk->ip - text_begin < text_size))
		return walk->ip;
#endif
	return unwind_get_return_address(walk);
}

unsigned int dfr_plat_stack(const struct dfr_firing *firing, u64 *pcs, unsigned int max)
{
	struct unwind_state walk;
	unsigned int n = 0;
	bool exact;

	/* Probed from user mode (profile, a fault): the kernel was not running. */
	if (firing->fr_regs && user_mode((struct pt_regs *)firing->fr_regs) &&
	    firing->fr_regs != task_pt_regs(current))
		return 0;
	exact = start_walk(&walk, firing);
	if (exact && max && own_frame(firing->fr_regs))
		pcs[n++] = own_frame(firing->fr_regs);
	for (; !unwind_done(&walk) && n < max; unwind_next_frame(&walk)) {
		unsigned long pc = return_address(&walk);

		if (!pc)
			break;
		if (!exact && n < DFR_STACK_OWN_MAX && ours(pc)) {
			n = 0; /* what came before it was ours as well */
			continue;
		}
		pcs[n++] = pc;
	}
	return n;
}

static unsigned int depth_of_stack(const struct dfr_firing *firing)
{
	struct unwind_state walk;
	unsigned int n = 0;
	bool exact = start_walk(&walk, firing);

	if (exact && own_frame(firing->fr_regs))
		n = 1;
	for (; !unwind_done(&walk) && n < 256; unwind_next_frame(&walk)) {
		unsigned long pc = return_address(&walk);

		if (!pc)
			break;
		n = !exact && ours(pc) ? 0 : n + 1;
	}
	return n;
}

/* A frame that -fno-omit-frame-pointer makes: the caller's rbp, the return address. */
struct user_frame {
	u64 uf_next;
	u64 uf_return;
};

unsigned int dfr_plat_ustack(const struct dfr_firing *firing, u64 *pcs, unsigned int max)
{
	const struct pt_regs *regs = task_pt_regs(current);
	struct user_frame frame;
	unsigned int n = 0;
	u64 fp;

	if (!current->mm || !max)
		return 0;
	pcs[n++] = regs->ip;
	for (fp = regs->bp; n < max && fp && !(fp & 7); fp = frame.uf_next) {
		if (dfr_plat_copy_user(firing, &frame, fp, sizeof(frame)) || !frame.uf_return)
			break;
		pcs[n++] = frame.uf_return;
		if (frame.uf_next <= fp)
			break; /* stacks grow down: anything else is not a frame */
	}
	return n;
}

/* Who called the function that the probe is in; at its entry and return that is the first frame. */
static u64 caller_of(const struct dfr_firing *firing)
{
	bool at_edge = !strcmp(firing->fr_probe->pb_name, "entry") ||
		       !strcmp(firing->fr_probe->pb_name, "return");
	unsigned int frame = at_edge && firing->fr_regs && !user_mode((struct pt_regs *)firing->fr_regs) ? 0 : 1;
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
	case DIF_VAR_STACKDEPTH:
		return depth_of_stack(firing);
	case DIF_VAR_USTACKDEPTH:
		return dfr_plat_ustack(firing, pcs, ARRAY_SIZE(pcs));
	case DIF_VAR_CALLER:
		return caller_of(firing);
	case DIF_VAR_UCALLER:
		return user_caller(firing);
	}
	return 0;
}
