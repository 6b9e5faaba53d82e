// SPDX-License-Identifier: GPL-2.0
/*
 * Loading a DOF: ECBDESC, PROBEDESC, DIFOHDR, ACTDESC, OPTDESC, HOSTDESC and BTFID
 * sections become clauses, DIFOs, actions and options. dof.c has checked the
 * structure: each section's payload is inside the image. verify.c checks the
 * instructions of a DIFO, action.c the actions of a clause. Process context.
 */
#include "kmod/engine/loading/load.h"

#define NONE DOF_SECIDX_NONE

static int probe_field(struct dfr_loader *ld, const struct dof_probedesc *desc, u32 section, u64 at,
		       u32 string, const char **out)
{
	const char *text = dfr_dof_string(ld, desc->strtab, string, section, at);

	if (!text)
		return -EINVAL;
	if (strlen(text) > DFR_LOAD_NAME_MAX)
		return dfr_refuse(ld, section, at,
				  "field of a probe description is longer than 1023 characters");
	*out = text;
	return 0;
}

static int load_probedesc(struct dfr_loader *ld, u32 index, u32 from, u64 from_at, struct dfr_clause *clause)
{
	const struct dof_sec *sec = dfr_dof_ref(ld, index, DOF_SECT_PROBEDESC, 4, from, from_at);
	const struct dof_probedesc *desc;
	u64 at;
	int err;

	if (!sec)
		return -EINVAL;
	at = sec->offset;
	if (sec->size < sizeof(*desc))
		return dfr_refuse(ld, index, at, "probe description is cut off");
	desc = dfr_dof_payload(ld, sec);
	err = probe_field(ld, desc, index, at + 4, desc->provider, &clause->cl_pattern[0]);
	if (!err)
		err = probe_field(ld, desc, index, at + 8, desc->module, &clause->cl_pattern[1]);
	if (!err)
		err = probe_field(ld, desc, index, at + 12, desc->function, &clause->cl_pattern[2]);
	if (!err)
		err = probe_field(ld, desc, index, at + 16, desc->name, &clause->cl_pattern[3]);
	clause->cl_probe_id = desc->id;
	clause->cl_host = "";
	return err;
}

/* Offsets of a DIFO's parts in the image, for refusals, and the size of all parts. */
struct difo_places {
	u64 dp_text;
	u64 dp_vars;
	u64 dp_total;
};

static int link_text(struct dfr_loader *ld, struct dfr_difo *difo, const struct dof_sec *sec, u32 index,
		     struct difo_places *places)
{
	if (difo->di_text)
		return dfr_refuse(ld, index, sec->offset, "a DIFO has two texts");
	if (sec->align < 4 || sec->entsize != 4 || sec->size & 3)
		return dfr_refuse(ld, index, sec->offset, "DIF text has a bad alignment or entry size");
	if (sec->size == 0)
		return dfr_refuse(ld, index, sec->offset, "DIF text is empty");
	difo->di_text = dfr_dof_payload(ld, sec);
	difo->di_len = (u32)(sec->size / 4);
	places->dp_text = sec->offset;
	return 0;
}

static int link_ints(struct dfr_loader *ld, struct dfr_difo *difo, const struct dof_sec *sec, u32 index)
{
	if (difo->di_ints)
		return dfr_refuse(ld, index, sec->offset, "a DIFO has two integer tables");
	if (sec->align < 8 || sec->entsize != 8 || sec->size & 7)
		return dfr_refuse(ld, index, sec->offset, "integer table has a bad alignment or entry size");
	difo->di_ints = dfr_dof_payload(ld, sec);
	difo->di_nints = (u32)(sec->size / 8);
	return 0;
}

static int link_strs(struct dfr_loader *ld, struct dfr_difo *difo, const struct dof_sec *sec, u32 index)
{
	if (difo->di_strs)
		return dfr_refuse(ld, index, sec->offset, "a DIFO has two string tables");
	difo->di_strs = dfr_dof_payload(ld, sec);
	difo->di_strsz = (u32)sec->size;
	return 0;
}

static int link_vars(struct dfr_loader *ld, struct dfr_difo *difo, const struct dof_sec *sec, u32 index,
		     struct difo_places *places)
{
	if (difo->di_vars)
		return dfr_refuse(ld, index, sec->offset, "a DIFO has two variable tables");
	if (sec->align < 4 || sec->entsize != sizeof(struct dif_var) || sec->size % sizeof(struct dif_var))
		return dfr_refuse(ld, index, sec->offset, "variable table has a bad alignment or entry size");
	difo->di_vars = dfr_dof_payload(ld, sec);
	difo->di_nvars = (u32)(sec->size / sizeof(struct dif_var));
	places->dp_vars = sec->offset;
	return 0;
}

