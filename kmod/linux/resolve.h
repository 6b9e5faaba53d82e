/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of kernel symbols that are not exported. Process context. The module's own needs are
 * rows of assumptions.h and are asked for by assume.h; dfr_resolve() is for names that a D program
 * uses.
 */
#ifndef DFR_KMOD_LINUX_RESOLVE_H
#define DFR_KMOD_LINUX_RESOLVE_H

#include <linux/types.h>

/* Call once, before the others. -ENOENT: this kernel hides its symbol table. */
int dfr_resolve_init(void);

/* 0: no such symbol. "module:symbol" looks in one module. The address may only be shown or probed. */
unsigned long dfr_resolve(const char *name);
/* Called by dfr_assume_init(): makes dfr_symbol_at() and dfr_module_at() work, if their rows hold. */
void dfr_resolve_more(void);

/* Called by dfr_assume_init(): from then on dfr_places_of() sees all places of a name, if the row holds. */
void dfr_resolve_places(void);
/*
 * At how many addresses the kernel itself, not a module, has this symbol, and the first `room` of them. Without
 * dfr_resolve_places() one at most.
 */
u32 dfr_places_of(const char *name, unsigned long *address, u32 room);

/*
 * The symbol that contains an address: its name, in `buffer` (KSYM_NAME_LEN), or NULL. *module NULL:
 * the kernel itself.
 */
const char *dfr_symbol_at(unsigned long addr, unsigned long *size, unsigned long *offset, char **module,
			  char *buffer);

/* The module that contains an address, or NULL. With preemption off, so that it is not freed meanwhile. */
struct module *dfr_module_at(unsigned long address);

#endif
