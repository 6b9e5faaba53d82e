// SPDX-License-Identifier: GPL-2.0
//
// Analysis of operators. Types follow D, not C: the operand of higher rank (bits,
// unsigned one higher) gives the type, and what is smaller than int is not
// promoted first.
#include "formats/d/sema.h"

#include <cstring>

namespace dfr::d {

using types::Kind;
using types::TypeRef;

std::string_view operator_text(Tok op) {
	return token_name(op);
}

std::string Sema::type_text(const Node* node) {
	if (node->kind == Nk::AggName || node->kind == Nk::AggRef)
		return "<aggregation>";
	if (node->kind == Nk::Translated)
		return "translated " + types_.text(node->type);
	return node->type ? types_.text(node->type) : "void";
}

void Sema::poison_at(Node* node, Place place, std::string_view tag, std::string message, std::string hint) {
	compilation_.error(tag, place, std::move(message), std::move(hint));
	node->kind = Nk::Error;
}

void Sema::poison(Node* node, std::string_view tag, std::string message, std::string hint) {
	poison_at(node, node->place, tag, std::move(message), std::move(hint));
}

bool Sema::is_null(const Node* node) const {
	if (node->kind == Nk::Cast && node->a)
		return is_null(node->a);
	return node->kind == Nk::Int && node->value == 0;
}

Node* Sema::cast_to(TypeRef type, Node* value) {
	Node* const out = compilation_.arena.make(Nk::Cast, value->place);
	out->cast = type;
	out->type = type;
	out->a = value;
	out->analyzed = true;
	out->user = value->user;
	out->writable = value->writable;
	fold(out);
	return out;
}

Node* Sema::converted(TypeRef type, Node* value) {
	Node* const out = cast_to(type, value);
	out->analyzed = false;
	analyze(out);
	return out;
}

Node* Sema::hidden_call(uint32_t number, std::vector<Node*> arguments, TypeRef type, Place place) {
	Node* const out = compilation_.arena.make(Nk::Subr, place);
	out->subroutine = find_subroutine(number);
	out->list = std::move(arguments);
	out->type = type;
	out->analyzed = true;
	return out;
}

// Size or layout of the type matter to the clause. A pointer's do not.
void Sema::rely_on(TypeRef type) {
	for (type = types::resolve(type); types::info(type).kind == Kind::Array;)
		type = types::resolve(types::info(type).target);
	const Kind kind = types::info(type).kind;
	if (!type || type.container == &types_.program() || kind == Kind::Pointer || kind == Kind::Function)
		return;
	compilation_.kernel_types = true;
	compilation_.result.kernel_types.insert(type);
}

// Arrays and functions as values are their address.
void Sema::decay(Node* node) {
	if (types_.is_array(node->type)) {
		Node* const inner = compilation_.arena.copy(*node);
		const Place place = node->place;
		const bool user = node->user, writable = node->writable;
		*node = Node{};
		node->kind = Nk::Cast;
		node->place = place;
		node->a = inner;
		node->type = node->cast = types_.pointer_to(types_.target(inner->type));
		node->analyzed = true;
		node->user = user;
		node->writable = writable;
	}
}

// What a pointer points to, as far as the text tells: kScratch, kOtherMemory, both (it depends), or nothing.
unsigned Sema::memory_of(const Node* node) {
	// A pointer that is loaded from scratch memory may be any.
	const auto loaded = [this](const Node* from) { return memory_of(from) & kOtherMemory; };
	switch (node->kind) {
	case Nk::Int: return node->value ? kOtherMemory : 0;
	case Nk::String:
	case Nk::Symbol:
	case Nk::BuiltinVar: return kOtherMemory;
	case Nk::Var:
		return types_.is_array(node->type) || types_.is_struct(node->type) ? kOtherMemory
		                                                                   : node->variable->memory;
	case Nk::Subr: return node->subroutine->flags & kWritable ? kScratch : kOtherMemory;
	case Nk::Cast: return memory_of(node->a);
	case Nk::Assign: return memory_of(node->b);
	case Nk::Ternary: return memory_of(node->b) | memory_of(node->c);
	case Nk::Member: return types_.is_by_ref(node->type) ? memory_of(node->a) : loaded(node->a);
	case Nk::Unary:
		if (node->op == Tok::Star)
			return types_.is_by_ref(node->type) ? memory_of(node->a) : loaded(node->a);
		return node->op == Tok::And && node->a->kind == Nk::Member  ? memory_of(node->a->a)
		       : node->op == Tok::And && node->a->kind == Nk::Unary ? memory_of(node->a->a)
		                                                            : memory_of(node->a);
	case Nk::Binary:
		if (node->op == Tok::Comma)
			return memory_of(node->b);
		return types_.is_pointer(node->a->type) || node->b->kind == Nk::Int   ? memory_of(node->a)
		       : types_.is_pointer(node->b->type) || node->a->kind == Nk::Int ? memory_of(node->b)
		                                                                      : 0;
	default: return 0;
	}
}

void Sema::analyze(Node* node) {
	if (node->analyzed || node->kind == Nk::Error)
		return;
	node->analyzed = true;
	if (depth_ > kDeepest)
		return poison(node, "D_SYNTAX", "expression is nested too deeply",
		              "an inline may refer to itself");
	depth_++;
	switch (node->kind) {
	case Nk::Int:
	case Nk::Float: break;
	case Nk::String: node->type = types_.string_type(); break;
	case Nk::Name: name(node); break;
	case Nk::SelfKw:
	case Nk::ThisKw:
		poison(node, "D_SYNTAX", "self and this are used with -> and a variable's name");
		break;
	case Nk::AggName:
		poison(node, "D_AGG_SCALAR", "aggregation @" + node->text + " cannot be used as a value",
		       "aggregations are assigned and printed (printa), not read");
		break;
	case Nk::Call: call(node); break;
	case Nk::Unary: unary(node); break;
	case Nk::Binary: binary(node); break;
	case Nk::Assign: assign(node); break;
	case Nk::Ternary: ternary(node); break;
	case Nk::Index: index(node); break;
	case Nk::Member: member(node); break;
	case Nk::Cast: cast(node); break;
	case Nk::SizeofType:
	case Nk::SizeofExpr: size(node); break;
	case Nk::Offsetof: offset(node); break;
	case Nk::Stringof: stringof(node); break;
	case Nk::Xlate: translate(node); break;
	default: break;
	}
	depth_--;
}

std::optional<int64_t> Sema::constant(Node* node) {
	analyze(node);
	if (node->kind != Nk::Int)
		return std::nullopt;
	return static_cast<int64_t>(node->value);
}

bool Sema::need_scalar(Node* node, Node* operand) {
	if (operand->kind != Nk::Translated && types_.is_scalar(operand->type))
		return true;
	poison(node, "D_OP_SCALAR",
	       "operator " + std::string(operator_text(node->op)) + " requires an operand of scalar type",
	       "this one has type " + type_text(operand));
	return false;
}

bool Sema::need_integer(Node* node, Node* operand) {
	if (operand->kind != Nk::Translated && types_.is_integer(operand->type))
		return true;
	poison(node, "D_OP_INT",
	       "operator " + std::string(operator_text(node->op)) + " requires operands of integral type",
	       "this one has type " + type_text(operand));
	return false;
}

bool Sema::need_arithmetic(Node* node, Node* operand) {
	if (operand->kind != Nk::Translated && types_.is_arithmetic(operand->type))
		return true;
	poison(node, "D_OP_ARITH",
	       "operator " + std::string(operator_text(node->op)) + " requires operands of arithmetic type",
	       "this one has type " + type_text(operand));
	return false;
}

bool Sema::operands(Node* node) {
	analyze(node->a);
	if (node->b)
		analyze(node->b);
	if (poisoned(node->a) || (node->b && poisoned(node->b))) {
		node->kind = Nk::Error;
		return false;
	}
	for (Node* const operand : {node->a, node->b}) {
		if (operand && operand->kind == Nk::Translated) {
			poison(node, "D_OP_DYN",
			       "operator " + std::string(operator_text(node->op)) +
			           " cannot be applied to a translated value",
			       "use one of its members");
			return false;
		}
	}
	return true;
}

// -- unary

void Sema::unary(Node* node) {
	switch (node->op) {
	case Tok::Inc:
	case Tok::Dec: return increment(node);
	case Tok::And: return address(node);
	default: break;
	}
	if (!operands(node))
		return;
	switch (node->op) {
	case Tok::Star: return dereference(node);
	case Tok::Not:
		decay(node->a);
		if (types_.is_float(node->a->type)) {
			Node* const zero = compilation_.arena.make(Nk::Float, node->place);
			zero->type = types_.basic("double");
			node->kind = Nk::Binary;
			node->op = Tok::Eq;
			node->b = zero;
			return float_operation(node);
		}
		if (!need_scalar(node, node->a))
			return;
		node->type = types_.int_type();
		return fold(node);
	case Tok::Tilde:
		if (!need_integer(node, node->a))
			return;
		node->type = node->a->type;
		return fold(node);
	default: return negate(node);
	}
}

void Sema::negate(Node* node) {
	if (!need_arithmetic(node, node->a))
		return;
	if (types_.is_float(node->a->type)) {
		const bool minus = node->op == Tok::Minus;
		to_double(node->a);
		if (node->a->kind == Nk::Float) {
			const double value = node->a->real;
			node->kind = Nk::Float;
			node->real = minus ? -value : value;
			node->type = types_.basic("double");
		} else if (minus) {
			*node = *hidden_call(DIF_SUBR_F_NEG, {node->a}, types_.basic("double"), node->place);
		} else {
			*node = *node->a;
		}
		return;
	}
	node->type = types_.info(node->a->type).kind == Kind::Enum ? types_.int_type() : node->a->type;
	fold(node);
}

void Sema::dereference(Node* node) {
	decay(node->a);
	const TypeRef type = node->a->type;
	if (!types_.is_pointer(type))
		return poison(node, "D_DEREF_NONPTR", "cannot dereference non-pointer type",
		              "the operand has type " + type_text(node->a));
	const TypeRef to = types_.target(type);
	if (types_.is_void(to))
		return poison(node, "D_DEREF_VOID", "cannot dereference pointer to void",
		              "cast it to a typed pointer first");
	if (types_.is_function(to))
		return poison(node, "D_DEREF_FUNC", "cannot dereference pointer to function",
		              "its address is its value");
	if (types::resolved_kind(types_.complete(to)) == Kind::Forward)
		return poison(node, "D_OP_INCOMPLETE",
		              "cannot dereference a pointer to forward declaration of \"" + types_.text(to) +
		                  "\"",
		              "its members are not known");
	rely_on(to);
	node->type = to;
	node->lvalue = true;
	node->user = node->a->user;
	node->writable = node->a->writable;
}

void Sema::address(Node* node) {
	Node* const operand = node->a;
	if (operand->kind == Nk::Name && operand->text.find('`') != std::string::npos) {
		address_only_ = true;
		analyze(operand);
		address_only_ = false;
		if (poisoned(operand)) {
			node->kind = Nk::Error;
			return;
		}
		node->type = types_.pointer_to(operand->type);
		return;
	}
	analyze(operand);
	if (poisoned(operand)) {
		node->kind = Nk::Error;
		return;
	}
	if (operand->kind == Nk::Var || operand->kind == Nk::BuiltinVar || operand->kind == Nk::Captured)
		return poison(node, "D_ADDROF_VAR", "cannot take address of dynamic variable or built-in",
		              "D variables have no address");
	if (operand->kind == Nk::Member && operand->bit_width)
		return poison(node, "D_ADDROF_BITFIELD", "cannot take address of bit-field",
		              "bits have no address");
	if (!operand->lvalue || operand->kind == Nk::Translated)
		return poison(node, "D_ADDROF_LVAL",
		              "operator & requires an operand that is an object in memory",
		              "this is a value without an address");
	node->type = types_.pointer_to(operand->type);
	node->user = operand->user;
	node->writable = operand->writable;
}

// -- binary

void Sema::binary(Node* node) {
	if (!operands(node))
		return;
	switch (node->op) {
	case Tok::Comma:
		node->type = node->b->type;
		node->user = node->b->user;
		node->writable = node->b->writable;
		return;
	case Tok::LAnd:
	case Tok::LOr:
	case Tok::LXor: return logical(node);
	case Tok::Eq:
	case Tok::Ne:
	case Tok::Lt:
	case Tok::Le:
	case Tok::Gt:
	case Tok::Ge: return comparison(node);
	case Tok::Plus:
	case Tok::Minus: return additive(node);
	default: return arithmetic(node);
	}
}

void Sema::arithmetic(Node* node) {
	const bool floating = types_.is_float(node->a->type) || types_.is_float(node->b->type);
	if (floating && (node->op == Tok::Star || node->op == Tok::Slash)) {
		if (need_arithmetic(node, node->a) && need_arithmetic(node, node->b))
			float_operation(node);
		return;
	}
	const bool product = node->op == Tok::Star || node->op == Tok::Slash;
	if (product && (!need_arithmetic(node, node->a) || !need_arithmetic(node, node->b)))
		return;
	if (!need_integer(node, node->a) || !need_integer(node, node->b))
		return;
	if ((node->op == Tok::Slash || node->op == Tok::Percent) && node->b->kind == Nk::Int &&
	    !node->b->value)
		return poison_at(node, node->b->place, "D_DIV_ZERO", "expression contains division by zero",
		                 "the divisor is the constant 0");
	const bool shift = node->op == Tok::Shl || node->op == Tok::Shr;
	node->type = shift
	                 ? (types_.info(node->a->type).kind == Kind::Enum ? types_.int_type() : node->a->type)
	                 : types_.promote(node->a->type, node->b->type);
	fold(node);
}

void Sema::additive(Node* node) {
	decay(node->a);
	decay(node->b);
	const bool pointer_a = types_.is_pointer(node->a->type);
	const bool pointer_b = types_.is_pointer(node->b->type);
	if (!pointer_a && !pointer_b) {
		if (types_.is_float(node->a->type) || types_.is_float(node->b->type)) {
			if (need_arithmetic(node, node->a) && need_arithmetic(node, node->b))
				float_operation(node);
			return;
		}
		return arithmetic(node);
	}
	const std::string op(operator_text(node->op));
	const bool difference = pointer_a && pointer_b && node->op == Tok::Minus;
	Node* const pointer = pointer_a ? node->a : node->b;
	Node* const other = pointer_a ? node->b : node->a;
	if (difference) {
		if (!types_.same(node->a->type, node->b->type))
			return poison(node, "D_OP_INCOMPAT",
			              "operands have incompatible pointer types: \"" + type_text(node->a) +
			                  "\" - \"" + type_text(node->b) + "\"",
			              "cast one to the other's type, or both to uintptr_t");
	} else if ((pointer_a && pointer_b) || (!pointer_a && node->op == Tok::Minus) ||
	           !types_.is_integer(other->type)) {
		return poison(node, "D_OP_INCOMPAT",
		              "operator " + op + " cannot combine types \"" + type_text(node->a) +
		                  "\" and \"" + type_text(node->b) + "\"",
		              "only an integer can be added to or subtracted from a pointer");
	}
	const TypeRef to = types_.target(pointer->type);
	if (types_.is_function(to))
		return poison(node, "D_OP_ARRFUN",
		              "operator " + op + " cannot be applied to a pointer to a function",
		              "cast it to uintptr_t");
	if (types_.is_void(to))
		return poison(node, "D_OP_VFPTR", "operator " + op + " cannot be applied to a void pointer",
		              "it has no elements to step over; cast it to char * for bytes");
	if (!types_.size(to))
		return poison(node, "D_OP_INCOMPLETE",
		              "operator " + op + " cannot be applied to a pointer to incomplete type \"" +
		                  types_.text(to) + "\"",
		              "cast it to uintptr_t, or name the complete type");
	rely_on(to);
	node->type = difference ? types_.named("ptrdiff_t") : pointer->type;
	node->user = !difference && pointer->user;
	node->writable = !difference && pointer->writable;
}

void Sema::comparison(Node* node) {
	Node *&a = node->a, *&b = node->b;
	node->type = types_.int_type();
	const bool strings = types_.is_string(a->type) || types_.is_string(b->type);
	if (strings) {
		const bool fits = (types_.is_string_like(a->type) || is_null(a)) &&
		                  (types_.is_string_like(b->type) || is_null(b));
		if (!fits)
			return poison(node, "D_OP_INCOMPAT",
			              "operands have incompatible types: \"" + type_text(a) + "\" " +
			                  std::string(operator_text(node->op)) + " \"" + type_text(b) + "\"",
			              "convert the number with lltostr(), or the address with stringof()");
		if (a->kind == Nk::String && b->kind == Nk::String) {
			const int order =
			    std::strncmp(a->text.c_str(), b->text.c_str(), types_.string_size());
			a = cast_to(types_.int_type(), a);
			*a = Node{};
			a->kind = Nk::Int;
			a->value = static_cast<int64_t>(order);
			a->type = types_.int_type();
			*b = *a;
			b->value = 0;
			return fold(node);
		}
		// A literal that is shorter than the array ends the comparison within it.
		const auto within = [&](const Node* array, const Node* other) {
			return other->kind == Nk::String && !array->user &&
			       other->text.size() < types_.size(array->type);
		};
		if (!within(a, b))
			to_text(a);
		if (!within(b, a))
			to_text(b);
		return;
	}
	decay(a);
	decay(b);
	if (types_.is_struct(a->type) || types_.is_struct(b->type))
		return poison(node, "D_OP_SOU",
		              "operator " + std::string(operator_text(node->op)) +
		                  " cannot compare structs or unions",
		              "compare their members");
	if (types_.is_float(a->type) || types_.is_float(b->type)) {
		if (need_arithmetic(node, a) && need_arithmetic(node, b))
			float_operation(node);
		return;
	}
	const bool function_a = types_.is_function(a->type), function_b = types_.is_function(b->type);
	if ((!function_a && !need_scalar(node, a)) || poisoned(node) ||
	    (!function_b && !need_scalar(node, b)))
		return;
	const bool pointer_a = types_.is_pointer(a->type), pointer_b = types_.is_pointer(b->type);
	if (pointer_a && pointer_b) {
		const TypeRef to_a = types_.target(a->type), to_b = types_.target(b->type);
		if (!types_.is_void(to_a) && !types_.is_void(to_b) && !types_.same(to_a, to_b))
			return poison(node, "D_OP_INCOMPAT",
			              "operands have incompatible pointer types: \"" + type_text(a) + "\" " +
			                  std::string(operator_text(node->op)) + " \"" + type_text(b) + "\"",
			              "cast one of them");
	}
	fold(node);
}

// Whether a floating-point value is not 0.
Node* Sema::not_zero(Node* value) {
	if (value->kind == Nk::Float) {
		value->kind = Nk::Int;
		value->value = value->real != 0;
		value->type = types_.int_type();
		return value;
	}
	Node* const test = compilation_.arena.make(Nk::Binary, value->place);
	test->op = Tok::Ne;
	test->a = value;
	test->b = compilation_.arena.make(Nk::Float, value->place);
	test->b->type = types_.basic("double");
	test->analyzed = true;
	float_operation(test);
	return test;
}

void Sema::logical(Node* node) {
	for (Node** const operand : {&node->a, &node->b}) {
		decay(*operand);
		if (types_.is_float((*operand)->type))
			*operand = not_zero(*operand);
		if (!need_scalar(node, *operand))
			return;
	}
	node->type = types_.int_type();
	fold(node);
}

// The type of a ? b : c; none: b and c do not fit together. Numbers may be converted.
TypeRef Sema::choice_type(Node*& b, Node*& c) {
	const bool string_b = types_.is_string(b->type), string_c = types_.is_string(c->type);
	if ((string_b || string_c) && (types_.is_string_like(b->type) || is_null(b)) &&
	    (types_.is_string_like(c->type) || is_null(c)))
		return types_.string_type();
	if (types_.is_integer(b->type) && types_.is_integer(c->type))
		return types_.promote(b->type, c->type);
	if (types_.is_arithmetic(b->type) && types_.is_arithmetic(c->type)) {
		to_double(b);
		to_double(c);
		return types_.basic("double");
	}
	if (types_.is_pointer(b->type) && (types_.is_pointer(c->type) || is_null(c))) {
		const bool differ = types_.is_pointer(c->type) && !types_.same(b->type, c->type) &&
		                    !types_.is_void(types_.target(b->type)) &&
		                    !types_.is_void(types_.target(c->type));
		return differ ? TypeRef() : b->type;
	}
	if (types_.is_pointer(c->type) && is_null(b))
		return c->type;
	const bool alike = (types_.is_struct(b->type) && types_.same(b->type, c->type)) ||
	                   (types_.is_void(b->type) && types_.is_void(c->type));
	return alike ? b->type : TypeRef();
}

void Sema::ternary(Node* node) {
	analyze(node->a);
	analyze(node->b);
	analyze(node->c);
	if (poisoned(node->a) || poisoned(node->b) || poisoned(node->c)) {
		node->kind = Nk::Error;
		return;
	}
	decay(node->a);
	if (node->a->kind == Nk::Translated)
		return poison_at(node, node->a->place, "D_OP_DYN",
		                 "operator ?: cannot have a translated value as its condition",
		                 "use one of its members");
	if (!types_.is_scalar(node->a->type))
		return poison_at(node, node->a->place, "D_OP_SCALAR",
		                 "operator ?: expression must be of scalar type",
		                 "it has type " + type_text(node->a));
	if (node->b->kind == Nk::Translated || node->c->kind == Nk::Translated)
		return poison(node, "D_OP_DYN", "operator ?: cannot choose between translated values",
		              "choose between their members");
	Node *&b = node->b, *&c = node->c;
	for (Node** const one : {&b, &c}) {
		Node* const other = one == &b ? c : b;
		if (types_.is_string(other->type) && types_.is_string_like((*one)->type))
			to_text(*one);
	}
	decay(b);
	decay(c);
	const TypeRef type = choice_type(b, c);
	if (!type)
		return poison(node, "D_OP_INCOMPAT", "operator ?: operands must have compatible types",
		              "they are \"" + type_text(b) + "\" and \"" + type_text(c) + "\"");
	node->type = type;
	const bool pointers = types_.is_pointer(node->type);
	const unsigned memory_b = memory_of(b), memory_c = memory_of(c);
	// What may be of both kinds can be either now.
	if (pointers && memory_b != memory_c && (memory_b == kScratch || memory_b == kOtherMemory) &&
	    (memory_c == kScratch || memory_c == kOtherMemory))
		return poison(node, "D_ALLOCA_INCOMPAT",
		              "operator ?: cannot choose between scratch memory and other memory",
		              "what points to memory of alloca() or copyin() may be written, other pointers "
		              "not: use if");
	node->user = b->user || c->user;
	node->writable = pointers && (b->writable || is_null(b)) && (c->writable || is_null(c));
	if (node->a->kind == Nk::Int) {
		Node* const chosen = node->a->value ? b : c;
		if (chosen->kind == Nk::Int || chosen->kind == Nk::String) {
			*node = *chosen;
			node->type = type;
		}
	}
}

} // namespace dfr::d
