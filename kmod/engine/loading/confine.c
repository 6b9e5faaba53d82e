// SPDX-License-Identifier: GPL-2.0
/*
 * Confined programs: those of a user without privilege, where the module lets him
 * trace his own processes. This file decides once, at load, what such a program may
 * ask for; process context. Whose task fires is checked at each firing
 * (DFR_TEST_OWNER, fire.c). The rules:
 *
 *   probes     Only those of providers that fire in the task that they tell of and
 *              show nothing of the kernel's (DFR_PV_CONFINED). The program does not
 *              see that others exist.
 *   addresses  A program never has an address of the kernel's as a number. Each value
 *              is a number or a reference: a string, what copyin() has copied, a
 *              variable with a size. A reference can be compared as a string, tested
 *              for NULL, passed on, stored, and recorded as the bytes that it refers
 *              to. No instruction turns a number into a reference or a reference into
 *              a number, so no record can hold an address of the kernel's and no
 *              condition can depend on one.
 *   loads      Only from what copyin() has copied, by an index that is masked
 *              (dfr_load_own()), and from user memory. Stores only to variables.
 *   symbols    reloc.c refuses relocations before it looks any symbol up.
 *   the rest   Only what the tables below list.
 *
 * Because branches go forward, one pass in order visits each instruction after all
 * that can run before it; what is known of registers and tuple is joined where paths
 * meet.
 */
#include "kmod/engine/loading/load.h"

#define TEXT_MAX 16384 /* DIF instructions, plus one an action, that all clauses may run in a firing */

enum kind {
	K_NUMBER,
	K_NULL,	  /* the constant 0: both a number and a reference */
	K_TEXT,	  /* a reference */
	K_COPIED, /* a reference to what copyin() has copied; loads may use it */
	K_WITHIN, /* K_COPIED plus a number; only loads may use it */
	K_MIXED	  /* it differs by path, or is not allowed */
};

/* What is known at a pc: 3 bits for each register, 2 for each entry of the tuple, 4 for the tuple's depth. */
#define NOWHERE	      (~0ull) /* no path leads here */
#define TUPLE_AT      (3 * DIF_NREGS)
#define DEPTH_AT      (TUPLE_AT + 2 * DIF_NTUPLE)
#define DEPTH_UNKNOWN 15 /* it differs by path */
enum entry { T_NUMBER, T_NULL, T_REFERENCE, T_MIXED };

static u32 reg(u64 facts, u32 n)
{
	return n ? facts >> 3 * n & 7 : K_NULL;
}

static u64 set_reg(u64 facts, u32 n, u32 kind)
{
	return (facts & ~(7ull << 3 * n)) | (u64)kind << 3 * n;
}

static u32 entry(u64 facts, u32 n)
{
	return facts >> (TUPLE_AT + 2 * n) & 3;
}

static u64 set_entry(u64 facts, u32 n, u32 what)
{
	return (facts & ~(3ull << (TUPLE_AT + 2 * n))) | (u64)what << (TUPLE_AT + 2 * n);
}

static u32 depth(u64 facts)
{
	return facts >> DEPTH_AT & 15;
}

static u64 set_depth(u64 facts, u32 n)
{
	return (facts & ~(15ull << DEPTH_AT)) | (u64)n << DEPTH_AT;
}

static bool is_number(u32 kind)
{
	return kind == K_NUMBER || kind == K_NULL;
}

static bool is_reference(u32 kind)
{
	return kind == K_NULL || kind == K_TEXT || kind == K_COPIED;
}

static u32 join_kinds(u32 a, u32 b)
{
	if (a == b)
		return a;
	if (is_number(a) && is_number(b))
		return K_NUMBER;
	return is_reference(a) && is_reference(b) ? K_TEXT : K_MIXED;
}

static u32 join_entries(u32 a, u32 b)
{
	return a == b ? a : a == T_NULL ? b : b == T_NULL ? a : T_MIXED;
}

static u64 join(u64 a, u64 b)
{
	u32 i;

	if (a == NOWHERE || b == NOWHERE)
		return a == NOWHERE ? b : a;
	for (i = 1; i < DIF_NREGS; i++)
		a = set_reg(a, i, join_kinds(reg(a, i), reg(b, i)));
	for (i = 0; i < DIF_NTUPLE; i++)
		a = set_entry(a, i, join_entries(entry(a, i), entry(b, i)));
	return depth(a) == depth(b) ? a : set_depth(a, DEPTH_UNKNOWN);
}

