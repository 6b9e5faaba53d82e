// SPDX-License-Identifier: GPL-2.0
/*
 * Native code for DIF: one verified DIFO becomes eBPF instructions, which the kernel's own compiler
 * turns into machine code. Built in process context when a program is loaded, run in probe context.
 * The interpreter (kmod/engine/dif/interp.c) is the reference: native code must give the same values and
 * the same faults. A DIFO that this file refuses (it is too long, or it walks the stack) and all
 * DIFOs while the kernel's compiler is off are interpreted. The file is long because each of DIF's
 * instructions has a function here.
 *
 * The kernel's eBPF verifier is not called, because DIF's own verifier has passed the program; it
 * allows forward branches only. The machine code must never fault, because it has no exception
 * table, so every load that could fault is a call of the engine's checked load. Divisors are checked
 * by a call, too.
 *
 *   R6 R7 R8      %r1 %r2 %r3          R9   the machine
 *   stack -8..    %r4 to %r7           R0   results, R1 to R5 arguments of calls
 *   stack -40     the two operands of the last comparison, where a branch
 *                 that does not follow it directly needs them
 */
#include "kmod/engine/dif/machine.h"
#include "kmod/engine/dif/vars.h"
#include "kmod/linux/assume.h"
#include "kmod/linux/linux.h"

#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

static bool jit = true;
module_param(jit, bool, 0600);
MODULE_PARM_DESC(jit, "compile programs to native code (default: yes)");

/* For tests, which check that native code was made. */
static unsigned long long native;
module_param(native, ullong, 0444);
MODULE_PARM_DESC(native, "expressions that run as native code at this moment");

#define REG_MACHINE    BPF_REG_9
#define FIRST_SLOT_REG 4 /* %r4 and up live on the stack */
#define SLOT(reg)      (-8 * ((int)(reg)-FIRST_SLOT_REG + 1))
#define SLOT_A	       (-40)
#define SLOT_B	       (-48)
#define STACK_BYTES    48

/* No DIF instruction becomes more eBPF instructions than this; a jump reaches 32,767 instructions. */
#define INSNS_PER_DIF 20
#define INSNS_MAX     30000

struct fixup {
	u32 fx_insn;
	u32 fx_label;
};

struct jit {
	const struct dfr_difo *jt_difo;
	struct bpf_insn *jt_insns;
	u32 jt_count;
	u32 *jt_start; /* [pc]: where its code begins */
	u8 *jt_target; /* [pc]: something branches here */
	u8 *jt_live;   /* [pc]: the last comparison may still be asked for */
	struct fixup *jt_fixups;
	u32 jt_nfixups;
	u32 jt_pc;
};

static void emit(struct jit *j, struct bpf_insn insn)
{
	j->jt_insns[j->jt_count++] = insn;
}

#define EMIT(insn) emit(j, insn)

static void emit_imm64(struct jit *j, u32 reg, u64 value)
{
	struct bpf_insn pair[2] = { BPF_LD_IMM64(reg, value) };

	if ((s64)value == (s32)value) {
		EMIT(BPF_MOV64_IMM(reg, (s32)value));
		return;
	}
	emit(j, pair[0]);
	emit(j, pair[1]);
}

/*
 * Returns the eBPF register that holds %r`reg`; a value that is not in a register is loaded into
 * `spare` first.
 */
static u32 value_of(struct jit *j, u32 reg, u32 spare)
{
	if (!reg)
		EMIT(BPF_MOV64_IMM(spare, 0));
	else if (reg < FIRST_SLOT_REG)
		return BPF_REG_6 + reg - 1;
	else
		EMIT(BPF_LDX_MEM(BPF_DW, spare, BPF_REG_FP, SLOT(reg)));
	return spare;
}

static void bring(struct jit *j, u32 reg, u32 into)
{
	u32 from = value_of(j, reg, into);

	if (from != into)
		EMIT(BPF_MOV64_REG(into, from));
}

static void put(struct jit *j, u32 reg, u32 from)
{
	if (reg < FIRST_SLOT_REG)
		EMIT(BPF_MOV64_REG(BPF_REG_6 + reg - 1, from));
	else
		EMIT(BPF_STX_MEM(BPF_DW, BPF_REG_FP, from, SLOT(reg)));
}

#define MACHINE(member) offsetof(struct dfr_machine, member)
#define FIRING(member)	offsetof(struct dfr_firing, member)

