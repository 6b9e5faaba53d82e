/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of kernel symbols that are not exported. Process context. Functions
 * found here are called through static calls only (resolve.c says why).
 */
#ifndef DFR_KMOD_LINUX_RESOLVE_H
#define DFR_KMOD_LINUX_RESOLVE_H

/* Call once, before the others. -ENOENT: this kernel hides its symbol table. */
int dfr_resolve_init(void);

/* 0: no such symbol. "module:symbol" looks in one module. */
unsigned long dfr_resolve(const char *name);

/* Visits every symbol of the kernel itself, in no order that matters. */
void dfr_each_symbol(void (*visit)(const char *name, unsigned long address));

/* The symbol around an address: its name in `buffer` (KSYM_NAME_LEN), NULL: none. Module NULL: the kernel. */
const char *dfr_symbol_at(unsigned long addr, unsigned long *size, unsigned long *offset,
			  char **module, char *buffer);

/* Gives a static call the function of that name as its target. 0 or -ENOENT. */
#define dfr_resolve_call(call, name)                                                               \
	({                                                                                         \
		unsigned long address_ = dfr_resolve(name);                                        \
		if (address_)                                                                      \
			static_call_update(call, (typeof(STATIC_CALL_TRAMP(call)) *)address_);     \
		address_ ? 0 : -ENOENT;                                                            \
	})

#endif