static int link_part(struct dfr_loader *ld, struct dfr_difo *difo, u32 index, u32 from, u64 at,
		     struct difo_places *places)
{
	const struct dof_sec *sec;

	if (index >= ld->ld_nsecs)
		return dfr_refuse(ld, from, at, "refers to a section that does not exist");
	sec = dfr_dof_sec(ld, index);
	if (!(sec->flags & DOF_SECF_LOAD))
		return 0;
	places->dp_total += sec->size;
	if (places->dp_total > DIF_DIFO_MAX)
		return dfr_refuse(ld, from, at, "DIFO is larger than 256 KiB");
	switch (sec->type) {
	case DOF_SECT_DIF: return link_text(ld, difo, sec, index, places);
	case DOF_SECT_INTTAB: return link_ints(ld, difo, sec, index);
	case DOF_SECT_STRTAB: return link_strs(ld, difo, sec, index);
	case DOF_SECT_VARTAB: return link_vars(ld, difo, sec, index, places);
	case DOF_SECT_XLTAB: return dfr_refuse(ld, from, at, "translators must be resolved before loading");
	default: return dfr_refuse(ld, from, at, "section is no part of a DIFO");
	}
}

static int load_difo(struct dfr_loader *ld, u32 index, u32 from, u64 from_at, struct dfr_difo **out)
{
	const struct dof_sec *sec = dfr_dof_ref(ld, index, DOF_SECT_DIFOHDR, 4, from, from_at);
	struct dfr_program *pg = ld->ld_program;
	const struct dof_difohdr *hdr;
	struct difo_places places;
	struct dfr_difo *difo;
	u32 i, nlinks;
	int err;

	if (!sec)
		return -EINVAL;
	if (ld->ld_map[index]) {
		*out = &pg->pg_difos[ld->ld_map[index] - 1];
		return 0;
	}
	if (sec->size < sizeof(*hdr) + 4)
		return dfr_refuse(ld, index, sec->offset, "DIFO header is cut off");
	if (sec->size > DIF_DIFO_MAX)
		return dfr_refuse(ld, index, sec->offset, "DIFO header names too many sections");
	err = dfr_plat_proceed();
	if (err)
		return err;
	memset(&places, 0, sizeof(places));
	hdr = dfr_dof_payload(ld, sec);
	difo = &pg->pg_difos[pg->pg_ndifos];
	difo->di_rtype = hdr->rtype;
	difo->di_section = index;
	nlinks = (u32)((sec->size - sizeof(*hdr)) / 4);
	ld->ld_nlinks += nlinks;
	if (ld->ld_nlinks > ld->ld_bounds->lb_links)
		return dfr_refuse(ld, index, sec->offset, "DIFO headers name too many sections altogether");
	for (i = 0; i < nlinks; i++) {
		err = link_part(ld, difo, hdr->links[i], index, sec->offset + sizeof(*hdr) + 4 * (u64)i,
				&places);
		if (err)
			return err;
	}
	if (!difo->di_text)
		return dfr_refuse(ld, index, sec->offset, "DIFO has no text");
	err = dfr_difo_verify(ld, difo, places.dp_text, places.dp_vars);
	if (err)
		return err;
	if (difo->di_flags & DFR_DIFO_DESTRUCTIVE)
		pg->pg_destructive = true;
	ld->ld_map[index] = ++pg->pg_ndifos;
	*out = difo;
	return 0;
}

static int check_format(struct dfr_loader *ld, const struct dof_actdesc *desc, u32 section, u64 at)
{
	const char *format;

	if (desc->strtab == NONE)
		return 0;
	format = dfr_dof_string(ld, desc->strtab, desc->arg, section, at + 16);
	if (!format)
		return -EINVAL;
	/* freopen("") goes back to the original output. */
	if (!*format && desc->kind != DFR_ACT_FREOPEN)
		return dfr_refuse(ld, section, at + 16, "format is empty");
	return 0;
}

/* As a mark's text: lines of printable characters, of any language. */
static bool is_reason(const char *text)
{
	size_t n;

	for (n = 0; n < DFR_REASON_MAX && text[n]; n++)
		if ((u8)text[n] < ' ' || text[n] == 0x7f)
			return false;
	return n < DFR_REASON_MAX;
}

/* Puts the reason of a snapshot() into the program's list, if it is not there. check_format() has seen the text. */
static int load_reason(struct dfr_loader *ld, const struct dof_actdesc *desc, u32 section, u64 at,
		       struct dfr_act *act)
{
	struct dfr_program *pg = ld->ld_program;
	const char *text;
	u32 i;

