// SPDX-License-Identifier: GPL-2.0
/*
 * Loading a DOF: the structure. dfr_program_load() copies the image once, checks
 * header and section table (in the order of formats/dof/DOF.md, section 9), lets
 * reloc.c apply the relocations and desc.c convert the descriptions. After that the
 * program is trusted.
 *
 * Every input is hostile. Payloads may overlap each other. Two rules make that
 * harmless: no payload overlaps the header or the section table, and a relocation
 * writes only where no second payload lies. So an address of the kernel stands in
 * the constant that it was added to and in no name or instruction.
 * Process context. The caller holds no lock, because loading may take long; if the
 * caller is killed meanwhile, dfr_plat_proceed() says so and the load ends.
 */
#include "kmod/engine/loading/load.h"

void dfr_refusal_set(struct dfr_refusal *why, u32 section, u64 offset, const char *reason, const char *name)
{
	size_t n = 0, room = sizeof(why->rf_reason) - 1;

	if (!why)
		return;
	why->rf_section = section;
	why->rf_offset = offset;
	while (*reason && n < room)
		why->rf_reason[n++] = *reason++;
	while (name && *name && n < room)
		why->rf_reason[n++] = dfr_printable(*name++);
	why->rf_reason[n] = '\0';
}

int dfr_refuse_name(struct dfr_loader *ld, u32 section, u64 offset, const char *reason, const char *name)
{
	dfr_refusal_set(ld->ld_why, section, offset, reason, name);
	return -EINVAL;
}

int dfr_refuse(struct dfr_loader *ld, u32 section, u64 offset, const char *reason)
{
	return dfr_refuse_name(ld, section, offset, reason, NULL);
}

static const struct dof_header *header(const struct dfr_loader *ld)
{
	return (const struct dof_header *)ld->ld_dof;
}

u64 dfr_dof_sec_offset(const struct dfr_loader *ld, u32 index)
{
	return header(ld)->secoff + (u64)index * header(ld)->secsize;
}

const struct dof_sec *dfr_dof_sec(const struct dfr_loader *ld, u32 index)
{
	return (const struct dof_sec *)(ld->ld_dof + dfr_dof_sec_offset(ld, index));
}

void *dfr_dof_payload(const struct dfr_loader *ld, const struct dof_sec *sec)
{
	return ld->ld_dof + sec->offset;
}

const struct dof_sec *dfr_dof_ref(struct dfr_loader *ld, u32 index, u32 type, u32 align, u32 from, u64 offset)
{
	const struct dof_sec *sec;

	if (index >= ld->ld_nsecs) {
		dfr_refuse(ld, from, offset, "refers to a section that does not exist");
		return NULL;
	}
	sec = dfr_dof_sec(ld, index);
	if (sec->type != type) {
		dfr_refuse(ld, from, offset, "refers to a section of another type");
		return NULL;
	}
	if (!(sec->flags & DOF_SECF_LOAD)) {
		dfr_refuse(ld, from, offset, "refers to a section that is not loadable");
		return NULL;
	}
	if (sec->align < align) {
		dfr_refuse(ld, index, dfr_dof_sec_offset(ld, index),
			   "section is not aligned as its type demands");
		return NULL;
	}
	return sec;
}

const char *dfr_dof_string(struct dfr_loader *ld, u32 strtab, u64 string, u32 from, u64 offset)
{
	const struct dof_sec *sec = dfr_dof_ref(ld, strtab, DOF_SECT_STRTAB, 1, from, offset);
	const char *text;
	u64 i;

	if (!sec)
		return NULL;
	if (string >= sec->size) {
		dfr_refuse(ld, from, offset, "string is outside its table");
		return NULL;
	}
	text = (const char *)dfr_dof_payload(ld, sec) + string;
	for (i = string; i < sec->size && ld->ld_scanned < ld->ld_bounds->lb_scan; i++) {
		ld->ld_scanned++;
		if (!text[i - string])
			return text;
	}
	if (i < sec->size) {
		dfr_refuse(ld, from, offset, "strings are too long altogether");
		return NULL;
	}
	dfr_refuse(ld, from, offset, "string does not end in its table");
	return NULL;
}

