// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter: runs one verified DIFO. It is the reference that the JIT is
 * compared with. Probe context: branches go forward only, so a run has at most
 * di_len steps. Registers and tuple stack are in the machine, because the kernel's
 * stack is small.
 *
 * Instead of condition codes, the two operands of the last comparison are kept, so
 * signed and unsigned branches are exact for every operand. `tst` compares
 * (value != 0) with 0, `scmp` compares the order of the strings (-1, 0, 1) with 0.
 */
#include "kmod/engine/dif/vars.h"

u64 dfr_op_divide(struct dfr_machine *m, u32 op, u64 a, u64 b)
{
	if (dfr_unlikely(!b)) {
		dfr_fault(m, DIF_FAULT_DIVZERO, 0);
		return 0;
	}
	if (op == DIF_OP_UDIV)
		return a / b;
	if (op == DIF_OP_UREM)
		return a % b;
	/* By -1 the quotient is -a, which wraps for the most negative number; the remainder is 0. */
	if (b == ~0ull)
		return op == DIF_OP_SDIV ? 0 - a : 0;
	return op == DIF_OP_SDIV ? (u64)((s64)a / (s64)b) : (u64)((s64)a % (s64)b);
}

u64 dfr_op_load(struct dfr_machine *m, u32 op, u64 addr)
{
	switch (op) {
	case DIF_OP_LDSB: return (u64)(s64)(s8)dfr_load(m, addr, 1);
	case DIF_OP_LDSH: return (u64)(s64)(s16)dfr_load(m, addr, 2);
	case DIF_OP_LDSW: return (u64)(s64)(s32)dfr_load(m, addr, 4);
	case DIF_OP_LDUB: return dfr_load(m, addr, 1);
	case DIF_OP_LDUH: return dfr_load(m, addr, 2);
	case DIF_OP_LDUW: return dfr_load(m, addr, 4);
	case DIF_OP_LDX: return dfr_load(m, addr, 8);
	case DIF_OP_ULDSB: return (u64)(s64)(s8)dfr_load_user(m, addr, 1);
	case DIF_OP_ULDSH: return (u64)(s64)(s16)dfr_load_user(m, addr, 2);
	case DIF_OP_ULDSW: return (u64)(s64)(s32)dfr_load_user(m, addr, 4);
	case DIF_OP_ULDUB: return dfr_load_user(m, addr, 1);
	case DIF_OP_ULDUH: return dfr_load_user(m, addr, 2);
	case DIF_OP_ULDUW: return dfr_load_user(m, addr, 4);
	case DIF_OP_ULDX: return dfr_load_user(m, addr, 8);
	case DIF_OP_RLDSB: return (u64)(s64)(s8)dfr_load_own(m, addr, 1);
	case DIF_OP_RLDSH: return (u64)(s64)(s16)dfr_load_own(m, addr, 2);
	case DIF_OP_RLDSW: return (u64)(s64)(s32)dfr_load_own(m, addr, 4);
	case DIF_OP_RLDUB: return dfr_load_own(m, addr, 1);
	case DIF_OP_RLDUH: return dfr_load_own(m, addr, 2);
	case DIF_OP_RLDUW: return dfr_load_own(m, addr, 4);
	default: /* DIF_OP_RLDX */ return dfr_load_own(m, addr, 8);
	}
}

void dfr_op_store(struct dfr_machine *m, u32 op, u64 addr, u64 value)
{
	u32 size = op == DIF_OP_STB ? 1 : op == DIF_OP_STH ? 2 : op == DIF_OP_STW ? 4 : 8;

	if (dfr_unlikely(!dfr_storable(m, addr, size))) {
		dfr_fault(m, DIF_FAULT_BADADDR, addr);
		return;
	}
	if (dfr_unlikely(addr & (size - 1))) {
		dfr_fault(m, DIF_FAULT_BADALIGN, addr);
		return;
	}
	switch (size) {
	case 1: dfr_write_once(dfr_pointer(addr), (u8)value); break;
	case 2: dfr_write_once((u16 *)dfr_pointer(addr), (u16)value); break;
	case 4: dfr_write_once((u32 *)dfr_pointer(addr), (u32)value); break;
	default: dfr_write_once((u64 *)dfr_pointer(addr), value); break;
	}
}

void dfr_op_push(struct dfr_machine *m, u64 value, u64 size)
{
	if (dfr_unlikely(m->m_ntuple >= DIF_NTUPLE)) {
		dfr_fault(m, DIF_FAULT_TUPOFLOW, 0);
		return;
	}
	m->m_tuple[m->m_ntuple] = value;
	m->m_tuple_size[m->m_ntuple++] = size;
}