/* The allowed subroutines, with what each takes and gives. n: number, s: string, c: K_COPIED. */
static const struct subroutine {
	u32 su_number;
	const char *su_takes;
	char su_gives;
} subroutines[] = {
	{ DIF_SUBR_RAND, "", 'n' },	   { DIF_SUBR_RANDOM, "", 'n' },
	{ DIF_SUBR_SPECULATION, "", 'n' }, { DIF_SUBR_COPYIN, "nn", 'c' },
	{ DIF_SUBR_COPYINSTR, "nn", 's' }, { DIF_SUBR_STRLEN, "s", 'n' },
	{ DIF_SUBR_STRJOIN, "ss", 's' },   { DIF_SUBR_LLTOSTR, "nn", 's' },
	{ DIF_SUBR_BASENAME, "s", 's' },   { DIF_SUBR_DIRNAME, "s", 's' },
	{ DIF_SUBR_CLEANPATH, "s", 's' },  { DIF_SUBR_STRCHR, "sn", 's' },
	{ DIF_SUBR_STRRCHR, "sn", 's' },   { DIF_SUBR_STRSTR, "ss", 's' },
	{ DIF_SUBR_STRTOK, "ss", 's' },	   { DIF_SUBR_SUBSTR, "snn", 's' },
	{ DIF_SUBR_INDEX, "ssn", 'n' },	   { DIF_SUBR_RINDEX, "ssn", 'n' },
	{ DIF_SUBR_TOUPPER, "s", 's' },	   { DIF_SUBR_TOLOWER, "s", 's' },
	{ DIF_SUBR_JSON, "ss", 's' },	   { DIF_SUBR_STRTOLL, "sn", 'n' },
	{ DIF_SUBR_GETMAJOR, "n", 'n' },   { DIF_SUBR_GETMINOR, "n", 'n' },
	{ DIF_SUBR_HTONS, "n", 'n' },	   { DIF_SUBR_HTONL, "n", 'n' },
	{ DIF_SUBR_HTONLL, "n", 'n' },	   { DIF_SUBR_NTOHS, "n", 'n' },
	{ DIF_SUBR_NTOHL, "n", 'n' },	   { DIF_SUBR_NTOHLL, "n", 'n' },
	{ DIF_SUBR_F_ADD, "nn", 'n' },	   { DIF_SUBR_F_SUB, "nn", 'n' },
	{ DIF_SUBR_F_MUL, "nn", 'n' },	   { DIF_SUBR_F_DIV, "nn", 'n' },
	{ DIF_SUBR_F_CMP, "nn", 'n' },	   { DIF_SUBR_F_NEG, "n", 'n' },
	{ DIF_SUBR_F_FROM_I64, "n", 'n' }, { DIF_SUBR_F_FROM_U64, "n", 'n' },
	{ DIF_SUBR_F_TO_I64, "n", 'n' },   { DIF_SUBR_F_TO_U64, "n", 'n' },
	{ DIF_SUBR_F_FROM_F32, "n", 'n' }, { DIF_SUBR_F_TO_F32, "n", 'n' },
};

static const struct subroutine *subroutine(u32 number)
{
	u32 i;

	for (i = 0; i < sizeof(subroutines) / sizeof(subroutines[0]); i++)
		if (subroutines[i].su_number == number)
			return &subroutines[i];
	return NULL;
}

