// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of btf_read.h.
 *
 *	blob:  magic u16, version u8, flags u8 | header length u32 | types: offset, length |
 *	       strings: offset, length | types | strings
 *	type:  name u32 | info u32 (31 kind_flag, 28-24 kind, 15-0 vlen) | size or type u32 |
 *	       what the kind has
 *
 * dfr_btf_open() has checked that every type lies within its section, with all data of its kind. Ids
 * and names are checked where they are used; recursion is bounded by DEPTH.
 */
#include "kmod/linux/btf_read.h"

#define HEADER 24
#define TYPE   12
#define DEPTH  16

enum {
	INT = 1,
	PTR,
	ARRAY,
	STRUCT,
	UNION,
	ENUM,
	FWD,
	TYPEDEF,
	VOLATILE,
	CONST,
	RESTRICT,
	FUNC,
	FUNC_PROTO,
	VAR,
	DATASEC,
	FLOAT,
	DECL_TAG,
	TYPE_TAG,
	ENUM64,
	KINDS
};

/* Bytes that follow a type's head: a fixed number, and the size of each of its vlen items. */
static const u8 shapes[KINDS][2] = {
	[INT] = { 4, 0 },      [ARRAY] = { 12, 0 },	[STRUCT] = { 0, 12 }, [UNION] = { 0, 12 },
	[ENUM] = { 0, 8 },     [FUNC_PROTO] = { 0, 8 }, [VAR] = { 4, 0 },     [DATASEC] = { 0, 12 },
	[DECL_TAG] = { 4, 0 }, [ENUM64] = { 0, 12 },
};

struct type {
	u32 ty_name;
	u32 ty_kind;
	u32 ty_vlen;
	u32 ty_flag;
	u32 ty_value; /* size or type */
	const u8 *ty_data;
};

static u32 load32(const u8 *at)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static struct type type_at(const u8 *at)
{
	u32 info = load32(at + 4);

	return (struct type){
		.ty_name = load32(at),
		.ty_kind = info >> 24 & 0x1f,
		.ty_vlen = info & 0xffff,
		.ty_flag = info >> 31,
		.ty_value = load32(at + 8),
		.ty_data = at + TYPE,
	};
}

/* Void, and an id that does not exist, give a type of kind 0. */
static struct type type_of(const struct dfr_btf *btf, u32 id)
{
	if (!id || id >= btf->bt_count)
		return (struct type){ .ty_kind = 0 };
	return type_at(btf->bt_types + btf->bt_place[id]);
}

static const char *name_of(const struct dfr_btf *btf, u32 name)
{
	return name < btf->bt_string_bytes ? btf->bt_strings + name : "";
}

/*
 * Walks all types and, if bt_place is set, stores there where each one is. Returns their number; 0:
 * damaged.
 */
static u32 index_types(struct dfr_btf *btf)
{
	u32 at = 0, n = 1;

	while (at < btf->bt_type_bytes) {
		u64 size = TYPE;
		struct type type;

		if (btf->bt_type_bytes - at < TYPE)
			return 0;
		type = type_at(btf->bt_types + at);
		if (!type.ty_kind || type.ty_kind >= KINDS)
			return 0;
		size += shapes[type.ty_kind][0] + (u64)shapes[type.ty_kind][1] * type.ty_vlen;
		if (size > btf->bt_type_bytes - at)
			return 0;
		if (btf->bt_place)
			btf->bt_place[n] = at;
		n++;
		at += size;
	}
	return n;
}

static bool lies_within(u32 offset, u32 length, size_t room)
{
	return offset <= room && length <= room - offset;
}

int dfr_btf_open(struct dfr_btf *btf, const void *blob, size_t size)
{
	const u8 *p = blob;
	size_t room;
	u32 header;

	memset(btf, 0, sizeof(*btf));
	if (size < HEADER || (load32(p) & 0xffffff) != 0x01eb9f)
		return -EINVAL;
	header = load32(p + 4);
	if (header < HEADER || header > size)
		return -EINVAL;
	room = size - header;
	btf->bt_type_bytes = load32(p + 12);
	btf->bt_string_bytes = load32(p + 20);
	if (!lies_within(load32(p + 8), btf->bt_type_bytes, room) ||
	    !lies_within(load32(p + 16), btf->bt_string_bytes, room) || !btf->bt_string_bytes)
		return -EINVAL;
	btf->bt_types = p + header + load32(p + 8);
	btf->bt_strings = (const char *)p + header + load32(p + 16);
	if (btf->bt_strings[btf->bt_string_bytes - 1])
		return -EINVAL;
	btf->bt_count = index_types(btf);
	if (!btf->bt_count)
		return -EINVAL;
	btf->bt_place = dfr_plat_alloc(btf->bt_count * sizeof(u32));
	if (!btf->bt_place)
		return -ENOMEM;
	index_types(btf);
	return 0;
}

