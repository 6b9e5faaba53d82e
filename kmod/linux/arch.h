/* SPDX-License-Identifier: GPL-2.0 */
/* Includes the header of the processor that this kernel is for; all such headers define the same names. */
#ifndef DFR_KMOD_LINUX_ARCH_H
#define DFR_KMOD_LINUX_ARCH_H

#ifdef CONFIG_X86_64
#include "kmod/linux/arch_x86.h"
#elif defined(CONFIG_ARM64)
#include "kmod/linux/arch_arm64.h"
#else
#error "dfr knows x86-64 and arm64: another processor needs a kmod/linux/arch_*.h of its own"
#endif

#endif
