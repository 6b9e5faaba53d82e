// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the table of assumptions.h against the kernel that the module is loaded into. One pass over
 * the kernel's BTF finds all types, a look-up for each name all addresses; then the tests run. A row
 * that does not hold switches off its part, and is named with the reason in the kernel's log and in
 * the module's parameter `unmet`, which dfr shows. Process context while the module loads; the
 * functions at the end ("Questions") also later.
 */
#include "kmod/linux/assume.h"

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/bpf.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/trace_events.h>
#ifdef CONFIG_UNWINDER_ORC
#include <asm/unwind.h>
#endif
#include "kmod/linux/btf_read.h"
#include "kmod/linux/linux.h"
#include "kmod/linux/resolve.h"

enum row_kind {
	CALLED_ROW,
	LOOKED_AT_ROW,
	HOOKED_ROW,
	TRACEPOINT_ROW,
	MEMBER_ROW,
	CALLBACK_ROW,
	BEHAVES_ROW
};

struct row {
	enum row_kind rw_kind;
	enum dfr_part rw_part;
	const char *rw_name;   /* as the kernel has it; of MEMBER "struct.member" */
	const char *rw_lookup; /* in BTF; NULL: as rw_name */
	const char *rw_member;
	const char *rw_want; /* a prototype; NULL: any */
	u32 rw_offset, rw_size;
	bool (*rw_test)(unsigned long address);
	const char *rw_off; /* what is off without it, where it is a part of its own */

	unsigned long rw_address;
	u32 rw_places;	    /* at how many addresses its symbol stands */
	u32 rw_types;	    /* how many types have its name */
	bool rw_typed;	    /* all of these are as expected */
	const char *rw_why; /* it does not hold; NULL: it holds */
};

