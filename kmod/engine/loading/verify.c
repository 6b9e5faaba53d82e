// SPDX-License-Identifier: GPL-2.0
/*
 * The verifier: every rule that a DIFO must obey before it may run, checked once
 * at load. What passes terminates (branches go forward), touches no register,
 * table entry or variable that does not exist, and calls subroutines with
 * enough arguments. The interpreter checks what is known only at run time:
 * addresses, divisors, sizes.
 *
 * Because branches go forward, one pass in order visits each instruction after all
 * that can run before it. The pass carries two facts along the edges of the control
 * flow: the least number of tuple entries, and which registers point to a string of
 * the engine's own on every path. Process context.
 */
#include "kmod/engine/loading/load.h"

/* Shapes of an instruction: which fields mean what, and which must be zero. */
enum shape {
	S_BAD,
	S_R3,  /* r1, r2, rd */
	S_R2,  /* r1, rd */
	S_CMP, /* r1, r2 */
	S_TST, /* r1 */
	S_BRANCH,
	S_RET, /* rd */
	S_NONE,
	S_SETX,
	S_SETS,
	S_LDA, /* array, index register, rd */
	S_LDV, /* variable, rd */
	S_STV, /* variable, rs */
	S_CALL,
	S_PUSH,
	S_XLATE
};

/* clang-format off */
static const u8 shapes[DIF_OP_MAX + 1] = {
	[DIF_OP_OR] = S_R3,	[DIF_OP_XOR] = S_R3,	[DIF_OP_AND] = S_R3,	[DIF_OP_SLL] = S_R3,
	[DIF_OP_SRL] = S_R3,	[DIF_OP_SUB] = S_R3,	[DIF_OP_ADD] = S_R3,	[DIF_OP_MUL] = S_R3,
	[DIF_OP_SDIV] = S_R3,	[DIF_OP_UDIV] = S_R3,	[DIF_OP_SREM] = S_R3,	[DIF_OP_UREM] = S_R3,
	[DIF_OP_NOT] = S_R2,	[DIF_OP_MOV] = S_R2,	[DIF_OP_CMP] = S_CMP,	[DIF_OP_TST] = S_TST,
	[DIF_OP_BA] = S_BRANCH, [DIF_OP_BE] = S_BRANCH, [DIF_OP_BNE] = S_BRANCH, [DIF_OP_BG] = S_BRANCH,
	[DIF_OP_BGU] = S_BRANCH, [DIF_OP_BGE] = S_BRANCH, [DIF_OP_BGEU] = S_BRANCH, [DIF_OP_BL] = S_BRANCH,
	[DIF_OP_BLU] = S_BRANCH, [DIF_OP_BLE] = S_BRANCH, [DIF_OP_BLEU] = S_BRANCH, [DIF_OP_LDSB] = S_R2,
	[DIF_OP_LDSH] = S_R2,	[DIF_OP_LDSW] = S_R2,	[DIF_OP_LDUB] = S_R2,	[DIF_OP_LDUH] = S_R2,
	[DIF_OP_LDUW] = S_R2,	[DIF_OP_LDX] = S_R2,	[DIF_OP_RET] = S_RET,	[DIF_OP_NOP] = S_NONE,
	[DIF_OP_SETX] = S_SETX, [DIF_OP_SETS] = S_SETS, [DIF_OP_SCMP] = S_CMP,	[DIF_OP_LDGA] = S_LDA,
	[DIF_OP_LDGS] = S_LDV,	[DIF_OP_STGS] = S_STV,	[DIF_OP_LDTA] = S_LDA,	[DIF_OP_LDTS] = S_LDV,
	[DIF_OP_STTS] = S_STV,	[DIF_OP_SRA] = S_R3,	[DIF_OP_CALL] = S_CALL, [DIF_OP_PUSHTR] = S_PUSH,
	[DIF_OP_PUSHTV] = S_PUSH, [DIF_OP_POPTS] = S_NONE, [DIF_OP_FLUSHTS] = S_NONE, [DIF_OP_LDGAA] = S_LDV,
	[DIF_OP_LDTAA] = S_LDV, [DIF_OP_STGAA] = S_STV, [DIF_OP_STTAA] = S_STV, [DIF_OP_LDLS] = S_LDV,
	[DIF_OP_STLS] = S_STV,	[DIF_OP_ALLOCS] = S_R2, [DIF_OP_COPYS] = S_R3,	[DIF_OP_STB] = S_R2,
	[DIF_OP_STH] = S_R2,	[DIF_OP_STW] = S_R2,	[DIF_OP_STX] = S_R2,	[DIF_OP_ULDSB] = S_R2,
	[DIF_OP_ULDSH] = S_R2,	[DIF_OP_ULDSW] = S_R2,	[DIF_OP_ULDUB] = S_R2,	[DIF_OP_ULDUH] = S_R2,
	[DIF_OP_ULDUW] = S_R2,	[DIF_OP_ULDX] = S_R2,	[DIF_OP_RLDSB] = S_R2,	[DIF_OP_RLDSH] = S_R2,
	[DIF_OP_RLDSW] = S_R2,	[DIF_OP_RLDUB] = S_R2,	[DIF_OP_RLDUH] = S_R2,	[DIF_OP_RLDUW] = S_R2,
	[DIF_OP_RLDX] = S_R2,	[DIF_OP_XLATE] = S_XLATE, [DIF_OP_XLARG] = S_XLATE,
};