void dfr_btf_close(struct dfr_btf *btf)
{
	dfr_plat_free(btf->bt_place);
	btf->bt_place = NULL;
}

void dfr_btf_each(const struct dfr_btf *btf,
		  void (*see)(void *arg, enum dfr_btf_kind kind, const char *name, u32 id), void *arg)
{
	static const u8 kinds[KINDS] = {
		[FUNC] = DFR_BTF_FUNCTION,
		[STRUCT] = DFR_BTF_STRUCT,
		[TYPEDEF] = DFR_BTF_TYPEDEF,
	};
	u32 id;

	for (id = 1; id < btf->bt_count; id++) {
		struct type type = type_of(btf, id);

		if (kinds[type.ty_kind] && *name_of(btf, type.ty_name))
			see(arg, kinds[type.ty_kind], name_of(btf, type.ty_name), id);
	}
}

/* --- Prototypes as text. ---------------------------------------------------- */

struct text {
	char *tb_at;
	size_t tb_room;
	bool tb_full;
};

static void put(struct text *text, const char *s)
{
	size_t n = strlen(s);

	if (n >= text->tb_room) {
		text->tb_full = true;
		return;
	}
	memcpy(text->tb_at, s, n + 1);
	text->tb_at += n;
	text->tb_room -= n;
}