void dfr_op_push_reference(struct dfr_machine *m, u32 type, u64 value, u64 size)
{
	struct dfr_text text;

	if (type == DIF_KIND_STRING) {
		dfr_text_open(m, &text, value);
		if (size && size < text.tx_limit)
			text.tx_limit = size;
		if (text.tx_limit > m->m_strsize - 1)
			text.tx_limit = m->m_strsize - 1; /* what a string variable keeps of it */
		size = (dfr_text_len(m, &text) + 1) | DFR_TUPLE_TEXT;
	} else if (dfr_unlikely(size > (~0ull >> 1) || (!size && value && dfr_confined(m)))) {
		dfr_fault(m, DIF_FAULT_ILLOP, size); /* without a size the key would be the address itself */
		return;
	}
	dfr_op_push(m, value, size);
}

void dfr_op_copy(struct dfr_machine *m, u64 from, u64 size, u64 to)
{
	if (dfr_unlikely(!dfr_storable(m, to, size) && size)) {
		dfr_fault(m, DIF_FAULT_BADADDR, to);
		return;
	}
	dfr_copy_in(m, dfr_pointer(to), from, size);
}

/*
 * In the switch, `continue` ends an instruction that cannot fault; `break` ends one
 * that can, and m_fault is checked. A branch sets pc to one less than its label,
 * because the loop adds one.
 */
