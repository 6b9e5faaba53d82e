// SPDX-License-Identifier: GPL-2.0
/*
 * The variables of a state: what programs declare, and static variables (global
 * and clause-local). Dynamic variables are in dynvar.c.
 *
 * Declaring moves memory, so it must be done before the state goes; it runs
 * in process context under the engine's lock. Loads and stores are probe
 * context. All CPUs share the globals without any lock, as D says: when two CPUs
 * store at once, one value may be lost, but memory stays intact.
 */
#include "kmod/engine/dif/vars.h"

/* ---- Declaring (process context) ---- */

static void refuse(struct dfr_refusal *why, const struct dfr_program *pg, const struct dfr_difo *difo,
		   const void *at, const char *reason)
{
	size_t n = 0;

	if (!why)
		return;
	why->rf_section = difo->di_section;
	why->rf_offset = (u64)((const u8 *)at - (const u8 *)pg->pg_dof);
	for (; reason[n] && n + 1 < sizeof(why->rf_reason); n++)
		why->rf_reason[n] = reason[n];
	why->rf_reason[n] = '\0';
}

static int grow_scope(struct dfr_scope *scope, u32 n)
{
	struct dfr_vardesc *vars;
	u32 room = scope->sc_nvars ? scope->sc_nvars : 16;

	if (n <= scope->sc_nvars)
		return 0;
	while (room < n)
		room *= 2;
	vars = dfr_plat_alloc((size_t)room * sizeof(*vars));
	if (!vars)
		return -ENOMEM;
	if (scope->sc_nvars)
		memcpy(vars, scope->sc_vars, scope->sc_nvars * sizeof(*vars));
	dfr_plat_free(scope->sc_vars);
	scope->sc_vars = vars;
	scope->sc_nvars = room;
	return 0;
}

/* NULL: variables of that scope are dynamic. */
static struct dfr_statics *statics_of(struct dfr_vars *vars, u32 scope)
{
	return scope == DIF_VS_GLOBAL ? &vars->va_global : scope == DIF_VS_LOCAL ? &vars->va_local : NULL;
}

/* Room for one more extent. */
static int grow_extents(struct dfr_statics *statics)
{
	struct dfr_extent *extents;
	u32 room = statics->sa_extents_room ? statics->sa_extents_room * 2 : 16;

	if (statics->sa_nextents < statics->sa_extents_room)
		return 0;
	extents = dfr_plat_alloc((size_t)room * sizeof(*extents));
	if (!extents)
		return -ENOMEM;
	if (statics->sa_nextents)
		memcpy(extents, statics->sa_extents, statics->sa_nextents * sizeof(*extents));
	dfr_plat_free(statics->sa_extents);
	statics->sa_extents = extents;
	statics->sa_extents_room = room;
	return 0;
}

static u32 flags_of(const struct dif_var *var)
{
	u32 flags = DFR_VD_DECLARED;

	if (var->kind == DIF_VK_ARRAY)
		flags |= DFR_VD_ARRAY;
	if (var->type.flags & DIF_TF_BYREF)
		flags |= DFR_VD_BYREF;
	if (var->type.kind == DIF_KIND_STRING)
		flags |= DFR_VD_STRING;
	return flags;
}

/*
 * Gives a new static its offset; lay_out() allocates when all are known. Offsets only grow, whatever the order of the ids,
 * so a by-reference variable's extent is the last one. grow_extents() has made room for it.
 */
static const char *place(struct dfr_statics *statics, const struct dif_var *var, struct dfr_vardesc *desc,
			 u32 used[3])
{
	u32 *end = &used[var->scope];

	if (!statics || desc->vd_flags & DFR_VD_ARRAY)
		return NULL;
	desc->vd_offset = *end;
	*end += 8;
	if (desc->vd_flags & DFR_VD_BYREF) {
		statics->sa_extents[statics->sa_nextents++] =
			(struct dfr_extent){ .ex_offset = *end, .ex_size = desc->vd_size };
		*end += (desc->vd_size + 7) & ~7u;
	}
	if (*end > (var->scope == DIF_VS_LOCAL ? DFR_LOCALS_MAX : DFR_GLOBALS_MAX))
		return var->scope == DIF_VS_LOCAL
			       ? "clause-local variables are larger than 256 KiB altogether"
			       : "global variables are larger than 16 MiB altogether";
	return NULL;
}

