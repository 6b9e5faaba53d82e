// SPDX-License-Identifier: GPL-2.0
//
// From DIF to formulas: walks the code once, from front to back, with the values of
// the registers as nodes. A state waits at the target of each branch; where several
// meet, each register becomes a choice between them.
#include <array>

#include "analyze/replay/formula.h"

namespace dfr::replay {

class DifReader {
public:
	DifReader(Formulas& formulas, const dif::Difo& difo)
	    : formulas_(formulas), difo_(difo), waiting_(difo.text.size()) {}
	Formulas::Id read();

private:
	using Id = Formulas::Id;
	static constexpr Id kNone = Formulas::kNone;
	static constexpr size_t kMost = 4096; // nodes: a program of chains of && has some hundred

	// The registers and the operands of the last comparison, where a condition holds.
	struct State {
		Id reached = kNone; // the condition under which it is reached
		std::array<Id, DIF_NREGS> registers{};
		Id a = kNone, b = kNone;
	};

	Id meet(std::vector<State>& states);
	bool step(uint32_t instruction, State& state);
	bool branch(uint32_t instruction, State& state);
	Id condition(uint32_t op, const State& state);
	Id arithmetic(uint32_t instruction, const State& state);
	Id load(uint32_t instruction, const State& state);
	Id text_order(Id a, Id b);
	bool wait(uint32_t at, const State& state) {
		if (at >= waiting_.size())
			return false;
		waiting_[at].push_back(state);
		return true;
	}
	// `way` holds and then `condition`, too.
	Id also(Id way, Id condition) { return formulas_.both(way, condition); }
	Id join(const State& first, Id a, Id b) { return formulas_.choice(first.reached, a, b); }

