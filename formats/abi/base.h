/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer names that mean the same in the kernel and in user space (__u8 to
 * __u64, __s8 to __s64), and a compile-time check. Every other header of this
 * folder includes this one. They include nothing of the project's other folders.
 */
#ifndef DFR_ABI_BASE_H
#define DFR_ABI_BASE_H

#include <linux/types.h>

#ifdef __cplusplus
#define DFR_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define DFR_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#endif
