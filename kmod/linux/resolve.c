// SPDX-License-Identifier: GPL-2.0
/*
 * Finding kernel symbols that are not exported. kallsyms_lookup_name() itself is
 * not exported either, but a kprobe placed on it by name tells where it is; the
 * probe is removed at once. Process context.
 *
 * A function found this way is called by a static call, never by a pointer: a
 * static call is a direct call, so it needs no retpoline and is legal where the
 * kernel has sealed the function's landing pad for indirect branches (IBT).
 */
#include "resolve.h"

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include "compat.h"

static unsigned long no_lookup(const char *name)
{
	return 0;
}
DEFINE_STATIC_CALL(lookup_name, no_lookup);

static const char *no_name(unsigned long addr, unsigned long *size, unsigned long *offset,
			   char **module, char *name)
{
	return NULL;
}
DEFINE_STATIC_CALL(symbol_name, no_name);

static int no_symbols(int (*visit)(DFR_SYMBOL_VISITOR_ARGS), void *data)
{
	return 0;
}
DEFINE_STATIC_CALL(each_symbol, no_symbols);

static int visit_symbol(DFR_SYMBOL_VISITOR_ARGS)
{
	void (*visit)(const char *name, unsigned long address) = data;

	visit(name, address);
	return 0;
}

void dfr_each_symbol(void (*visit)(const char *name, unsigned long address))
{
	if (!dfr_resolve_call(each_symbol, "kallsyms_on_each_symbol"))
		static_call(each_symbol)(visit_symbol, visit);
}

int dfr_resolve_init(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long address;
	int error;

	error = register_kprobe(&probe);
	if (error)
		return error;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	static_call_update(lookup_name, (unsigned long (*)(const char *))address);
	if (dfr_resolve_call(symbol_name, "kallsyms_lookup"))
		return -ENOENT;
	return dfr_resolve("init_mm") ? 0 : -ENOENT;
}

const char *dfr_symbol_at(unsigned long addr, unsigned long *size, unsigned long *offset,
			  char **module, char *buffer)
{
	return static_call(symbol_name)(addr, size, offset, module, buffer);
}

unsigned long dfr_resolve(const char *name)
{
	return static_call(lookup_name)(name);
}
