// SPDX-License-Identifier: GPL-2.0
/*
 * Who may do what: decided once, when a descriptor is opened, and kept with it. Process context,
 * except dfr_plat_owned(). The device node is root's alone (0600), unless the module was loaded with
 * `unprivileged`: then everybody may open it, and a user without privilege gets states that are
 * confined to his own tasks.
 *
 * A task is a user's own if the kernel's rules (ptrace(2)) would let him attach a debugger to it,
 * security modules left aside, because a probe cannot ask them: all ids of the task are his, it may
 * be dumped (a set-id program may not, nor one that he may execute but not read), it has no
 * capability, and it is in no user namespace. The task that opens the device must be such a task
 * too. The pids that he will see are those of the initial pid namespace, so that task must be in it.
 */
#include "kmod/linux/linux.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/moduleparam.h>
#include <linux/pid_namespace.h>
#include <linux/sched/coredump.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

/* Off: no program may stop, signal or write anything, root's included. */
bool dfr_destructive = true;
module_param_named(destructive, dfr_destructive, bool, 0600);
MODULE_PARM_DESC(destructive, "allow destructive actions to CAP_SYS_ADMIN with -w (default: yes)");

bool dfr_destructive_allowed(void)
{
	return dfr_destructive && !security_locked_down(LOCKDOWN_INTEGRITY_MAX);
}

bool dfr_unprivileged;
module_param_named(unprivileged, dfr_unprivileged, bool, 0400);
MODULE_PARM_DESC(unprivileged, "let unprivileged users trace their own processes (default: no)");

static bool all_are(const struct cred *cred, kuid_t uid, kgid_t gid)
{
	return uid_eq(cred->uid, uid) && uid_eq(cred->euid, uid) && uid_eq(cred->suid, uid) &&
	       gid_eq(cred->gid, gid) && gid_eq(cred->egid, gid) && gid_eq(cred->sgid, gid);
}

/* Any context, probe context included: only the task itself changes its own credentials. */
bool dfr_plat_owned(const struct dfr_firing *firing, u32 uid, u32 gid)
{
	const struct cred *cred = current_real_cred();

	if (!current->mm || current->flags & PF_KTHREAD || !dfr_owner_may_look())
		return false;
	return cred->user_ns == &init_user_ns && cap_isclear(cred->cap_permitted) &&
	       all_are(cred, KUIDT_INIT(uid), KGIDT_INIT(gid));
}

static int confined_rights(struct dfr_rights *rights)
{
	const struct cred *cred = current_cred();

	rights->rt_confined = true;
	rights->rt_uid = __kuid_val(cred->uid);
	rights->rt_gid = __kgid_val(cred->gid);
	if (!dfr_unprivileged || !rights->rt_uid || task_active_pid_ns(current) != &init_pid_ns ||
	    !dfr_plat_owned(NULL, rights->rt_uid, rights->rt_gid))
		return -EPERM;
	return 0;
}

/* capable() asks about the initial user namespace, so root in a container has no privilege here. */
int dfr_rights_of_current(struct dfr_rights *rights)
{
	bool admin = capable(CAP_SYS_ADMIN);

	if (!admin && !(capable(CAP_PERFMON) && capable(CAP_BPF)))
		return confined_rights(rights);
	rights->rt_kernel_reads = !security_locked_down(LOCKDOWN_BPF_READ_KERNEL);
	rights->rt_destructive = admin && dfr_destructive_allowed();
	return 0;
}

/* The boot program came with the module, so the privilege to load modules covers it; but nobody said -w. */
struct dfr_rights dfr_rights_of_boot(void)
{
	struct dfr_rights rights = {
		.rt_kernel_reads = !security_locked_down(LOCKDOWN_BPF_READ_KERNEL),
		.rt_destructive = false,
	};

	return rights;
}
