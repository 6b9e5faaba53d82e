// SPDX-License-Identifier: GPL-2.0
/*
 * Idioms: recognises common DIFOs by their instructions, so that a firing does the
 * same in plain C, which costs less than to enter even native code. They load a
 * built-in, a constant or a thread-local number, take the time since such a number,
 * set one, or compare execname or a number with a constant. A DIFO that is not
 * recognised runs as DIF; for the others the C must mean exactly the same.
 *
 * Process context: plan.c asks while it builds a clause's steps.
 */
#include "kmod/engine/recording/store.h"

/* Confined DIFOs are never idioms: only dfr_dif_run() masks their loads. */
static bool is_confined(const struct dfr_difo *difo)
{
	return difo->di_flags & DFR_DIFO_CONFINED;
}

/* Does the instruction load a value that needs no DIF? Sets the step's source. */
static bool load(struct dfr_step *step, const struct dfr_difo *difo, u32 instr)
{
	u32 id = DIF_WIDE(instr);

	if (DIF_OP(instr) == DIF_OP_SETX && id < difo->di_nints) {
		step->sp_source = DFR_SRC_CONST;
		step->sp_from.constant = difo->di_ints[id];
		return true;
	}
	if (DIF_OP(instr) != DIF_OP_LDGS)
		return false;
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9) {
		step->sp_source = DFR_SRC_ARG;
		step->sp_from.arg = id - DIF_VAR_ARG0;
		return true;
	}
	switch (id) {
	case DIF_VAR_PID: step->sp_source = DFR_SRC_PID; return true;
	case DIF_VAR_TID: step->sp_source = DFR_SRC_TID; return true;
	case DIF_VAR_CPU: step->sp_source = DFR_SRC_CPU; return true;
	case DIF_VAR_TIMESTAMP: step->sp_source = DFR_SRC_TIMESTAMP; return true;
	case DIF_VAR_ID: step->sp_source = DFR_SRC_PROBE_ID; return true;
	case DIF_VAR_EXECNAME: step->sp_source = DFR_SRC_EXECNAME; return true;
	}
	return false;
}

/* Is this variable a thread-local number, as the DIFO that uses it declares it? */
static bool is_scalar(const struct dfr_difo *difo, u32 id)
{
	u32 i;

	for (i = 0; i < difo->di_nvars; i++)
		if (difo->di_vars[i].scope == DIF_VS_THREAD && difo->di_vars[i].id == id)
			return dfr_var_is_self(&difo->di_vars[i]);
	return false;
}

/* `ldts id, %register` of a number? */
static bool loads_scalar(const struct dfr_difo *difo, u32 instr, u32 *id)
{
	*id = DIF_WIDE(instr);
	return DIF_OP(instr) == DIF_OP_LDTS && is_scalar(difo, *id);
}

static bool returns(u32 instr, u32 reg)
{
	return DIF_OP(instr) == DIF_OP_RET && DIF_RD(instr) == reg;
}

/* `ldgs timestamp, %a; ldts t, %b; sub %a, %b, %a; ret %a` */
static bool is_since(const struct dfr_difo *difo, u32 *id)
{
	const u32 *text = difo->di_text;
	u32 a, b;

	if (difo->di_len != 4 || DIF_OP(text[0]) != DIF_OP_LDGS || DIF_WIDE(text[0]) != DIF_VAR_TIMESTAMP ||
	    !loads_scalar(difo, text[1], id) || DIF_OP(text[2]) != DIF_OP_SUB)
		return false;
	a = DIF_RD(text[0]);
	b = DIF_RD(text[1]);
	return a && b && a != b && DIF_R1(text[2]) == a && DIF_R2(text[2]) == b &&
	       returns(text[3], DIF_RD(text[2])) && DIF_RD(text[2]);
}

/* Is the value the address of a string or of bytes? */
static bool is_reference(const struct dif_type *type)
{
	return type->kind == DIF_KIND_STRING || type->flags & (DIF_TF_BYREF | DIF_TF_BYUREF);
}

/* Sets the source of the step's value; DFR_SRC_DIF: the DIFO must run. */
void dfr_idiom_value(struct dfr_step *step, const struct dfr_difo *difo)
{
	u32 reg, number;

	step->sp_difo = difo;
	step->sp_source = difo ? DFR_SRC_DIF : DFR_SRC_NONE;
	if (!difo || is_confined(difo))
		return;
	if (is_since(difo, &number)) {
		step->sp_source = DFR_SRC_SINCE;
		step->sp_from.number = number;
		return;
	}
	if (difo->di_len != 2)
		return;
	reg = DIF_RD(difo->di_text[0]);
	if (!reg || !returns(difo->di_text[1], reg))
		return;
	if (loads_scalar(difo, difo->di_text[0], &number)) {
		step->sp_source = DFR_SRC_SELF;
		step->sp_from.number = number;
	} else {
		load(step, difo, difo->di_text[0]);
	}
	/*
	 * The bytes at a reference are read with the rights of the DIFO that ran last, so a DIFO
	 * that returns one must run. Only execname is read without the machine.
	 */
	if (step->sp_source == DFR_SRC_EXECNAME ? difo->di_rtype.kind != DIF_KIND_STRING
						: is_reference(&difo->di_rtype))
		step->sp_source = DFR_SRC_DIF;
}