	Formulas& formulas_;
	const dif::Difo& difo_;
	std::vector<std::vector<State>> waiting_; // by instruction
	std::vector<std::pair<Id, Id>> results_;  // under which condition which value is returned
};

Formulas::Id DifReader::read() {
	if (!difo_.relocations.empty() || difo_.text.empty())
		return kNone;
	State state;
	state.reached = formulas_.integer(1);
	state.registers.fill(formulas_.integer(0));
	bool here = true; // the way from the instruction before leads here
	for (uint32_t pc = 0; pc < difo_.text.size(); pc++) {
		if (here)
			waiting_[pc].push_back(state);
		if (waiting_[pc].empty())
			continue;
		if (formulas_.nodes_.size() > kMost)
			return kNone;
		state = waiting_[pc].front();
		for (size_t i = 1; i < waiting_[pc].size(); i++) {
			const State& other = waiting_[pc][i];
			for (size_t r = 0; r < DIF_NREGS; r++)
				state.registers[r] = join(other, other.registers[r], state.registers[r]);
			state.a = join(other, other.a, state.a);
			state.b = join(other, other.b, state.b);
			state.reached = formulas_.choice(other.reached, formulas_.integer(1), state.reached);
		}
		const uint32_t instruction = difo_.text[pc], op = DIF_OP(instruction);
		here = true;
		if (op == DIF_OP_RET) {
			if (DIF_RD(instruction) >= DIF_NREGS)
				return kNone;
			results_.emplace_back(state.reached, state.registers[DIF_RD(instruction)]);
			here = false;
		} else if (op >= DIF_OP_BA && op <= DIF_OP_BLEU) {
			if (DIF_LABEL(instruction) <= pc || !branch(instruction, state))
				return kNone;
			here = op != DIF_OP_BA && formulas_.constant(state.reached) != 0u;
		} else if (!step(instruction, state)) {
			return kNone;
		}
	}
	if (results_.empty() || here)
		return kNone;
	Id result = results_.back().second;
	for (size_t i = results_.size() - 1; i-- > 0;)
		result = formulas_.choice(results_[i].first, results_[i].second, result);
	return result;
}

// The condition of a branch that is not BA.
Formulas::Id DifReader::condition(uint32_t op, const State& state) {
	const auto less = [&](FormulaOp how, Id a, Id b) { return formulas_.make(how, a, b); };
	const Id a = state.a, b = state.b;
	switch (op) {
	case DIF_OP_BE: return formulas_.make(FormulaOp::kEqual, a, b);
	case DIF_OP_BNE: return formulas_.negation(formulas_.make(FormulaOp::kEqual, a, b));
	case DIF_OP_BG: return less(FormulaOp::kLessSigned, b, a);
	case DIF_OP_BGU: return less(FormulaOp::kLess, b, a);
	case DIF_OP_BGE: return formulas_.negation(less(FormulaOp::kLessSigned, a, b));
	case DIF_OP_BGEU: return formulas_.negation(less(FormulaOp::kLess, a, b));
	case DIF_OP_BL: return less(FormulaOp::kLessSigned, a, b);
	case DIF_OP_BLU: return less(FormulaOp::kLess, a, b);
	case DIF_OP_BLE: return formulas_.negation(less(FormulaOp::kLessSigned, b, a));
	default: return formulas_.negation(less(FormulaOp::kLess, b, a));
	}
}

bool DifReader::branch(uint32_t instruction, State& state) {
	State taken = state;
	if (DIF_OP(instruction) != DIF_OP_BA) {
		const Id holds = condition(DIF_OP(instruction), state);
		if (holds == kNone)
			return false;
		taken.reached = also(state.reached, holds);
		state.reached = also(state.reached, formulas_.negation(holds));
		if (taken.reached == kNone || state.reached == kNone)
			return false;
		if (formulas_.constant(taken.reached) == 0u)
			return DIF_LABEL(instruction) < waiting_.size(); // nobody goes there
	}
	return wait(DIF_LABEL(instruction), taken);
}

Formulas::Id DifReader::arithmetic(uint32_t instruction, const State& state) {
	const uint32_t op = DIF_OP(instruction);
	const Id a = state.registers[DIF_R1(instruction)];
	if (op == DIF_OP_MOV)
		return a;
	const Id b = op == DIF_OP_NOT ? formulas_.integer(0) : state.registers[DIF_R2(instruction)];
	if (a == kNone || b == kNone || formulas_.is_text(a) || formulas_.is_text(b))
		return kNone;
	switch (op) {
	case DIF_OP_OR: return formulas_.make(FormulaOp::kOr, a, b);
	case DIF_OP_XOR: return formulas_.make(FormulaOp::kXor, a, b);
	case DIF_OP_AND: return formulas_.make(FormulaOp::kAnd, a, b);
	case DIF_OP_SLL: return formulas_.make(FormulaOp::kShiftLeft, a, b);
	case DIF_OP_SRL: return formulas_.make(FormulaOp::kShiftRight, a, b);
	case DIF_OP_SRA: return formulas_.make(FormulaOp::kShiftRightSigned, a, b);
	case DIF_OP_SUB: return formulas_.make(FormulaOp::kSubtract, a, b);
	case DIF_OP_ADD: return formulas_.make(FormulaOp::kAdd, a, b);
	case DIF_OP_MUL: return formulas_.make(FormulaOp::kMultiply, a, b);
	case DIF_OP_NOT: return formulas_.make(FormulaOp::kNot, a);
	default: // a division that may fault, though its value were not needed, is the engine's
		return formulas_.constant(b).value_or(0) ? formulas_.make(FormulaOp::kDivide, a, b, 0, op)
		                                         : kNone;
	}
}

// Of a constant, a text, an input.
Formulas::Id DifReader::load(uint32_t instruction, const State& state) {
	const uint32_t wide = DIF_WIDE(instruction);
	switch (DIF_OP(instruction)) {
	case DIF_OP_SETX:
		return wide < difo_.integers.size() ? formulas_.integer(difo_.integers[wide]) : kNone;
	case DIF_OP_SETS: return formulas_.text_constant(difo_.string_at(wide));
	case DIF_OP_LDGS:
		return wide < DIF_VAR_USER_FIRST ? formulas_.input(formulas_.inputs_(-1, wide)) : kNone;
	default: break;
	}
	if (DIF_R2(instruction) >= DIF_NREGS)
		return kNone;
	const auto index = formulas_.constant(state.registers[DIF_R2(instruction)]);
	return index ? formulas_.input(formulas_.inputs_(static_cast<int>(DIF_R1(instruction)), *index))
	             : kNone;
}

Formulas::Id DifReader::text_order(Id a, Id b) {
	if (a == kNone || b == kNone || !formulas_.is_text(a) || !formulas_.is_text(b))
		return kNone;
	// The engine compares two texts up to strsize only; constants and execname are shorter.
	if (formulas_.node(a).op == FormulaOp::kTextColumn && formulas_.node(b).op == FormulaOp::kTextColumn)
		return kNone;
	return formulas_.make(FormulaOp::kTextOrder, a, b);
}

// False: no formula has it. A register whose value is none may still be left unused.
bool DifReader::step(uint32_t instruction, State& state) {
	const uint32_t op = DIF_OP(instruction), to = DIF_RD(instruction);
	const bool registers = DIF_R1(instruction) < DIF_NREGS && DIF_R2(instruction) < DIF_NREGS;
	switch (op) {
	case DIF_OP_NOP: return true;
	case DIF_OP_CMP:
	case DIF_OP_SCMP:
	case DIF_OP_TST: {
		if (!registers)
			return false;
		const Id a = state.registers[DIF_R1(instruction)], b = state.registers[DIF_R2(instruction)];
		state.b = formulas_.integer(0);
		if (op == DIF_OP_TST)
			state.a = formulas_.holds(a);
		else if (op == DIF_OP_SCMP)
			state.a = text_order(a, b);
		else
			state.a = a, state.b = b;
		const auto no_text = [this](Id id) { return id == kNone || !formulas_.is_text(id); };
		return no_text(state.a) && no_text(state.b);
	}
	case DIF_OP_SETX:
	case DIF_OP_SETS:
	case DIF_OP_LDGS:
	case DIF_OP_LDGA:
		if (to == 0 || to >= DIF_NREGS)
			return false;
		state.registers[to] = load(instruction, state);
		return true;
	default: break;
	}
	const bool known = (op >= DIF_OP_OR && op <= DIF_OP_MOV) || op == DIF_OP_SRA;
	if (!known || !registers || to == 0 || to >= DIF_NREGS)
		return false;
	state.registers[to] = arithmetic(instruction, state);
	return true;
}

Formulas::Id Formulas::add(const dif::Difo& difo) {
	return DifReader(*this, difo).read();
}

} // namespace dfr::replay
