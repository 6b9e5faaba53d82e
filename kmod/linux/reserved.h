/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The area of reserved memory that another boot has left, for its readers: reserved_old.c. What the rest of the
 * module needs of reserved.c is in linux.h.
 */
#ifndef DFR_KMOD_LINUX_RESERVED_H
#define DFR_KMOD_LINUX_RESERVED_H

#include "kmod/linux/linux.h"

void dfr_reserved_old_is(const void *area, u64 address, size_t bytes);

#endif