/* `load value, %a; stts id, %a; ret` or, to store 0, `stts id, %r0; ret`? Fills the step then. */
bool dfr_idiom_store(struct dfr_step *step, const struct dfr_difo *difo)
{
	const u32 *text = difo->di_text;
	struct dfr_step value = { .sp_source = DFR_SRC_CONST };
	u32 at = difo->di_len - 2;

	if (is_confined(difo) || difo->di_len < 2 || difo->di_len > 3 || DIF_OP(text[at]) != DIF_OP_STTS ||
	    DIF_OP(text[at + 1]) != DIF_OP_RET || !is_scalar(difo, DIF_WIDE(text[at])))
		return false;
	if (at ? !load(&value, difo, text[0]) || value.sp_source == DFR_SRC_EXECNAME || !DIF_RD(text[0]) ||
			    DIF_RD(text[0]) != DIF_RD(text[at])
	       : DIF_RD(text[at]) != 0)
		return false;
	step->sp_op = DFR_STEP_SELF;
	step->sp_difo = difo;
	step->sp_source = value.sp_source;
	step->sp_from = value.sp_from;
	step->sp_do.number = DIF_WIDE(text[at]);
	return true;
}

/* A short literal as execname holds it: padded with zeros to 16 bytes. */
static bool literal(const struct dfr_difo *difo, u32 instr, u64 words[2])
{
	u32 at = DIF_WIDE(instr);
	size_t n;

	if (DIF_OP(instr) != DIF_OP_SETS || at >= difo->di_strsz)
		return false;
	n = strlen(difo->di_strs + at);
	words[0] = words[1] = 0;
	if (n >= 2 * sizeof(words[0]))
		return false;
	memcpy(words, difo->di_strs + at, n);
	return true;
}

/* Fills the test with what the two loads before a comparison compare; false: no test says that. */
static bool compared(struct dfr_test *test, const struct dfr_difo *difo, u32 left, u32 right, bool strings)
{
	struct dfr_step step = { .sp_source = DFR_SRC_DIF };
	u32 swap;

	if (DIF_OP(left) == DIF_OP_SETX || DIF_OP(left) == DIF_OP_SETS) {
		swap = left;
		left = right;
		right = swap;
	}
	if (!load(&step, difo, left))
		return false;
	if (strings) {
		test->te_kind = DFR_TEST_NAME;
		return step.sp_source == DFR_SRC_EXECNAME && literal(difo, right, test->te_words);
	}
	if (DIF_OP(right) != DIF_OP_SETX || DIF_WIDE(right) >= difo->di_nints)
		return false;
	test->te_words[0] = difo->di_ints[DIF_WIDE(right)];
	test->te_index = step.sp_source == DFR_SRC_ARG ? step.sp_from.arg : 0;
	test->te_kind = step.sp_source == DFR_SRC_PID	? DFR_TEST_PID
			: step.sp_source == DFR_SRC_TID ? DFR_TEST_TID
			: step.sp_source == DFR_SRC_ARG ? DFR_TEST_ARG
							: 0;
	return test->te_kind != 0;
}

/*
 * 0  value, %a        4  mov %r0, %c
 * 1  value, %b        5  ba 7
 * 2  cmp/scmp %a, %b  6  setx 1, %c
 * 3  be/bne 6         7  ret %c
 */
static bool is_comparison(struct dfr_test *test, const struct dfr_difo *difo)
{
	const u32 *text = difo->di_text;
	u32 op, a, b;

	if (difo->di_len != 8)
		return false;
	op = DIF_OP(text[2]);
	a = DIF_RD(text[0]);
	b = DIF_RD(text[1]);
	if ((op != DIF_OP_CMP && op != DIF_OP_SCMP) || !a || !b || a == b || DIF_R1(text[2]) != a ||
	    DIF_R2(text[2]) != b)
		return false;
	if ((DIF_OP(text[3]) != DIF_OP_BE && DIF_OP(text[3]) != DIF_OP_BNE) || DIF_LABEL(text[3]) != 6)
		return false;
	if (DIF_OP(text[4]) != DIF_OP_MOV || DIF_R1(text[4]) || DIF_OP(text[5]) != DIF_OP_BA ||
	    DIF_LABEL(text[5]) != 7)
		return false;
	if (DIF_OP(text[6]) != DIF_OP_SETX || DIF_WIDE(text[6]) >= difo->di_nints ||
	    !difo->di_ints[DIF_WIDE(text[6])] || !DIF_RD(text[6]) || DIF_RD(text[4]) != DIF_RD(text[6]) ||
	    !returns(text[7], DIF_RD(text[6])))
		return false;
	test->te_negated = DIF_OP(text[3]) == DIF_OP_BNE;
	return compared(test, difo, text[0], text[1], op == DIF_OP_SCMP);
}

/* The test that says the same as a predicate; te_kind 0: there is none, the DIFO must run. */
void dfr_idiom_test(struct dfr_test *test, const struct dfr_difo *difo)
{
	u32 id;

	memset(test, 0, sizeof(*test));
	if (is_confined(difo))
		return;
	if (difo->di_len == 2 && DIF_RD(difo->di_text[0]) &&
	    returns(difo->di_text[1], DIF_RD(difo->di_text[0])) &&
	    loads_scalar(difo, difo->di_text[0], &id)) {
		test->te_kind = DFR_TEST_SELF;
		test->te_index = id;
		return;
	}
	if (!is_comparison(test, difo))
		test->te_kind = 0;
}