/* Allowed built-ins are numbers, or strings of the engine's own. K_MIXED: not allowed. */
static u32 builtin_kind(u32 id)
{
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return K_NUMBER;
	switch (id) {
	case DIF_VAR_TIMESTAMP:
	case DIF_VAR_VTIMESTAMP:
	case DIF_VAR_WALLTIMESTAMP:
	case DIF_VAR_EPID:
	case DIF_VAR_ID:
	case DIF_VAR_PID:
	case DIF_VAR_TID:
	case DIF_VAR_PPID:
	case DIF_VAR_UID:
	case DIF_VAR_GID:
	case DIF_VAR_CPU:
	case DIF_VAR_ERRNO:
	case DIF_VAR_NSPID:
	case DIF_VAR_CGROUP:
	case DIF_VAR_UCALLER:
	case DIF_VAR_USTACKDEPTH: return K_NUMBER;
	case DIF_VAR_PROBEPROV:
	case DIF_VAR_PROBEMOD:
	case DIF_VAR_PROBEFUNC:
	case DIF_VAR_PROBENAME:
	case DIF_VAR_EXECNAME: return K_TEXT;
	default: return K_MIXED;
	}
}

struct clause_walk {
	const struct dfr_difo *cw_difo;
	u64 *cw_facts; /* by pc */
	u64 cw_now;
};

/* The kind of a variable that the program declares. */
static u32 variable_kind(const struct dfr_difo *difo, u32 scope, u32 kind, u32 id)
{
	u32 i;

	for (i = 0; i < difo->di_nvars; i++) {
		const struct dif_var *var = &difo->di_vars[i];

		if (var->id == id && var->scope == scope && var->kind == kind)
			return var->type.flags & DIF_TF_BYREF ? K_TEXT : K_NUMBER;
	}
	return K_MIXED; /* never: the verifier has found its declaration */
}

/* Instructions that load and store variables. */
static const struct access {
	u32 ac_op;
	bool ac_store;
	u32 ac_scope;
	u32 ac_array;
} accesses[] = {
	{ DIF_OP_LDGS, false, DIF_VS_GLOBAL, DIF_VK_SCALAR },
	{ DIF_OP_STGS, true, DIF_VS_GLOBAL, DIF_VK_SCALAR },
	{ DIF_OP_LDTS, false, DIF_VS_THREAD, DIF_VK_SCALAR },
	{ DIF_OP_STTS, true, DIF_VS_THREAD, DIF_VK_SCALAR },
	{ DIF_OP_LDLS, false, DIF_VS_LOCAL, DIF_VK_SCALAR },
	{ DIF_OP_STLS, true, DIF_VS_LOCAL, DIF_VK_SCALAR },
	{ DIF_OP_LDGAA, false, DIF_VS_GLOBAL, DIF_VK_ARRAY },
	{ DIF_OP_STGAA, true, DIF_VS_GLOBAL, DIF_VK_ARRAY },
	{ DIF_OP_LDTAA, false, DIF_VS_THREAD, DIF_VK_ARRAY },
	{ DIF_OP_STTAA, true, DIF_VS_THREAD, DIF_VK_ARRAY },
};

static const struct access *access_of(u32 op)
{
	u32 i;

	for (i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++)
		if (accesses[i].ac_op == op)
			return &accesses[i];
	return NULL;
}

static const char *load_variable(struct clause_walk *walk, u32 instr, u32 scope, u32 array)
{
	u32 id = DIF_WIDE(instr);
	u32 kind = id < DIF_VAR_USER_FIRST
			   ? (scope == DIF_VS_GLOBAL && array == DIF_VK_SCALAR ? builtin_kind(id) : K_MIXED)
			   : variable_kind(walk->cw_difo, scope, array, id);

	if (kind == K_MIXED)
		return "read this built-in variable: it shows kernel data";
	walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), kind);
	return NULL;
}

static const char *store_variable(struct clause_walk *walk, u32 instr, u32 scope, u32 array)
{
	u32 kind = variable_kind(walk->cw_difo, scope, array, DIF_WIDE(instr));
	u32 value = reg(walk->cw_now, DIF_RD(instr));

	return (kind == K_NUMBER ? is_number(value) : is_reference(value)) ? NULL
									   : "use an address as a number";
}

static const char *call(struct clause_walk *walk, u32 instr)
{
	const struct subroutine *subr = subroutine(DIF_WIDE(instr));
	u32 i, n = depth(walk->cw_now);
	u32 what;

	if (!subr)
		return "call this subroutine: it shows kernel data, or writes";
	if (n == DEPTH_UNKNOWN || n > strlen(subr->su_takes))
		return "call a subroutine with arguments that the loader cannot know";
	for (i = 0; i < n; i++) {
		what = entry(walk->cw_now, i);
		if (what == T_MIXED || (what != T_NULL && (what == T_NUMBER) != (subr->su_takes[i] == 'n')))
			return "give a subroutine an address for a number, or a number for a string";
	}
	walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr),
			       subr->su_gives == 'n'   ? K_NUMBER
			       : subr->su_gives == 'c' ? K_COPIED
						       : K_TEXT);
	return NULL;
}

