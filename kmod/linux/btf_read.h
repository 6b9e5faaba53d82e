/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of BTF what the module itself needs: the prototypes of functions and the places of members
 * (assume.c). All other work with types is user space's (formats/types). Plain C without the kernel,
 * so that unit tests build it too. Process context.
 */
#ifndef DFR_KMOD_LINUX_BTF_READ_H
#define DFR_KMOD_LINUX_BTF_READ_H

#include "kmod/engine/platform.h"

struct dfr_btf {
	const u8 *bt_types;
	const char *bt_strings;
	u32 bt_type_bytes;
	u32 bt_string_bytes;
	u32 *bt_place; /* [id]: of the type in bt_types */
	u32 bt_count;  /* ids are below this; 0 is void */
};

enum dfr_btf_kind { DFR_BTF_OTHER, DFR_BTF_FUNCTION, DFR_BTF_STRUCT, DFR_BTF_TYPEDEF };

/* 0, -EINVAL (it is no BTF, or damaged) or -ENOMEM. The blob must live until dfr_btf_close(). */
int dfr_btf_open(struct dfr_btf *btf, const void *blob, size_t size);
void dfr_btf_close(struct dfr_btf *btf);

/* Calls `see` for every function, struct and typedef that has a name, in the order of ids. */
void dfr_btf_each(const struct dfr_btf *btf,
		  void (*see)(void *arg, enum dfr_btf_kind kind, const char *name, u32 id), void *arg);

/*
 * The prototype of a function, or of the function that a typedef's pointer points to, as "int (char
 * *, struct task_struct *)": without names and qualifiers, integers as C programs usually spell
 * them. False: it is no function, or its text does not fit.
 */
bool dfr_btf_prototype(const struct dfr_btf *btf, u32 id, char *text, size_t room);

/*
 * Is `have` (from dfr_btf_prototype()) the prototype that is wanted? `want` may leave out the
 * result, "(char *)", may end in "...)" for any further parameters, and may contain `const`, which
 * is passed over.
 */
bool dfr_btf_is(const char *want, const char *have);

/*
 * Place and size, in bytes, of a member of a struct or of a nameless struct or union inside it.
 * False: there is none.
 */
bool dfr_btf_member(const struct dfr_btf *btf, u32 id, const char *name, u32 *offset, u32 *size);

#endif
