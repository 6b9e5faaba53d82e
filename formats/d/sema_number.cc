// SPDX-License-Identifier: GPL-2.0
//
// Analysis of numbers: integer constants are folded, and operations on floating
// point become calls of the engine's soft float.
#include "formats/d/sema.h"

namespace dfr::d {

using types::TypeRef;

void Sema::to_double(Node*& node) {
	const TypeRef target = types_.basic("double");
	// What fewer than 64 bits are computed to has a sign, whatever its type: 0U - 1 is -1.
	const bool is_signed = types_.is_signed(node->type) || types_.size(node->type) < 8;
	if (types_.is_float(node->type) && types_.size(node->type) == 8) {
		node->type = target;
		return;
	}
	if (node->kind == Nk::Float) {
		node->type = target;
		return;
	}
	if (node->kind == Nk::Int) {
		node->kind = Nk::Float;
		node->real = is_signed ? static_cast<double>(static_cast<int64_t>(node->value))
		                       : static_cast<double>(node->value);
		node->type = target;
		return;
	}
	const uint32_t number = types_.is_float(node->type) ? DIF_SUBR_F_FROM_F32
	                        : is_signed                 ? DIF_SUBR_F_FROM_I64
	                                                    : DIF_SUBR_F_FROM_U64;
	node = hidden_call(number, {node}, target, node->place);
}

void Sema::float_comparison(Node* node) {
	// f_cmp gives -1, 0, 1, or 2 for unordered, which must fail all but !=.
	Node* const order = hidden_call(DIF_SUBR_F_CMP, {node->a, node->b}, types_.int_type(), node->place);
	const auto literal = [&](int64_t value) {
		Node* const out = compilation_.arena.make(Nk::Int, node->place);
		out->value = value;
		out->type = types_.int_type();
		out->analyzed = true;
		return out;
	};
	node->type = types_.int_type();
	node->a = order;
	switch (node->op) {
	case Tok::Eq:
	case Tok::Ne: node->b = literal(0); break;
	case Tok::Lt:
		node->op = Tok::Eq;
		node->b = literal(-1);
		break;
	case Tok::Gt:
		node->op = Tok::Eq;
		node->b = literal(1);
		break;
	case Tok::Le:
		node->op = Tok::Le;
		node->b = literal(0);
		break;
	default: { // >=: the order is 0 or 1, that is, less than 2 unsigned
		order->type = types_.basic("unsigned int");
		node->op = Tok::Lt;
		Node* const two = literal(2);
		two->type = order->type;
		node->b = two;
	}
	}
}

void Sema::float_operation(Node* node) {
	to_double(node->a);
	to_double(node->b);
	const TypeRef real = types_.basic("double");
	uint32_t number = DIF_SUBR_F_CMP;
	switch (node->op) {
	case Tok::Plus: number = DIF_SUBR_F_ADD; break;
	case Tok::Minus: number = DIF_SUBR_F_SUB; break;
	case Tok::Star: number = DIF_SUBR_F_MUL; break;
	case Tok::Slash: number = DIF_SUBR_F_DIV; break;
	default: break;
	}
	if (node->a->kind == Nk::Float && node->b->kind == Nk::Float && number != DIF_SUBR_F_CMP) {
		const double a = node->a->real, b = node->b->real;
		node->kind = Nk::Float;
		node->real = number == DIF_SUBR_F_ADD   ? a + b
		             : number == DIF_SUBR_F_SUB ? a - b
		             : number == DIF_SUBR_F_MUL ? a * b
		                                        : a / b;
		node->type = real;
		return;
	}
	if (number != DIF_SUBR_F_CMP) {
		Node* const made = hidden_call(number, {node->a, node->b}, real, node->place);
		*node = *made;
		return;
	}
	float_comparison(node);
}

void Sema::fold(Node* node) {
	const auto is_int = [](const Node* one) { return one->kind == Nk::Int; };
	if (node->kind == Nk::Cast) {
		if (!is_int(node->a) || !types_.is_integer(node->type))
			return;
		const uint64_t bytes = types_.size(node->type);
		uint64_t value = node->a->value;
		if (bytes && bytes < 8) {
			const unsigned shift = 64 - bytes * 8;
			value = types_.is_signed(node->type)
			            ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift)
			            : value << shift >> shift;
		}
		if (types_.info(node->type).is_bool)
			value = node->a->value != 0;
		node->kind = Nk::Int;
		node->value = value;
		node->a = nullptr;
		return;
	}
	if (!is_int(node->a) || (node->b && !is_int(node->b)))
		return;
	const uint64_t a = node->a->value;
	const uint64_t b = node->b ? node->b->value : 0;
	const auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
	const bool is_signed = node->b ? types_.is_signed(types_.promote(node->a->type, node->b->type))
	                               : types_.is_signed(node->a->type);
	uint64_t value = 0;
	switch (node->op) {
	case Tok::Not: value = !a; break;
	case Tok::Tilde: value = ~a; break;
	case Tok::Plus: value = node->b ? a + b : a; break;
	case Tok::Minus: value = node->b ? a - b : -a; break;
	case Tok::Star: value = a * b; break;
	case Tok::Slash: value = !is_signed ? a / b : sb == -1 ? -a : static_cast<uint64_t>(sa / sb); break;
	case Tok::Percent: value = !is_signed ? a % b : sb == -1 ? 0 : static_cast<uint64_t>(sa % sb); break;
	case Tok::Shl: value = a << (b & 63); break;
	case Tok::Shr:
		value =
		    types_.is_signed(node->a->type) ? static_cast<uint64_t>(sa >> (b & 63)) : a >> (b & 63);
		break;
	case Tok::And: value = a & b; break;
	case Tok::Xor: value = a ^ b; break;
	case Tok::Or: value = a | b; break;
	case Tok::Eq: value = a == b; break;
	case Tok::Ne: value = a != b; break;
	case Tok::Lt: value = is_signed ? sa < sb : a < b; break;
	case Tok::Le: value = is_signed ? sa <= sb : a <= b; break;
	case Tok::Gt: value = is_signed ? sa > sb : a > b; break;
	case Tok::Ge: value = is_signed ? sa >= sb : a >= b; break;
	case Tok::LAnd: value = a && b; break;
	case Tok::LOr: value = a || b; break;
	case Tok::LXor: value = !a != !b; break;
	default: return;
	}
	node->kind = Nk::Int;
	node->value = value;
	node->a = node->b = nullptr;
}

} // namespace dfr::d