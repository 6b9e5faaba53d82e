// SPDX-License-Identifier: GPL-2.0
//
// Formulas: making nodes, simplifying them, and what can be said of their values.
#include "analyze/replay/formula.h"

#include <algorithm>

namespace dfr::replay {
namespace {

bool is_commutative(FormulaOp op) {
	return op == FormulaOp::kAdd || op == FormulaOp::kMultiply || op == FormulaOp::kAnd ||
	       op == FormulaOp::kOr || op == FormulaOp::kXor || op == FormulaOp::kEqual;
}

bool compares(FormulaOp op) {
	return op == FormulaOp::kEqual || op == FormulaOp::kLess || op == FormulaOp::kLessSigned;
}

} // namespace

uint64_t divided(uint64_t instruction, uint64_t a, uint64_t b) {
	const auto left = static_cast<int64_t>(a), right = static_cast<int64_t>(b);
	if (!b)
		return 0;
	switch (instruction) {
	case DIF_OP_UDIV: return a / b;
	case DIF_OP_UREM: return a % b;
	case DIF_OP_SDIV: return right == -1 ? 0 - a : static_cast<uint64_t>(left / right);
	default: return right == -1 ? 0 : static_cast<uint64_t>(left % right);
	}
}

std::optional<uint64_t> Formulas::constant(Id id) const {
	if (id >= nodes_.size() || nodes_[id].op != FormulaOp::kConstant)
		return std::nullopt;
	return nodes_[id].value;
}

bool Formulas::is_condition(Id id) const {
	return nodes_[id].condition;
}

bool Formulas::opposed(Id a, Id b) const {
	const auto negates = [this](Id x, Id y) {
		return nodes_[x].op == FormulaOp::kEqual && nodes_[x].a == y && constant(nodes_[x].b) == 0u;
	};
	return negates(a, b) || negates(b, a);
}

// Of conditions. (x and c) or (x and not c) is x: so two ways that meet again leave no trace.
std::optional<Formulas::Id> Formulas::simplified_or(Id a, Id b) {
	if (a == b || constant(b) == 0u)
		return a;
	if (constant(b) == 1u || opposed(a, b))
		return integer(1);
	const FormulaNode &left = nodes_[a], &right = nodes_[b];
	if (left.op != FormulaOp::kAnd || right.op != FormulaOp::kAnd)
		return std::nullopt;
	for (const auto& [x, c] : {std::pair(left.a, left.b), std::pair(left.b, left.a)})
		for (const auto& [y, d] : {std::pair(right.a, right.b), std::pair(right.b, right.a)})
			if (x == y && opposed(c, d))
				return x;
	return std::nullopt;
}

std::optional<Formulas::Id> Formulas::simplified_choice(Id a, Id b, Id c) {
	if (const auto known = constant(a))
		return *known ? b : c;
	if (b == c)
		return b;
	if (!is_condition(a) || !is_condition(b) || !is_condition(c))
		return std::nullopt;
	if (constant(b) == 1u)
		return constant(c) == 0u ? a : make(FormulaOp::kOr, a, c);
	if (constant(c) == 0u)
		return both(a, b);
	if (constant(b) == 0u)
		return constant(c) == 1u ? negation(a) : both(negation(a), c);
	return std::nullopt;
}

// Another node that has the same value, if there is a simpler one.
std::optional<Formulas::Id> Formulas::simplified(FormulaOp op, Id a, Id b, Id c, uint64_t value) {
	const auto left = constant(a), right = constant(b);
	switch (op) {
	case FormulaOp::kConstant:
	case FormulaOp::kColumn:
	case FormulaOp::kTextConstant:
	case FormulaOp::kTextColumn: return std::nullopt;
	case FormulaOp::kTextOrder:
		if (nodes_[a].op == FormulaOp::kTextConstant && nodes_[b].op == FormulaOp::kTextConstant) {
			const int order = texts_[nodes_[a].value].compare(texts_[nodes_[b].value]);
			return integer(order < 0 ? ~uint64_t{0} : order > 0);
		}
		return std::nullopt;
	case FormulaOp::kChoice: return simplified_choice(a, b, c);
	case FormulaOp::kNot:
	case FormulaOp::kExtendSigned:
	case FormulaOp::kExtend:
		return left ? std::optional(integer(computed(op, *left, 0, value))) : std::nullopt;
	default: break;
	}
	if (op == FormulaOp::kDivide && !(right && *right))
		return std::nullopt; // it may fault, also if it could be computed now
	if (left && right)
		return integer(computed(op, *left, *right, value));
	if (op == FormulaOp::kOr && is_condition(a) && is_condition(b))
		return simplified_or(a, b);
	// The negation of a condition's negation.
	if (op == FormulaOp::kEqual && right == 0u && nodes_[a].op == FormulaOp::kEqual &&
	    constant(nodes_[a].b) == 0u && is_condition(nodes_[a].a))
		return nodes_[a].a;
	return std::nullopt;
}

Formulas::Id Formulas::make(FormulaOp op, Id a, Id b, Id c, uint64_t value) {
	if (a == kNone || b == kNone || c == kNone)
		return kNone;
	if (is_commutative(op) && constant(a) && !constant(b))
		std::swap(a, b);
	if (const auto simple = simplified(op, a, b, c, value))
		return *simple;
	const auto [at, added] = known_.try_emplace({op, a, b, c, value}, static_cast<Id>(nodes_.size()));
	if (added) {
		const bool joins = op == FormulaOp::kAnd || op == FormulaOp::kOr;
		const bool condition = op == FormulaOp::kConstant ? value <= 1
		                       : joins                    ? nodes_[a].condition && nodes_[b].condition
		                                                  : compares(op);
		nodes_.push_back({.op = op, .a = a, .b = b, .c = c, .value = value, .condition = condition});
	}
	return at->second;
}

Formulas::Id Formulas::text_constant(std::string_view text) {
	const auto known = std::find(texts_.begin(), texts_.end(), text);
	const auto number = static_cast<uint64_t>(known - texts_.begin());
	if (known == texts_.end())
		texts_.emplace_back(text);
	return make(FormulaOp::kTextConstant, 0, 0, 0, number);
}

Formulas::Id Formulas::input(const FormulaInput& input) {
	switch (input.kind) {
	case FormulaInput::kInteger: return integer(input.value);
	case FormulaInput::kIntegerColumn: return make(FormulaOp::kColumn, 0, 0, 0, input.value);
	case FormulaInput::kText: return text_constant(input.text);
	case FormulaInput::kTextColumn: return make(FormulaOp::kTextColumn, 0, 0, 0, input.value);
	default: return kNone;
	}
}

Formulas::Id Formulas::negation(Id condition) {
	return condition == kNone ? kNone : make(FormulaOp::kEqual, condition, integer(0));
}

Formulas::Id Formulas::choice(Id condition, Id a, Id b) {
	if (a == b)
		return a;
	if (condition == kNone || a == kNone || b == kNone || is_text(a) || is_text(b))
		return kNone;
	return make(FormulaOp::kChoice, condition, a, b);
}

Formulas::Id Formulas::holds(Id node) {
	if (node == kNone || is_text(node))
		return kNone;
	return is_condition(node) ? node : negation(negation(node));
}

Formulas::Id Formulas::both(Id a, Id b) {
	if (a == kNone || b == kNone)
		return kNone;
	if (a == b)
		return a;
	if (const auto known = constant(a))
		return *known ? b : a;
	if (const auto known = constant(b))
		return *known ? a : b;
	return make(FormulaOp::kAnd, a, b);
}

Formulas::Id Formulas::declared(Id node, const dif_type& type) {
	if (node == kNone || is_text(node))
		return kNone;
	if (type.size != 1 && type.size != 2 && type.size != 4)
		return node;
	const FormulaOp op = type.flags & DIF_TF_SIGNED ? FormulaOp::kExtendSigned : FormulaOp::kExtend;
	return make(op, node, 0, 0, 64 - 8 * uint64_t{type.size});
}

std::vector<Formulas::Id> Formulas::needed(const std::vector<Id>& roots) const {
	std::vector<bool> wanted(nodes_.size());
	for (const Id root : roots)
		wanted[root] = true;
	std::vector<Id> result;
	for (Id id = static_cast<Id>(nodes_.size()); id-- > 0;) {
		if (!wanted[id])
			continue;
		result.push_back(id);
		if (nodes_[id].op > FormulaOp::kTextColumn) // operands that an operation has not are 0
			wanted[nodes_[id].a] = wanted[nodes_[id].b] = wanted[nodes_[id].c] = true;
	}
	std::reverse(result.begin(), result.end());
	return result;
}

namespace {

enum class Truth { kMaybe, kFalse, kTrue };

Truth opposite(Truth truth) {
	return truth == Truth::kFalse ? Truth::kTrue : truth == Truth::kTrue ? Truth::kFalse : Truth::kMaybe;
}

using Ranges = std::function<ValueRange(uint64_t column)>;

// Of a column compared with a constant.
Truth compared(FormulaOp op, const ValueRange& range, uint64_t constant, bool constant_first) {
	if (!range.known)
		return Truth::kMaybe;
	const auto less = [&](uint64_t a, uint64_t b) {
		return range.is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
	};
	if (op == FormulaOp::kEqual) {
		if (less(constant, range.least) || less(range.greatest, constant))
			return Truth::kFalse;
		return range.least == range.greatest ? Truth::kTrue : Truth::kMaybe;
	}
	// The order is the same with and without sign where no value and not the constant has the highest bit.
	const bool is_signed = op == FormulaOp::kLessSigned;
	if (is_signed != range.is_signed && (range.least | range.greatest | constant) >> 63)
		return Truth::kMaybe;
	if (constant_first) {
		if (less(constant, range.least))
			return Truth::kTrue;
		return less(constant, range.greatest) ? Truth::kMaybe : Truth::kFalse;
	}
	if (less(range.greatest, constant))
		return Truth::kTrue;
	return less(range.least, constant) ? Truth::kMaybe : Truth::kFalse;
}

// `steps` bounds the work, because parts that are used often are walked as often.
Truth truth_of(const Formulas& formulas, Formulas::Id id, const Ranges& ranges, unsigned& steps) {
	const FormulaNode& node = formulas.node(id);
	if (!steps)
		return Truth::kMaybe;
	steps--;
	const auto of = [&](Formulas::Id other) { return truth_of(formulas, other, ranges, steps); };
	if (node.op == FormulaOp::kConstant)
		return node.value ? Truth::kTrue : Truth::kFalse;
	if (node.op == FormulaOp::kChoice) {
		const Truth which = of(node.a);
		if (which != Truth::kMaybe)
			return of(which == Truth::kTrue ? node.b : node.c);
		const Truth b = of(node.b), c = of(node.c);
		return b == c ? b : Truth::kMaybe;
	}
	if (node.op == FormulaOp::kAnd && (of(node.a) == Truth::kFalse || of(node.b) == Truth::kFalse))
		return Truth::kFalse;
	if (node.op == FormulaOp::kOr) {
		const Truth left = of(node.a), right = of(node.b);
		if (left == Truth::kFalse && right == Truth::kFalse)
			return Truth::kFalse;
		return left == Truth::kTrue || right == Truth::kTrue ? Truth::kTrue : Truth::kMaybe;
	}
	if (!compares(node.op))
		return Truth::kMaybe;
	const FormulaNode &a = formulas.node(node.a), &b = formulas.node(node.b);
	if (a.op == FormulaOp::kColumn && b.op == FormulaOp::kConstant)
		return compared(node.op, ranges(a.value), b.value, false);
	if (a.op == FormulaOp::kConstant && b.op == FormulaOp::kColumn)
		return compared(node.op, ranges(b.value), a.value, true);
	if (node.op == FormulaOp::kEqual && b.op == FormulaOp::kConstant && b.value == 0)
		return opposite(of(node.a));
	return Truth::kMaybe;
}

} // namespace

bool never_holds(const Formulas& formulas, Formulas::Id condition, const Ranges& range) {
	unsigned steps = 1000;
	return truth_of(formulas, condition, range, steps) == Truth::kFalse;
}

} // namespace dfr::replay
