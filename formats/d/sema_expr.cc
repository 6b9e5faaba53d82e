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

std::string_view operator_text(Tok op) { return token_name(op); }

std::string Sema::type_text(const Node* node) {
	if (node->kind == Nk::AggName || node->kind == Nk::AggRef)
		return "<aggregation>";
	if (node->kind == Nk::Translated)
		return types_.text(node->type);
	return node->type ? types_.text(node->type) : "void";
}

void Sema::poison_at(Node* node, Place place, std::string_view tag, std::string message, std::string hint) {
	context_.error(tag, place, std::move(message), std::move(hint));
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
	Node* const out = context_.arena.make(Nk::Cast, value->place);
	out->cast = type;
	out->type = type;
	out->a = value;
	out->analyzed = true;
	out->user = value->user;
	out->writable = value->writable;
	fold(out);
	return out;
}

Node* Sema::hidden_call(uint32_t number, std::vector<Node*> arguments, TypeRef type, Place place) {
	Node* const out = context_.arena.make(Nk::Subr, place);
	out->subroutine = find_subroutine(number);
	out->list = std::move(arguments);
	out->type = type;
	out->analyzed = true;
	return out;
}

// Arrays and functions as values are their address.
void Sema::decay(Node* node) {
	if (types_.is_array(node->type)) {
		Node* const inner = context_.arena.copy(*node);
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

void Sema::analyze(Node* node) {
	if (node->analyzed || node->kind == Nk::Error)
		return;
	node->analyzed = true;
	if (depth_ > 400)
		return poison(node, "D_SYNTAX", "expression is nested too deeply", "an inline may refer to itself");
	depth_++;
	switch (node->kind) {
	case Nk::Int: case Nk::Float:
		break;
	case Nk::String:
		node->type = types_.string_type();
		break;
	case Nk::Name: name(node); break;
	case Nk::SelfKw: case Nk::ThisKw:
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
	case Nk::SizeofType: case Nk::SizeofExpr: size(node); break;
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
			poison(node, "D_OP_DYN", "operator " + std::string(operator_text(node->op)) +
			                             " cannot be applied to a translated value",
			       "use one of its members");
			return false;
		}
	}
	return true;
}

// -- floating point: operations become calls of the engine's soft float.

void Sema::to_double(Node*& node) {
	const TypeRef target = types_.basic("double");
	if (types_.is_float(node->type) && types_.size(node->type) == 8) {
		node->type = target;
		return;
	}
	if (node->kind == Nk::Float) {
		node->type = target;
		return;
	}
	if (node->kind == Nk::Int) {
		const bool is_signed = types_.is_signed(node->type);
		node->kind = Nk::Float;
		node->real = is_signed ? static_cast<double>(static_cast<int64_t>(node->value))
		                       : static_cast<double>(node->value);
		node->type = target;
		return;
	}
	const uint32_t number = types_.is_float(node->type)    ? DIF_SUBR_F_FROM_F32
	                        : types_.is_signed(node->type) ? DIF_SUBR_F_FROM_I64
	                                                       : DIF_SUBR_F_FROM_U64;
	node = hidden_call(number, {node}, target, node->place);
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
	// f_cmp gives -1, 0, 1, or 2 for unordered, which must fail all but !=.
	Node* const order = hidden_call(number, {node->a, node->b}, types_.int_type(), node->place);
	const auto literal = [&](int64_t value) {
		Node* const out = context_.arena.make(Nk::Int, node->place);
		out->value = value;
		out->type = types_.int_type();
		out->analyzed = true;
		return out;
	};
	node->type = types_.int_type();
	node->a = order;
	switch (node->op) {
	case Tok::Eq: case Tok::Ne:
		node->b = literal(0);
		break;
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

// -- unary

void Sema::unary(Node* node) {
	switch (node->op) {
	case Tok::Inc: case Tok::Dec:
		return increment(node);
	case Tok::And:
		return address(node);
	default:
		break;
	}
	if (!operands(node))
		return;
	switch (node->op) {
	case Tok::Star:
		return dereference(node);
	case Tok::Not:
		decay(node->a);
		if (types_.is_float(node->a->type)) {
			Node* const zero = context_.arena.make(Nk::Float, node->place);
			zero->type = types_.basic("double");
			node->kind = Nk::Binary;
			node->op = Tok::Eq;
			node->b = zero;
			return float_operation(node);
		}
		if (!types_.is_string(node->a->type) && !need_scalar(node, node->a))
			return;
		node->type = types_.int_type();
		return fold(node);
	case Tok::Tilde:
		if (!need_integer(node, node->a))
			return;
		node->type = node->a->type;
		return fold(node);
	default:
		return negate(node);
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
		return poison(node, "D_DEREF_VOID", "cannot dereference pointer to void", "cast it to a typed pointer first");
	if (types_.is_function(to))
		return poison(node, "D_DEREF_FUNC", "cannot dereference pointer to function", "its address is its value");
	node->type = to;
	node->lvalue = true;
	node->user = node->a->user;
	node->writable = node->a->writable;
}

void Sema::address(Node* node) {
	Node* const operand = node->a;
	if (operand->kind == Nk::Name && operand->text.find('`') != std::string::npos) {
		analyze(operand);
		if (poisoned(operand)) {
			node->kind = Nk::Error;
			return;
		}
		node->type = types_.pointer_to(operand->untyped ? types_.void_type() : operand->type);
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
		return poison(node, "D_ADDROF_BITFIELD", "cannot take address of bit-field", "bits have no address");
	if (!operand->lvalue || operand->kind == Nk::Translated)
		return poison(node, "D_ADDROF_LVAL", "operator & requires an operand that is an object in memory",
		              "this is a value without an address");
	node->type = types_.pointer_to(operand->type);
	node->user = operand->user;
	node->writable = operand->writable;
}

void Sema::increment(Node* node) {
	Node* const operand = node->a;
	if (creatable(operand))
		create(operand, types_.named("int64_t"), false);
	analyze(operand);
	if (poisoned(operand)) {
		node->kind = Nk::Error;
		return;
	}
	check_lvalue(node, operand);
	if (poisoned(node) || !need_scalar(node, operand))
		return;
	if (types_.is_pointer(operand->type) && !types_.size(types_.target(operand->type)))
		return poison(node, "D_OP_INCOMPLETE",
		              "operator " + std::string(operator_text(node->op)) + " cannot be applied to a pointer to an incomplete type",
		              "cast it to a pointer with a sized target");
	node->type = operand->type;
}

// -- binary

void Sema::binary(Node* node) {
	if (!operands(node))
		return;
	switch (node->op) {
	case Tok::Comma:
		node->type = node->b->type;
		return;
	case Tok::LAnd: case Tok::LOr: case Tok::LXor:
		return logical(node);
	case Tok::Eq: case Tok::Ne: case Tok::Lt: case Tok::Le: case Tok::Gt: case Tok::Ge:
		return comparison(node);
	case Tok::Plus: case Tok::Minus:
		return additive(node);
	default:
		return arithmetic(node);
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
	if ((node->op == Tok::Slash || node->op == Tok::Percent) && node->b->kind == Nk::Int && !node->b->value)
		return poison_at(node, node->b->place, "D_DIV_ZERO", "expression contains division by zero",
		                 "the divisor is the constant 0");
	const bool shift = node->op == Tok::Shl || node->op == Tok::Shr;
	node->type = shift ? (types_.info(node->a->type).kind == Kind::Enum ? types_.int_type() : node->a->type)
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
			return poison(node, "D_OP_INCOMPAT", "operands have incompatible pointer types: \"" + type_text(node->a) +
			                                         "\" - \"" + type_text(node->b) + "\"",
			              "cast one to the other's type, or both to uintptr_t");
	} else if ((pointer_a && pointer_b) || (!pointer_a && node->op == Tok::Minus) ||
	           !types_.is_integer(other->type)) {
		return poison(node, "D_OP_INCOMPAT", "operator " + op + " cannot combine types \"" + type_text(node->a) + "\" and \"" +
		                                         type_text(node->b) + "\"",
		              "a pointer takes an integer");
	}
	const TypeRef to = types_.target(pointer->type);
	if (types_.is_function(to))
		return poison(node, "D_OP_ARRFUN", "operator " + op + " cannot be applied to a pointer to a function",
		              "cast it to uintptr_t");
	if (!types_.is_void(to) && !types_.size(to))
		return poison(node, "D_OP_INCOMPLETE", "operator " + op + " cannot be applied to a pointer to incomplete type \"" +
		                                           types_.text(to) + "\"",
		              "cast it to uintptr_t, or name the complete type");
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
			return poison(node, "D_OP_INCOMPAT", "operands have incompatible types: \"" + type_text(a) + "\" " +
			                                         std::string(operator_text(node->op)) + " \"" + type_text(b) + "\"",
			              "convert the number with lltostr(), or the address with stringof()");
		if (a->kind == Nk::String && b->kind == Nk::String) {
			const int order = std::strncmp(a->text.c_str(), b->text.c_str(), types_.string_size());
			a = cast_to(types_.int_type(), a);
			*a = Node{};
			a->kind = Nk::Int;
			a->value = static_cast<int64_t>(order);
			a->type = types_.int_type();
			*b = *a;
			b->value = 0;
			return fold(node);
		}
		return;
	}
	decay(a);
	decay(b);
	if (types_.is_struct(a->type) || types_.is_struct(b->type))
		return poison(node, "D_OP_SOU", "operator " + std::string(operator_text(node->op)) + " cannot compare structs or unions",
		              "compare their members");
	if (types_.is_float(a->type) || types_.is_float(b->type)) {
		if (need_arithmetic(node, a) && need_arithmetic(node, b))
			float_operation(node);
		return;
	}
	const bool function_a = types_.is_function(a->type), function_b = types_.is_function(b->type);
	if ((!function_a && !need_scalar(node, a)) || poisoned(node) || (!function_b && !need_scalar(node, b)))
		return;
	const bool pointer_a = types_.is_pointer(a->type), pointer_b = types_.is_pointer(b->type);
	if (pointer_a && pointer_b) {
		const TypeRef to_a = types_.target(a->type), to_b = types_.target(b->type);
		if (!types_.is_void(to_a) && !types_.is_void(to_b) && !types_.same(to_a, to_b))
			return poison(node, "D_OP_INCOMPAT", "operands have incompatible pointer types: \"" + type_text(a) + "\" " +
			                                         std::string(operator_text(node->op)) + " \"" + type_text(b) + "\"",
			              "cast one of them");
	}
	fold(node);
}

void Sema::logical(Node* node) {
	for (Node** const operand : {&node->a, &node->b}) {
		decay(*operand);
		if (types_.is_float((*operand)->type)) {
			Node* const test = context_.arena.make(Nk::Binary, (*operand)->place);
			test->op = Tok::Ne;
			test->a = *operand;
			test->b = context_.arena.make(Nk::Float, (*operand)->place);
			test->b->type = types_.basic("double");
			test->analyzed = true;
			float_operation(test);
			*operand = test;
		}
		if (!types_.is_string((*operand)->type) && !need_scalar(node, *operand))
			return;
	}
	node->type = types_.int_type();
	fold(node);
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
	if (!types_.is_scalar(node->a->type) && !types_.is_string(node->a->type))
		return poison_at(node, node->a->place, "D_OP_SCALAR", "operator ?: expression must be of scalar type",
		                 "it has type " + type_text(node->a));
	if (node->b->kind == Nk::Translated || node->c->kind == Nk::Translated)
		return poison(node, "D_OP_DYN", "operator ?: cannot choose between translated values", "choose between their members");
	Node *&b = node->b, *&c = node->c;
	decay(b);
	decay(c);
	const bool string_b = types_.is_string(b->type), string_c = types_.is_string(c->type);
	if ((string_b || string_c) && (types_.is_string_like(b->type) || is_null(b)) &&
	    (types_.is_string_like(c->type) || is_null(c))) {
		node->type = types_.string_type();
	} else if (types_.is_integer(b->type) && types_.is_integer(c->type)) {
		node->type = types_.promote(b->type, c->type);
	} else if (types_.is_arithmetic(b->type) && types_.is_arithmetic(c->type)) {
		to_double(b);
		to_double(c);
		node->type = types_.basic("double");
	} else if (types_.is_pointer(b->type) && (types_.is_pointer(c->type) || is_null(c))) {
		if (types_.is_pointer(c->type) && !types_.same(b->type, c->type) &&
		    !types_.is_void(types_.target(b->type)) && !types_.is_void(types_.target(c->type)))
			return poison(node, "D_OP_INCOMPAT", "operator ?: operands must have compatible types",
			              "they are \"" + type_text(b) + "\" and \"" + type_text(c) + "\"");
		node->type = b->type;
	} else if (types_.is_pointer(c->type) && is_null(b)) {
		node->type = c->type;
	} else if (types_.is_struct(b->type) && types_.same(b->type, c->type)) {
		node->type = b->type;
	} else if (types_.is_void(b->type) && types_.is_void(c->type)) {
		node->type = b->type;
	} else {
		return poison(node, "D_OP_INCOMPAT", "operator ?: operands must have compatible types",
		              "they are \"" + type_text(b) + "\" and \"" + type_text(c) + "\"");
	}
	node->user = b->user || c->user;
	if (node->a->kind == Nk::Int) {
		Node* const chosen = node->a->value ? b : c;
		const TypeRef type = node->type;
		if (chosen->kind == Nk::Int || chosen->kind == Nk::String) {
			*node = *chosen;
			node->type = type;
		}
	}
}

// -- assignment

void Sema::check_lvalue(Node* node, Node* left) {
	const std::string op(operator_text(node->op));
	if (left->kind == Nk::BuiltinVar)
		return poison(node, "D_OP_WRITE", "operator " + op + " can only be applied to a writable variable",
		              std::string(left->builtin->name) + " is a built-in variable");
	if (!left->lvalue)
		return poison(node, "D_OP_LVAL", "operator " + op + " requires modifiable lvalue as an operand",
		              "only variables, and memory of alloca() and copyin(), can be assigned");
	if (!left->writable)
		return poison(node, "D_OP_WRITE", "operator " + op + " can only be applied to a writable variable",
		              "kernel and user memory cannot be changed from D");
}

bool Sema::convertible(TypeRef to, const Node* from) {
	const TypeRef type = from->type;
	if (from->kind == Nk::Translated)
		return false;
	if (types_.is_string(to))
		return types_.is_string_like(type) || is_null(from);
	if (types_.is_arithmetic(to) && types_.is_arithmetic(type))
		return true;
	if (types_.is_pointer(to)) {
		if (is_null(from))
			return true;
		if (types_.is_array(type))
			return types_.is_void(types_.target(to)) || types_.same(types_.target(to), types_.target(type));
		if (types_.is_function(type))
			return true;
		if (!types_.is_pointer(type))
			return false;
		const TypeRef a = types_.target(to), b = types_.target(type);
		return types_.is_void(a) || types_.is_void(b) || types_.same(a, b);
	}
	if (types_.is_struct(to) || types_.is_array(to))
		return types_.same(to, type) || (types_.is_char_array(to) && types_.is_string_like(type));
	return false;
}

void Sema::assign(Node* node) {
	Node* const left = node->a;
	if (left->kind == Nk::AggName)
		return poison(node, "D_AGG_FUNC", "an aggregation is assigned by a statement of its own",
		              "write: @" + left->text + " = count();");
	if (node->op != Tok::Assign) {
		if (creatable(left))
			create(left, types_.named("int64_t"), false);
		analyze(left);
		analyze(node->b);
	} else {
		analyze(node->b);
		// The variable exists from here on, whatever is wrong with its value.
		if (poisoned(node->b) && creatable(left))
			create(left, types_.int_type(), false);
		if (!poisoned(node->b) && creatable(left)) {
			Node* const value = node->b;
			if (value->kind == Nk::Translated)
				return poison(node, "D_OP_DYN", "a translated value cannot be assigned", "assign one of its members");
			if (types_.is_void(value->type) || !value->type)
				return poison(node, "D_OP_INCOMPAT", "a value of type void cannot be assigned",
				              "the right-hand side has no value");
			create(left, value->type, value->user);
		}
		analyze(left);
	}
	if (poisoned(left) || poisoned(node->b)) {
		node->kind = Nk::Error;
		return;
	}
	check_lvalue(node, left);
	if (!poisoned(node))
		assign_value(node);
}

void Sema::assign_value(Node* node) {
	Node* const left = node->a;
	node->type = left->type;
	if (node->op == Tok::Assign) {
		if (!convertible(left->type, node->b))
			return poison(node, "D_OP_INCOMPAT", "operands have incompatible types: \"" + type_text(left) + "\" = \"" +
			                                         type_text(node->b) + "\"",
			              "the first assignment or declaration has fixed the type; cast the value");
		if (types_.is_pointer(left->type))
			decay(node->b);
		if (types_.is_float(left->type) || types_.is_float(node->b->type))
			node->b = [&] {
				Node* const converted = cast_to(left->type, node->b);
				converted->analyzed = false;
				analyze(converted);
				return converted;
			}();
		return;
	}
	// x op= y computes x op y.
	static constexpr std::pair<Tok, Tok> kOperations[] = {
	    {Tok::AddEq, Tok::Plus}, {Tok::SubEq, Tok::Minus}, {Tok::MulEq, Tok::Star}, {Tok::DivEq, Tok::Slash},
	    {Tok::ModEq, Tok::Percent}, {Tok::AndEq, Tok::And}, {Tok::XorEq, Tok::Xor}, {Tok::OrEq, Tok::Or},
	    {Tok::ShlEq, Tok::Shl}, {Tok::ShrEq, Tok::Shr}};
	Node* const value = context_.arena.make(Nk::Binary, node->place);
	for (const auto& [compound, plain] : kOperations) {
		if (compound == node->op)
			value->op = plain;
	}
	value->a = left;
	value->b = node->b;
	analyze(value);
	if (poisoned(value)) {
		node->kind = Nk::Error;
		return;
	}
	if (!convertible(left->type, value))
		return poison(node, "D_OP_INCOMPAT", "operands have incompatible types: \"" + type_text(left) + "\" " +
		                                         std::string(operator_text(node->op)) + " \"" + type_text(node->b) + "\"",
		              "cast the value");
	node->op = Tok::Assign;
	node->b = value;
	if (types_.is_float(value->type) && !types_.is_float(left->type)) {
		node->b = cast_to(left->type, value);
		node->b->analyzed = false;
		analyze(node->b);
	}
}

// -- access

void Sema::index(Node* node) {
	Node* const base = node->a;
	if (base->kind == Nk::Name || (base->kind == Nk::Member && base->arrow &&
	                               (base->a->kind == Nk::SelfKw || base->a->kind == Nk::ThisKw))) {
		// Associative arrays, built-in arrays and inline arrays take the whole list.
		if (base->kind == Nk::Name) {
			if (creatable(base))
				from_library(base->text);
			const auto def = context_.scope.inlines.find(base->text);
			if (def != context_.scope.inlines.end() && def->second.array && !bound(base->text))
				return expand(node, def->second, node->list);
			const Builtin* const known = find_builtin(base->text);
			if (known && known->array) {
				node->builtin = known;
				return known->id == DIF_VAR_ARGS ? args_element(node) : uregs_element(node);
			}
		}
		const uint8_t scope = base->kind == Nk::Name         ? DIF_VS_GLOBAL
		                      : base->a->kind == Nk::SelfKw ? DIF_VS_THREAD
		                                                    : DIF_VS_LOCAL;
		Variable* const variable = context_.scope.find_variable(scope, base->text);
		if (variable && variable->assoc)
			return assoc(node, variable);
	}
	analyze(base);
	for (Node* const key : node->list)
		analyze(key);
	if (poisoned(base)) {
		node->kind = Nk::Error;
		return;
	}
	for (Node* const key : node->list) {
		if (poisoned(key)) {
			node->kind = Nk::Error;
			return;
		}
	}
	const bool array = types_.is_array(base->type);
	if (!array && !types_.is_pointer(base->type) && !types_.is_string(base->type)) {
		if (base->kind == Nk::Var)
			return poison(node, "D_ARR_BADREF", "improper reference to scalar variable " + base->variable->name + " as an array",
			              "it was first used without [ ]");
		return poison(node, "D_OP_PTR", "operator [] requires an array or a pointer", "this has type " + type_text(base));
	}
	if (node->list.size() != 1)
		return poison(node, "D_ARR_BADREF", "an array has one index, not " + std::to_string(node->list.size()),
		              "for several dimensions write [a][b]");
	Node* const at = node->list[0];
	if (!types_.is_integer(at->type))
		return poison_at(node, at->place, "D_OP_INT", "an array's index must be an integer", "this has type " + type_text(at));
	const uint64_t count = array ? types_.info(base->type).count : 0;
	if (array && count && at->kind == Nk::Int && at->value >= count)
		return poison_at(node, at->place, "D_ARR_BOUNDS", "index outside array bounds: " + std::to_string(static_cast<int64_t>(at->value)) +
		                                                      ", max is " + std::to_string(count - 1),
		                 "arrays count from 0");
	const bool lvalue_base = !types_.is_string(base->type);
	const bool writable = base->writable, user = base->user;
	// base[i] is *(base + i).
	Node* const sum = context_.arena.make(Nk::Binary, node->place);
	sum->op = Tok::Plus;
	sum->a = base;
	sum->b = at;
	sum->analyzed = true;
	const TypeRef element = types_.is_string(base->type) ? types_.basic("char") : types_.target(base->type);
	if (!types_.size(element))
		return poison(node, "D_OP_INCOMPLETE", "elements of type \"" + types_.text(element) + "\" have no known size",
		              "cast the pointer first");
	sum->type = types_.pointer_to(element);
	node->kind = Nk::Unary;
	node->op = Tok::Star;
	node->a = sum;
	node->list.clear();
	node->type = element;
	node->lvalue = lvalue_base;
	node->writable = writable && lvalue_base;
	node->user = user;
}

void Sema::member(Node* node) {
	if (node->a->kind == Nk::SelfKw || node->a->kind == Nk::ThisKw)
		return scoped_variable(node, node->a->kind == Nk::SelfKw ? DIF_VS_THREAD : DIF_VS_LOCAL);
	analyze(node->a);
	if (poisoned(node->a)) {
		node->kind = Nk::Error;
		return;
	}
	if (node->a->kind == Nk::Translated)
		return translated_member(node);
	TypeRef object = node->a->type;
	if (node->arrow) {
		if (!types_.is_pointer(object))
			return poison(node, "D_OP_PTR", "operator -> must be applied to a pointer",
			              "this has type " + type_text(node->a) + (types_.is_struct(object) ? "; use ." : ""));
		object = types_.target(object);
	}
	if (!types_.is_struct(object))
		return poison(node, "D_OP_SOU", "operator " + std::string(node->arrow ? "->" : ".") +
		                                    " cannot be applied to type \"" + types_.text(object) + "\"; must be applied to a struct or union",
		              types_.is_pointer(object) && !node->arrow ? "use -> with a pointer" : "");
	object = types_.complete(object);
	const auto found = types::find_member(types::resolve(object), node->text);
	if (!found) {
		if (types::resolved_kind(object) == Kind::Forward)
			return poison(node, "D_OP_INCOMPLETE", "operator " + std::string(node->arrow ? "->" : ".") +
			                                           " cannot be applied to forward declaration of \"" + types_.text(object) + "\"",
			              "its members are not known");
		std::vector<std::string> owned;
		const TypeRef bare = types::resolve(object);
		const uint64_t count = types::info(bare).count;
		for (uint64_t i = 0; i < count; i++)
			owned.emplace_back(bare.container->member(bare.id, i).name);
		std::vector<std::string_view> names(owned.begin(), owned.end());
		return poison(node, "D_TYPE_MEMBER", node->text + " is not a member of " + types_.text(types::unqualified(object)),
		              suggestion(node->text, names));
	}
	node->bit_offset = found->bit_offset;
	node->bit_width = found->bit_width;
	node->type = found->type;
	node->lvalue = true;
	node->user = node->a->user;
	node->writable = node->a->writable;
}

void Sema::cast(Node* node) {
	analyze(node->a);
	if (poisoned(node->a)) {
		node->kind = Nk::Error;
		return;
	}
	const TypeRef to = node->cast;
	Node*& from = node->a;
	if (from->kind == Nk::Translated)
		return poison(node, "D_OP_DYN", "a translated value cannot be cast", "cast one of its members");
	node->type = to;
	node->user |= from->user;
	node->writable = from->writable;
	if (types_.is_string(to)) {
		node->kind = Nk::Stringof;
		return stringof(node);
	}
	if (types_.is_void(to))
		return;
	decay(from);
	const bool function = types_.is_function(from->type);
	if (types_.is_arithmetic(to) && types_.is_arithmetic(from->type)) {
		const bool float_to = types_.is_float(to), float_from = types_.is_float(from->type);
		if (float_to) {
			const bool single = types_.size(to) == 4;
			if (float_from && types_.size(from->type) == types_.size(to)) {
				*node = *context_.arena.copy(*from);
				return;
			}
			to_double(from);
			if (single && from->kind != Nk::Float) {
				*node = *hidden_call(DIF_SUBR_F_TO_F32, {from}, to, node->place);
				return;
			}
			*node = *context_.arena.copy(*from);
			node->type = to;
			if (single)
				node->real = static_cast<float>(node->real);
			return;
		}
		if (float_from) {
			to_double(from);
			const bool is_signed = types_.is_signed(to) || types_.size(to) < 8;
			if (from->kind == Nk::Float) {
				const double value = from->real;
				node->kind = Nk::Int;
				// As the engine converts: what does not fit becomes the nearest that does.
				if (!(value == value))
					node->value = 0;
				else if (is_signed)
					node->value = value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? static_cast<uint64_t>(INT64_MIN) : static_cast<uint64_t>(static_cast<int64_t>(value));
				else
					node->value = value >= 0x1p64 ? UINT64_MAX : value <= -1 ? 0 : static_cast<uint64_t>(value);
				node->a = nullptr;
				return;
			}
			from = hidden_call(is_signed ? DIF_SUBR_F_TO_I64 : DIF_SUBR_F_TO_U64, {from},
			                   types_.named(is_signed ? "int64_t" : "uint64_t"), node->place);
		}
		return fold(node);
	}
	const bool scalar_from = types_.is_scalar(from->type) || function || types_.is_string(from->type);
	if (types_.is_scalar(to) && scalar_from) {
		if (types_.is_string(from->type) && !types_.is_pointer(to))
			return poison(node, "D_CAST_INVAL", "invalid cast expression: \"" + type_text(from) + "\" to a type of \"" + types_.text(to) + "\"",
			              "strtoll() reads a number from a string");
		return fold(node);
	}
	if (types_.is_struct(to) && types_.same(to, from->type)) {
		return;
	}
	poison(node, "D_CAST_INVAL", "invalid cast expression: \"" + type_text(from) + "\" to a type of \"" + types_.text(to) + "\"",
	       "only scalars can be cast, and strings from and to addresses");
}

void Sema::size(Node* node) {
	TypeRef type = node->cast;
	if (node->kind == Nk::SizeofExpr) {
		analyze(node->a);
		if (poisoned(node->a)) {
			node->kind = Nk::Error;
			return;
		}
		type = node->a->type;
		if (node->a->kind == Nk::Member && node->a->bit_width)
			return poison(node, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field", "bits have no size in bytes");
		if (node->a->kind == Nk::Translated || node->a->untyped)
			return poison(node, "D_SIZEOF_TYPE", "cannot apply sizeof to a value without a type of its own", "name the type");
	}
	if (types_.is_function(type) || types_.is_void(type) || (!types_.size(type) && !types_.info(type).count))
		return poison(node, "D_SIZEOF_TYPE", "cannot apply sizeof to an object of type \"" + types_.text(type) + "\"",
		              "it is incomplete: its size is not known");
	const uint64_t value = types_.size(type);
	node->kind = Nk::Int;
	node->value = value;
	node->type = types_.named("size_t");
	node->a = nullptr;
}

void Sema::offset(Node* node) {
	const TypeRef type = types_.complete(node->cast);
	if (!types_.is_struct(type))
		return poison(node, "D_OFFSETOF_TYPE", "offsetof operand must be a struct or union type", "this is " + types_.text(type));
	const auto found = types::find_member(types::resolve(type), node->text);
	if (!found)
		return poison(node, "D_TYPE_MEMBER", node->text + " is not a member of " + types_.text(type), "");
	if (found->bit_width)
		return poison(node, "D_OFFSETOF_BITFIELD", "cannot take offset of a bit-field: " + node->text, "bits have no byte offset");
	node->kind = Nk::Int;
	node->value = found->bit_offset / 8;
	node->type = types_.named("size_t");
}

void Sema::stringof(Node* node) {
	analyze(node->a);
	if (poisoned(node->a)) {
		node->kind = Nk::Error;
		return;
	}
	Node* const from = node->a;
	if (from->kind == Nk::Translated || !(types_.is_string_like(from->type) || types_.is_scalar(from->type) ||
	                                      types_.is_array(from->type)))
		return poison(node, "D_STRINGOF_TYPE", "cannot apply stringof to a value of type " + type_text(from),
		              "it takes strings, char pointers and arrays, and addresses");
	if (from->kind == Nk::String || types_.is_string(from->type)) {
		const Place place = node->place;
		*node = *context_.arena.copy(*from);
		node->place = place;
		return;
	}
	node->kind = Nk::Stringof;
	node->type = types_.string_type();
	node->user = false;
	if (from->user) {
		// A user pointer's text has to be copied in.
		*node = *hidden_call(DIF_SUBR_COPYINSTR, {from}, types_.string_type(), node->place);
	}
}

// -- constants

void Sema::fold(Node* node) {
	const auto is_int = [](const Node* one) { return one->kind == Nk::Int; };
	if (node->kind == Nk::Cast) {
		if (!is_int(node->a) || !types_.is_integer(node->type))
			return;
		const uint64_t bytes = types_.size(node->type);
		uint64_t value = node->a->value;
		if (bytes && bytes < 8) {
			const unsigned shift = 64 - bytes * 8;
			value = types_.is_signed(node->type) ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift)
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
	case Tok::Shr: value = types_.is_signed(node->a->type) ? static_cast<uint64_t>(sa >> (b & 63)) : a >> (b & 63); break;
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