/* BTF has the compiler's names of integer types; these are the ones that C programmers write. */
static const char *usual(const char *name)
{
	static const char *const spellings[][2] = {
		{ "long unsigned int", "unsigned long" },	    { "long int", "long" },
		{ "long long unsigned int", "unsigned long long" }, { "long long int", "long long" },
		{ "short unsigned int", "unsigned short" },	    { "short int", "short" },
	};
	size_t i;

	for (i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (!strcmp(name, spellings[i][0]))
			return spellings[i][1];
	return name;
}

static bool is_qualifier(u32 kind)
{
	return kind == CONST || kind == VOLATILE || kind == RESTRICT || kind == TYPE_TAG;
}

static u32 unqualified(const struct dfr_btf *btf, u32 id)
{
	struct type type = type_of(btf, id);
	int depth;

	for (depth = 0; depth < DEPTH && is_qualifier(type.ty_kind); depth++) {
		id = type.ty_value;
		type = type_of(btf, id);
	}
	return id;
}

static void put_prototype(const struct dfr_btf *btf, u32 id, const char *middle, struct text *text,
			  int depth);

static void put_pointer(const struct dfr_btf *btf, u32 target, struct text *text, int depth);

static void put_type(const struct dfr_btf *btf, u32 id, struct text *text, int depth)
{
	struct type type;

	id = unqualified(btf, id);
	type = type_of(btf, id);
	if (depth > DEPTH) {
		text->tb_full = true;
		return;
	}
	switch (type.ty_kind) {
	case 0: put(text, "void"); return;
	case PTR: put_pointer(btf, type.ty_value, text, depth); return;
	case FUNC_PROTO: put_prototype(btf, id, "", text, depth); return;
	case ARRAY: /* no parameter is one */ put(text, "[]"); return;
	case STRUCT:
	case UNION:
	case FWD:
		put(text,
		    type.ty_kind == UNION || (type.ty_kind == FWD && type.ty_flag) ? "union " : "struct ");
		break;
	case ENUM:
	case ENUM64: put(text, "enum "); break;
	}
	put(text, usual(name_of(btf, type.ty_name)));
}

static void put_pointer(const struct dfr_btf *btf, u32 target, struct text *text, int depth)
{
	struct type to;

	target = unqualified(btf, target);
	to = type_of(btf, target);
	if (to.ty_kind == FUNC_PROTO) {
		put_prototype(btf, target, "(*)", text, depth + 1);
		return;
	}
	put_type(btf, target, text, depth + 1);
	put(text, to.ty_kind == PTR ? "*" : " *");
}

static void put_prototype(const struct dfr_btf *btf, u32 id, const char *middle, struct text *text, int depth)
{
	struct type type = type_of(btf, id);
	u32 i;

	put_type(btf, type.ty_value, text, depth + 1);
	put(text, " ");
	put(text, middle);
	put(text, "(");
	for (i = 0; i < type.ty_vlen && !text->tb_full; i++) {
		u32 parameter = load32(type.ty_data + 8 * i + 4);

		put(text, i ? ", " : "");
		if (!parameter && i + 1 == type.ty_vlen)
			put(text, "...");
		else
			put_type(btf, parameter, text, depth + 1);
	}
	put(text, type.ty_vlen ? ")" : "void)");
}

bool dfr_btf_prototype(const struct dfr_btf *btf, u32 id, char *text, size_t room)
{
	struct text out = { .tb_at = text, .tb_room = room };
	struct type type = type_of(btf, id);
	int depth;

	for (depth = 0;
	     depth < DEPTH && (type.ty_kind == FUNC || type.ty_kind == TYPEDEF || type.ty_kind == PTR);
	     depth++) {
		id = unqualified(btf, type.ty_value);
		type = type_of(btf, id);
	}
	if (type.ty_kind != FUNC_PROTO || !room)
		return false;
	put_prototype(btf, id, "", &out, 0);
	return !out.tb_full;
}

/* Compares two prototypes; `const` in `want` is passed over. */
static bool same(const char *want, const char *have)
{
	static const char constant[] = "const ";

	for (;; want++, have++) {
		while (!strncmp(want, constant, sizeof(constant) - 1))
			want += sizeof(constant) - 1;
		if (!strcmp(want, ", ...)") && (*have == ',' || !strcmp(have, ")")))
			return true;
		if (*want != *have)
			return false;
		if (!*want)
			return true;
	}
}

/* A function's parameters begin at the first "(" that does not begin "(*)". */
static const char *parameters_of(const char *prototype)
{
	const char *at = prototype;

	while ((at = strchr(at, '(')) != NULL && !strncmp(at, "(*)", 3))
		at += 3;
	return at ? at : prototype;
}

bool dfr_btf_is(const char *want, const char *have)
{
	return same(want, *want == '(' ? parameters_of(have) : have);
}

/* --- Members. ----------------------------------------------------------------- */

static u32 size_of(const struct dfr_btf *btf, u32 id, int depth)
{
	struct type type = type_of(btf, id);

	if (depth > DEPTH)
		return 0;
	switch (type.ty_kind) {
	case INT:
	case STRUCT:
	case UNION:
	case ENUM:
	case ENUM64:
	case FLOAT: return type.ty_value;
	case PTR: return sizeof(void *);
	case ARRAY: return size_of(btf, load32(type.ty_data), depth + 1) * load32(type.ty_data + 8);
	case TYPEDEF:
	case CONST:
	case VOLATILE:
	case RESTRICT:
	case TYPE_TAG: return size_of(btf, type.ty_value, depth + 1);
	}
	return 0;
}

static bool find_member(const struct dfr_btf *btf, u32 id, const char *name, u32 *offset, u32 *size,
			int depth)
{
	struct type type = type_of(btf, unqualified(btf, id));
	u32 i;

	if (depth > DEPTH || (type.ty_kind != STRUCT && type.ty_kind != UNION))
		return false;
	for (i = 0; i < type.ty_vlen; i++) {
		const u8 *member = type.ty_data + 12 * i;
		const char *here = name_of(btf, load32(member));
		u32 bits = load32(member + 8), of = load32(member + 4);

		if (type.ty_flag && *here && bits >> 24) /* a bit-field has no place */
			continue;
		*offset = (type.ty_flag ? bits & 0xffffff : bits) / 8;
		*size = size_of(btf, of, 0);
		if (!strcmp(here, name))
			return true;
		if (!*here) {
			u32 outer = *offset;

			if (find_member(btf, of, name, offset, size, depth + 1)) {
				*offset += outer;
				return true;
			}
		}
	}
	return false;
}

bool dfr_btf_member(const struct dfr_btf *btf, u32 id, const char *name, u32 *offset, u32 *size)
{
	return find_member(btf, id, name, offset, size, 0);
}