static const char *push(struct clause_walk *walk, u32 instr, bool reference)
{
	u32 n = depth(walk->cw_now), kind = reg(walk->cw_now, DIF_RD(instr));

	if (n >= DIF_NTUPLE)
		return "use a tuple that is too long, or whose length the loader cannot know";
	if (reference ? !is_reference(kind) || !is_number(reg(walk->cw_now, DIF_R2(instr)))
		      : !is_number(kind))
		return "use an address as a number";
	walk->cw_now = set_entry(walk->cw_now, n,
				 kind == K_NULL ? T_NULL
				 : reference	? T_REFERENCE
						: T_NUMBER);
	walk->cw_now = set_depth(walk->cw_now, n + 1);
	return NULL;
}

/* A number may be added to a reference to copied memory: the sum is good for loads (K_WITHIN). */
static const char *add(struct clause_walk *walk, u32 instr)
{
	u32 a = reg(walk->cw_now, DIF_R1(instr)), b = reg(walk->cw_now, DIF_R2(instr));
	u32 other = is_number(a) ? b : a;

	if (!is_number(a) && !is_number(b))
		return "calculate with an address";
	if (!is_number(other) && other != K_COPIED && other != K_WITHIN)
		return "calculate with an address";
	walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), is_number(other) ? K_NUMBER : K_WITHIN);
	return NULL;
}

static const char *calculate(struct clause_walk *walk, u32 instr, bool binary)
{
	if (!is_number(reg(walk->cw_now, DIF_R1(instr))) ||
	    (binary && !is_number(reg(walk->cw_now, DIF_R2(instr)))))
		return "calculate with an address";
	walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), K_NUMBER);
	return NULL;
}

/*
 * Comparing with NULL reveals nothing: no address of the kernel's is 0, and all have the same sign. The sum of one
 * and a number (K_WITHIN) may be 0 or have any sign, as the number is.
 */
static bool may_be_tested(u32 kind)
{
	return is_number(kind) || is_reference(kind);
}

static const char *compare(const struct clause_walk *walk, u32 instr)
{
	u32 a = reg(walk->cw_now, DIF_R1(instr)), b = reg(walk->cw_now, DIF_R2(instr));

	if (DIF_OP(instr) == DIF_OP_SCMP)
		return is_reference(a) && is_reference(b) ? NULL : "compare a number as a string";
	if ((is_number(a) && is_number(b)) || (a == K_NULL && may_be_tested(b)) ||
	    (b == K_NULL && may_be_tested(a)))
		return NULL;
	return "compare addresses";
}

static const char *load(struct clause_walk *walk, u32 instr)
{
	u32 op = DIF_OP(instr), from = reg(walk->cw_now, DIF_R1(instr));
	bool user = op >= DIF_OP_ULDSB && op <= DIF_OP_ULDX;

	if (user ? !is_number(from) : from != K_COPIED && from != K_WITHIN)
		return "read kernel memory; copyin() reads the process's own";
	walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), K_NUMBER);
	return NULL;
}

/* False: the DIFO runs for its effects alone, and nobody uses the register that it returns. */
static bool has_value(const struct dfr_difo *difo)
{
	return difo->di_rtype.size || difo->di_rtype.kind == DIF_KIND_STRING ||
	       difo->di_rtype.flags & DIF_TF_BYREF;
}

static const char *give_back(const struct clause_walk *walk, u32 instr)
{
	const struct dif_type *type = &walk->cw_difo->di_rtype;
	u32 kind = reg(walk->cw_now, DIF_RD(instr));

	if (!has_value(walk->cw_difo))
		return NULL;
	return (type->flags & DIF_TF_BYREF ? is_reference(kind) : is_number(kind)) ? NULL
										   : "record an address";
}

