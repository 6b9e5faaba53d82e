// SPDX-License-Identifier: GPL-2.0
//
// Analysis of what writes: assignments, ++ and --. What fits into which type, and
// that the place which is written is found once.
#include "formats/d/sema.h"

namespace dfr::d {

using types::TypeRef;

void Sema::check_lvalue(Node* node, Node* left) {
	const std::string op(operator_text(node->op));
	if (left->kind == Nk::BuiltinVar)
		return poison(node, "D_OP_WRITE",
		              "operator " + op + " can only be applied to a writable variable",
		              std::string(left->builtin->name) + " is a built-in variable");
	if (!left->lvalue)
		return poison(node, "D_OP_LVAL",
		              "operator " + op + " requires modifiable lvalue as an operand",
		              "only variables, and memory from alloca() and copyin(), can be assigned");
	if (!left->writable)
		return poison(node, "D_OP_WRITE",
		              "operator " + op + " can only be applied to a writable variable",
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
			return types_.is_void(types_.target(to)) ||
			       types_.same(types_.target(to), types_.target(type));
		if (types_.is_function(type) || (types_.is_string(type) && types_.is_char_pointer(to)))
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

// Whether a second evaluation would show, in variables or in what it costs.
static bool has_effects(const Node* node) {
	if (node->kind == Nk::Assign ||
	    (node->kind == Nk::Unary && (node->op == Tok::Inc || node->op == Tok::Dec)) ||
	    (node->kind == Nk::Subr && !(node->subroutine->flags & kPure)))
		return true;
	for (const Node* const child : {node->a, node->b, node->c}) {
		if (child && has_effects(child))
			return true;
	}
	for (const Node* const child : node->list) {
		if (has_effects(child))
			return true;
	}
	return false;
}

// Makes `node` an assignment of itself to a hidden clause-local; the result
// reads that again.
Node* Sema::keep(Node*& node, TypeRef type) {
	Variable* const made = new_variable(node, DIF_VS_LOCAL, "%keep" + std::to_string(kept_++));
	if (!made)
		return node;
	made->type = type;
	made->user = node->user;
	Node* const again = compilation_.arena.make(Nk::Var, node->place);
	again->analyzed = true;
	variable(again, made);
	Node* const set = compilation_.arena.make(Nk::Assign, node->place);
	set->op = Tok::Assign;
	set->a = again;
	set->b = node;
	set->type = type;
	set->user = node->user;
	set->writable = node->writable;
	set->analyzed = true;
	node = set;
	return again;
}

// x op= y and x++ read and write one place. `left` is for the reading, which
// comes first; the result is for the writing, and evaluates nothing twice that
// has effects (`always`: or might be changed in between).
Node* Sema::write_side(Node* left, bool always) {
	if (!always && !has_effects(left))
		return left;
	Node* const out = compilation_.arena.copy(*left);
	if (left->kind == Nk::Var) {
		for (size_t i = 0; i < left->list.size(); i++) {
			Node*& key = left->list[i];
			// Of integers all 64 bits, in which keys are compared.
			const TypeRef type = left->variable->keys[i];
			if (key->kind != Nk::Int && key->kind != Nk::String)
				out->list[i] =
				    keep(key, types_.is_integer(type) ? types_.named("int64_t") : type);
		}
	} else if (left->kind == Nk::Unary || (left->kind == Nk::Member && left->arrow)) {
		out->a = keep(left->a, left->a->type);
		left->a->lvalue = true; // a place that is written
	} else if (left->a) {
		out->a = write_side(left->a, true);
	}
	return out;
}

void Sema::no_array(Node* node, const Node* array) {
	poison(node, "D_OP_ARRFUN",
	       "operator " + std::string(operator_text(node->op)) + " cannot be applied to an array: \"" +
	           type_text(array) + "\"",
	       "assign its elements, or keep the text in a string");
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
		// The variable exists from here on, whatever is wrong with its value. In a trial it does not: the value's
		// type may be known later.
		if (poisoned(node->b) && !trying_ && creatable(left))
			create(left, types_.int_type(), false);
		if (!poisoned(node->b) && creatable(left)) {
			Node* const value = node->b;
			if (value->kind == Nk::Translated)
				return poison(node, "D_OP_DYN", "a translated value cannot be assigned",
				              "assign one of its members");
			if (types_.is_void(value->type) || !value->type)
				return poison(node, "D_OP_INCOMPAT",
				              "a value of type void cannot be assigned",
				              "the right-hand side has no value");
			if (types_.is_array(value->type) && !types_.is_char_array(value->type))
				return no_array(node, value);
			create(left,
			       types_.is_stored_string(value->type) ? types_.string_type() : value->type,
			       value->user);
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

// What a string in memory takes: a char array's text, and none from NULL, for it has no address of its own.
Node* Sema::text_of(Node* value) {
	const bool null = is_null(value);
	if (!null) {
		to_text(value);
		return value;
	}
	Node* const out = compilation_.arena.make(Nk::String, value->place);
	analyze(out);
	return out;
}

// x = y
void Sema::assign_plain(Node* node) {
	Node* const left = node->a;
	// A variable that was made from a char array is a text; a string in memory (a member, an element) is one of so
	// many chars.
	const bool made = left->kind == Nk::Var && !left->variable->declared;
	const bool string = left->kind != Nk::Var &&
	                    (types_.is_string(left->type) || types_.is_stored_string(left->type)) &&
	                    (types_.is_char_array(node->b->type) || !types_.is_array(node->b->type));
	if (types_.is_array(left->type) && !made && !string)
		return no_array(node, left);
	if (string) {
		node->b = text_of(node->b);
		node->type = types_.string_type(); // a text, which may be shorter than the array
	} else if (types_.is_string(left->type) && types_.is_string_like(node->b->type)) {
		to_text(node->b);
	} else if (types_.is_char_array(left->type) && types_.is_string_like(node->b->type) &&
	           !types_.same(left->type, node->b->type)) {
		node->b = stringof_value(node->b); // as much of the text as the variable has room for
	}
	if (!convertible(left->type, node->b))
		return poison(
		    node, "D_OP_INCOMPAT",
		    "operands have incompatible types: \"" + type_text(left) + "\" = \"" +
		        type_text(node->b) + "\"",
		    "the first assignment or declaration has fixed the type: cast that value or this one, "
		    "or declare the variable");
	if (types_.is_pointer(left->type)) {
		decay(node->b);
		if (left->kind == Nk::Var)
			left->variable->memory |= memory_of(node->b);
		node->user = left->user;
		node->writable = left->writable;
	}
	if (types_.is_float(left->type) || types_.is_float(node->b->type))
		node->b = converted(left->type, node->b);
}

void Sema::assign_value(Node* node) {
	Node* const left = node->a;
	node->type = left->type;
	if (node->op == Tok::Assign)
		return assign_plain(node);
	if (types_.is_array(left->type))
		return no_array(
		    node, left); // the sum of an array and a number is a pointer, which has no room there
	// x op= y computes x op y.
	static constexpr std::pair<Tok, Tok> kOperations[] = {
	    {Tok::AddEq, Tok::Plus},  {Tok::SubEq, Tok::Minus},   {Tok::MulEq, Tok::Star},
	    {Tok::DivEq, Tok::Slash}, {Tok::ModEq, Tok::Percent}, {Tok::AndEq, Tok::And},
	    {Tok::XorEq, Tok::Xor},   {Tok::OrEq, Tok::Or},       {Tok::ShlEq, Tok::Shl},
	    {Tok::ShrEq, Tok::Shr}};
	Node* const value = compilation_.arena.make(Nk::Binary, node->place);
	for (const auto& [compound, plain] : kOperations) {
		if (compound == node->op)
			value->op = plain;
	}
	value->a = left;
	value->b = node->b;
	node->a = write_side(left, has_effects(node->b));
	analyze(value);
	if (poisoned(value) || poisoned(node->a)) {
		node->kind = Nk::Error;
		return;
	}
	if (!convertible(left->type, value))
		return poison(node, "D_OP_INCOMPAT",
		              "operands have incompatible types: \"" + type_text(left) + "\" " +
		                  std::string(operator_text(node->op)) + " \"" + type_text(node->b) + "\"",
		              "cast the value");
	node->op = Tok::Assign;
	node->b = value;
	if (types_.is_float(value->type))
		node->b = converted(left->type, value);
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
	if (types_.is_pointer(operand->type)) {
		const std::string op(operator_text(node->op));
		const TypeRef to = types_.target(operand->type);
		if (types_.is_void(to) || types_.is_function(to))
			return poison(node, "D_OP_VFPTR",
			              "operator " + op + " requires an operand of known size",
			              "this points to " + types_.text(to) +
			                  "; cast it to a pointer to what it points to");
		if (!types_.size(to))
			return poison(node, "D_OP_INCOMPLETE",
			              "operator " + op +
			                  " cannot be applied to a pointer to an incomplete type",
			              "cast it to a pointer with a sized target");
		rely_on(to);
	}
	node->type = operand->type;
	node->user = operand->user;
	node->writable = operand->writable; // as a pointer, not as an object
	node->b = write_side(operand, false);
}

} // namespace dfr::d