/* After a call that may have set a fault: if it has, stores where it happened and returns. */
static void check_fault(struct jit *j)
{
	EMIT(BPF_LDX_MEM(BPF_W, BPF_REG_1, REG_MACHINE, MACHINE(m_fault)));
	EMIT(BPF_JMP_IMM(BPF_JEQ, BPF_REG_1, 0, 3));
	EMIT(BPF_ST_MEM(BPF_W, REG_MACHINE, MACHINE(m_fault_pc), j->jt_pc * 4));
	EMIT(BPF_MOV64_IMM(BPF_REG_0, 0));
	EMIT(BPF_EXIT_INSN());
}

static void emit_call(struct jit *j, long address)
{
	struct bpf_insn insn = {
		.code = BPF_JMP | BPF_CALL,
		.imm = (s32)(address - (long)__bpf_call_base),
	};

	emit(j, insn);
}

/* Calls function(machine, R2 ...); the caller has set the arguments. */
#define CALL(function)                                                                                       \
	do {                                                                                                 \
		EMIT(BPF_MOV64_REG(BPF_REG_1, REG_MACHINE));                                                 \
		emit_call(j, (long)(function));                                                              \
		check_fault(j);                                                                              \
	} while (0)

/* --- Instructions. -------------------------------------------------------- */

static const u8 alu_of[] = {
	[DIF_OP_OR] = BPF_OR,	[DIF_OP_XOR] = BPF_XOR, [DIF_OP_AND] = BPF_AND,
	[DIF_OP_SLL] = BPF_LSH, [DIF_OP_SRL] = BPF_RSH, [DIF_OP_SUB] = BPF_SUB,
	[DIF_OP_ADD] = BPF_ADD, [DIF_OP_MUL] = BPF_MUL, [DIF_OP_SRA] = BPF_ARSH,
};

static void emit_alu(struct jit *j, u32 i)
{
	u8 code = alu_of[DIF_OP(i)];
	u32 right = value_of(j, DIF_R2(i), BPF_REG_2);

	if (code == BPF_LSH || code == BPF_RSH || code == BPF_ARSH) {
		if (right != BPF_REG_2)
			EMIT(BPF_MOV64_REG(BPF_REG_2, right));
		EMIT(BPF_ALU64_IMM(BPF_AND, BPF_REG_2, 63));
		right = BPF_REG_2;
	}
	bring(j, DIF_R1(i), BPF_REG_0);
	EMIT(BPF_ALU64_REG(code, BPF_REG_0, right));
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_not(struct jit *j, u32 i)
{
	bring(j, DIF_R1(i), BPF_REG_0);
	EMIT(BPF_ALU64_IMM(BPF_XOR, BPF_REG_0, -1));
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_divide(struct jit *j, u32 i)
{
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_OP(i)));
	bring(j, DIF_R1(i), BPF_REG_3);
	bring(j, DIF_R2(i), BPF_REG_4);
	CALL(dfr_op_divide);
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_load(struct jit *j, u32 i)
{
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_OP(i)));
	bring(j, DIF_R1(i), BPF_REG_3);
	CALL(dfr_op_load);
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_store(struct jit *j, u32 i)
{
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_OP(i)));
	bring(j, DIF_RD(i), BPF_REG_3);
	bring(j, DIF_R1(i), BPF_REG_4);
	CALL(dfr_op_store);
}

/* argN: loaded from fr_args if the firing has so many arguments there, else by calling dfr_builtin(). */
static void emit_argument(struct jit *j, u32 n)
{
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, REG_MACHINE, MACHINE(m_firing)));
	EMIT(BPF_LDX_MEM(BPF_W, BPF_REG_2, BPF_REG_1, FIRING(fr_nargs)));
	EMIT(BPF_JMP_IMM(BPF_JLE, BPF_REG_2, n, 3));
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_1, FIRING(fr_args)));
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_0, BPF_REG_1, 8 * n));
	EMIT(BPF_JMP_A(8));
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_VAR_ARG0 + n));
	CALL(dfr_builtin); /* 7 instructions: the jump above leads behind them */
}