/* Applies an instruction to what is known (cw_now). An instruction that has no case here is refused. */
static const char *step(struct clause_walk *walk, u32 instr)
{
	u32 op = DIF_OP(instr);
	const struct access *access = access_of(op);

	if (access)
		return (access->ac_store ? store_variable : load_variable)(walk, instr, access->ac_scope,
									   access->ac_array);
	switch (op) {
	case DIF_OP_ADD: return add(walk, instr);
	case DIF_OP_OR:
	case DIF_OP_XOR:
	case DIF_OP_AND:
	case DIF_OP_SLL:
	case DIF_OP_SRL:
	case DIF_OP_SRA:
	case DIF_OP_SUB:
	case DIF_OP_MUL:
	case DIF_OP_SDIV:
	case DIF_OP_UDIV:
	case DIF_OP_SREM:
	case DIF_OP_UREM: return calculate(walk, instr, true);
	case DIF_OP_NOT: return calculate(walk, instr, false);
	case DIF_OP_MOV:
		walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), reg(walk->cw_now, DIF_R1(instr)));
		return NULL;
	case DIF_OP_CMP:
	case DIF_OP_SCMP: return compare(walk, instr);
	case DIF_OP_TST: return may_be_tested(reg(walk->cw_now, DIF_R1(instr))) ? NULL : "compare addresses";
	case DIF_OP_NOP: return NULL;
	case DIF_OP_SETX:
		walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr),
				       walk->cw_difo->di_ints[DIF_WIDE(instr)] ? K_NUMBER : K_NULL);
		return NULL;
	case DIF_OP_SETS: walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), K_TEXT); return NULL;
	case DIF_OP_LDGA:
		if (DIF_R1(instr) != DIF_VAR_ARGS || !is_number(reg(walk->cw_now, DIF_R2(instr))))
			return "read this built-in array: it shows kernel data";
		walk->cw_now = set_reg(walk->cw_now, DIF_RD(instr), K_NUMBER);
		return NULL;
	case DIF_OP_CALL: return call(walk, instr);
	case DIF_OP_PUSHTR: return push(walk, instr, true);
	case DIF_OP_PUSHTV: return push(walk, instr, false);
	case DIF_OP_POPTS:
		if (depth(walk->cw_now) && depth(walk->cw_now) != DEPTH_UNKNOWN)
			walk->cw_now = set_depth(walk->cw_now, depth(walk->cw_now) - 1);
		return NULL;
	case DIF_OP_FLUSHTS: walk->cw_now = set_depth(walk->cw_now, 0); return NULL;
	case DIF_OP_RET: return give_back(walk, instr);
	default: break;
	}
	if ((op >= DIF_OP_ULDSB && op <= DIF_OP_ULDX) || (op >= DIF_OP_RLDSB && op <= DIF_OP_RLDX))
		return load(walk, instr);
	return "write to memory";
}

static bool is_branch(u32 op)
{
	return op >= DIF_OP_BA && op <= DIF_OP_BLEU;
}

static const char *walk_text(struct clause_walk *walk, u32 *at)
{
	const struct dfr_difo *difo = walk->cw_difo;
	const char *reason;
	u32 pc, op, to;

	for (pc = 0; pc < difo->di_len; pc++)
		walk->cw_facts[pc] = NOWHERE;
	walk->cw_now = 0; /* an empty tuple */
	for (pc = 1; pc < DIF_NREGS; pc++)
		walk->cw_now = set_reg(walk->cw_now, pc, K_NULL); /* registers start as 0 */
	for (pc = 0; pc < difo->di_len; pc++) {
		walk->cw_now = join(walk->cw_now, walk->cw_facts[pc]);
		if (walk->cw_now == NOWHERE)
			continue; /* no path leads here */
		op = DIF_OP(difo->di_text[pc]);
		*at = pc;
		if (is_branch(op)) {
			to = DIF_LABEL(difo->di_text[pc]);
			walk->cw_facts[to] = join(walk->cw_facts[to], walk->cw_now);
		} else {
			reason = step(walk, difo->di_text[pc]);
			if (reason)
				return reason;
		}
		if (op == DIF_OP_BA || op == DIF_OP_RET)
			walk->cw_now = NOWHERE;
	}
	return NULL;
}