static const char *declare(struct dfr_vars *vars, const struct dif_var *var, u32 used[3])
{
	struct dfr_vardesc *desc = &vars->va_scopes[var->scope].sc_vars[var->id - DIF_VAR_USER_FIRST];
	u32 flags = flags_of(var), size = 8;

	if (flags & DFR_VD_BYREF)
		size = var->type.size ? var->type.size : vars->va_strsize;
	if (!desc->vd_flags) {
		desc->vd_flags = flags;
		desc->vd_size = size;
		desc->vd_declared = var->type.size;
		return place(statics_of(vars, var->scope), var, desc, used);
	}
	if (desc->vd_flags != flags)
		return "variable is declared with another kind elsewhere";
	if (flags & DFR_VD_BYREF && desc->vd_size != size)
		return "variable is declared with another size elsewhere";
	if (var->type.size && desc->vd_declared && var->type.size != desc->vd_declared)
		return "variable is declared with another size elsewhere";
	if (!desc->vd_declared)
		desc->vd_declared = var->type.size;
	return NULL;
}

static int declare_difo(struct dfr_vars *vars, const struct dfr_program *pg, const struct dfr_difo *difo,
			u32 used[3], struct dfr_refusal *why)
{
	struct dfr_statics *statics;
	const char *reason;
	u32 i;

	for (i = 0; i < difo->di_nvars; i++) {
		const struct dif_var *var = &difo->di_vars[i];

		if (var->id < DIF_VAR_USER_FIRST)
			continue;
		statics = statics_of(vars, var->scope);
		if (grow_scope(&vars->va_scopes[var->scope], var->id - DIF_VAR_USER_FIRST + 1) ||
		    (statics && grow_extents(statics)))
			return -ENOMEM;
		reason = declare(vars, var, used);
		if (reason) {
			refuse(why, pg, difo, var, reason);
			return -EINVAL;
		}
	}
	return 0;
}

/* Allocates copies of `used` bytes and keeps the old values. */
static int lay_out(struct dfr_statics *statics, u32 used)
{
	u32 copy;
	u8 *mem;

	if (used <= statics->sa_used)
		return 0;
	mem = dfr_plat_alloc((size_t)used * statics->sa_copies);
	if (!mem)
		return -ENOMEM;
	for (copy = 0; copy < statics->sa_copies && statics->sa_used; copy++)
		memcpy(mem + (size_t)copy * used, statics->sa_mem + (size_t)copy * statics->sa_used,
		       statics->sa_used);
	dfr_plat_free(statics->sa_mem);
	statics->sa_mem = mem;
	statics->sa_used = used;
	return 0;
}

static int add_image(struct dfr_vars *vars, const struct dfr_program *pg)
{
	struct dfr_image *images = dfr_plat_alloc((vars->va_nimages + 1) * sizeof(*images));

	if (!images)
		return -ENOMEM;
	if (vars->va_nimages)
		memcpy(images, vars->va_images, vars->va_nimages * sizeof(*images));
	images[vars->va_nimages].im_base = dfr_address(pg->pg_dof);
	images[vars->va_nimages].im_size = pg->pg_dof_size;
	dfr_plat_free(vars->va_images);
	vars->va_images = images;
	vars->va_nimages++;
	return 0;
}

/*
 * How large the key images are that a DIFO's stores build. Sizes that are
 * constants are known, others are guessed. An estimate is enough, because a store
 * whose key does not fit is a counted loss.
 */
struct key_sizes {
	u64 ks_reg[DIF_NREGS]; /* constant in the register; ~0: not known */
	u64 ks_entry[DIF_NTUPLE];
	u32 ks_n;
	u64 ks_most;
};