/* Section types that must have the flag LOAD. */
static bool must_load(u32 type)
{
	switch (type) {
	case DOF_SECT_NONE:
	case DOF_SECT_COMMENTS:
	case DOF_SECT_SOURCE:
	case DOF_SECT_UTSNAME: return false;
	case DOF_SECT_HOSTDESC:
	case DOF_SECT_BTFID: return true;
	default: return type <= DOF_SECT_CLASSIC_MAX;
	}
}

static int check_ident(struct dfr_loader *ld)
{
	const struct dof_header *h = header(ld);
	u32 i;

	if (memcmp(h->ident, DOF_MAGIC, 4))
		return dfr_refuse(ld, ~0u, 0, "not a DOF: it does not begin with the magic number");
	if (h->ident[4] != DOF_MODEL_ILP32 && h->ident[4] != DOF_MODEL_LP64)
		return dfr_refuse(ld, ~0u, 4, "unknown data model");
	if (h->ident[5] != DOF_ENCODE_LSB)
		return dfr_refuse(ld, ~0u, 5, "byte order is not this machine's");
	if (h->ident[6] != DOF_VERSION_1 && h->ident[6] != DOF_VERSION_2)
		return dfr_refuse(ld, ~0u, 6, "DOF version is not 1 or 2");
	if (h->ident[7] != DIF_VERSION)
		return dfr_refuse(ld, ~0u, 7, "DIF version is not 2");
	if (h->ident[8] > DIF_NREGS)
		return dfr_refuse(ld, ~0u, 8, "uses more registers than there are");
	if (h->ident[9] > DIF_NTUPLE)
		return dfr_refuse(ld, ~0u, 9, "uses more tuple registers than there are");
	for (i = 10; i < 16; i++) {
		if (h->ident[i])
			return dfr_refuse(ld, ~0u, i, "padding of the ident is not zero");
	}
	return 0;
}

static int check_header(struct dfr_loader *ld)
{
	const struct dof_header *h = header(ld);
	int err = check_ident(ld);

	if (err)
		return err;
	if (h->flags)
		return dfr_refuse(ld, ~0u, 16, "unknown flags in the header");
	if (h->hdrsize != sizeof(*h))
		return dfr_refuse(ld, ~0u, 20, "header size is not 64");
	if (h->secsize < sizeof(struct dof_sec))
		return dfr_refuse(ld, ~0u, 24, "section headers are too small");
	if (h->secsize > ld->ld_size || h->secoff > ld->ld_size ||
	    (u64)h->secnum * h->secsize > ld->ld_size - h->secoff)
		return dfr_refuse(ld, ~0u, 28, "section table is cut off");
	if (h->secoff < sizeof(*h))
		return dfr_refuse(ld, ~0u, 32, "section table overlaps the header");
	if (h->secoff & 7 || h->secsize & 7)
		return dfr_refuse(ld, ~0u, 32, "section table is misaligned");
	ld->ld_nsecs = h->secnum;
	return 0;
}

