/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of kernel symbols that are not exported. Process context. What the
 * module itself needs stands in assumptions.h, and is asked for by assume.h;
 * dfr_resolve() is for names that a program says.
 */
#ifndef DFR_KMOD_LINUX_RESOLVE_H
#define DFR_KMOD_LINUX_RESOLVE_H

/* Call once, before the others. -ENOENT: this kernel hides its symbol table. */
int dfr_resolve_init(void);

/* 0: no such symbol. "module:symbol" looks in one module. The address is to be shown or probed, nothing else. */
unsigned long dfr_resolve(const char *name);
/* Behind dfr_assume_init(): names of addresses, as far as the table allows. */
void dfr_resolve_more(void);

/* Visits every symbol of the kernel itself, in no order that matters. */
void dfr_each_symbol(void (*visit)(const char *name, unsigned long address));

/* The symbol around an address: its name in `buffer` (KSYM_NAME_LEN), NULL: none. Module NULL: the kernel. */
const char *dfr_symbol_at(unsigned long addr, unsigned long *size, unsigned long *offset, char **module,
			  char *buffer);

#endif
