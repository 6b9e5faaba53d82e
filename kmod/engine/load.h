/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the loader: what dof.c (structure), reloc.c (relocations), desc.c
 * (descriptions to clauses), action.c (rules of a chain of actions) and verify.c
 * (rules of a DIFO) share.
 * Process context. Nobody outside these files includes it.
 */
#ifndef DFR_ENGINE_LOAD_H
#define DFR_ENGINE_LOAD_H

#include "kmod/engine/exec.h"

/* Bounds on the work that a hostile DOF can ask for by naming one section many times. */
struct dfr_load_bounds {
	u32 lb_text;  /* instructions, all DIFOs together */
	u32 lb_vars;  /* variable records likewise */
	u32 lb_links; /* sections that all DIFO headers name */
	u32 lb_steps; /* actions of all clauses; they may be the same ones */
	u64 lb_scan;  /* bytes of strings looked at */
};
#define DFR_LOAD_RELOCS_MAX (128u * 1024)
#define DFR_LOAD_ACTIONS_MAX 16384	 /* of one ACTDESC */
#define DFR_LOAD_CLAUSES_MAX 16384
#define DFR_LOAD_NAME_MAX 1023		 /* of a field of a probe description */
#define DFR_LOAD_VALUE_MAX (256u * 1024) /* a by-reference value: no block is larger */
#define DFR_LOAD_NATIVE_MAX 2048 /* DIFOs; the kernel frees each alone, under the lock that patching waits for */
#define DFR_LOAD_FRAMES_MAX DIF_FRAMES_MAX

/* Of a confined program: */
#define DFR_CONFINED_CLAUSES_MAX 512 /* each is matched with all probes, under the engine's lock */
#define DFR_CONFINED_ACTIONS_MAX 4096 /* in all sections, also where these are the same bytes */

#define DFR_TUPLE_UNREACHED 0xff

struct dfr_loader {
	const struct dfr_load_limits *ld_limits;
	const struct dfr_load_bounds *ld_bounds;
	struct dfr_program *ld_program;
	struct dfr_refusal *ld_why;
	u8 *ld_dof; /* the program's copy */
	u64 ld_size;
	u32 ld_nsecs;
	u32 *ld_map; /* by section: 1 + index of its DIFO or of its first action; 0: not converted
			yet */
	u32 *ld_owners; /* by 8 bytes of the image: payloads there; where nothing is relocated, NULL, */
	struct dfr_symbols *ld_symbols; /* and this too */
	const struct dfr_clause *ld_foreign; /* the first one that was left out */
	u32 ld_nforeign;
	u32 ld_nhosts;
	bool ld_digest; /* there was a digest of types */
	u32 ld_ntext;
	u32 ld_nvars;
	u32 ld_nlinks;
	u32 ld_nsteps;
	u64 ld_scanned;
	/* Scratch of the verifier. */
	u8 *ld_depth;	 /* by pc: least number of pushed tuple entries */
	u8 *ld_own;	 /* by pc: registers that surely point to a string of the engine's */
	u8 *ld_declared; /* 2 bits per id and scope */
};

/*
 * Fill the refusal and return -EINVAL; `name` may be NULL and is put behind the reason, as far as it can be
 * printed.
 */
int dfr_refuse(struct dfr_loader *ld, u32 section, u64 offset, const char *reason);
int dfr_refuse_name(struct dfr_loader *ld, u32 section, u64 offset, const char *reason,
		    const char *name);
/* The same without a loader. */
void dfr_refusal_set(struct dfr_refusal *why, u32 section, u64 offset, const char *reason,
		     const char *name);

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

/* reloc.c: all relocations. -ENOENT: there is no such symbol. -EPERM: of a confined program. */
int dfr_dof_relocate(struct dfr_loader *ld);

/* desc.c. Each returns 0 or a negative errno with the refusal filled. */
int dfr_desc_clause(struct dfr_loader *ld, u32 section, struct dfr_clause *clause);
int dfr_desc_options(struct dfr_loader *ld, u32 section);
int dfr_desc_hosts(struct dfr_loader *ld, u32 section);
int dfr_desc_types(struct dfr_loader *ld, u32 section);

/* action.c: the rules of one chain. */
int dfr_actions_check(struct dfr_loader *ld, u32 section, struct dfr_act *acts, u32 n);

/* confine.c: the whole program, when everything else has been checked. -EPERM: refused. */
int dfr_confine_program(struct dfr_loader *ld);

/* verify.c */
int dfr_difo_verify(struct dfr_loader *ld, struct dfr_difo *difo, u64 text_offset, u64 vars_offset);
void dfr_difo_restrict(struct dfr_difo *difo); /* loads become restricted ones */

#endif