static void emit_context(struct jit *j, u32 id)
{
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, REG_MACHINE, MACHINE(m_firing)));
	EMIT(BPF_LDX_MEM(BPF_H, BPF_REG_2, BPF_REG_1, FIRING(fr_flags)));
	EMIT(BPF_JMP_IMM(BPF_JSET, BPF_REG_2, DFR_FR_CONTEXT, 8));
	EMIT(BPF_MOV64_IMM(BPF_REG_2, id));
	CALL(dfr_builtin);
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, REG_MACHINE, MACHINE(m_firing)));
	if (id == DIF_VAR_EXECNAME) {
		EMIT(BPF_MOV64_REG(BPF_REG_0, BPF_REG_1));
		EMIT(BPF_ALU64_IMM(BPF_ADD, BPF_REG_0, FIRING(fr_context.cx_comm)));
		return;
	}
	EMIT(BPF_LDX_MEM(BPF_W, BPF_REG_0, BPF_REG_1,
			 id == DIF_VAR_PID ? FIRING(fr_context.cx_pid) : FIRING(fr_context.cx_tid)));
}

static void emit_global(struct jit *j, u32 i)
{
	u32 id = DIF_WIDE(i);

	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9) {
		emit_argument(j, id - DIF_VAR_ARG0);
	} else if (id == DIF_VAR_PID || id == DIF_VAR_TID || id == DIF_VAR_EXECNAME) {
		emit_context(j, id);
	} else if (id == DIF_VAR_EPID) {
		EMIT(BPF_LDX_MEM(BPF_W, BPF_REG_0, REG_MACHINE, MACHINE(m_epid)));
	} else if (id == DIF_VAR_CPU) {
		EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, REG_MACHINE, MACHINE(m_firing)));
		EMIT(BPF_LDX_MEM(BPF_W, BPF_REG_0, BPF_REG_1, FIRING(fr_cpu)));
	} else {
		EMIT(BPF_MOV64_IMM(BPF_REG_2, id));
		if (id < DIF_VAR_USER_FIRST)
			CALL(dfr_builtin);
		else
			CALL(dfr_global_load);
	}
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_array_builtin(struct jit *j, u32 i)
{
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_R1(i)));
	bring(j, DIF_R2(i), BPF_REG_3);
	CALL(dfr_builtin_array);
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_array(struct jit *j, u32 i, u32 scope, bool is_store)
{
	EMIT(BPF_MOV64_IMM(BPF_REG_2, scope));
	EMIT(BPF_MOV64_IMM(BPF_REG_3, DIF_WIDE(i)));
	EMIT(BPF_MOV64_IMM(BPF_REG_4, true));
	if (is_store) {
		bring(j, DIF_RD(i), BPF_REG_5);
		CALL(dfr_dyn_store);
		return;
	}
	CALL(dfr_dyn_load);
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_thread(struct jit *j, u32 i)
{
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_WIDE(i)));
	if (DIF_OP(i) == DIF_OP_STTS) {
		bring(j, DIF_RD(i), BPF_REG_3);
		CALL(dfr_thread_store);
		return;
	}
	CALL(dfr_thread_load);
	put(j, DIF_RD(i), BPF_REG_0);
}

static void emit_push(struct jit *j, u32 i)
{
	if (DIF_OP(i) == DIF_OP_PUSHTV) {
		bring(j, DIF_RD(i), BPF_REG_2);
		EMIT(BPF_MOV64_IMM(BPF_REG_3, 0));
		CALL(dfr_op_push);
		return;
	}
	EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_R1(i)));
	bring(j, DIF_RD(i), BPF_REG_3);
	bring(j, DIF_R2(i), BPF_REG_4);
	CALL(dfr_op_push_reference);
}

static void emit_pop(struct jit *j)
{
	EMIT(BPF_LDX_MEM(BPF_W, BPF_REG_1, REG_MACHINE, MACHINE(m_ntuple)));
	EMIT(BPF_JMP_IMM(BPF_JEQ, BPF_REG_1, 0, 2));
	EMIT(BPF_ALU64_IMM(BPF_SUB, BPF_REG_1, 1));
	EMIT(BPF_STX_MEM(BPF_W, REG_MACHINE, BPF_REG_1, MACHINE(m_ntuple)));
}

static void emit_ret(struct jit *j, u32 i)
{
	bring(j, DIF_RD(i), BPF_REG_0);
	EMIT(BPF_EXIT_INSN());
}

/* --- Comparisons and branches. --------------------------------------------- */

