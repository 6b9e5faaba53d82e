/* SPDX-License-Identifier: GPL-2.0 */
/* What the module itself needs of the kernel's type information. Process context. */
#ifndef DFR_KMOD_LINUX_BTF_H
#define DFR_KMOD_LINUX_BTF_H

#include <linux/types.h>

/* Identifies the kernel's types, as DOF_SECT_BTFID in a program does; 0: the kernel has no BTF. */
u64 dfr_btf_digest(void);

#endif
