// SPDX-License-Identifier: GPL-2.0
/*
 * Who may do what: decided once, when a descriptor is opened, and kept with it.
 * The device node itself is root's alone (0600). Process context.
 */
#include "kmod/linux/linux.h"

#include <linux/capability.h>
#include <linux/moduleparam.h>
#include <linux/security.h>

/* Off: no program may stop, signal or write anything, whoever asks. */
bool dfr_destructive = true;
module_param_named(destructive, dfr_destructive, bool, 0600);
MODULE_PARM_DESC(destructive, "allow destructive actions to CAP_SYS_ADMIN with -w (default: yes)");

bool dfr_destructive_allowed(void)
{
	return dfr_destructive && !security_locked_down(LOCKDOWN_INTEGRITY_MAX);
}

/* capable() asks about the initial user namespace: root in a container is nobody here. */
int dfr_rights_of_current(struct dfr_rights *rights)
{
	bool admin = capable(CAP_SYS_ADMIN);

	if (!admin && !(capable(CAP_PERFMON) && capable(CAP_BPF)))
		return -EPERM;
	rights->rt_kernel_reads = !security_locked_down(LOCKDOWN_BPF_READ_KERNEL);
	rights->rt_destructive = admin && dfr_destructive_allowed();
	return 0;
}

/* The boot program came with the module, whose loading was the privilege; nobody said -w. */
struct dfr_rights dfr_rights_of_boot(void)
{
	struct dfr_rights rights = {
		.rt_kernel_reads = !security_locked_down(LOCKDOWN_BPF_READ_KERNEL),
		.rt_destructive = false,
	};

	return rights;
}