/* Least number of arguments of each classic subroutine; 0x80: does not exist on Linux. */
#define ABSENT 0x80
static const u8 arguments[DIF_SUBR_CLASSIC_MAX + 1] = {
	[DIF_SUBR_RAND] = 0, [DIF_SUBR_MUTEX_OWNED] = 1, [DIF_SUBR_MUTEX_OWNER] = 1,
	[DIF_SUBR_MUTEX_TYPE_ADAPTIVE] = 1, [DIF_SUBR_MUTEX_TYPE_SPIN] = 1, [DIF_SUBR_RW_READ_HELD] = 1,
	[DIF_SUBR_RW_WRITE_HELD] = 1, [DIF_SUBR_RW_ISWRITER] = 1, [DIF_SUBR_COPYIN] = 2,
	[DIF_SUBR_COPYINSTR] = 1, [DIF_SUBR_SPECULATION] = 0, [DIF_SUBR_PROGENYOF] = 1, [DIF_SUBR_STRLEN] = 1,
	[DIF_SUBR_COPYOUT] = 3, [DIF_SUBR_COPYOUTSTR] = 3, [DIF_SUBR_ALLOCA] = 1, [DIF_SUBR_BCOPY] = 3,
	[DIF_SUBR_COPYINTO] = 3, [DIF_SUBR_MSGDSIZE] = ABSENT, [DIF_SUBR_MSGSIZE] = ABSENT,
	[DIF_SUBR_GETMAJOR] = 1, [DIF_SUBR_GETMINOR] = 1, [DIF_SUBR_DDI_PATHNAME] = ABSENT,
	[DIF_SUBR_STRJOIN] = 2, [DIF_SUBR_LLTOSTR] = 1, [DIF_SUBR_BASENAME] = 1, [DIF_SUBR_DIRNAME] = 1,
	[DIF_SUBR_CLEANPATH] = 1, [DIF_SUBR_STRCHR] = 2, [DIF_SUBR_STRRCHR] = 2, [DIF_SUBR_STRSTR] = 2,
	[DIF_SUBR_STRTOK] = 2, [DIF_SUBR_SUBSTR] = 2, [DIF_SUBR_INDEX] = 2, [DIF_SUBR_RINDEX] = 2,
	[DIF_SUBR_HTONS] = 1, [DIF_SUBR_HTONL] = 1, [DIF_SUBR_HTONLL] = 1, [DIF_SUBR_NTOHS] = 1,
	[DIF_SUBR_NTOHL] = 1, [DIF_SUBR_NTOHLL] = 1, [DIF_SUBR_INET_NTOP] = 2, [DIF_SUBR_INET_NTOA] = 1,
	[DIF_SUBR_INET_NTOA6] = 1, [DIF_SUBR_TOUPPER] = 1, [DIF_SUBR_TOLOWER] = 1, [DIF_SUBR_MEMREF] = 2,
	[DIF_SUBR_SX_SHARED_HELD] = ABSENT, [DIF_SUBR_SX_EXCLUSIVE_HELD] = ABSENT,
	[DIF_SUBR_SX_ISEXCLUSIVE] = ABSENT, [DIF_SUBR_MEMSTR] = 3, [DIF_SUBR_GETF] = 1, [DIF_SUBR_JSON] = 2,
	[DIF_SUBR_STRTOLL] = 1, [DIF_SUBR_RANDOM] = 0,
};

