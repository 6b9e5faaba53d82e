// SPDX-License-Identifier: GPL-2.0
/*
 * A livepatch of the system call getpgid that does the same and counts what the
 * process `who` (a parameter) calls, in the parameter `calls`; by one thread. It needs nothing of dfr.ko.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

static int who;
static unsigned long calls;
module_param(who, int, 0644);
module_param(calls, ulong, 0444);

static long getpgid(const struct pt_regs* regs) {
	pid_t pid = (pid_t)regs->di;
	struct task_struct* task = current;
	long group = -ESRCH;

	if (current->tgid == who)
		calls++;
	rcu_read_lock();
	if (pid)
		task = pid_task(find_vpid(pid), PIDTYPE_PID);
	if (task)
		group = task_pgrp_vnr(task) ?: -ESRCH;
	rcu_read_unlock();
	return group;
}

static struct klp_func functions[] = {{.old_name = "__x64_sys_getpgid", .new_func = getpgid}, {}};
static struct klp_object objects[] = {{.funcs = functions}, {}};
static struct klp_patch patch = {.mod = THIS_MODULE, .objs = objects};

static int __init patch_init(void) {
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void) {}

module_init(patch_init);
module_exit(patch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Replaces a function that the D flight recorder traces, for tests");