static struct row rows[DFR_ROWS] = {
#define CALLED(name, result, args, part)                                                                     \
	[DFR_ROW_##name] = { CALLED_ROW, DFR_PART_##part, #name,                                             \
			     .rw_want = __stringify(result) " " __stringify(args) },
#define LOOKED_AT(name, test, part)                                                                          \
	[DFR_ROW_##name] = { LOOKED_AT_ROW, DFR_PART_##part, #name, .rw_test = dfr_test_##test },
#define HOOKED_AS(id, name, args, off)                                                                       \
	[DFR_ROW_##id] = { HOOKED_ROW, DFR_PART_OWN, name, .rw_want = args, .rw_off = off },
#define TRACEPOINT(name, args, off)                                                                          \
	[DFR_ROW_tp_##name] = {                                                                              \
		TRACEPOINT_ROW, DFR_PART_OWN, #name, "btf_trace_" #name, .rw_want = __stringify(args),       \
		.rw_off = off                                                                                \
	},
#define MEMBER(tag, member, offset, size, part)                                                              \
	[DFR_ROW_##tag##__##member] = {                                                                      \
		MEMBER_ROW, DFR_PART_##part, #tag "." #member, #tag, #member, NULL, offset, size             \
	},
#define CALLBACK(name, result, args, part)                                                                   \
	[DFR_ROW_##name] = { CALLBACK_ROW, DFR_PART_##part, #name,                                           \
			     .rw_want = __stringify(result) " " __stringify(args) },
#define BEHAVES(name, test, part)                                                                            \
	[DFR_ROW_##name] = { BEHAVES_ROW, DFR_PART_##part, #name, .rw_test = dfr_test_##test },
#include "kmod/linux/assumptions.h"
#include "kmod/linux/assumptions_end.h"
};

static const char *const part_off[DFR_PARTS] = {
#define PART(id, off) [DFR_PART_##id] = off,
#include "kmod/linux/assumptions.h"
#include "kmod/linux/assumptions_end.h"
};

static char *distrust = "";
module_param(distrust, charp, 0400);
MODULE_PARM_DESC(
	distrust,
	"names of rows of kmod/linux/assumptions.h that are taken for not true, with commas between");

static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *at;

	for (at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static const char *off_of(const struct row *row)
{
	return row->rw_part == DFR_PART_OWN ? row->rw_off : part_off[row->rw_part];
}

static void fails(struct row *row, const char *why)
{
	if (row->rw_why)
		return;
	row->rw_why = why;
	pr_warn("dfr: off on this kernel: %s: %s %s\n", off_of(row), row->rw_name, why);
}

/* --- Symbols. ---------------------------------------------------------------- */

static bool has_symbol(const struct row *row)
{
	return row->rw_kind == CALLED_ROW || row->rw_kind == LOOKED_AT_ROW || row->rw_kind == HOOKED_ROW;
}

static void find_symbols(void)
{
	u32 i;

	for (i = 0; i < DFR_ROWS; i++)
		if (has_symbol(&rows[i]))
			rows[i].rw_places = dfr_places_of(rows[i].rw_name, &rows[i].rw_address, 1);
}

/*
 * Some functions have different names in different kernels. Their rows have the same text in rw_off,
 * and it is enough that one of them exists.
 */
static bool has_other_name(const struct row *row)
{
	u32 i;

	for (i = 0; i < DFR_ROWS; i++)
		if (rows[i].rw_kind == HOOKED_ROW && rows[i].rw_address &&
		    !strcmp(rows[i].rw_off, row->rw_off))
			return true;
	return false;
}

static void judge_symbol(struct row *row)
{
	if (!has_symbol(row))
		return;
	if (row->rw_places > 1)
		fails(row, "stands at several addresses");
	else if (!row->rw_address && (row->rw_kind != HOOKED_ROW || !has_other_name(row)))
		fails(row, "is not among the kernel's symbols");
}

/* --- Types, in one pass. ------------------------------------------------------- */

/* A hash table of rows by name, at most half full. */
#define SLOTS 512
static_assert(DFR_ROWS * 2 < SLOTS);

struct slots {
	u8 so_row[SLOTS]; /* and one; 0: none */
};

static u32 hash_of(const char *name)
{
	u32 hash = 0;

	while (*name)
		hash = hash * 31 + (u8)*name++;
	return hash ^ hash >> 15;
}

static void enter(struct slots *slots, const char *name, u32 row)
{
	u32 at = hash_of(name) % SLOTS;

	while (slots->so_row[at])
		at = (at + 1) % SLOTS;
	slots->so_row[at] = row + 1;
}

static const char *lookup_of(const struct row *row)
{
	return row->rw_lookup ?: row->rw_name;
}

static bool has_type(const struct row *row)
{
	return row->rw_want || row->rw_kind == MEMBER_ROW;
}

struct pass {
	struct dfr_btf ps_btf;
	struct slots ps_slots;
	char ps_text[256];
};

static enum dfr_btf_kind kind_in_btf(const struct row *row)
{
	if (row->rw_kind == MEMBER_ROW)
		return DFR_BTF_STRUCT;
	return row->rw_kind == TRACEPOINT_ROW || row->rw_kind == CALLBACK_ROW ? DFR_BTF_TYPEDEF
									      : DFR_BTF_FUNCTION;
}

static bool prototype_holds(struct pass *pass, const struct row *row, u32 id)
{
	bool held;

	if (!dfr_btf_prototype(&pass->ps_btf, id, pass->ps_text, sizeof(pass->ps_text)))
		return false;
	held = dfr_btf_is(row->rw_want, pass->ps_text);
	if (!held)
		pr_info("dfr: %s is %s here, and expected to be %s\n", row->rw_name, pass->ps_text,
			row->rw_want);
	return held;
}

static bool member_holds(struct pass *pass, const struct row *row, u32 id)
{
	u32 offset, size;

	if (!dfr_btf_member(&pass->ps_btf, id, row->rw_member, &offset, &size)) {
		pr_info("dfr: %s is not there\n", row->rw_name);
		return false;
	}
	if (offset == row->rw_offset && size == row->rw_size)
		return true;
	pr_info("dfr: %s is %u bytes at %u here, and expected to be %u at %u\n", row->rw_name, size, offset,
		row->rw_size, row->rw_offset);
	return false;
}

/* If several types have this name, all must be as expected, because nothing says which of them is meant. */
static void see_type(void *arg, enum dfr_btf_kind kind, const char *name, u32 id)
{
	struct pass *pass = arg;
	u32 at = hash_of(name) % SLOTS;
	bool held;

	for (; pass->ps_slots.so_row[at]; at = (at + 1) % SLOTS) {
		struct row *row = &rows[pass->ps_slots.so_row[at] - 1];

		if (kind_in_btf(row) != kind || strcmp(lookup_of(row), name))
			continue;
		held = row->rw_kind == MEMBER_ROW ? member_holds(pass, row, id)
						  : prototype_holds(pass, row, id);
		row->rw_typed = held && (row->rw_typed || !row->rw_types);
		row->rw_types++;
	}
}

static int open_btf(struct dfr_btf *btf)
{
	const u8 *start = (const u8 *)dfr_resolve("__start_BTF"),
		 *stop = (const u8 *)dfr_resolve("__stop_BTF");

	return start && stop > start ? dfr_btf_open(btf, start, stop - start) : -ENOENT;
}

/* False: the kernel has no BTF, or there is no memory to read it. */
static bool see_types(void)
{
	struct pass *pass = dfr_plat_alloc(sizeof(*pass));
	bool open = pass && !open_btf(&pass->ps_btf);
	u32 i;

	for (i = 0; open && i < DFR_ROWS; i++)
		if (has_type(&rows[i]))
			enter(&pass->ps_slots, lookup_of(&rows[i]), i);
	if (open) {
		dfr_btf_each(&pass->ps_btf, see_type, pass);
		dfr_btf_close(&pass->ps_btf);
	}
	dfr_plat_free(pass);
	return open;
}

static void judge_type(struct row *row, bool seen)
{
	if (!has_type(row))
		return;
	if (!seen && !DFR_KERNEL_LISTED)
		fails(row, "cannot be held: this kernel has no BTF, and is none of those that dfr knows");
	if (!seen)
		return;
	if (!row->rw_types)
		fails(row, row->rw_kind == MEMBER_ROW ? "is not in the kernel's BTF"
						      : "has no type in the kernel's BTF");
	else if (!row->rw_typed)
		fails(row, row->rw_kind == MEMBER_ROW ? "lies elsewhere" : "has another prototype");
}

/* --- The whole. ---------------------------------------------------------------- */

static void run_tests(void)
{
	u32 i;

	for (i = 0; i < DFR_ROWS; i++) {
		struct row *row = &rows[i];
		bool there = row->rw_address || row->rw_kind == BEHAVES_ROW;

		if (row->rw_test && !row->rw_why && there && !row->rw_test(row->rw_address))
			fails(row, "is not what its name says");
	}
}

void dfr_assume_init(void)
{
	bool typed;
	u32 i;

	for (i = 0; i < DFR_ROWS; i++)
		if (is_listed(distrust, rows[i].rw_name))
			fails(&rows[i], "is distrusted (parameter distrust)");
	if (!DFR_FBT_PROVEN)
		fails(&rows[DFR_ROW_ftrace_lock],
		      "is not relied on: fbt on all functions has ended a kernel as new as this one");
	typed = see_types();
	judge_type(&rows[DFR_ROW_kallsyms_on_each_match_symbol], typed); /* the one that finds all symbols */
	dfr_resolve_places();
	find_symbols();
	for (i = 0; i < DFR_ROWS; i++) {
		judge_symbol(&rows[i]);
		if (rows[i].rw_kind != HOOKED_ROW || rows[i].rw_address)
			judge_type(&rows[i], typed);
	}
	dfr_resolve_more();
	run_tests();
}

/*
 * kCFI (FineIBT too) stops the kernel when a function is called through a pointer of another type.
 * The handlers of sdt, native programs and the functions in DIF's tables are called so.
 */
const char *dfr_assume_refuses(void)
{
	if (IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI) || dfr_resolve("report_cfi_failure") ||
	    is_listed(distrust, "kcfi"))
		return "this kernel checks the types of indirect calls (kCFI, CONFIG_CFI_CLANG), and would "
		       "stop at the first probe";
	return NULL;
}

/* --- Questions. ------------------------------------------------------------------ */

bool dfr_part_works(enum dfr_part part)
{
	u32 i;

	for (i = 0; i < DFR_ROWS; i++)
		if (rows[i].rw_part == part && rows[i].rw_why)
			return false;
	return true;
}

bool dfr_row_holds(enum dfr_row row)
{
	return !rows[row].rw_why;
}

unsigned long dfr_row_found(enum dfr_row row)
{
	return rows[row].rw_address;
}

unsigned long dfr_row_address(enum dfr_row row)
{
	return row < DFR_ROWS && dfr_part_works(rows[row].rw_part) ? rows[row].rw_address : 0;
}

static const struct row *own_row(enum row_kind kind, const char *name)
{
	u32 i;

	for (i = 0; i < DFR_ROWS; i++)
		if (rows[i].rw_kind == kind && !strcmp(rows[i].rw_name, name))
			return rows[i].rw_why ? NULL : &rows[i];
	return NULL;
}

unsigned long dfr_hooked_address(const char *name)
{
	const struct row *row = own_row(HOOKED_ROW, name);

	return row ? row->rw_address : 0;
}

bool dfr_tracepoint_holds(const char *name)
{
	return own_row(TRACEPOINT_ROW, name);
}

void dfr_row_fails(enum dfr_row row, const char *why)
{
	fails(&rows[row], why);
}

const char *dfr_command_line(void)
{
	char **line = (char **)dfr_resolve("saved_command_line");

	if (rows[DFR_ROW_saved_command_line].rw_why || !line || !dfr_test_command_line((unsigned long)line))
		return NULL;
	return *line;
}

/* One line for each row that does not hold: what is switched off, the row, why. */
static int show_unmet(char *buffer, const struct kernel_param *parameter)
{
	int n = 0;
	u32 i;

	for (i = 0; i < DFR_ROWS; i++)
		if (rows[i].rw_why)
			n += scnprintf(buffer + n, PAGE_SIZE - n, "%s\t%s %s\n", off_of(&rows[i]),
				       rows[i].rw_name, rows[i].rw_why);
	return n;
}

static const struct kernel_param_ops unmet_ops = { .get = show_unmet };
module_param_cb(unmet, &unmet_ops, NULL, 0444);
MODULE_PARM_DESC(unmet, "what is off on this kernel, and which of dfr's assumptions about it does not hold");