/* clang-format on */

struct checker {
	struct dfr_loader *ck_ld;
	const struct dfr_difo *ck_difo;
	u32 ck_depth; /* least before this instruction; DFR_TUPLE_UNREACHED: no path leads here */
	u32 ck_own;   /* before this instruction: bits of registers, as in ld_own */
	u32 ck_flags; /* DFR_DIFO_* that the instructions so far require */
	bool ck_pure;
};

/* ---- The variable table ---- */

static const char *check_type(const struct dif_type *type)
{
	if (type->kind != DIF_KIND_CTF && type->kind != DIF_KIND_STRING)
		return "unknown kind of type";
	if (type->flags & ~(DIF_TF_BYREF | DIF_TF_BYUREF | DIF_TF_SIGNED))
		return "unknown flags of a type";
	if (type->pad)
		return "padding of a type is not zero";
	if (type->flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
		return type->size > DFR_LOAD_VALUE_MAX ? "value is larger than 256 KiB" : NULL;
	if (type->kind == DIF_KIND_STRING)
		return "string is not by reference";
	if (type->size != 0 && type->size != 1 && type->size != 2 && type->size != 4 && type->size != 8)
		return "number is not of 0, 1, 2, 4 or 8 bytes";
	return NULL;
}

static const char *check_var(const struct dfr_difo *difo, const struct dif_var *var)
{
	const char *reason;

	if (var->name >= difo->di_strsz && (var->name || difo->di_strsz))
		return "name of a variable is outside the string table";
	if (var->scope > DIF_VS_LOCAL)
		return "unknown scope of a variable";
	if (var->kind > DIF_VK_SCALAR)
		return "unknown kind of a variable";
	if (var->flags & ~(DIF_VF_REF | DIF_VF_MOD))
		return "unknown flags of a variable";
	if (var->id > DIF_VAR_MAX)
		return "variable's id is above 65535";
	reason = check_type(&var->type);
	if (reason || var->id < DIF_VAR_USER_FIRST)
		return reason;
	if (var->scope == DIF_VS_LOCAL && var->kind == DIF_VK_ARRAY)
		return "associative array is clause-local";
	if (var->type.flags & DIF_TF_BYUREF)
		return "variable refers to user memory";
	if (!(var->type.flags & DIF_TF_BYREF))
		return NULL;
	if (var->type.size == 0 && var->type.kind != DIF_KIND_STRING)
		return "by-reference variable has no size";
	if (var->type.size > DIF_STATIC_MAX)
		return "by-reference variable is larger than 16 KiB";
	return NULL;
}

/* The byte of ld_declared, and the shift in it, that hold two bits: id declared as array, as scalar. */
static u32 declared_bit(u32 scope, u32 id, u32 *shift)
{
	u32 n = scope * 65536 + id;

	*shift = (n & 3) * 2;
	return n >> 2;
}

static bool is_declared(const struct dfr_loader *ld, u32 scope, u32 id, u32 kind)
{
	u32 shift, at = declared_bit(scope, id, &shift);

	return ld->ld_declared[at] >> shift & 1u << kind;
}

static void forget_vars(struct dfr_loader *ld, const struct dfr_difo *difo, u32 n)
{
	u32 i, shift;

	for (i = 0; i < n; i++)
		ld->ld_declared[declared_bit(difo->di_vars[i].scope, difo->di_vars[i].id, &shift)] = 0;
}

static int declare_vars(struct dfr_loader *ld, const struct dfr_difo *difo, u64 vars_offset)
{
	const char *reason;
	u32 i, shift, at;

	for (i = 0; i < difo->di_nvars; i++) {
		const struct dif_var *var = &difo->di_vars[i];

		reason = check_var(difo, var);
		if (!reason && (is_declared(ld, var->scope, var->id, DIF_VK_ARRAY) ||
				is_declared(ld, var->scope, var->id, DIF_VK_SCALAR)))
			reason = "variable is declared twice";
		if (reason) {
			forget_vars(ld, difo, i);
			return dfr_refuse(ld, difo->di_section, vars_offset + i * sizeof(*var), reason);
		}
		at = declared_bit(var->scope, var->id, &shift);
		ld->ld_declared[at] |= (u8)((1u << var->kind) << shift);
	}
	return 0;
}

/* ---- Instructions ---- */

static bool known_builtin(u32 id)
{
	if (id >= DIF_VAR_CPU && id <= DIF_VAR_CGROUP)
		return true;
	return id >= DIF_VAR_CURTHREAD && id <= DIF_VAR_ERRNO && id != DIF_VAR_ZONENAME;
}

/*
 * A function's first arguments are in registers. The provider fetches the others from the stack and may
 * call functions for that which are traced themselves, so a DIFO that needs them is not pure.
 */
#define DFR_ARGS_PASSED 6

static void note_builtin(struct checker *ck, u32 id)
{
	bool arg = id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9;
	bool passed = arg && id < DIF_VAR_ARG0 + DFR_ARGS_PASSED;
	bool thread = id == DIF_VAR_PID || id == DIF_VAR_TID;

	if (arg)
		ck->ck_flags |= DFR_DIFO_ARGS;
	if (id == DIF_VAR_STACKDEPTH || id == DIF_VAR_USTACKDEPTH || id == DIF_VAR_CALLER ||
	    id == DIF_VAR_UCALLER)
		ck->ck_flags |= DFR_DIFO_STACK;
	if (!passed && !thread && id != DIF_VAR_EXECNAME && id != DIF_VAR_CPU)
		ck->ck_pure = false;
}

static const char *check_load_var(struct checker *ck, u32 op, u32 id)
{
	u32 scope = op == DIF_OP_LDGS || op == DIF_OP_LDGAA ? DIF_VS_GLOBAL
		    : op == DIF_OP_LDLS			    ? DIF_VS_LOCAL
							    : DIF_VS_THREAD;
	u32 kind = op == DIF_OP_LDGAA || op == DIF_OP_LDTAA ? DIF_VK_ARRAY : DIF_VK_SCALAR;

	if (id < DIF_VAR_CURTHREAD)
		return "variable's id is that of a built-in array";
	if (op == DIF_OP_LDGS && id < DIF_VAR_USER_FIRST) {
		if (!known_builtin(id))
			return "unknown built-in variable";
		note_builtin(ck, id);
		return NULL;
	}
	ck->ck_pure = false;
	if (id >= DIF_VAR_USER_FIRST && !is_declared(ck->ck_ld, scope, id, kind))
		return "variable is not declared in the DIFO's table";
	return NULL;
}

static const char *check_store_var(struct checker *ck, u32 op, u32 id)
{
	u32 scope = op == DIF_OP_STGS || op == DIF_OP_STGAA ? DIF_VS_GLOBAL
		    : op == DIF_OP_STLS			    ? DIF_VS_LOCAL
							    : DIF_VS_THREAD;
	u32 kind = op == DIF_OP_STGAA || op == DIF_OP_STTAA ? DIF_VK_ARRAY : DIF_VK_SCALAR;

	ck->ck_pure = false;
	if (id < DIF_VAR_USER_FIRST)
		return "built-in variables cannot be written";
	if (!is_declared(ck->ck_ld, scope, id, kind))
		return "variable is not declared in the DIFO's table";
	return NULL;
}

static const char *check_array(struct checker *ck, u32 op, u32 id)
{
	ck->ck_pure = false;
	if (op == DIF_OP_LDTA)
		return NULL; /* no such array exists: the interpreter faults */
	if (id != DIF_VAR_ARGS && id != DIF_VAR_UREGS && id != DIF_VAR_CAPTURED)
		return "unknown built-in array";
	if (id == DIF_VAR_ARGS)
		ck->ck_flags |= DFR_DIFO_ARGS;
	return NULL;
}

static const char *check_call(struct checker *ck, u32 subr)
{
	u32 need;

	ck->ck_pure = false;
	if (subr <= DIF_SUBR_CLASSIC_MAX) {
		need = arguments[subr];
		if (need == ABSENT)
			return "subroutine does not exist on Linux";
	} else if (subr == DIF_SUBR_D_PATH || subr == DIF_SUBR_F_NEG ||
		   (subr >= DIF_SUBR_F_FROM_I64 && subr <= DIF_SUBR_F_TO_F32)) {
		need = 1;
	} else if (subr == DIF_SUBR_LINK_NTOP || (subr >= DIF_SUBR_F_ADD && subr <= DIF_SUBR_F_CMP)) {
		need = 2;
	} else {
		return "unknown subroutine";
	}
	if (ck->ck_depth < need)
		return "subroutine is called with too few arguments";
	if (subr == DIF_SUBR_COPYOUT || subr == DIF_SUBR_COPYOUTSTR)
		ck->ck_flags |= DFR_DIFO_DESTRUCTIVE;
	return NULL;
}

static const char *check_push(struct checker *ck, u32 op, u32 type)
{
	ck->ck_pure = false;
	if (type > DIF_KIND_STRING || (op == DIF_OP_PUSHTV && type))
		return "bad type of a tuple element";
	/* ck_depth is a lower bound and stops at eight: at a ninth entry the interpreter faults. */
	if (ck->ck_depth < DIF_NTUPLE)
		ck->ck_depth++;
	return NULL;
}

static void join(struct checker *ck, u32 at)
{
	struct dfr_loader *ld = ck->ck_ld;

	if (ck->ck_depth == DFR_TUPLE_UNREACHED)
		return;
	if (ld->ld_depth[at] == DFR_TUPLE_UNREACHED) {
		ld->ld_depth[at] = (u8)ck->ck_depth;
		ld->ld_own[at] = (u8)ck->ck_own;
		return;
	}
	if (ld->ld_depth[at] > ck->ck_depth)
		ld->ld_depth[at] = (u8)ck->ck_depth;
	ld->ld_own[at] &= (u8)ck->ck_own;
}

static const char *check_branch(struct checker *ck, u32 op, u32 pc, u32 label)
{
	if (label >= ck->ck_difo->di_len)
		return "branch leaves the text";
	if (label <= pc)
		return "branch does not go forward";
	join(ck, label);
	if (op == DIF_OP_BA)
		ck->ck_depth = DFR_TUPLE_UNREACHED;
	return NULL;
}

static const char *check_fields(u32 instr, u32 shape)
{
	u32 r1 = DIF_R1(instr), r2 = DIF_R2(instr), rd = DIF_RD(instr);

	switch (shape) {
	case S_R3:
		if (r1 >= DIF_NREGS || r2 >= DIF_NREGS)
			return "no such register";
		break;
	case S_R2:
		if (r1 >= DIF_NREGS)
			return "no such register";
		if (r2)
			return "reserved field is not zero";
		break;
	case S_CMP:
		if (r1 >= DIF_NREGS || r2 >= DIF_NREGS)
			return "no such register";
		return rd ? "reserved field is not zero" : NULL;
	case S_TST:
		if (r1 >= DIF_NREGS)
			return "no such register";
		return r2 || rd ? "reserved field is not zero" : NULL;
	case S_RET:
		if (rd >= DIF_NREGS)
			return "no such register";
		return r1 || r2 ? "reserved field is not zero" : NULL;
	case S_NONE: return DIF_LABEL(instr) ? "reserved field is not zero" : NULL;
	case S_STV: return rd >= DIF_NREGS ? "no such register" : NULL;
	case S_LDA:
		if (r2 >= DIF_NREGS)
			return "no such register";
		break;
	case S_PUSH: return r2 >= DIF_NREGS || rd >= DIF_NREGS ? "no such register" : NULL;
	case S_BRANCH: return NULL;
	default: break;
	}
	if (rd >= DIF_NREGS)
		return "no such register";
	return rd ? NULL : "register 0 cannot be written";
}

/*
 * For the shapes S_R3 and S_R2: a DIFO is not pure if the instruction may fault or uses memory.
 * DIF_OP_OR to _MOV and _SRA compute a register from registers, and of these the divisions may fault.
 */
static void note_plain(struct checker *ck, u32 op)
{
	if ((op > DIF_OP_MOV && op != DIF_OP_SRA) || (op >= DIF_OP_SDIV && op <= DIF_OP_UREM))
		ck->ck_pure = false;
}

static void note_own(struct checker *ck, u32 instr, u32 shape)
{
	u32 op = DIF_OP(instr), bit = 1u << DIF_RD(instr);
	u32 id = DIF_WIDE(instr);

	switch (shape) {
	case S_SETS: ck->ck_own |= bit; break;
	case S_LDV:
		if (op == DIF_OP_LDGS &&
		    (id == DIF_VAR_EXECNAME || (id >= DIF_VAR_PROBEPROV && id <= DIF_VAR_PROBENAME)))
			ck->ck_own |= bit;
		else
			ck->ck_own &= ~bit;
		break;
	case S_R2:
		if (op == DIF_OP_MOV && ck->ck_own & 1u << DIF_R1(instr)) {
			ck->ck_own |= bit;
			break;
		}
		ck->ck_own &= ~bit;
		break;
	case S_R3:
	case S_SETX:
	case S_LDA:
	case S_CALL: ck->ck_own &= ~bit; break;
	default: break;
	}
}

static void note_scmp(struct checker *ck, u32 instr)
{
	if (!(ck->ck_own & 1u << DIF_R1(instr)) || !(ck->ck_own & 1u << DIF_R2(instr)))
		ck->ck_pure = false;
}

static const char *check_instr(struct checker *ck, u32 pc)
{
	u32 instr = ck->ck_difo->di_text[pc], op = DIF_OP(instr),
	    shape = op <= DIF_OP_MAX ? shapes[op] : S_BAD;
	const char *reason;

	if (shape == S_BAD)
		return "unknown instruction";
	if (shape == S_XLATE)
		return "translators must be resolved before loading";
	reason = check_fields(instr, shape);
	if (reason)
		return reason;
	switch (shape) {
	case S_R3:
	case S_R2: note_plain(ck, op); break;
	case S_CMP:
		if (op == DIF_OP_SCMP)
			note_scmp(ck, instr);
		break;
	case S_BRANCH: return check_branch(ck, op, pc, DIF_LABEL(instr));
	case S_RET: ck->ck_depth = DFR_TUPLE_UNREACHED; break;
	case S_SETX:
		if (DIF_WIDE(instr) >= ck->ck_difo->di_nints)
			return "constant is outside the integer table";
		break;
	case S_SETS:
		if (DIF_WIDE(instr) >= ck->ck_difo->di_strsz)
			return "constant is outside the string table";
		break;
	case S_LDA: reason = check_array(ck, op, DIF_R1(instr)); break;
	case S_LDV: reason = check_load_var(ck, op, DIF_WIDE(instr)); break;
	case S_STV: reason = check_store_var(ck, op, DIF_WIDE(instr)); break;
	case S_CALL: reason = check_call(ck, DIF_WIDE(instr)); break;
	case S_PUSH: reason = check_push(ck, op, DIF_R1(instr)); break;
	case S_NONE:
		if (op == DIF_OP_FLUSHTS && ck->ck_depth != DFR_TUPLE_UNREACHED)
			ck->ck_depth = 0;
		if (op == DIF_OP_POPTS && ck->ck_depth != DFR_TUPLE_UNREACHED && ck->ck_depth)
			ck->ck_depth--;
		break;
	default: break;
	}
	note_own(ck, instr, shape);
	return reason;
}

static int check_text(struct dfr_loader *ld, struct dfr_difo *difo, u64 text_offset)
{
	struct checker ck;
	const char *reason;
	u32 pc;

	memset(&ck, 0, sizeof(ck));
	ck.ck_ld = ld;
	ck.ck_difo = difo;
	ck.ck_pure = true;
	memset(ld->ld_depth, DFR_TUPLE_UNREACHED, difo->di_len);
	for (pc = 0; pc < difo->di_len; pc++) {
		join(&ck, pc);
		ck.ck_depth = ld->ld_depth[pc];
		ck.ck_own = ck.ck_depth == DFR_TUPLE_UNREACHED ? 0xff : ld->ld_own[pc];
		reason = check_instr(&ck, pc);
		if (!reason && pc + 1 == difo->di_len && DIF_OP(difo->di_text[pc]) != DIF_OP_RET)
			reason = "text does not end with ret";
		if (reason)
			return dfr_refuse(ld, difo->di_section, text_offset + 4 * (u64)pc, reason);
	}
	difo->di_flags = ck.ck_flags | (ck.ck_pure ? DFR_DIFO_PURE : 0);
	return 0;
}

static bool is_probe_text(const struct dfr_difo *difo)
{
	u32 load = difo->di_text[0], id = DIF_WIDE(load);

	return difo->di_len == 2 && DIF_OP(load) == DIF_OP_LDGS && id >= DIF_VAR_PROBEPROV &&
	       id <= DIF_VAR_PROBENAME && DIF_RD(difo->di_text[1]) == DIF_RD(load);
}

int dfr_difo_verify(struct dfr_loader *ld, struct dfr_difo *difo, u64 text_offset, u64 vars_offset)
{
	const char *reason = check_type(&difo->di_rtype);
	int err;

	if (reason)
		return dfr_refuse(ld, difo->di_section, dfr_dof_sec(ld, difo->di_section)->offset, reason);
	ld->ld_ntext += difo->di_len;
	ld->ld_nvars += difo->di_nvars;
	if (ld->ld_ntext > ld->ld_bounds->lb_text || ld->ld_nvars > ld->ld_bounds->lb_vars)
		return dfr_refuse(ld, difo->di_section, text_offset, "program is too large altogether");
	err = declare_vars(ld, difo, vars_offset);
	if (err)
		return err;
	err = check_text(ld, difo, text_offset);
	forget_vars(ld, difo, difo->di_nvars);
	if (!err && is_probe_text(difo))
		difo->di_flags |= DFR_DIFO_PROBETEXT;
	return err;
}

/*
 * Writes into the program's own copy. A hostile DOF may have other payloads at the
 * same place. What the loader checked there stays true, because only the opcode's
 * byte changes, from one non-zero value to another: a string ends where it did, and
 * ids and offsets that passed have 0 in this byte.
 */
void dfr_difo_restrict(struct dfr_difo *difo)
{
	u32 *text = (u32 *)difo->di_text;
	u32 pc;

	difo->di_flags |= DFR_DIFO_RESTRICTED;
	for (pc = 0; pc < difo->di_len; pc++) {
		u32 op = DIF_OP(text[pc]);

		if (op >= DIF_OP_LDSB && op <= DIF_OP_LDX)
			text[pc] += (u32)(DIF_OP_RLDSB - DIF_OP_LDSB) << 24;
	}
}
