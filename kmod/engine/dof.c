// SPDX-License-Identifier: GPL-2.0
/*
 * Loading a DOF: the structure. Copies the image once, checks header and
 * section table in the order of the reference sheet, applies relocations, then
 * hands every description to desc.c. After that the program is trusted.
 *
 * Every input is hostile. A payload may alias another one, so two rules keep
 * aliasing harmless: no payload overlaps header or section table, and a
 * relocation, which alone writes into the copy, writes only where no other
 * payload lies: nothing but the constant that it is for ever holds an address.
 * Process context.
 */
#include "kmod/engine/load.h"

void dfr_refusal_set(struct dfr_refusal *why, u32 section, u64 offset, const char *reason,
		     const char *name)
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

int dfr_refuse_name(struct dfr_loader *ld, u32 section, u64 offset, const char *reason,
		    const char *name)
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

static u64 sec_offset(const struct dfr_loader *ld, u32 index)
{
	return header(ld)->secoff + (u64)index * header(ld)->secsize;
}

const struct dof_sec *dfr_dof_sec(const struct dfr_loader *ld, u32 index)
{
	return (const struct dof_sec *)(ld->ld_dof + sec_offset(ld, index));
}

void *dfr_dof_payload(const struct dfr_loader *ld, const struct dof_sec *sec)
{
	return ld->ld_dof + sec->offset;
}

