/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the loader: what dof.c (structure), reloc.c (relocations), desc.c
 * (descriptions to clauses), action.c (rules for a clause's actions), verify.c
 * (rules for a DIFO) and confine.c (rules for users without privilege) share.
 * Process context. Only these files include it.
 */
#ifndef DFR_ENGINE_LOAD_H
#define DFR_ENGINE_LOAD_H

#include "kmod/engine/loading/program.h"

/* Bounds on the work that a hostile DOF can ask for by naming one section many times. */
struct dfr_load_bounds {
	u32 lb_text;  /* instructions, all DIFOs together */
	u32 lb_vars;  /* variable records, likewise */
	u32 lb_links; /* sections that all DIFO headers name */
	u32 lb_steps; /* actions of all clauses; those that clauses share count once for each clause */
	u64 lb_scan;  /* bytes of strings looked at */
};
#define DFR_LOAD_RELOCS_MAX  (128u * 1024)
#define DFR_LOAD_ACTIONS_MAX 16384 /* of one ACTDESC */
#define DFR_LOAD_CLAUSES_MAX 16384
#define DFR_LOAD_NAME_MAX    1023	   /* of a field of a probe description */
#define DFR_LOAD_VALUE_MAX   (256u * 1024) /* a by-reference value: no block is larger */
#define DFR_LOAD_NATIVE_MAX  2048 /* DIFOs; the kernel frees each by itself, under the lock of code patching */
#define DFR_LOAD_FRAMES_MAX  DIF_FRAMES_MAX

/* Of a confined program: */
#define DFR_CONFINED_ACTIONS_MAX 4096 /* in all sections; actions in overlapping sections count for each */

#define DFR_TUPLE_UNREACHED 0xff /* in ld_depth: no path leads to this instruction */

struct dfr_loader {
	const struct dfr_load_limits *ld_limits;
	const struct dfr_load_bounds *ld_bounds;
	struct dfr_program *ld_program;
	struct dfr_refusal *ld_why;
	u8 *ld_dof; /* the program's copy */
	u64 ld_size;
	u32 ld_nsecs;
	u32 *ld_map;	/* by section: 1 + index of its DIFO, first action or clause; 0: not converted yet */
	u32 *ld_owners; /* for each 8 bytes of the image: how many payloads are there; NULL: no relocations */
	struct dfr_symbols *ld_symbols;	     /* NULL: likewise */
	const struct dfr_clause *ld_foreign; /* the first of ld_nforeign clauses that were left out */
	u32 ld_nforeign;
	u32 ld_nhosts;
	bool ld_digest; /* a BTFID section has been read */
	u32 ld_ntext;
	u32 ld_nvars;
	u32 ld_nlinks;
	u32 ld_nsteps;
	u64 ld_scanned;
	/* Scratch of the verifier. */
	u8 *ld_depth;	 /* by pc: least number of tuple entries before it */
	u8 *ld_own;	 /* by pc: bits of registers that point to the engine's strings on every path */
	u8 *ld_declared; /* 2 bits per id and scope */
};

/*
 * Fill the refusal and return -EINVAL. `name` may be NULL; it is appended to the reason with '?' for each
 * byte that does not print.
 */
int dfr_refuse(struct dfr_loader *ld, u32 section, u64 offset, const char *reason);
int dfr_refuse_name(struct dfr_loader *ld, u32 section, u64 offset, const char *reason, const char *name);
/* The same without a loader. */
void dfr_refusal_set(struct dfr_refusal *why, u32 section, u64 offset, const char *reason, const char *name);

/* Header of section `index`, which must be below ld_nsecs. */
const struct dof_sec *dfr_dof_sec(const struct dfr_loader *ld, u32 index);
u64 dfr_dof_sec_offset(const struct dfr_loader *ld, u32 index); /* where that header is */
void *dfr_dof_payload(const struct dfr_loader *ld, const struct dof_sec *sec);

/*
 * Follow a reference from (section, offset): the section must exist, have this
 * type, be loadable, and be aligned to `align`. NULL: refused.
 */
const struct dof_sec *dfr_dof_ref(struct dfr_loader *ld, u32 index, u32 type, u32 align, u32 from,
				  u64 offset);

/* A string that ends inside its table, or NULL: refused. */
const char *dfr_dof_string(struct dfr_loader *ld, u32 strtab, u64 string, u32 from, u64 offset);

/* reloc.c: all relocations. -ENOENT: no such symbol. -EPERM: a confined program may have none. */
int dfr_dof_relocate(struct dfr_loader *ld);

/* desc.c. Each returns 0 or a negative errno with the refusal filled. */
int dfr_desc_clause(struct dfr_loader *ld, u32 section, struct dfr_clause *clause);
int dfr_desc_options(struct dfr_loader *ld, u32 section);
int dfr_desc_hosts(struct dfr_loader *ld, u32 section);
int dfr_desc_types(struct dfr_loader *ld, u32 section);

/* action.c: checks the actions of one ACTDESC and marks keys and weights. */
int dfr_actions_check(struct dfr_loader *ld, u32 section, struct dfr_act *acts, u32 n);

/* confine.c: checks the whole program, after all other checks. -EPERM: refused. */
int dfr_confine_program(struct dfr_loader *ld);

/* verify.c */
int dfr_difo_verify(struct dfr_loader *ld, struct dfr_difo *difo, u64 text_offset, u64 vars_offset);
void dfr_difo_restrict(struct dfr_difo *difo); /* kernel loads may then read own memory only */

#endif
