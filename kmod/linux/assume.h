/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module assumes about this kernel, checked when it loads (assume.c); the list is
 * assumptions.h. Code that needs a private address of the kernel asks for it here, and gets none if
 * that row, or another row of the same part, does not hold. Process context.
 */
#ifndef DFR_KMOD_LINUX_ASSUME_H
#define DFR_KMOD_LINUX_ASSUME_H

#include <linux/blk_types.h>
#include <linux/static_call.h>
#include <linux/tracepoint.h>
#include "kmod/linux/compat.h"

struct k_sigaction;
struct linux_binprm;
struct module;
struct request;
struct request_queue;

enum dfr_row {
#define CALLED(name, result, args, part)	DFR_ROW_##name,
#define LOOKED_AT(name, test, part)		DFR_ROW_##name,
#define HOOKED_AS(id, name, args, off)		DFR_ROW_##id,
#define TRACEPOINT(name, args, off)		DFR_ROW_tp_##name,
#define MEMBER(tag, member, offset, size, part) DFR_ROW_##tag##__##member,
#define CALLBACK(name, result, args, part)	DFR_ROW_##name,
#define BEHAVES(name, test, part)		DFR_ROW_##name,
#include "kmod/linux/assumptions.h"
#include "kmod/linux/assumptions_end.h"
	DFR_ROWS
};

enum dfr_part {
	DFR_PART_OWN, /* the row is a part of its own */
#define PART(id, off) DFR_PART_##id,
#include "kmod/linux/assumptions.h"
#include "kmod/linux/assumptions_end.h"
	DFR_PARTS
};

/* The types that the table gives to called functions and to handlers of tracepoints. */
#define CALLED(name, result, args, part) typedef result dfr_called_##name args;
#define TRACEPOINT(name, args, off)	 typedef void dfr_handler_##name args;
#include "kmod/linux/assumptions.h"
#include "kmod/linux/assumptions_end.h"

/* Called once, after dfr_resolve_init(). Never fails: parts whose rows do not hold are off. */
void dfr_assume_init(void);

/* The reason not to load the module at all; NULL: there is none. */
const char *dfr_assume_refuses(void);

bool dfr_part_works(enum dfr_part part);

/* The address of a CALLED or LOOKED_AT row; 0: its part is off. */
unsigned long dfr_row_address(enum dfr_row row);
#define dfr_kernel(name) dfr_row_address(DFR_ROW_##name)

/*
 * The address of a HOOKED function, by name; 0: the kernel does not have it, its row does not hold,
 * or it has no row.
 */
unsigned long dfr_hooked_address(const char *name);

/* Has the tracepoint the parameters that its handler expects? */
bool dfr_tracepoint_holds(const char *name);

/* Called by a part that finds out later that the row does not hold. */
void dfr_row_fails(enum dfr_row row, const char *why);

/* The kernel's command line; may be called before dfr_assume_init(). NULL: it cannot be found. */
const char *dfr_command_line(void);

/* Makes the function of a row the target of a static call; their types must be the same. 0 or -ENOENT. */
#define dfr_call_kernel(call, name)                                                                          \
	({                                                                                                   \
		unsigned long address_ = dfr_kernel(name);                                                   \
		BUILD_BUG_ON(!__same_type(STATIC_CALL_TRAMP(call), dfr_called_##name));                      \
		if (address_)                                                                                \
			static_call_update(call, (dfr_called_##name *)address_);                             \
		address_ ? 0 : -ENOENT;                                                                      \
	})

/*
 * The handler of a tracepoint as a pointer without type; does not compile if it is not of the
 * table's type.
 */
#define DFR_HANDLER(name, handler)                                                                           \
	__builtin_choose_expr(__same_type(handler, dfr_handler_##name), (void *)(handler), (void)0)

/* assume_tests.c: is the thing at that address what the row's name says? */
bool dfr_test_begin(unsigned long address);
bool dfr_test_end_of_init(unsigned long address);
bool dfr_test_begin_of_text(unsigned long address);
bool dfr_test_end_of_text(unsigned long address);
bool dfr_test_text(unsigned long address);
bool dfr_test_readable(unsigned long address);
bool dfr_test_boolean(unsigned long address);
bool dfr_test_flag(unsigned long address);
bool dfr_test_no_kprobe(unsigned long address);
bool dfr_test_list(unsigned long address);
bool dfr_test_mutex(unsigned long address);
bool dfr_test_raw_tracepoints(unsigned long address);
bool dfr_test_command_line(unsigned long address);
bool dfr_test_uuid(unsigned long address);
bool dfr_test_btf(unsigned long address);
bool dfr_test_native_code(unsigned long none); /* jit.c */
bool dfr_row_holds(enum dfr_row row);
/* The address of a row even if its part is off, because tests compare rows with each other. */
unsigned long dfr_row_found(enum dfr_row row);

#endif