	if (desc->strtab == NONE)
		return dfr_refuse(ld, section, at + 4, "snapshot lacks its reason");
	text = (const char *)dfr_dof_payload(ld, dfr_dof_sec(ld, desc->strtab)) + desc->arg;
	if (!is_reason(text))
		return dfr_refuse(ld, section, at + 16,
				  "snapshot's reason is longer than 63 bytes, or not printable");
	for (i = 0; i < pg->pg_nreasons && strcmp(pg->pg_reasons[i], text); i++)
		;
	if (i == DFR_REASONS_MAX)
		return dfr_refuse(ld, section, at + 16, "more than 32 different reasons for snapshot");
	if (i == pg->pg_nreasons)
		pg->pg_reasons[pg->pg_nreasons++] = text;
	act->ac_arg = i;
	return 0;
}

static int load_action(struct dfr_loader *ld, const struct dof_actdesc *desc, u32 section, u64 at,
		       struct dfr_act *act)
{
	int err = 0;

	if (desc->kind > 0xffff)
		return dfr_refuse(ld, section, at + 8, "unknown kind of action");
	if (desc->ntuple > DFR_LOAD_ACTIONS_MAX)
		return dfr_refuse(ld, section, at + 12, "key has more elements than there are actions");
	act->ac_kind = (u16)desc->kind;
	act->ac_ntuple = (u16)desc->ntuple;
	act->ac_arg = desc->arg;
	act->ac_uarg = desc->uarg;
	if (desc->difo != NONE)
		err = load_difo(ld, desc->difo, section, at, &act->ac_difo);
	if (!err)
		err = check_format(ld, desc, section, at);
	if (!err && act->ac_kind == DFR_ACT_SNAPSHOT)
		err = load_reason(ld, desc, section, at, act);
	if (DFR_ACT_IS_DESTRUCTIVE(act->ac_kind))
		ld->ld_program->pg_destructive = true;
	return err;
}

static int load_actions(struct dfr_loader *ld, u32 index, u32 from, u64 from_at, struct dfr_clause *clause)
{
	const struct dof_sec *sec = dfr_dof_ref(ld, index, DOF_SECT_ACTDESC, 8, from, from_at);
	struct dfr_program *pg = ld->ld_program;
	const struct dof_actdesc *desc;
	struct dfr_act *acts;
	u32 i, n;
	int err;

	if (!sec)
		return -EINVAL;
	if (sec->entsize != sizeof(*desc) || sec->size % sizeof(*desc))
		return dfr_refuse(ld, index, sec->offset, "bad entry size of actions");
	if (sec->size == 0)
		return dfr_refuse(ld, index, sec->offset, "action description is cut off");
	if (sec->size / sizeof(*desc) > DFR_LOAD_ACTIONS_MAX)
		return dfr_refuse(ld, index, sec->offset, "more than 16384 actions");
	n = (u32)(sec->size / sizeof(*desc));
	clause->cl_nacts = n;
	ld->ld_nsteps += n;
	if (ld->ld_nsteps > ld->ld_bounds->lb_steps)
		return dfr_refuse(ld, index, sec->offset, "too many actions in all clauses together");
	if (ld->ld_map[index]) {
		clause->cl_acts = &pg->pg_acts[ld->ld_map[index] - 1];
		return 0;
	}
	acts = &pg->pg_acts[pg->pg_nacts];
	desc = dfr_dof_payload(ld, sec);
	for (i = 0; i < n; i++) {
		err = load_action(ld, &desc[i], index, sec->offset + i * sizeof(*desc), &acts[i]);
		if (err)
			return err;
	}
	err = dfr_actions_check(ld, index, acts, n);
	if (err)
		return err;
	ld->ld_map[index] = pg->pg_nacts + 1;
	pg->pg_nacts += n;
	clause->cl_acts = acts;
	return 0;
}

