/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The little that the module itself must know from the kernel's type
 * information: whether a program was compiled against it, and how many arguments
 * a tracepoint passes. Everything else about types is user space's business.
 * Process context.
 */
#ifndef DFR_KMOD_LINUX_BTF_H
#define DFR_KMOD_LINUX_BTF_H

#include <linux/types.h>

struct dfr_btf;

/* The kernel's own type information, indexed. NULL: none, or no memory. */
struct dfr_btf *dfr_btf_open(void);
void dfr_btf_close(struct dfr_btf *btf);

/* Identifies the types, as DOF_SECT_BTFID does; 0: the kernel has none. */
u64 dfr_btf_digest(void);

/* Arguments that a tracepoint's probe gets besides its data pointer; -ENOENT: not known. */
int dfr_btf_tracepoint_args(const struct dfr_btf *btf, const char *tracepoint);

#endif