static void size_push(struct key_sizes *ks, u32 instr, u32 strsize)
{
	u64 size = 8, want = ks->ks_reg[DIF_R2(instr)];

	if (DIF_OP(instr) == DIF_OP_PUSHTR && DIF_R1(instr) == DIF_KIND_STRING)
		size = (want == 0 || want > strsize ? strsize : want) + 1;
	else if (DIF_OP(instr) == DIF_OP_PUSHTR)
		size = want > DIF_STATIC_MAX ? DIF_STRSIZE_DEFAULT : want;
	if (ks->ks_n < DIF_NTUPLE)
		ks->ks_entry[ks->ks_n++] = 8 + ((size + 7) & ~7ull);
}

static void size_store(struct key_sizes *ks)
{
	u64 total = 8; /* the thread key */
	u32 i;

	for (i = 0; i < ks->ks_n; i++)
		total += ks->ks_entry[i];
	if (total > ks->ks_most)
		ks->ks_most = total;
}

static bool writes_register(u32 op)
{
	switch (op) {
	case DIF_OP_CMP:
	case DIF_OP_TST:
	case DIF_OP_SCMP:
	case DIF_OP_RET:
	case DIF_OP_STGS:
	case DIF_OP_STTS:
	case DIF_OP_STLS:
	case DIF_OP_STB:
	case DIF_OP_STH:
	case DIF_OP_STW:
	case DIF_OP_STX: return false;
	default: return op < DIF_OP_BA || op > DIF_OP_BLEU;
	}
}

static void size_instr(struct key_sizes *ks, const struct dfr_difo *difo, u32 instr, u32 strsize)
{
	switch (DIF_OP(instr)) {
	case DIF_OP_SETX: ks->ks_reg[DIF_RD(instr)] = difo->di_ints[DIF_WIDE(instr)]; break;
	case DIF_OP_PUSHTR:
	case DIF_OP_PUSHTV: size_push(ks, instr, strsize); break;
	case DIF_OP_POPTS:
		if (ks->ks_n)
			ks->ks_n--;
		break;
	case DIF_OP_FLUSHTS: ks->ks_n = 0; break;
	case DIF_OP_STGAA:
	case DIF_OP_STTAA: size_store(ks); break;
	default:
		if (writes_register(DIF_OP(instr)))
			ks->ks_reg[DIF_RD(instr)] = DIF_RD(instr) ? ~0ull : 0;
		break;
	}
}

static u64 key_size(struct key_sizes *ks, const struct dfr_difo *difo, u32 strsize)
{
	u32 i;

	for (i = 0; i < DIF_NREGS; i++)
		ks->ks_reg[i] = i ? ~0ull : 0;
	ks->ks_n = 0;
	ks->ks_most = 8;
	for (i = 0; i < difo->di_len; i++)
		size_instr(ks, difo, difo->di_text[i], strsize);
	return ks->ks_most;
}

static bool is_dynamic(const struct dif_var *var)
{
	return var->id >= DIF_VAR_USER_FIRST && !dfr_var_is_self(var) &&
	       (var->scope == DIF_VS_THREAD || var->kind == DIF_VK_ARRAY);
}

static bool has_self(const struct dfr_program *pg)
{
	u32 d, i;

	for (d = 0; d < pg->pg_ndifos; d++)
		for (i = 0; i < pg->pg_difos[d].di_nvars; i++)
			if (dfr_var_is_self(&pg->pg_difos[d].di_vars[i]))
				return true;
	return false;
}

/* *size: the largest chunk that a program's dynamic variables need; 0: it has none. */
static int chunk_size(const struct dfr_vars *vars, const struct dfr_program *pg, u64 *size)
{
	struct key_sizes *ks = dfr_plat_alloc(sizeof(*ks));
	u64 keys = 0, data = 0, n;
	u32 d, i;

	if (!ks)
		return -ENOMEM;
	for (d = 0; d < pg->pg_ndifos; d++) {
		const struct dfr_difo *difo = &pg->pg_difos[d];

		for (i = 0; i < difo->di_nvars; i++) {
			const struct dif_var *var = &difo->di_vars[i];

			if (!is_dynamic(var))
				continue;
			n = (vars->va_scopes[var->scope].sc_vars[var->id - DIF_VAR_USER_FIRST].vd_size + 7) &
			    ~7ull;
			if (n > data)
				data = n;
		}
		n = key_size(ks, difo, vars->va_strsize);
		if (n > keys)
			keys = n;
	}
	dfr_plat_free(ks);
	*size = 0;
	if (!data)
		return 0;
	*size = sizeof(struct dfr_dynvar) + keys + data;
	if (*size < DFR_CHUNK_MIN)
		*size = DFR_CHUNK_MIN;
	return 0;
}

