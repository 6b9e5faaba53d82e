// SPDX-License-Identifier: GPL-2.0
//
// Formulas: what DIF objects compute, as expressions over the columns of one EPID.
// DIF branches only forward, so each branch is a condition, and where ways meet, a
// value is a choice between those that come in. Then nothing depends on a way
// through the code, and an expression is computed for many records at once.
//
// Only what cannot fault is a formula, but for division, which says so when it
// meets a zero; integers and texts, no other memory, no variables, no subroutines.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "formats/dif/difo.h"

namespace dfr::replay {

enum class FormulaOp : uint8_t {
	kConstant,     // an integer
	kColumn,       // integers of the column `value`
	kTextConstant, // the text `value` of texts()
	kTextColumn,   // texts of the column `value`
	kAdd,
	kSubtract,
	kMultiply,
	kAnd,
	kOr,
	kXor,
	kNot,
	kShiftLeft,
	kShiftRight,
	kShiftRightSigned,
	kDivide,       // `value` is the instruction
	kExtendSigned, // from the lowest 64 - `value` bits
	kExtend,
	kEqual, // from here on the result is 0 or 1
	kLess,  // unsigned
	kLessSigned,
	kTextOrder, // -1, 0, 1: a before, as, behind b
	kChoice,    // a ? b : c
};

// `value`: which division. Division by 0 gives 0.
uint64_t divided(uint64_t instruction, uint64_t a, uint64_t b);

// What the engine computes; inline, because loops over columns call it.
inline uint64_t computed(FormulaOp op, uint64_t a, uint64_t b, uint64_t value) {
	switch (op) {
	case FormulaOp::kAdd: return a + b;
	case FormulaOp::kSubtract: return a - b;
	case FormulaOp::kMultiply: return a * b;
	case FormulaOp::kAnd: return a & b;
	case FormulaOp::kOr: return a | b;
	case FormulaOp::kXor: return a ^ b;
	case FormulaOp::kNot: return ~a;
	case FormulaOp::kShiftLeft: return a << (b & 63);
	case FormulaOp::kShiftRight: return a >> (b & 63);
	case FormulaOp::kShiftRightSigned: return static_cast<uint64_t>(static_cast<int64_t>(a) >> (b & 63));
	case FormulaOp::kDivide: return divided(value, a, b);
	case FormulaOp::kExtendSigned:
		return static_cast<uint64_t>(static_cast<int64_t>(a << value) >> value);
	case FormulaOp::kExtend: return a << value >> value;
	case FormulaOp::kEqual: return a == b;
	case FormulaOp::kLess: return a < b;
	case FormulaOp::kLessSigned: return static_cast<int64_t>(a) < static_cast<int64_t>(b);
	default: return 0;
	}
}

struct FormulaNode {
	FormulaOp op = FormulaOp::kConstant;
	uint32_t a = 0, b = 0, c = 0; // nodes with lower numbers
	uint64_t value = 0;
	bool condition = false; // it can only be 0 or 1: a comparison, or made of such
};

// What an input of the program is in the records of the EPID.
struct FormulaInput {
	enum InputKind { kNone, kInteger, kIntegerColumn, kText, kTextColumn } kind = kNone;
	uint64_t value = 0;    // the integer, or the column
	std::string_view text; // the text
};

class Formulas {
public:
	// A number of a node; kNone: not a formula.
	using Id = uint32_t;
	static constexpr Id kNone = UINT32_MAX;
	// `array`: DIF_VAR_ARGS or DIF_VAR_CAPTURED with their index; else -1, and `index` is the variable.
	using Inputs = std::function<FormulaInput(int array, uint64_t index)>;

	explicit Formulas(Inputs inputs) : inputs_(std::move(inputs)) {}

	Id add(const dif::Difo& difo);
	// The value cut to its declared width, and extended by its declared sign.
	Id declared(Id node, const dif_type& type);
	// Not 0.
	Id holds(Id node);
	Id both(Id a, Id b);

	size_t size() const { return nodes_.size(); }
	const FormulaNode& node(Id id) const { return nodes_[id]; }
	const std::string& text(uint64_t number) const { return texts_[number]; }
	size_t texts() const { return texts_.size(); }
	Id integer(uint64_t value) { return make(FormulaOp::kConstant, 0, 0, 0, value); }
	bool is_text(Id id) const {
		return nodes_[id].op == FormulaOp::kTextConstant || nodes_[id].op == FormulaOp::kTextColumn;
	}
	std::optional<uint64_t> constant(Id id) const;
	// The nodes that these are computed from, and they themselves, in an order in which they can be.
	std::vector<Id> needed(const std::vector<Id>& roots) const;

private:
	friend class DifReader;
	Id make(FormulaOp op, Id a = 0, Id b = 0, Id c = 0, uint64_t value = 0);
	Id text_constant(std::string_view text);
	Id input(const FormulaInput& input);
	Id negation(Id condition);
	bool is_condition(Id id) const; // its value is 0 or 1
	bool opposed(Id a, Id b) const; // one is the negation of the other
	std::optional<Id> simplified_or(Id a, Id b);
	std::optional<Id> simplified_choice(Id a, Id b, Id c);
	Id choice(Id condition, Id a, Id b);
	std::optional<Id> simplified(FormulaOp op, Id a, Id b, Id c, uint64_t value);

	Inputs inputs_;
	std::vector<FormulaNode> nodes_;
	std::vector<std::string> texts_;
	std::map<std::tuple<FormulaOp, Id, Id, Id, uint64_t>, Id> known_;
};

// The least and the greatest value that a node can have, by those of its columns, compared with sign if that
// is asked for; used to leave out chunks.
struct ValueRange {
	bool known = false;
	bool is_signed = false;
	uint64_t least = 0, greatest = 0;
};
// Whether a condition holds for no record, given the ranges of the columns.
bool never_holds(const Formulas& formulas, Formulas::Id condition,
                 const std::function<ValueRange(uint64_t column)>& range);

} // namespace dfr::replay