static const u8 jump_of[] = {
	[DIF_OP_BE] = BPF_JEQ,	 [DIF_OP_BNE] = BPF_JNE,  [DIF_OP_BG] = BPF_JSGT, [DIF_OP_BGU] = BPF_JGT,
	[DIF_OP_BGE] = BPF_JSGE, [DIF_OP_BGEU] = BPF_JGE, [DIF_OP_BL] = BPF_JSLT, [DIF_OP_BLU] = BPF_JLT,
	[DIF_OP_BLE] = BPF_JSLE, [DIF_OP_BLEU] = BPF_JLE,
};

static bool is_conditional(u32 i)
{
	return DIF_OP(i) >= DIF_OP_BE && DIF_OP(i) <= DIF_OP_BLEU;
}

static bool compares(u32 i)
{
	return DIF_OP(i) == DIF_OP_CMP || DIF_OP(i) == DIF_OP_TST || DIF_OP(i) == DIF_OP_SCMP;
}

/* Is the result of comparison `pc` used by the branch right behind it, and by nothing else? */
static bool fused(const struct jit *j, u32 pc)
{
	const u32 *text = j->jt_difo->di_text;

	return pc + 1 < j->jt_difo->di_len && compares(text[pc]) && is_conditional(text[pc + 1]) &&
	       !j->jt_target[pc + 1] && !j->jt_live[pc + 2] && !j->jt_live[DIF_LABEL(text[pc + 1])];
}

/* Sets R0 to 1 if the value is not 0, else to 0. */
static void emit_truth(struct jit *j, u32 reg)
{
	bring(j, reg, BPF_REG_0);
	EMIT(BPF_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 1));
	EMIT(BPF_MOV64_IMM(BPF_REG_0, 1));
}

/*
 * Returns the pc of the instruction that gave `reg` its value, if it stands in straight-line code
 * before this one, so that it is surely the last that did. -1: not known.
 */
static int definition_of(const struct jit *j, u32 reg)
{
	const u32 *text = j->jt_difo->di_text;
	u32 pc = j->jt_pc;

	while (pc-- && !j->jt_target[pc + 1]) {
		u32 op = DIF_OP(text[pc]);

		if (op != DIF_OP_LDGS && op != DIF_OP_SETS && op != DIF_OP_SETX)
			return -1;
		if (DIF_RD(text[pc]) == reg)
			return pc;
	}
	return -1;
}

/*
 * Recognises `execname == "short"` (or !=) whose result only the branch behind it uses. Returns the
 * literal's offset in the string table, or -1.
 */
static int execname_literal(const struct jit *j, u32 i)
{
	const struct dfr_difo *difo = j->jt_difo;
	int left = definition_of(j, DIF_R1(i)), right = definition_of(j, DIF_R2(i));
	u32 name, branch;

	if (left < 0 || right < 0 || !fused(j, j->jt_pc))
		return -1;
	branch = DIF_OP(difo->di_text[j->jt_pc + 1]);
	if (branch != DIF_OP_BE && branch != DIF_OP_BNE)
		return -1;
	if (DIF_OP(difo->di_text[left]) == DIF_OP_SETS)
		swap(left, right);
	name = difo->di_text[left];
	if (DIF_OP(name) != DIF_OP_LDGS || DIF_WIDE(name) != DIF_VAR_EXECNAME ||
	    DIF_OP(difo->di_text[right]) != DIF_OP_SETS)
		return -1;
	right = DIF_WIDE(difo->di_text[right]);
	return strlen(difo->di_strs + right) < TASK_COMM_LEN ? right : -1;
}

/*
 * Sets R0 to 0 if the execname is the literal. Both are padded with zeroes to 16 bytes, so two words
 * are compared.
 */
static void emit_compare_execname(struct jit *j, int literal)
{
	u64 words[2] = { 0, 0 };

	BUILD_BUG_ON(sizeof(words) != TASK_COMM_LEN);
	strscpy((char *)words, j->jt_difo->di_strs + literal, sizeof(words));
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_2, REG_MACHINE, MACHINE(m_firing)));
	emit_imm64(j, BPF_REG_3, words[0]);
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_0, BPF_REG_2, FIRING(fr_context.cx_comm)));
	EMIT(BPF_ALU64_REG(BPF_XOR, BPF_REG_0, BPF_REG_3));
	emit_imm64(j, BPF_REG_3, words[1]);
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_2, FIRING(fr_context.cx_comm) + 8));
	EMIT(BPF_ALU64_REG(BPF_XOR, BPF_REG_1, BPF_REG_3));
	EMIT(BPF_ALU64_REG(BPF_OR, BPF_REG_0, BPF_REG_1));
}