static int begin_random(struct dfr_vars *vars)
{
	u32 cpu;

	vars->va_random = dfr_plat_alloc(dfr_plat_ncpus() * sizeof(vars->va_random[0]));
	for (cpu = 0; vars->va_random && cpu < dfr_plat_ncpus(); cpu++)
		vars->va_random[cpu].dw_word =
			dfr_plat_secret() + cpu; /* a fixed secret is the same for all */
	return vars->va_random ? 0 : -ENOMEM;
}

int dfr_vars_create(struct dfr_engine *engine, const struct dfr_vars_config *config, struct dfr_vars **out)
{
	struct dfr_vars *vars = dfr_plat_alloc(sizeof(*vars));

	*out = NULL;
	if (!vars)
		return -ENOMEM;
	if (begin_random(vars)) {
		dfr_plat_free(vars);
		return -ENOMEM;
	}
	*out = vars;
	vars->va_engine = engine;
	vars->va_strsize = config->vc_strsize;
	vars->va_global.sa_copies = 1;
	vars->va_local.sa_copies = dfr_plat_ncpus();
	vars->va_dyn.dy_budget = config->vc_dynvarsize;
	vars->va_self.se_state = config->vc_state;
	dfr_hashkey_make(&vars->va_hash);
	return 0;
}

int dfr_vars_declare(struct dfr_vars *vars, const struct dfr_program *pg, struct dfr_refusal *why)
{
	u32 used[3] = { vars->va_global.sa_used, 0, vars->va_local.sa_used }, d;
	u64 chunk;
	int err;

	for (d = 0; d < pg->pg_ndifos; d++) {
		err = declare_difo(vars, pg, &pg->pg_difos[d], used, why);
		if (!err)
			err = dfr_plat_proceed();
		if (err)
			return err;
	}
	err = lay_out(&vars->va_global, used[DIF_VS_GLOBAL]);
	if (!err)
		err = lay_out(&vars->va_local, used[DIF_VS_LOCAL]);
	if (!err)
		err = add_image(vars, pg);
	if (!err && has_self(pg))
		err = dfr_self_layout(vars);
	if (!err)
		err = chunk_size(vars, pg, &chunk);
	if (!err && chunk)
		err = dfr_dyn_layout(vars, (u32)chunk);
	if (err == -EBUSY) {
		refuse(why, pg, &pg->pg_difos[0], pg->pg_dof,
		       "needs larger dynamic variables than the running state was laid out for");
		err = -EINVAL;
	}
	return err;
}

void dfr_vars_free(struct dfr_vars *vars)
{
	u32 i;

	if (!vars)
		return;
	dfr_dyn_free(vars);
	dfr_self_free(vars);
	for (i = 0; i < 3; i++)
		dfr_plat_free(vars->va_scopes[i].sc_vars);
	dfr_plat_free(vars->va_global.sa_mem);
	dfr_plat_free(vars->va_global.sa_extents);
	dfr_plat_free(vars->va_local.sa_mem);
	dfr_plat_free(vars->va_local.sa_extents);
	dfr_plat_free(vars->va_images);
	dfr_plat_free(vars->va_random);
	dfr_plat_free(vars);
}

u64 dfr_vars_bytes(const struct dfr_vars *vars)
{
	return (u64)vars->va_global.sa_used * vars->va_global.sa_copies +
	       (u64)vars->va_local.sa_used * vars->va_local.sa_copies;
}

void dfr_vars_clean(struct dfr_vars *vars)
{
	dfr_dyn_clean(vars);
}

/* ---- Loads and stores (probe context) ---- */

