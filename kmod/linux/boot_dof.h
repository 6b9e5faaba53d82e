/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The boot program that the build linked into the module (boot_dof.S): DOF,
 * aligned to 8 bytes, read by the module's init. It is input like any other:
 * the engine verifies it before anything of it runs. Equal symbols: no program.
 */
#ifndef DFR_KMOD_LINUX_BOOT_DOF_H
#define DFR_KMOD_LINUX_BOOT_DOF_H

#include <linux/types.h>

extern const u8 dfr_boot_dof[];
extern const u8 dfr_boot_dof_end[];

static inline size_t dfr_boot_dof_size(void)
{
	return dfr_boot_dof_end - dfr_boot_dof;
}

#endif