static void emit_compare_strings(struct jit *j, u32 i)
{
	int literal = execname_literal(j, i);

	if (literal >= 0) {
		emit_compare_execname(j, literal); /* LDGS has seen to it that the name is there */
		return;
	}
	bring(j, DIF_R1(i), BPF_REG_2);
	bring(j, DIF_R2(i), BPF_REG_3);
	CALL(dfr_text_compare);
}

static void emit_compare(struct jit *j, u32 i)
{
	u32 left = BPF_REG_0;

	if (DIF_OP(i) == DIF_OP_SCMP)
		emit_compare_strings(j, i);
	else if (DIF_OP(i) == DIF_OP_TST && !fused(j, j->jt_pc))
		emit_truth(j, DIF_R1(i));
	if (fused(j, j->jt_pc))
		return; /* the branch finds its operands where they are */
	if (DIF_OP(i) == DIF_OP_CMP)
		left = value_of(j, DIF_R1(i), BPF_REG_0);
	EMIT(BPF_STX_MEM(BPF_DW, BPF_REG_FP, left, SLOT_A));
	if (DIF_OP(i) == DIF_OP_CMP)
		EMIT(BPF_STX_MEM(BPF_DW, BPF_REG_FP, value_of(j, DIF_R2(i), BPF_REG_0), SLOT_B));
	else
		EMIT(BPF_ST_MEM(BPF_DW, BPF_REG_FP, SLOT_B, 0));
}

static void jump_to(struct jit *j, u32 label, struct bpf_insn insn)
{
	j->jt_fixups[j->jt_nfixups].fx_insn = j->jt_count;
	j->jt_fixups[j->jt_nfixups++].fx_label = label;
	emit(j, insn);
}

static void emit_branch(struct jit *j, u32 i)
{
	u32 pc = j->jt_pc, before = pc ? j->jt_difo->di_text[pc - 1] : 0;
	u8 code = jump_of[DIF_OP(i)];
	u32 left, right;

	if (pc && fused(j, pc - 1) && DIF_OP(before) == DIF_OP_CMP) {
		left = value_of(j, DIF_R1(before), BPF_REG_1);
		right = value_of(j, DIF_R2(before), BPF_REG_2);
		jump_to(j, DIF_LABEL(i), BPF_JMP_REG(code, left, right, 0));
		return;
	}
	if (pc && fused(j, pc - 1)) {
		if (DIF_OP(before) == DIF_OP_TST && code != BPF_JEQ && code != BPF_JNE)
			emit_truth(j, DIF_R1(before));
		else if (DIF_OP(before) == DIF_OP_TST)
			bring(j, DIF_R1(before), BPF_REG_0);
		jump_to(j, DIF_LABEL(i), BPF_JMP_IMM(code, BPF_REG_0, 0, 0));
		return;
	}
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_1, BPF_REG_FP, SLOT_A));
	EMIT(BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_FP, SLOT_B));
	jump_to(j, DIF_LABEL(i), BPF_JMP_REG(code, BPF_REG_1, BPF_REG_2, 0));
}

/* --- A whole DIFO. --------------------------------------------------------- */

static void emit_calls(struct jit *j, u32 i)
{
	switch (DIF_OP(i)) {
	case DIF_OP_STGS:
		EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_WIDE(i)));
		bring(j, DIF_RD(i), BPF_REG_3);
		CALL(dfr_global_store);
		return;
	case DIF_OP_LDLS:
		EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_WIDE(i)));
		CALL(dfr_local_load);
		break;
	case DIF_OP_STLS:
		EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_WIDE(i)));
		bring(j, DIF_RD(i), BPF_REG_3);
		CALL(dfr_local_store);
		return;
	case DIF_OP_CALL:
		EMIT(BPF_MOV64_IMM(BPF_REG_2, DIF_WIDE(i)));
		CALL(dfr_subr);
		break;
	case DIF_OP_ALLOCS:
		bring(j, DIF_R1(i), BPF_REG_2);
		CALL(dfr_scratch);
		break;
	case DIF_OP_COPYS:
		bring(j, DIF_R1(i), BPF_REG_2);
		bring(j, DIF_R2(i), BPF_REG_3);
		bring(j, DIF_RD(i), BPF_REG_4);
		CALL(dfr_op_copy);
		return;
	}
	put(j, DIF_RD(i), BPF_REG_0);
}

