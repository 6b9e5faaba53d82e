// SPDX-License-Identifier: GPL-2.0
/*
 * Finding kernel symbols that are not exported. kallsyms_lookup_name() is not exported either, but a
 * kprobe placed on it by name tells its address; the probe is removed at once. All other private
 * parts of the kernel are in assumptions.h. Process context.
 *
 * A function found this way is called by a static call, never by a pointer. A static call is a
 * direct call, so it needs no retpoline and works where the kernel has sealed the function's landing
 * pad for indirect branches (IBT).
 */
#include "resolve.h"

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include "kmod/linux/assume.h"
#include "kmod/linux/compat.h"

static unsigned long no_lookup(const char *name)
{
	return 0;
}
DEFINE_STATIC_CALL(lookup_name, no_lookup);

static const char *no_name(unsigned long addr, unsigned long *size, unsigned long *offset, char **module,
			   char *name)
{
	return NULL;
}
DEFINE_STATIC_CALL(symbol_name, no_name);

static struct module *no_module(unsigned long address)
{
	return NULL;
}
DEFINE_STATIC_CALL(module_at, no_module);

static int no_places(int (*visit)(void *, unsigned long), const char *name, void *data)
{
	return 0;
}
DEFINE_STATIC_CALL(each_place, no_places);
static bool places_known;

void dfr_resolve_places(void)
{
	unsigned long itself = dfr_row_holds(DFR_ROW_kallsyms_on_each_match_symbol)
				       ? dfr_resolve("kallsyms_on_each_match_symbol")
				       : 0;

	if (!itself)
		return;
	static_call_update(each_place, (dfr_called_kallsyms_on_each_match_symbol *)itself);
	places_known = true;
}

struct places {
	unsigned long *pf_address;
	u32 pf_count, pf_room;
};

static int see_place(void *data, unsigned long address)
{
	struct places *places = data;
	u32 i, known = min(places->pf_count, places->pf_room);

	for (i = 0; i < known && places->pf_address[i] != address; i++)
		;
	if (i < known)
		return 0;
	if (places->pf_count < places->pf_room)
		places->pf_address[places->pf_count] = address;
	places->pf_count++;
	return 0;
}

u32 dfr_places_of(const char *name, unsigned long *address, u32 room)
{
	struct places places = { address, 0, room };
	unsigned long first;

	if (places_known) {
		static_call(each_place)(see_place, name, &places);
	} else {
		first = dfr_resolve(name);
		if (first)
			see_place(&places, first);
	}
	return places.pf_count;
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
	/*
	 * The lookup must find its own address, except that the probe may have been placed behind a
	 * landing pad.
	 */
	if (address - static_call(lookup_name)("kallsyms_lookup_name") < 16)
		return 0;
	static_call_update(lookup_name, no_lookup);
	return -ENOENT;
}

void dfr_resolve_more(void)
{
	dfr_call_kernel(symbol_name, kallsyms_lookup);
	dfr_call_kernel(module_at, __module_address);
}

const char *dfr_symbol_at(unsigned long addr, unsigned long *size, unsigned long *offset, char **module,
			  char *buffer)
{
	return static_call(symbol_name)(addr, size, offset, module, buffer);
}

struct module *dfr_module_at(unsigned long address)
{
	return static_call(module_at)(address);
}

unsigned long dfr_resolve(const char *name)
{
	return static_call(lookup_name)(name);
}