static int refuse(struct dfr_loader *ld, u32 section, u64 offset, const char *reason)
{
	dfr_refuse_name(ld, section, offset, "unprivileged users may not ", reason);
	return -EPERM;
}

static int check_difo(struct dfr_loader *ld, struct dfr_difo *difo, u64 *facts)
{
	struct clause_walk walk = { .cw_difo = difo, .cw_facts = facts };
	const char *reason;
	u32 at = 0;

	difo->di_flags &= ~(u32)DFR_DIFO_PURE;
	difo->di_flags |= DFR_DIFO_CONFINED;
	reason = walk_text(&walk, &at);
	if (!reason)
		return 0;
	return refuse(ld, difo->di_section, (u64)((const u8 *)&difo->di_text[at] - ld->ld_dof), reason);
}

static bool allowed_action(const struct dfr_act *act)
{
	if (DFR_ACT_IS_AGG(act->ac_kind))
		return true;
	switch (act->ac_kind) {
	case DFR_ACT_DIFEXPR:
	case DFR_ACT_EXIT:
	case DFR_ACT_PRINTF:
	case DFR_ACT_PRINTA:
	case DFR_ACT_LIBACT:
	case DFR_ACT_TRACEMEM:
	case DFR_ACT_TRACEMEM_DYNSIZE:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK:
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR:
	case DFR_ACT_SPECULATE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD:
	case DFR_ACT_CAPTURE:
	case DFR_ACT_CAPTURE_ARGS:
	case DFR_ACT_SNAPSHOT: return true;
	default: return false;
	}
}

/* Adds what the clause runs to *text; a DIFO counts at each use, because clauses may share it. */
static const char *check_clause(const struct dfr_clause *clause, u64 *text)
{
	const struct dfr_act *act = clause->cl_acts;
	u32 i;

	if (clause->cl_pred) {
		*text += clause->cl_pred->di_len;
		if (!has_value(clause->cl_pred) || clause->cl_pred->di_rtype.flags & DIF_TF_BYREF)
			return "use a predicate whose value is not a number";
	}
	for (i = 0; i < clause->cl_nacts; i++, act++) {
		if (!allowed_action(act))
			return "use this action: it shows kernel data, or changes the system";
		*text += 1 + (act->ac_difo ? act->ac_difo->di_len : 0);
		if (act->ac_difo && !has_value(act->ac_difo) && act->ac_kind != DFR_ACT_DIFEXPR)
			return "give an action an expression without a value";
		if (act->ac_difo && act->ac_difo->di_rtype.flags & DIF_TF_BYREF &&
		    act->ac_difo->di_rtype.size == 0 && act->ac_difo->di_rtype.kind != DIF_KIND_STRING)
			return "give an action an expression without a size";
	}
	return *text > TEXT_MAX ? "load a program that runs more than 16384 instructions and actions" : NULL;
}

static int check_difos(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	u32 i, most = 0;
	u64 *facts;
	int err = 0;

	for (i = 0; i < pg->pg_ndifos; i++)
		most = pg->pg_difos[i].di_len > most ? pg->pg_difos[i].di_len : most;
	if (most > TEXT_MAX || ld->ld_ntext > 4 * TEXT_MAX)
		return refuse(ld, ~0u, 0, "load a program as long as this one");
	facts = dfr_plat_alloc(((size_t)most + 1) * sizeof(*facts));
	if (!facts)
		return -ENOMEM;
	for (i = 0; i < pg->pg_ndifos && !err; i++) {
		err = check_difo(ld, &pg->pg_difos[i], facts);
		if (!err)
			err = dfr_plat_proceed();
	}
	dfr_plat_free(facts);
	return err;
}

int dfr_confine_program(struct dfr_loader *ld)
{
	struct dfr_program *pg = ld->ld_program;
	const char *reason = NULL;
	u64 text = 0;
	u32 i;
	int err;

	for (i = 0; i < pg->pg_nclauses && !reason; i++) {
		reason = check_clause(&pg->pg_clauses[i], &text);
		pg->pg_clauses[i].cl_confined = true;
	}
	if (reason)
		return refuse(ld, ~0u, 0, reason);
	err = check_difos(ld);
	pg->pg_confined = true;
	return err;
}