/* False: this instruction has no translation here, so the whole DIFO is interpreted. */
static bool translate(struct jit *j, u32 i)
{
	switch (DIF_OP(i)) {
	case DIF_OP_OR:
	case DIF_OP_XOR:
	case DIF_OP_AND:
	case DIF_OP_SLL:
	case DIF_OP_SRL:
	case DIF_OP_SUB:
	case DIF_OP_ADD:
	case DIF_OP_MUL:
	case DIF_OP_SRA: emit_alu(j, i); break;
	case DIF_OP_SDIV:
	case DIF_OP_UDIV:
	case DIF_OP_SREM:
	case DIF_OP_UREM: emit_divide(j, i); break;
	case DIF_OP_NOT: emit_not(j, i); break;
	case DIF_OP_MOV: put(j, DIF_RD(i), value_of(j, DIF_R1(i), BPF_REG_0)); break;
	case DIF_OP_CMP:
	case DIF_OP_TST:
	case DIF_OP_SCMP: emit_compare(j, i); break;
	case DIF_OP_BA: jump_to(j, DIF_LABEL(i), BPF_JMP_A(0)); break;
	case DIF_OP_BE ... DIF_OP_BLEU: emit_branch(j, i); break;
	case DIF_OP_RET: emit_ret(j, i); break;
	case DIF_OP_NOP: break;
	case DIF_OP_SETX:
		emit_imm64(j, BPF_REG_0, j->jt_difo->di_ints[DIF_WIDE(i)]);
		put(j, DIF_RD(i), BPF_REG_0);
		break;
	case DIF_OP_SETS:
		emit_imm64(j, BPF_REG_0, dfr_address(j->jt_difo->di_strs + DIF_WIDE(i)));
		put(j, DIF_RD(i), BPF_REG_0);
		break;
	case DIF_OP_LDGA: emit_array_builtin(j, i); break;
	case DIF_OP_LDGS: emit_global(j, i); break;
	case DIF_OP_LDTS:
	case DIF_OP_STTS: emit_thread(j, i); break;
	case DIF_OP_LDGAA: emit_array(j, i, DIF_VS_GLOBAL, false); break;
	case DIF_OP_STGAA: emit_array(j, i, DIF_VS_GLOBAL, true); break;
	case DIF_OP_LDTAA: emit_array(j, i, DIF_VS_THREAD, false); break;
	case DIF_OP_STTAA: emit_array(j, i, DIF_VS_THREAD, true); break;
	case DIF_OP_PUSHTR:
	case DIF_OP_PUSHTV: emit_push(j, i); break;
	case DIF_OP_POPTS: emit_pop(j); break;
	case DIF_OP_FLUSHTS: EMIT(BPF_ST_MEM(BPF_W, REG_MACHINE, MACHINE(m_ntuple), 0)); break;
	case DIF_OP_STB:
	case DIF_OP_STH:
	case DIF_OP_STW:
	case DIF_OP_STX: emit_store(j, i); break;
	case DIF_OP_LDSB ... DIF_OP_LDX:
	case DIF_OP_ULDSB ... DIF_OP_RLDX: emit_load(j, i); break;
	case DIF_OP_STGS:
	case DIF_OP_LDLS:
	case DIF_OP_STLS:
	case DIF_OP_CALL:
	case DIF_OP_ALLOCS:
	case DIF_OP_COPYS: emit_calls(j, i); break;
	default: return false;
	}
	return true;
}

/* The registers that the instruction may use. One too many only costs an instruction of the prologue. */
static u32 registers_of(u32 i)
{
	u32 op = DIF_OP(i), mask = 1 << (DIF_RD(i) % DIF_NREGS);

	if (op >= DIF_OP_BA && op <= DIF_OP_BLEU)
		return 0;
	switch (op) { /* the middle is one number */
	case DIF_OP_SETX:
	case DIF_OP_SETS:
	case DIF_OP_LDGS:
	case DIF_OP_STGS:
	case DIF_OP_LDTS:
	case DIF_OP_STTS:
	case DIF_OP_LDLS:
	case DIF_OP_STLS:
	case DIF_OP_CALL:
	case DIF_OP_LDGAA:
	case DIF_OP_LDTAA:
	case DIF_OP_STGAA:
	case DIF_OP_STTAA: return mask;
	}
	return mask | 1 << (DIF_R1(i) % DIF_NREGS) | 1 << (DIF_R2(i) % DIF_NREGS);
}