u64 dfr_dif_run(const struct dfr_difo *difo, struct dfr_machine *m)
{
	const u32 *text = difo->di_text;
	u64 *regs = m->m_regs;
	u64 a = 0, b = 0; /* operands of the last comparison */
	u32 pc = 0, i, op;

	m->m_fault = 0;
	m->m_fault_pc = ~0u;
	m->m_fault_addr = 0;
	m->m_difo = difo;
	m->m_ntuple = 0;
	/* Branches go forward only, so the DIFO takes no more than this. */
	if (dfr_unlikely(!dfr_work(m, (u64)difo->di_len * DFR_WORK_DIF)))
		return 0;
	if (difo->di_run)
		return difo->di_run(m);
	regs[0] = regs[1] = regs[2] = regs[3] = 0;
	regs[4] = regs[5] = regs[6] = regs[7] = 0;
	for (;; pc++) {
		i = text[pc];
		op = DIF_OP(i);
		switch (op) {
		case DIF_OP_OR: regs[DIF_RD(i)] = regs[DIF_R1(i)] | regs[DIF_R2(i)]; continue;
		case DIF_OP_XOR: regs[DIF_RD(i)] = regs[DIF_R1(i)] ^ regs[DIF_R2(i)]; continue;
		case DIF_OP_AND: regs[DIF_RD(i)] = regs[DIF_R1(i)] & regs[DIF_R2(i)]; continue;
		case DIF_OP_SLL: regs[DIF_RD(i)] = regs[DIF_R1(i)] << (regs[DIF_R2(i)] & 63); continue;
		case DIF_OP_SRL: regs[DIF_RD(i)] = regs[DIF_R1(i)] >> (regs[DIF_R2(i)] & 63); continue;
		case DIF_OP_SRA:
			regs[DIF_RD(i)] = (u64)((s64)regs[DIF_R1(i)] >> (regs[DIF_R2(i)] & 63));
			continue;
		case DIF_OP_SUB: regs[DIF_RD(i)] = regs[DIF_R1(i)] - regs[DIF_R2(i)]; continue;
		case DIF_OP_ADD: regs[DIF_RD(i)] = regs[DIF_R1(i)] + regs[DIF_R2(i)]; continue;
		case DIF_OP_MUL: regs[DIF_RD(i)] = regs[DIF_R1(i)] * regs[DIF_R2(i)]; continue;
		case DIF_OP_SDIV:
		case DIF_OP_UDIV:
		case DIF_OP_SREM:
		case DIF_OP_UREM:
			regs[DIF_RD(i)] = dfr_op_divide(m, op, regs[DIF_R1(i)], regs[DIF_R2(i)]);
			break;
		case DIF_OP_NOT: regs[DIF_RD(i)] = ~regs[DIF_R1(i)]; continue;
		case DIF_OP_MOV: regs[DIF_RD(i)] = regs[DIF_R1(i)]; continue;
		case DIF_OP_CMP:
			a = regs[DIF_R1(i)];
			b = regs[DIF_R2(i)];
			continue;
		case DIF_OP_TST:
			a = regs[DIF_R1(i)] != 0;
			b = 0;
			continue;
		case DIF_OP_SCMP:
			a = (u64)dfr_text_compare(m, regs[DIF_R1(i)], regs[DIF_R2(i)]);
			b = 0;
			break;
		case DIF_OP_BA: pc = DIF_LABEL(i) - 1; continue;
		case DIF_OP_BE:
			if (a == b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BNE:
			if (a != b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BG:
			if ((s64)a > (s64)b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BGU:
			if (a > b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BGE:
			if ((s64)a >= (s64)b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BGEU:
			if (a >= b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BL:
			if ((s64)a < (s64)b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BLU:
			if (a < b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BLE:
			if ((s64)a <= (s64)b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_BLEU:
			if (a <= b)
				pc = DIF_LABEL(i) - 1;
			continue;
		case DIF_OP_RET: return regs[DIF_RD(i)];
		case DIF_OP_NOP: continue;
		case DIF_OP_SETX: regs[DIF_RD(i)] = difo->di_ints[DIF_WIDE(i)]; continue;
		case DIF_OP_SETS: regs[DIF_RD(i)] = dfr_address(difo->di_strs + DIF_WIDE(i)); continue;
		case DIF_OP_LDGA: regs[DIF_RD(i)] = dfr_builtin_array(m, DIF_R1(i), regs[DIF_R2(i)]); break;
		case DIF_OP_LDTA: /* no built-in array is thread-local */
			regs[DIF_RD(i)] = 0;
			dfr_fault(m, DIF_FAULT_ILLOP, 0);
			break;
		case DIF_OP_LDGS:
			regs[DIF_RD(i)] = DIF_WIDE(i) < DIF_VAR_USER_FIRST ? dfr_builtin(m, DIF_WIDE(i))
									   : dfr_global_load(m, DIF_WIDE(i));
			break;
		case DIF_OP_STGS: dfr_global_store(m, DIF_WIDE(i), regs[DIF_RD(i)]); break;
		case DIF_OP_LDTS: regs[DIF_RD(i)] = dfr_thread_load(m, DIF_WIDE(i)); break;
		case DIF_OP_STTS: dfr_thread_store(m, DIF_WIDE(i), regs[DIF_RD(i)]); break;
		case DIF_OP_LDGAA: regs[DIF_RD(i)] = dfr_dyn_load(m, DIF_VS_GLOBAL, DIF_WIDE(i), true); break;
		case DIF_OP_LDTAA: regs[DIF_RD(i)] = dfr_dyn_load(m, DIF_VS_THREAD, DIF_WIDE(i), true); break;
		case DIF_OP_STGAA: dfr_dyn_store(m, DIF_VS_GLOBAL, DIF_WIDE(i), true, regs[DIF_RD(i)]); break;
		case DIF_OP_STTAA: dfr_dyn_store(m, DIF_VS_THREAD, DIF_WIDE(i), true, regs[DIF_RD(i)]); break;
		case DIF_OP_LDLS: regs[DIF_RD(i)] = dfr_local_load(m, DIF_WIDE(i)); break;
		case DIF_OP_STLS: dfr_local_store(m, DIF_WIDE(i), regs[DIF_RD(i)]); break;
		case DIF_OP_CALL: regs[DIF_RD(i)] = dfr_subr(m, DIF_WIDE(i)); break;
		case DIF_OP_PUSHTR:
			dfr_op_push_reference(m, DIF_R1(i), regs[DIF_RD(i)], regs[DIF_R2(i)]);
			break;
		case DIF_OP_PUSHTV: dfr_op_push(m, regs[DIF_RD(i)], 0); break;
		case DIF_OP_POPTS:
			if (m->m_ntuple)
				m->m_ntuple--;
			continue;
		case DIF_OP_FLUSHTS: m->m_ntuple = 0; continue;
		case DIF_OP_ALLOCS: regs[DIF_RD(i)] = dfr_address(dfr_scratch(m, regs[DIF_R1(i)])); break;
		case DIF_OP_COPYS: dfr_op_copy(m, regs[DIF_R1(i)], regs[DIF_R2(i)], regs[DIF_RD(i)]); break;
		case DIF_OP_STB:
		case DIF_OP_STH:
		case DIF_OP_STW:
		case DIF_OP_STX: dfr_op_store(m, op, regs[DIF_RD(i)], regs[DIF_R1(i)]); break;
		default: /* loads: the verifier has refused everything else */
			regs[DIF_RD(i)] = dfr_op_load(m, op, regs[DIF_R1(i)]);
			break;
		}
		if (dfr_unlikely(m->m_fault)) {
			m->m_fault_pc = pc * 4;
			return 0;
		}
	}
}