static int check_section(struct dfr_loader *ld, u32 index)
{
	const struct dof_header *h = header(ld);
	const struct dof_sec *sec = dfr_dof_sec(ld, index);
	u64 at = dfr_dof_sec_offset(ld, index), table_end = h->secoff + (u64)h->secnum * h->secsize;

	switch (sec->type) {
	case DOF_SECT_PROVIDER:
	case DOF_SECT_PROBES:
	case DOF_SECT_PRARGS:
	case DOF_SECT_PROFFS:
		return dfr_refuse(ld, index, at, "a provider's section has no place in an enabling");
	default: break;
	}
	if (must_load(sec->type) && !(sec->flags & DOF_SECF_LOAD))
		return dfr_refuse(ld, index, at + 8, "section must be loadable and is not");
	if (!(sec->flags & DOF_SECF_LOAD))
		return 0;
	if (sec->align == 0 || sec->align & (sec->align - 1))
		return dfr_refuse(ld, index, at + 4, "alignment is not a power of two");
	if (sec->offset & (sec->align - 1))
		return dfr_refuse(ld, index, at + 16, "section is misaligned");
	if (sec->offset > ld->ld_size || sec->size > ld->ld_size - sec->offset)
		return dfr_refuse(ld, index, at + 16, "section reaches beyond the loadable part");
	if (sec->size && sec->offset < table_end && sec->offset + sec->size > h->secoff)
		return dfr_refuse(ld, index, at + 16, "section overlaps the section table");
	if (sec->size && sec->offset < sizeof(*h))
		return dfr_refuse(ld, index, at + 16, "section overlaps the header");
	if (sec->type == DOF_SECT_STRTAB && (sec->size == 0 || ld->ld_dof[sec->offset + sec->size - 1]))
		return dfr_refuse(ld, index, at + 24, "string table does not end with NUL");
	return 0;
}

static int check_structure(struct dfr_loader *ld)
{
	int err = check_header(ld);
	u32 i;

	for (i = 0; i < ld->ld_nsecs && !err; i++)
		err = check_section(ld, i);
	return err;
}

static bool confined_exceeds(struct dfr_loader *ld, u64 clauses, u64 acts, u64 options)
{
	if (clauses > DFR_CONFINED_CLAUSES_MAX)
		dfr_refuse(ld, ~0u, 0, "unprivileged users may not load more than 256 clauses at once");
	else if (acts > DFR_CONFINED_ACTIONS_MAX || options > DFR_CONFINED_ACTIONS_MAX)
		dfr_refuse(ld, ~0u, 0,
			   "unprivileged users may not load more than 4096 actions or options at once");
	else
		return false;
	return true;
}

/* Counts clauses, DIFOs, actions and options first, so that each array is allocated once. */
static int allocate_tables(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	u64 clauses = 0, difos = 0, acts = 0, options = 0;
	u32 i;

	for (i = 0; i < ld->ld_nsecs; i++) {
		const struct dof_sec *sec = dfr_dof_sec(ld, i);

		switch (sec->type) {
		case DOF_SECT_ECBDESC: clauses++; break;
		case DOF_SECT_DIFOHDR: difos++; break;
		case DOF_SECT_ACTDESC: acts += sec->size / sizeof(struct dof_actdesc); break;
		case DOF_SECT_OPTDESC: options += sec->size / sizeof(struct dof_optdesc); break;
		default: break;
		}
	}
	/* Sections may overlap, so the sum of their sizes may exceed the image's size. */
	if (acts > DOF_LOADSZ_MAX / sizeof(struct dof_actdesc) ||
	    options > DOF_LOADSZ_MAX / sizeof(struct dof_optdesc))
		return dfr_refuse(ld, ~0u, 0, "more actions or options than the image can hold");
	if (clauses > DFR_LOAD_CLAUSES_MAX)
		return dfr_refuse(ld, ~0u, 0, "more than 16384 clauses");
	if (ld->ld_limits->ll_confined && confined_exceeds(ld, clauses, acts, options))
		return -EPERM;
	pg->pg_clauses = dfr_plat_alloc((clauses + 1) * sizeof(*pg->pg_clauses));
	pg->pg_difos = dfr_plat_alloc((difos + 1) * sizeof(*pg->pg_difos));
	pg->pg_acts = dfr_plat_alloc((acts + 1) * sizeof(*pg->pg_acts));
	pg->pg_options = dfr_plat_alloc((options + 1) * sizeof(*pg->pg_options));
	ld->ld_map = dfr_plat_alloc(((u64)ld->ld_nsecs + 1) * sizeof(*ld->ld_map));
	ld->ld_depth = dfr_plat_alloc(DIF_DIFO_MAX / 4);
	ld->ld_own = dfr_plat_alloc(DIF_DIFO_MAX / 4);
	ld->ld_declared = dfr_plat_alloc(3 * 65536 / 4);
	if (!pg->pg_clauses || !pg->pg_difos || !pg->pg_acts || !pg->pg_options || !ld->ld_map ||
	    !ld->ld_depth || !ld->ld_own || !ld->ld_declared)
		return -ENOMEM;
	return 0;
}