int dfr_desc_clause(struct dfr_loader *ld, u32 section, struct dfr_clause *clause)
{
	const struct dof_sec *sec = dfr_dof_sec(ld, section);
	const struct dof_ecbdesc *desc;
	u64 at = sec->offset;
	int err = dfr_plat_proceed();

	if (err)
		return err;
	if (sec->align < 8)
		return dfr_refuse(ld, section, at, "ECB description is misaligned");
	if (sec->size < sizeof(*desc))
		return dfr_refuse(ld, section, at, "ECB description is cut off");
	desc = dfr_dof_payload(ld, sec);
	clause->cl_uarg = desc->uarg;
	if (DFR_ECBUARG_PRIORITY(desc->uarg) >= DFR_PRIORITIES)
		return dfr_refuse(ld, section, at + 16, "clause has an unknown priority");
	err = load_probedesc(ld, desc->probes, section, at, clause);
	if (!err && desc->pred != NONE)
		err = load_difo(ld, desc->pred, section, at + 4, &clause->cl_pred);
	if (!err && clause->cl_pred && clause->cl_pred->di_rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
		err = dfr_refuse(ld, section, at + 4, "a predicate's value must be a number");
	if (!err && desc->actions != NONE)
		err = load_actions(ld, desc->actions, section, at + 8, clause);
	return err;
}

int dfr_desc_options(struct dfr_loader *ld, u32 section)
{
	const struct dof_sec *sec = dfr_dof_sec(ld, section);
	struct dfr_program *pg = ld->ld_program;
	const struct dof_optdesc *desc;
	u64 n, at;

	if (sec->align < 8)
		return dfr_refuse(ld, section, sec->offset, "options are misaligned");
	if (sec->entsize < sizeof(*desc) || sec->entsize & 7)
		return dfr_refuse(ld, section, sec->offset, "bad entry size of options");
	for (n = 0; n + sec->entsize <= sec->size; n += sec->entsize) {
		at = sec->offset + n;
		desc = (const struct dof_optdesc *)(ld->ld_dof + at);
		if (desc->strtab != NONE)
			return dfr_refuse(ld, section, at + 4,
					  "option has a text; only numbers can be loaded");
		if (!dfr_option_known(desc->option))
			return dfr_refuse(ld, section, at, "unknown option");
		if ((s64)desc->value == DFR_OPT_UNSET)
			return dfr_refuse(ld, section, at + 8, "option has no value");
		if ((s64)desc->value < 0)
			return dfr_refuse(ld, section, at + 8, "option's value is negative");
		pg->pg_options[pg->pg_noptions].po_option = desc->option;
		pg->pg_options[pg->pg_noptions].po_value = (s64)desc->value;
		pg->pg_noptions++;
	}
	return 0;
}

int dfr_desc_hosts(struct dfr_loader *ld, u32 section)
{
	const struct dof_sec *sec = dfr_dof_sec(ld, section);
	const struct dof_hostdesc *desc;
	const char *host;
	u64 n, at;

	if (sec->align < 4)
		return dfr_refuse(ld, section, sec->offset, "host table is misaligned");
	if (sec->entsize != sizeof(*desc) || sec->size % sizeof(*desc))
		return dfr_refuse(ld, section, sec->offset, "bad entry size of the host table");
	for (n = 0; n < sec->size; n += sizeof(*desc)) {
		at = sec->offset + n;
		if (++ld->ld_nhosts > DFR_LOAD_CLAUSES_MAX)
			return dfr_refuse(ld, section, at, "more host fields than there may be clauses");
		desc = (const struct dof_hostdesc *)(ld->ld_dof + at);
		if (!dfr_dof_ref(ld, desc->ecb, DOF_SECT_ECBDESC, 8, section, at))
			return -EINVAL;
		host = dfr_dof_string(ld, desc->strtab, desc->host, section, at + 8);
		if (!host)
			return -EINVAL;
		if (strlen(host) > DFR_LOAD_NAME_MAX)
			return dfr_refuse(ld, section, at + 8, "host field is longer than 1023 characters");
		ld->ld_program->pg_clauses[ld->ld_map[desc->ecb] - 1].cl_host = host;
	}
	return 0;
}

void dfr_clause_text(const struct dfr_clause *clause, char *text, size_t room)
{
	const char *p;
	size_t n = 0;
	int i;

	for (i = 0; i < 4; i++) {
		for (p = clause->cl_pattern[i]; *p && n + 1 < room; p++)
			text[n++] = dfr_printable(*p);
		if (i < 3 && n + 1 < room)
			text[n++] = ':';
	}
	text[n] = '\0';
}

/*
 * Compares the digest of the kernel's types that the DOF was compiled against with this kernel's. If they
 * differ, the clauses that depend on types are left out (cl_foreign), and the other clauses run.
 */
int dfr_desc_types(struct dfr_loader *ld, u32 section)
{
	const struct dof_sec *sec = dfr_dof_sec(ld, section);
	const struct dof_btfid *id = dfr_dof_payload(ld, sec);
	struct dfr_program *pg = ld->ld_program;
	struct dfr_clause *clause;
	u32 i;

	if (sec->align < 8)
		return dfr_refuse(ld, section, sec->offset, "digest of types is misaligned");
	if (sec->size != sizeof(*id))
		return dfr_refuse(ld, section, sec->offset, "bad size of the digest of types");
	/* Only one, because each costs a walk over all clauses. */
	if (ld->ld_digest)
		return dfr_refuse(ld, section, sec->offset, "second digest of types");
	ld->ld_digest = true;
	if (!ld->ld_limits->ll_types || ld->ld_limits->ll_types() == id->digest)
		return 0;
	for (i = 0; i < pg->pg_nclauses; i++) {
		clause = &pg->pg_clauses[i];
		if (!(clause->cl_uarg & DFR_ECBUARG_KERNEL_TYPES))
			continue;
		clause->cl_foreign = true;
		if (clause->cl_uarg & DFR_ECBUARG_CONTINUATION)
			continue;
		if (!ld->ld_nforeign++)
			ld->ld_foreign = clause;
	}
	return 0;
}