/* Does some branch need the operands of a comparison on the stack? */
static bool wants_slots(const struct jit *j)
{
	u32 pc;

	for (pc = 0; pc < j->jt_difo->di_len; pc++)
		if (is_conditional(j->jt_difo->di_text[pc]) && (!pc || !fused(j, pc - 1)))
			return true;
	return false;
}

/* As in the interpreter, registers and the operands of a comparison are 0 at the start. */
static void emit_prologue(struct jit *j)
{
	u32 reg, pc, used = 0;

	for (pc = 0; pc < j->jt_difo->di_len; pc++)
		used |= registers_of(j->jt_difo->di_text[pc]);
	EMIT(BPF_MOV64_REG(REG_MACHINE, BPF_REG_1));
	for (reg = 1; reg < DIF_NREGS; reg++) {
		if (!(used & 1 << reg))
			continue;
		if (reg < FIRST_SLOT_REG)
			EMIT(BPF_MOV64_IMM(BPF_REG_6 + reg - 1, 0));
		else
			EMIT(BPF_ST_MEM(BPF_DW, BPF_REG_FP, SLOT(reg), 0));
	}
	if (!wants_slots(j))
		return;
	EMIT(BPF_ST_MEM(BPF_DW, BPF_REG_FP, SLOT_A, 0));
	EMIT(BPF_ST_MEM(BPF_DW, BPF_REG_FP, SLOT_B, 0));
}

/*
 * Branches lead forward only, so one pass from the end finds where the last comparison is still
 * needed (jt_live).
 */
static void analyse(struct jit *j)
{
	const u32 *text = j->jt_difo->di_text;
	u32 pc = j->jt_difo->di_len;

	while (pc--) {
		u32 i = text[pc];

		if (DIF_OP(i) == DIF_OP_BA || is_conditional(i))
			j->jt_target[DIF_LABEL(i)] = 1;
		if (is_conditional(i))
			j->jt_live[pc] = 1;
		else if (DIF_OP(i) == DIF_OP_BA)
			j->jt_live[pc] = j->jt_live[DIF_LABEL(i)];
		else if (!compares(i) && DIF_OP(i) != DIF_OP_RET)
			j->jt_live[pc] = j->jt_live[pc + 1];
	}
}

static bool translate_all(struct jit *j)
{
	u32 len = j->jt_difo->di_len, f;

	analyse(j);
	emit_prologue(j);
	for (j->jt_pc = 0; j->jt_pc < len; j->jt_pc++) {
		j->jt_start[j->jt_pc] = j->jt_count;
		if (!translate(j, j->jt_difo->di_text[j->jt_pc]))
			return false;
	}
	for (f = 0; f < j->jt_nfixups; f++) {
		struct fixup *fixup = &j->jt_fixups[f];

		j->jt_insns[fixup->fx_insn].off = j->jt_start[fixup->fx_label] - fixup->fx_insn - 1;
	}
	return true;
}

static struct bpf_prog *compile(const struct bpf_insn *insns, u32 count)
{
	struct bpf_prog *prog;
	int error = 0;

	/* The compiler would call the OOM killer for memory. */
	if (bpf_prog_size(count) > dfr_plat_memory_left(false))
		return NULL;
	prog = bpf_prog_alloc(bpf_prog_size(count), __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!prog)
		return NULL;
	prog->len = count;
	prog->type = BPF_PROG_TYPE_SOCKET_FILTER;
	prog->aux->stack_depth = STACK_BYTES; /* the kernel's verifier would have found that out */
	memcpy(prog->insnsi, insns, count * sizeof(*insns));
	prog = bpf_prog_select_runtime(prog, &error);
	if (!error && prog->jited)
		return prog;
	bpf_prog_free(prog);
	return NULL;
}

static bool native_works; /* the kernel's compiler does as assumed */

/*
 * A DIFO that walks the stack is not compiled, because native code has no unwind information and the
 * walk would end there.
 */
static bool suitable(const struct dfr_difo *difo)
{
	return jit && native_works && !(difo->di_flags & DFR_DIFO_STACK) &&
	       difo->di_len < INSNS_MAX / INSNS_PER_DIF;
}