/* False: the program is left to the interpreter, because it was loaded with `-x jit=0`. */
static bool native_wanted(const struct dfr_program *pg)
{
	u32 i;

	for (i = 0; i < pg->pg_noptions; i++)
		if (pg->pg_options[i].po_option == DFR_OPT_JIT && pg->pg_options[i].po_value == 0)
			return false;
	return true;
}

static int convert(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	u32 i;
	int err = 0;

	for (i = 0; i < ld->ld_nsecs && !err; i++) {
		struct dfr_clause *clause = &pg->pg_clauses[pg->pg_nclauses];

		if (dfr_dof_sec(ld, i)->type != DOF_SECT_ECBDESC)
			continue;
		err = dfr_desc_clause(ld, i, clause);
		clause->cl_index = pg->pg_nclauses++;
		/* 1 + the clause's index, for dfr_desc_hosts(); nothing else looks an ECBDESC up here. */
		ld->ld_map[i] = pg->pg_nclauses;
	}
	for (i = 0; i < ld->ld_nsecs && !err; i++) {
		u32 type = dfr_dof_sec(ld, i)->type;

		if (type == DOF_SECT_OPTDESC)
			err = dfr_desc_options(ld, i);
		else if (type == DOF_SECT_HOSTDESC)
			err = dfr_desc_hosts(ld, i);
		else if (type == DOF_SECT_BTFID)
			err = dfr_desc_types(ld, i);
	}
	if (err)
		return err;
	pg->pg_restricted = !ld->ld_limits->ll_kernel_reads || ld->ld_limits->ll_confined;
	for (i = 0; pg->pg_restricted && i < pg->pg_ndifos; i++)
		dfr_difo_restrict(&pg->pg_difos[i]);
	if (ld->ld_limits->ll_confined)
		return dfr_confine_program(ld);
	if (pg->pg_restricted || !native_wanted(pg))
		return 0;
	for (i = 0; i < pg->pg_ndifos && i < DFR_LOAD_NATIVE_MAX && !err; i++) {
		dfr_plat_native_build(&pg->pg_difos[i]);
		err = dfr_plat_proceed();
	}
	return err;
}

/* Logs the clauses that were left out; not for confined programs, or any user could fill the kernel's log. */
static void tell_foreign(const struct dfr_loader *ld)
{
	char text[128];

	if (!ld->ld_nforeign || ld->ld_limits->ll_confined)
		return;
	dfr_clause_text(ld->ld_foreign, text, sizeof(text));
	dfr_plat_log("%s left out: compiled for the types of another kernel; clauses: %u", text,
		     ld->ld_nforeign);
}

static int load_image(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	int err = check_structure(ld);

	if (!err)
		err = dfr_dof_relocate(ld);
	if (!err)
		err = allocate_tables(ld);
	if (!err)
		err = convert(ld);
	if (!err && pg->pg_destructive && !ld->ld_limits->ll_destructive) {
		dfr_refuse(ld, ~0u, 0, "destructive actions are not allowed here");
		err = -EACCES;
	}
	if (!err)
		tell_foreign(ld);
	dfr_plat_free(ld->ld_map);
	dfr_plat_free(ld->ld_depth);
	dfr_plat_free(ld->ld_own);
	dfr_plat_free(ld->ld_declared);
	dfr_plat_free(ld->ld_owners);
	dfr_plat_free(ld->ld_symbols);
	return err;
}

