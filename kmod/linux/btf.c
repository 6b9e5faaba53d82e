// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the kernel's BTF: its digest, and the number of a tracepoint's
 * arguments: typedef btf_trace_NAME -> pointer -> function type, whose first
 * parameter is the data pointer. The blob is the kernel's own and has been checked by the kernel at
 * boot; lengths are checked here all the same. Process context.
 */
#include "kmod/linux/btf.h"

#include <linux/btf.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "formats/abi/dof.h"
#include "kmod/linux/resolve.h"

#define TRACE_PREFIX "btf_trace_"

struct dfr_btf {
	const char *bt_strings;
	u32 bt_strings_size;
	u32 bt_count;
	u32 bt_ntraces;
	u32 *bt_traces; /* ids of the typedefs btf_trace_*: a few hundred of 150,000 types */
	const struct btf_type *bt_type[]; /* by id; 0 is void */
};

/* What follows a type's head. */
static u32 tail_of(const struct btf_type *type)
{
	u32 n = btf_type_vlen(type);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

/* Counts the types between p and end; with btf given, notes each. */
static u32 walk(const u8 *p, const u8 *end, struct dfr_btf *btf)
{
	u32 id = 1;

	while (p + sizeof(struct btf_type) <= end) {
		const struct btf_type *type = (const struct btf_type *)p;

		if (btf && id < btf->bt_count)
			btf->bt_type[id] = type;
		p += sizeof(*type) + tail_of(type);
		id++;
	}
	return id;
}

/* NUL-terminated, since the kernel checked the strings; NULL outside of them. */
static const char *name_of(const struct dfr_btf *btf, const struct btf_type *type)
{
	return type->name_off < btf->bt_strings_size ? btf->bt_strings + type->name_off : NULL;
}

static bool is_trace(const struct dfr_btf *btf, const struct btf_type *type)
{
	const char *name;

	if (BTF_INFO_KIND(type->info) != BTF_KIND_TYPEDEF)
		return false;
	name = name_of(btf, type);
	return name && strstarts(name, TRACE_PREFIX);
}

static int note_traces(struct dfr_btf *btf)
{
	u32 id, n = 0;

	for (id = 1; id < btf->bt_count; id++)
		n += is_trace(btf, btf->bt_type[id]);
	btf->bt_traces = kvmalloc_array(n + 1, sizeof(*btf->bt_traces), GFP_KERNEL);
	if (!btf->bt_traces)
		return -ENOMEM;
	for (id = 1; id < btf->bt_count; id++)
		if (is_trace(btf, btf->bt_type[id]))
			btf->bt_traces[btf->bt_ntraces++] = id;
	return 0;
}

void dfr_btf_close(struct dfr_btf *btf)
{
	if (btf)
		kvfree(btf->bt_traces);
	kvfree(btf);
}

struct dfr_btf *dfr_btf_open(void)
{
	const u8 *start = (const u8 *)dfr_resolve("__start_BTF");
	const u8 *stop = (const u8 *)dfr_resolve("__stop_BTF");
	const struct btf_header *head = (const struct btf_header *)start;
	const u8 *types, *end;
	struct dfr_btf *btf;
	u32 count;

	if (!start || !stop || stop - start < (long)sizeof(*head) || head->magic != BTF_MAGIC)
		return NULL;
	if ((u64)head->hdr_len + head->type_off + head->type_len > (u64)(stop - start) ||
	    (u64)head->hdr_len + head->str_off + head->str_len > (u64)(stop - start) || !head->str_len)
		return NULL;
	types = start + head->hdr_len + head->type_off;
	end = types + head->type_len;
	count = walk(types, end, NULL);
	btf = kvzalloc(struct_size(btf, bt_type, count), GFP_KERNEL);
	if (!btf)
		return NULL;
	btf->bt_count = count;
	btf->bt_strings = (const char *)start + head->hdr_len + head->str_off;
	btf->bt_strings_size = head->str_len;
	walk(types, end, btf);
	if (note_traces(btf)) {
		dfr_btf_close(btf);
		return NULL;
	}
	return btf;
}

u64 dfr_btf_digest(void)
{
	const u8 *p = (const u8 *)dfr_resolve("__start_BTF");
	const u8 *stop = (const u8 *)dfr_resolve("__stop_BTF");
	u64 hash = DOF_BTF_DIGEST_START, word;
	u64 size = stop - p;

	if (!p || !stop || p >= stop)
		return 0;
	for (; p < stop; p += 8) {
		word = 0;
		memcpy(&word, p, min_t(size_t, 8, stop - p));
		hash = (hash ^ word) * DOF_BTF_DIGEST_PRIME;
	}
	return (hash ^ size) * DOF_BTF_DIGEST_PRIME;
}

static const struct btf_type *type_at(const struct dfr_btf *btf, u32 id)
{
	return id && id < btf->bt_count ? btf->bt_type[id] : NULL;
}

int dfr_btf_tracepoint_args(const struct dfr_btf *btf, const char *tracepoint)
{
	const struct btf_type *type;
	u32 i;

	for (i = 0; i < btf->bt_ntraces; i++) {
		type = btf->bt_type[btf->bt_traces[i]];
		if (strcmp(name_of(btf, type) + strlen(TRACE_PREFIX), tracepoint))
			continue;
		type = type_at(btf, type->type);
		if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_PTR)
			return -ENOENT;
		type = type_at(btf, type->type);
		if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_FUNC_PROTO || !btf_type_vlen(type))
			return -ENOENT;
		return btf_type_vlen(type) - 1;
	}
	return -ENOENT;
}
