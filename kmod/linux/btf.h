/* SPDX-License-Identifier: GPL-2.0 */
/* What the module itself must know of the kernel's type information. Process context. */
#ifndef DFR_KMOD_LINUX_BTF_H
#define DFR_KMOD_LINUX_BTF_H

#include <linux/types.h>

/* Identifies the types, as DOF_SECT_BTFID does; 0: the kernel has none. */
u64 dfr_btf_digest(void);

#endif