void dfr_plat_native_build(struct dfr_difo *difo)
{
	u32 len = difo->di_len;
	struct jit j = { .jt_difo = difo };
	struct bpf_prog *prog = NULL;

	if (!suitable(difo))
		return;
	j.jt_insns = dfr_plat_alloc((len * INSNS_PER_DIF + 32) * sizeof(*j.jt_insns));
	j.jt_start = dfr_plat_alloc(len * sizeof(*j.jt_start));
	j.jt_target = dfr_plat_alloc(len + 2);
	j.jt_live = dfr_plat_alloc(len + 2);
	j.jt_fixups = dfr_plat_alloc(len * sizeof(*j.jt_fixups));
	if (j.jt_insns && j.jt_start && j.jt_target && j.jt_live && j.jt_fixups && translate_all(&j))
		prog = compile(j.jt_insns, j.jt_count);
	if (prog) {
		dfr_atomic_add(&native, 1);
		difo->di_native = prog;
		/* bpf_func is declared to return 32 bits, but the code returns 64. */
		difo->di_run = (u64(*)(struct dfr_machine *))(void *)prog->bpf_func;
	}
	dfr_plat_free(j.jt_insns);
	dfr_plat_free(j.jt_start);
	dfr_plat_free(j.jt_target);
	dfr_plat_free(j.jt_live);
	dfr_plat_free(j.jt_fixups);
}

/* Called when no firing runs the code any more. */
void dfr_plat_native_free(struct dfr_difo *difo)
{
	if (!difo->di_native)
		return;
	dfr_atomic_add(&native, -1);
	bpf_prog_free(difo->di_native);
	difo->di_native = NULL;
	difo->di_run = NULL;
}

/* Called by the test's program, to see that all 64 bits of five arguments arrive. */
static u64 mixed(u64 a, u64 b, u64 c, u64 d, u64 e)
{
	return a + 3 * b + 5 * c + 7 * d + 11 * e;
}

/*
 * Tests all that native programs rely on: the argument, 64 bits of constants and of the result,
 * registers and stack that keep their values over a call of ours. If the kernel does not compile the
 * program (its compiler is off), the test passes.
 */
bool dfr_test_native_code(unsigned long none)
{
	const u64 a = 0x123456789abcdef0ULL, b = 0xfedcba9876543210ULL;
	const struct bpf_insn insns[] = {
		BPF_MOV64_REG(REG_MACHINE, BPF_REG_1),
		BPF_ST_MEM(BPF_DW, BPF_REG_FP, -STACK_BYTES, 17),
		BPF_LD_IMM64(BPF_REG_6, b),
		BPF_MOV64_REG(BPF_REG_2, BPF_REG_6),
		BPF_MOV64_IMM(BPF_REG_3, -5),
		BPF_LDX_MEM(BPF_DW, BPF_REG_4, BPF_REG_FP, -STACK_BYTES),
		BPF_MOV64_IMM(BPF_REG_5, 6),
		BPF_RAW_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, (s32)((long)mixed - (long)__bpf_call_base)),
		BPF_ALU64_REG(BPF_ADD, BPF_REG_0, REG_MACHINE),
		BPF_ALU64_REG(BPF_ADD, BPF_REG_0, BPF_REG_6),
		BPF_LDX_MEM(BPF_DW, BPF_REG_4, BPF_REG_FP, -STACK_BYTES),
		BPF_ALU64_REG(BPF_ADD, BPF_REG_0, BPF_REG_4),
		BPF_EXIT_INSN(),
	};
	struct bpf_prog *prog = compile(insns, ARRAY_SIZE(insns));
	u64 result;

	if (!prog)
		return true;
	result = ((u64(*)(u64))(void *)prog->bpf_func)(a);
	bpf_prog_free(prog);
	return result == mixed(a, b, -5, 17, 6) + a + b + 17;
}

void dfr_jit_init(void)
{
	native_works = dfr_part_works(DFR_PART_NATIVE);
}

/* Does the kernel's compiler work now? An administrator can switch it off at any time. */
bool dfr_jit_works(void)
{
	const struct bpf_insn nothing[] = { BPF_MOV64_IMM(BPF_REG_0, 0), BPF_EXIT_INSN() };
	struct bpf_prog *prog = jit && native_works ? compile(nothing, ARRAY_SIZE(nothing)) : NULL;

	if (!prog)
		return false;
	bpf_prog_free(prog);
	return true;
}