const struct dof_sec *dfr_dof_ref(struct dfr_loader *ld, u32 index, u32 type, u32 align, u32 from,
				  u64 offset)
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
		dfr_refuse(ld, index, sec_offset(ld, index),
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
	for (i = string; i < sec->size && ld->ld_scanned < DFR_LOAD_SCAN_MAX; i++) {
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

/* Section types that mean nothing unless they are loaded. */
static bool must_load(u32 type)
{
	switch (type) {
	case DOF_SECT_NONE:
	case DOF_SECT_COMMENTS:
	case DOF_SECT_SOURCE:
	case DOF_SECT_UTSNAME:
		return false;
	case DOF_SECT_HOSTDESC:
	case DOF_SECT_BTFID:
		return true;
	default:
		return type <= DOF_SECT_CLASSIC_MAX;
	}
}

static int check_ident(struct dfr_loader *ld)
{
	const struct dof_header *h = header(ld);
	u32 i;

	if (memcmp(h->ident, DOF_MAGIC, 4))
		return dfr_refuse(ld, ~0u, 0, "no DOF: the magic is not there");
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
	u64 at = sec_offset(ld, index), table_end = h->secoff + (u64)h->secnum * h->secsize;

	switch (sec->type) {
	case DOF_SECT_PROVIDER:
	case DOF_SECT_PROBES:
	case DOF_SECT_PRARGS:
	case DOF_SECT_PROFFS:
		return dfr_refuse(ld, index, at,
				  "a provider's section has no place in an enabling");
	default:
		break;
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
	if (sec->type == DOF_SECT_STRTAB &&
	    (sec->size == 0 || ld->ld_dof[sec->offset + sec->size - 1]))
		return dfr_refuse(ld, index, at + 24, "string table does not end with NUL");
	return 0;
}

/*
 * How many of the payloads that are loaded reach into each eight bytes of the image. In one pass, since
 * each of very many sections may be the target of a relocation and overlap each other one.
 */
static int count_owners(struct dfr_loader *ld)
{
	u64 words = (ld->ld_size + 7) / 8, n;
	u32 *owners = dfr_plat_alloc((words + 1) * sizeof(*owners));
	u32 i;

	if (!owners)
		return -ENOMEM;
	for (i = 0; i < ld->ld_nsecs; i++) {
		const struct dof_sec *sec = dfr_dof_sec(ld, i);

		if (!(sec->flags & DOF_SECF_LOAD) || !sec->size)
			continue;
		owners[sec->offset / 8]++;
		owners[(sec->offset + sec->size + 7) / 8]--;
	}
	for (n = 1; n < words; n++)
		owners[n] += owners[n - 1];
	ld->ld_owners = owners;
	return 0;
}

/* The entry's name resolved and added to its slot. User relocations have no base here: nothing to
 * add. */
static int relocate_entry(struct dfr_loader *ld, const struct dof_relohdr *rh, u32 relsec, u64 at,
			  bool kernel)
{
	const struct dof_relodesc *entry = (const struct dof_relodesc *)(ld->ld_dof + at);
	const struct dof_sec *target = dfr_dof_sec(ld, rh->tgtsec);
	const char *name;
	u64 address, slot, data = entry->data;
	int err;

	if (entry->type == DOF_RELO_NONE)
		return 0;
	if (entry->type != DOF_RELO_SETX)
		return dfr_refuse(ld, relsec, at + 4, "unknown relocation type");
	if (entry->offset & 7)
		return dfr_refuse(ld, relsec, at + 8, "relocation is misaligned");
	if (target->size < 8 || entry->offset > target->size - 8)
		return dfr_refuse(ld, relsec, at + 8, "relocation is outside its target");
	name = dfr_dof_string(ld, rh->strtab, entry->name, relsec, at);
	if (!name)
		return -EINVAL;
	if (!kernel)
		return 0;
	slot = target->offset + entry->offset;
	if (ld->ld_owners[slot / 8] != 1)
		return dfr_refuse(ld, relsec, at + 8, "relocation of what another section holds as well");
	err = dfr_plat_symbol(name, &address);
	if (err) {
		dfr_refuse_name(ld, relsec, at, "this kernel has no symbol ", name);
		return -ENOENT;
	}
	*(u64 *)(ld->ld_dof + slot) += address + data;
	return 0;
}

static int relocate(struct dfr_loader *ld, u32 index, bool kernel, u64 *budget)
{
	const struct dof_sec *sec = dfr_dof_sec(ld, index), *rel, *target;
	struct dof_relohdr rh;
	u64 at = sec->offset, n;
	int err;

	if (sec->size < sizeof(rh))
		return dfr_refuse(ld, index, at, "relocation header is cut off");
	if (sec->align < 4)
		return dfr_refuse(ld, index, at, "relocation header is misaligned");
	/* A copy: the slots that are written may lie in this section. */
	memcpy(&rh, dfr_dof_payload(ld, sec), sizeof(rh));
	rel = dfr_dof_ref(ld, rh.relsec, DOF_SECT_RELTAB, 8, index, at + 4);
	if (!rel || !dfr_dof_ref(ld, rh.strtab, DOF_SECT_STRTAB, 1, index, at))
		return -EINVAL;
	target = dfr_dof_ref(ld, rh.tgtsec, DOF_SECT_INTTAB, 8, index, at + 8);
	if (!target)
		return -EINVAL;
	if (rel->entsize < sizeof(struct dof_relodesc) || rel->entsize & 7)
		return dfr_refuse(ld, rh.relsec, sec_offset(ld, rh.relsec) + 12,
				  "bad entry size of relocations");
	for (n = 0; n + rel->entsize <= rel->size; n += rel->entsize) {
		if ((*budget)-- == 0)
			return dfr_refuse(ld, rh.relsec, rel->offset + n, "too many relocations");
		err = relocate_entry(ld, &rh, rh.relsec, rel->offset + n, kernel);
		if (err)
			return err;
	}
	return 0;
}

/* Headers, then relocations: in this order, since relocations rely on all headers. */
static int check_structure(struct dfr_loader *ld)
{
	u64 budget = DFR_LOAD_RELOCS_MAX;
	u32 i;
	int err = check_header(ld);

	if (err)
		return err;
	for (i = 0; i < ld->ld_nsecs; i++) {
		err = check_section(ld, i);
		if (err)
			return err;
	}
	for (i = 0; i < ld->ld_nsecs; i++) {
		u32 type = dfr_dof_sec(ld, i)->type;

		if (type != DOF_SECT_URELHDR && type != DOF_SECT_KRELHDR)
			continue;
		/* Before any is looked up: also how it ends would tell of addresses. */
		if (ld->ld_limits->ll_confined) {
			dfr_refuse(ld, i, sec_offset(ld, i),
				   "not without privilege: variables and functions of the kernel have addresses");
			return -EPERM;
		}
		err = ld->ld_owners ? 0 : count_owners(ld);
		if (err)
			return err;
		err = relocate(ld, i, type == DOF_SECT_KRELHDR, &budget);
		if (err)
			return err;
	}
	return 0;
}

/* How much of everything there is, so that each array is allocated once. */
static int allocate_tables(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	u64 clauses = 0, difos = 0, acts = 0, options = 0;
	u32 i;

	for (i = 0; i < ld->ld_nsecs; i++) {
		const struct dof_sec *sec = dfr_dof_sec(ld, i);

		switch (sec->type) {
		case DOF_SECT_ECBDESC:
			clauses++;
			break;
		case DOF_SECT_DIFOHDR:
			difos++;
			break;
		case DOF_SECT_ACTDESC:
			acts += sec->size / sizeof(struct dof_actdesc);
			break;
		case DOF_SECT_OPTDESC:
			options += sec->size / sizeof(struct dof_optdesc);
			break;
		default:
			break;
		}
	}
	/* Sections may alias: the sum of their sizes is not bounded by the image's. */
	if (acts > DOF_LOADSZ_MAX / sizeof(struct dof_actdesc) ||
	    options > DOF_LOADSZ_MAX / sizeof(struct dof_optdesc) ||
	    (ld->ld_limits->ll_confined && (acts > DFR_CONFINED_ACTIONS_MAX || options > DFR_CONFINED_ACTIONS_MAX)))
		return dfr_refuse(ld, ~0u, 0, "more actions or options than the image can hold");
	if (clauses > DFR_LOAD_CLAUSES_MAX)
		return dfr_refuse(ld, ~0u, 0, "more than 16384 clauses");
	if (ld->ld_limits->ll_confined && clauses > DFR_CONFINED_CLAUSES_MAX)
		return dfr_refuse(ld, ~0u, 0, "not without privilege: more than 512 clauses");
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

/*
 * `-x jit=0` leaves a program to the interpreter; a restricted one stays there anyway. So does one
 * whose strings are shorter than names: native code compares those whole.
 */
static bool native_wanted(const struct dfr_program *pg)
{
	bool wanted = true;
	u32 i;

	for (i = 0; i < pg->pg_noptions; i++) {
		const struct dfr_progopt *option = &pg->pg_options[i];

		if ((option->po_option == DFR_OPT_JIT && option->po_value == 0) ||
		    (option->po_option == DFR_OPT_STRSIZE && option->po_value < 16))
			wanted = false;
	}
	return wanted;
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
		/* For HOSTDESC; an ECBDESC is never a DIFO or an action table. */
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
	if (pg->pg_restricted) {
		for (i = 0; i < pg->pg_ndifos; i++)
			dfr_difo_restrict(&pg->pg_difos[i]);
	}
	if (ld->ld_limits->ll_confined)
		return dfr_confine_program(ld);
	if (!pg->pg_restricted && native_wanted(pg)) {
		for (i = 0; i < pg->pg_ndifos; i++)
			dfr_plat_native_build(&pg->pg_difos[i]);
	}
	return 0;
}

static int load_image(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	int err = check_structure(ld);

	if (!err)
		err = allocate_tables(ld);
	if (!err)
		err = convert(ld);
	if (!err && pg->pg_destructive && !ld->ld_limits->ll_destructive) {
		dfr_refuse(ld, ~0u, 0, "destructive actions are not allowed here");
		err = -EACCES;
	}
	dfr_plat_free(ld->ld_map);
	dfr_plat_free(ld->ld_depth);
	dfr_plat_free(ld->ld_own);
	dfr_plat_free(ld->ld_declared);
	dfr_plat_free(ld->ld_owners);
	return err;
}

/* The bytes that are loaded, copied once. */
static int copy_image(const void *dof, size_t size, struct dfr_program *pg, struct dfr_refusal *why)
{
	u64 loadsz;

	if (size < sizeof(struct dof_header)) {
		dfr_refusal_set(why, ~0u, 0, "shorter than a DOF header", NULL);
		return -EINVAL;
	}
	memcpy(&loadsz, (const u8 *)dof + offsetof(struct dof_header, loadsz), sizeof(loadsz));
	if (loadsz >= DOF_LOADSZ_MAX) {
		dfr_refusal_set(why, ~0u, offsetof(struct dof_header, loadsz), "8 MiB or more",
				NULL);
		return -E2BIG;
	}
	if (loadsz < sizeof(struct dof_header) || loadsz > size) {
		dfr_refusal_set(why, ~0u, offsetof(struct dof_header, loadsz),
				"the loadable part is cut off", NULL);
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
		dfr_refusal_set(why, ~0u, 0, "not without privilege: the program is larger than 256 KiB", NULL);
		return -E2BIG;
	}
	pg = dfr_plat_alloc(sizeof(*pg));
	if (!pg)
		return -ENOMEM;
	err = copy_image(dof, size, pg, why);
	if (!err) {
		memset(&ld, 0, sizeof(ld));
		ld.ld_limits = limits;
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

void dfr_program_free(struct dfr_program *pg)
{
	u32 i;

	if (!pg)
		return;
	for (i = 0; i < pg->pg_ndifos; i++)
		dfr_plat_native_free(&pg->pg_difos[i]);
	dfr_plat_free(pg->pg_clauses);
	dfr_plat_free(pg->pg_options);
	dfr_plat_free(pg->pg_difos);
	dfr_plat_free(pg->pg_acts);
	dfr_plat_free(pg->pg_dof);
	dfr_plat_free(pg);
}