static u64 extent_room(const struct dfr_statics *statics, u64 base, u64 addr)
{
	u64 at = addr - base;
	u32 low = 0, high = statics->sa_nextents, mid;

	if (addr < base || at >= statics->sa_used)
		return 0;
	/* The last extent that starts at or before the address. */
	while (low < high) {
		mid = (low + high) / 2;
		if (statics->sa_extents[mid].ex_offset <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	at -= statics->sa_extents[low - 1].ex_offset;
	return at < statics->sa_extents[low - 1].ex_size ? statics->sa_extents[low - 1].ex_size - at : 0;
}

static u8 *local_base(const struct dfr_vars *vars, u32 cpu)
{
	return vars->va_local.sa_mem + (size_t)cpu * vars->va_local.sa_used;
}

u64 dfr_statics_room(const struct dfr_vars *vars, u32 cpu, u64 addr)
{
	u64 room = extent_room(&vars->va_global, dfr_address(vars->va_global.sa_mem), addr);

	if (room || !vars->va_local.sa_used || cpu >= vars->va_local.sa_copies)
		return room;
	return extent_room(&vars->va_local, dfr_address(local_base(vars, cpu)), addr);
}

static const struct dfr_vardesc *find(const struct dfr_vars *vars, u32 scope, u32 id)
{
	const struct dfr_scope *sc = &vars->va_scopes[scope];
	u32 n = id - DIF_VAR_USER_FIRST;

	if (dfr_unlikely(id < DIF_VAR_USER_FIRST || n >= sc->sc_nvars || !sc->sc_vars[n].vd_flags))
		return NULL;
	return &sc->sc_vars[n];
}

static u64 static_load(const struct dfr_vardesc *desc, u8 *base)
{
	u64 word = dfr_read_once((u64 *)(base + desc->vd_offset));

	if (!(desc->vd_flags & DFR_VD_BYREF))
		return word;
	return word == DFR_WORD_NULL ? 0 : dfr_address(base + desc->vd_offset + 8);
}

static void static_store(struct dfr_machine *m, const struct dfr_vardesc *desc, u8 *base, u64 value)
{
	u64 *word = (u64 *)(base + desc->vd_offset);
	u8 *data = base + desc->vd_offset + 8;
	bool done;

	if (!(desc->vd_flags & DFR_VD_BYREF)) {
		dfr_write_once(word, value);
		return;
	}
	if (!value) {
		dfr_write_once(word, DFR_WORD_NULL);
		return;
	}
	if (desc->vd_flags & DFR_VD_STRING)
		done = dfr_copy_in_str(m, data, value, desc->vd_size);
	else
		done = dfr_copy_in(m, data, value, desc->vd_size);
	if (done)
		dfr_write_once(word, 0);
}

u64 dfr_global_load(struct dfr_machine *m, u32 id)
{
	const struct dfr_vardesc *desc = find(m->m_vars, DIF_VS_GLOBAL, id);

	return dfr_likely(desc) ? static_load(desc, m->m_vars->va_global.sa_mem) : 0;
}

void dfr_global_store(struct dfr_machine *m, u32 id, u64 value)
{
	const struct dfr_vardesc *desc = find(m->m_vars, DIF_VS_GLOBAL, id);

	if (dfr_likely(desc))
		static_store(m, desc, m->m_vars->va_global.sa_mem, value);
}

/* This CPU's clause-locals; the state's first use in a firing sets them to zero. */
static u8 *locals(struct dfr_machine *m)
{
	struct dfr_vars *vars = m->m_vars;
	u8 *base = local_base(vars, m->m_firing->fr_cpu);

	if (!(m->m_flags & DFR_M_LOCALS_ZEROED)) {
		dfr_work(m, vars->va_local.sa_used); /* even if refused: it is once in a firing */
		memset(base, 0, vars->va_local.sa_used);
		m->m_flags |= DFR_M_LOCALS_ZEROED;
	}
	return base;
}

u64 dfr_local_load(struct dfr_machine *m, u32 id)
{
	const struct dfr_vardesc *desc = find(m->m_vars, DIF_VS_LOCAL, id);

	return dfr_likely(desc) ? static_load(desc, locals(m)) : 0;
}

void dfr_local_store(struct dfr_machine *m, u32 id, u64 value)
{
	const struct dfr_vardesc *desc = find(m->m_vars, DIF_VS_LOCAL, id);

	if (dfr_likely(desc))
		static_store(m, desc, locals(m), value);
}