static const struct dfr_load_bounds bounds = {
	.lb_text = 2 * 1024 * 1024,
	.lb_vars = 512 * 1024,
	.lb_links = 1024 * 1024,
	.lb_steps = 1024 * 1024,
	.lb_scan = 256 * 1024 * 1024,
};
static const struct dfr_load_bounds confined_bounds = {
	.lb_text = 128 * 1024,
	.lb_vars = 16 * 1024,
	.lb_links = 64 * 1024,
	.lb_steps = 32 * 1024,
	.lb_scan = 8 * 1024 * 1024,
};

/* Copies the loadable part (loadsz bytes) into the program. From here on only this copy is read. */
static int copy_image(const void *dof, size_t size, struct dfr_program *pg, struct dfr_refusal *why)
{
	u64 loadsz;

	if (size < sizeof(struct dof_header)) {
		dfr_refusal_set(why, ~0u, 0, "shorter than a DOF header", NULL);
		return -EINVAL;
	}
	memcpy(&loadsz, (const u8 *)dof + offsetof(struct dof_header, loadsz), sizeof(loadsz));
	if (loadsz >= DOF_LOADSZ_MAX) {
		dfr_refusal_set(why, ~0u, offsetof(struct dof_header, loadsz),
				"the program is 8 MiB or larger", NULL);
		return -E2BIG;
	}
	if (loadsz < sizeof(struct dof_header) || loadsz > size) {
		dfr_refusal_set(why, ~0u, offsetof(struct dof_header, loadsz), "the loadable part is cut off",
				NULL);
		return -EINVAL;
	}
	pg->pg_dof = dfr_plat_alloc(loadsz);
	if (!pg->pg_dof)
		return -ENOMEM;
	memcpy(pg->pg_dof, dof, loadsz);
	pg->pg_dof_size = loadsz;
	return 0;
}

int dfr_program_load(const void *dof, size_t size, const struct dfr_load_limits *limits,
		     struct dfr_program **out, struct dfr_refusal *why)
{
	struct dfr_program *pg;
	struct dfr_loader ld;
	int err;

	*out = NULL;
	dfr_refusal_set(why, ~0u, 0, "", NULL);
	if (limits->ll_confined && size > DFR_CONFINED_DOF_MAX) {
		dfr_refusal_set(why, ~0u, 0, "unprivileged users may not load a program of more than 256 KiB",
				NULL);
		return -E2BIG;
	}
	pg = dfr_plat_alloc(sizeof(*pg));
	if (!pg)
		return -ENOMEM;
	err = copy_image(dof, size, pg, why);
	if (!err) {
		memset(&ld, 0, sizeof(ld));
		ld.ld_limits = limits;
		ld.ld_bounds = limits->ll_confined ? &confined_bounds : &bounds;
		ld.ld_program = pg;
		ld.ld_why = why;
		ld.ld_dof = pg->pg_dof;
		ld.ld_size = pg->pg_dof_size;
		err = load_image(&ld);
	}
	if (err) {
		dfr_program_free(pg);
		return err;
	}
	*out = pg;
	return 0;
}

void dfr_program_interpret(struct dfr_program *pg)
{
	u32 i;

	for (i = 0; i < pg->pg_ndifos; i++)
		dfr_plat_native_free(&pg->pg_difos[i]);
}

void dfr_program_free(struct dfr_program *pg)
{
	if (!pg)
		return;
	dfr_program_interpret(pg);
	dfr_plat_free(pg->pg_clauses);
	dfr_plat_free(pg->pg_options);
	dfr_plat_free(pg->pg_difos);
	dfr_plat_free(pg->pg_acts);
	dfr_plat_free(pg->pg_dof);
	dfr_plat_free(pg);
}
