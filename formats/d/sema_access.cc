// SPDX-License-Identifier: GPL-2.0
//
// Analysis of what leads from one object or type to another: indexes, members,
// casts, sizeof, offsetof and stringof.
#include "formats/d/sema.h"

namespace dfr::d {

using types::Kind;
using types::TypeRef;

// Associative arrays, built-in arrays and inline arrays take the whole list. False: it is none of these.
bool Sema::list_index(Node* node) {
	Node* const base = node->a;
	const bool of_name =
	    base->kind == Nk::Name || (base->kind == Nk::Member && base->arrow &&
	                               (base->a->kind == Nk::SelfKw || base->a->kind == Nk::ThisKw));
	if (!of_name)
		return false;
	if (base->kind == Nk::Name) {
		if (creatable(base))
			from_library(base->text);
		const auto def = compilation_.definitions.inlines.find(base->text);
		if (def != compilation_.definitions.inlines.end() && def->second.array &&
		    !bound(base->text)) {
			expand(node, def->second, node->list);
			return true;
		}
		const Builtin* const known = find_builtin(base->text);
		if (known && known->array) {
			node->builtin = known;
			known->id == DIF_VAR_ARGS ? args_element(node) : uregs_element(node);
			return true;
		}
	}
	const uint8_t scope = base->kind == Nk::Name        ? DIF_VS_GLOBAL
	                      : base->a->kind == Nk::SelfKw ? DIF_VS_THREAD
	                                                    : DIF_VS_LOCAL;
	Variable* const variable = compilation_.definitions.find_variable(scope, base->text);
	if (!variable || !variable->assoc)
		return false;
	assoc(node, variable);
	return true;
}

// Poisons what has no element of that index.
void Sema::check_index(Node* node) {
	const Node* const base = node->a;
	const bool array = types_.is_array(base->type);
	if (!array && !types_.is_pointer(base->type) && !types_.is_string(base->type)) {
		if (base->kind == Nk::Var)
			return poison(node, "D_ARR_BADREF",
			              "improper reference to scalar variable " + base->variable->name +
			                  " as an array",
			              "it was first used without [ ]");
		return poison(node, "D_OP_PTR", "operator [] requires an array or a pointer",
		              "this has type " + type_text(base));
	}
	if (node->list.size() != 1)
		return poison(node, "D_ARR_BADREF",
		              "an array has one index, not " + std::to_string(node->list.size()),
		              "for several dimensions write [a][b]");
	Node* const at = node->list[0];
	if (!types_.is_integer(at->type))
		return poison_at(node, at->place, "D_OP_INT", "an array's index must be an integer",
		                 "this has type " + type_text(at));
	const uint64_t count = array ? types_.info(base->type).count : 0;
	if (array && count && at->kind == Nk::Int && at->value >= count)
		return poison_at(
		    node, at->place, "D_ARR_BOUNDS",
		    "index outside array bounds: " + std::to_string(static_cast<int64_t>(at->value)) +
		        ", max is " + std::to_string(count - 1),
		    "arrays count from 0");
}

// base[i] is *(base + i).
void Sema::element_of(Node* node, Node* base, Node* at) {
	const bool lvalue_base = !types_.is_string(base->type);
	const bool writable = base->writable, user = base->user;
	Node* const sum = compilation_.arena.make(Nk::Binary, node->place);
	sum->op = Tok::Plus;
	sum->a = base;
	sum->b = at;
	sum->analyzed = true;
	const TypeRef element =
	    types_.is_string(base->type) ? types_.basic("char") : types_.target(base->type);
	if (!types_.size(element))
		return poison(node, "D_OP_INCOMPLETE",
		              "elements of type \"" + types_.text(element) + "\" have no known size",
		              "cast the pointer first");
	rely_on(element);
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

void Sema::index(Node* node) {
	Node* const base = node->a;
	if (list_index(node))
		return;
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
	if (base->kind == Nk::Translated)
		return poison(node, "D_OP_DYN", "operator [] cannot be applied to a translated value",
		              "use one of its members");
	check_index(node);
	if (!poisoned(node))
		element_of(node, base, node->list[0]);
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
			              "this has type " + type_text(node->a) +
			                  (types_.is_struct(object) ? "; use ." : ""));
		object = types_.target(object);
	}
	if (!types_.is_struct(object))
		return poison(node, "D_OP_SOU",
		              "operator " + std::string(node->arrow ? "->" : ".") +
		                  " cannot be applied to type \"" + types_.text(object) +
		                  "\"; must be applied to a struct or union",
		              types_.is_pointer(object) && !node->arrow ? "use -> with a pointer" : "");
	object = types_.complete(object);
	const auto found = types::find_member(types::resolve(object), node->text);
	if (!found) {
		if (types::resolved_kind(object) == Kind::Forward)
			return poison(node, "D_OP_INCOMPLETE",
			              "operator " + std::string(node->arrow ? "->" : ".") +
			                  " cannot be applied to forward declaration of \"" +
			                  types_.text(object) + "\"",
			              "its members are not known");
		std::vector<std::string> owned;
		const TypeRef bare = types::resolve(object);
		const uint64_t count = types::info(bare).count;
		for (uint64_t i = 0; i < count; i++)
			owned.emplace_back(bare.container->member(bare.id, i).name);
		std::vector<std::string_view> names(owned.begin(), owned.end());
		return poison(node, "D_TYPE_MEMBER",
		              node->text + " is not a member of " + types_.text(types::unqualified(object)),
		              suggestion(node->text, names));
	}
	// A load has eight bytes; where fields are packed, more may hold one.
	if (found->bit_width && found->bit_offset % 8 + found->bit_width > 64)
		return poison(node, "D_TYPE_MEMBER", "bit-field " + node->text + " reaches into a ninth byte",
		              "take what it holds from the members around it, or copy its bytes");
	rely_on(object);
	node->bit_offset = found->bit_offset;
	node->bit_width = found->bit_width;
	node->type = found->type;
	node->lvalue = true;
	node->user = node->a->user;
	node->writable = node->a->writable;
}

void Sema::cast_to_float(Node* node) {
	const TypeRef to = node->cast;
	Node*& from = node->a;
	const bool float_from = types_.is_float(from->type);
	const bool single = types_.size(to) == 4;
	if (float_from && types_.size(from->type) == types_.size(to)) {
		*node = *compilation_.arena.copy(*from);
		return;
	}
	to_double(from);
	if (single && from->kind != Nk::Float) {
		*node = *hidden_call(DIF_SUBR_F_TO_F32, {from}, to, node->place);
		return;
	}
	*node = *compilation_.arena.copy(*from);
	node->type = to;
	if (single)
		node->real = static_cast<float>(node->real);
}

// Of 64 bits first, which the cast cuts.
void Sema::cast_from_float(Node* node) {
	const TypeRef to = node->cast;
	Node*& from = node->a;
	if (types_.info(to).is_bool) {
		from = not_zero(from);
		return;
	}
	to_double(from);
	const bool is_signed = types_.is_signed(to) || types_.size(to) < 8;
	const TypeRef wide = types_.named(is_signed ? "int64_t" : "uint64_t");
	if (from->kind == Nk::Float) {
		const double value = from->real;
		from->kind = Nk::Int;
		from->type = wide;
		// As the engine converts: what does not fit becomes the nearest that does.
		if (!(value == value))
			from->value = 0;
		else if (is_signed)
			from->value = value >= 0x1p63   ? INT64_MAX
			              : value < -0x1p63 ? static_cast<uint64_t>(INT64_MIN)
			                                : static_cast<uint64_t>(static_cast<int64_t>(value));
		else
			from->value = value >= 0x1p64 ? UINT64_MAX
			              : value <= -1   ? 0
			                              : static_cast<uint64_t>(value);
		return;
	}
	from = hidden_call(is_signed ? DIF_SUBR_F_TO_I64 : DIF_SUBR_F_TO_U64, {from}, wide, node->place);
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
		return poison(node, "D_OP_DYN", "a translated value cannot be cast",
		              "cast one of its members");
	node->type = to;
	node->user |= from->user;
	node->writable = from->writable;
	if (types_.is_string(to)) {
		node->kind = Nk::Stringof;
		return stringof(node);
	}
	if (types_.is_void(to))
		return;
	rely_on(to);
	decay(from);
	const bool function = types_.is_function(from->type);
	if (types_.is_arithmetic(to) && types_.is_arithmetic(from->type)) {
		if (types_.is_float(to))
			return cast_to_float(node);
		if (types_.is_float(from->type))
			cast_from_float(node);
		return fold(node);
	}
	const bool scalar_from = types_.is_scalar(from->type) || function || types_.is_string(from->type);
	if (types_.is_scalar(to) && scalar_from) {
		if (types_.is_string(from->type) && !types_.is_pointer(to))
			return poison(node, "D_CAST_INVAL",
			              "invalid cast expression: \"" + type_text(from) + "\" to a type of \"" +
			                  types_.text(to) + "\"",
			              "strtoll() reads a number from a string");
		return fold(node);
	}
	if (types_.is_struct(to) && types_.same(to, from->type)) {
		return;
	}
	poison(node, "D_CAST_INVAL",
	       "invalid cast expression: \"" + type_text(from) + "\" to a type of \"" + types_.text(to) +
	           "\"",
	       "only scalars can be cast, and strings from and to addresses");
}

void Sema::size(Node* node) {
	TypeRef type = node->cast;
	// As it is written: what analysis makes one, such as a choice, has its own type's size.
	const bool literal = node->a && node->a->kind == Nk::String;
	if (node->kind == Nk::SizeofExpr) {
		analyze(node->a);
		if (poisoned(node->a)) {
			node->kind = Nk::Error;
			return;
		}
		type = node->a->type;
		if (node->a->kind == Nk::Member && node->a->bit_width)
			return poison(node, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field",
			              "bits have no size in bytes");
		if (node->a->kind == Nk::Translated)
			return poison(node, "D_SIZEOF_TYPE",
			              "cannot apply sizeof to a value without a type of its own",
			              "name the type");
	}
	if (types_.is_function(type) || types_.is_void(type) ||
	    (!types_.size(type) && !types_.info(type).count))
		return poison(node, "D_SIZEOF_TYPE",
		              "cannot apply sizeof to an object of type \"" + types_.text(type) + "\"",
		              "it is incomplete: its size is not known");
	rely_on(type);
	// A literal is as long as it is written, whatever strsize is.
	const uint64_t value = literal ? node->a->text.size() + 1 : types_.size(type);
	node->kind = Nk::Int;
	node->value = value;
	node->type = types_.named("size_t");
	node->a = nullptr;
}

void Sema::offset(Node* node) {
	const TypeRef type = types_.complete(node->cast);
	if (!types_.is_struct(type))
		return poison(node, "D_OFFSETOF_TYPE", "offsetof operand must be a struct or union type",
		              "this is " + types_.text(type));
	const auto found = types::find_member(types::resolve(type), node->text);
	if (!found)
		return poison(node, "D_TYPE_MEMBER", node->text + " is not a member of " + types_.text(type),
		              "");
	if (found->bit_width)
		return poison(node, "D_OFFSETOF_BITFIELD", "cannot take offset of a bit-field: " + node->text,
		              "bits have no byte offset");
	rely_on(type);
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
	if (from->kind == Nk::Translated || !(types_.is_string_like(from->type) ||
	                                      types_.is_scalar(from->type) || types_.is_array(from->type)))
		return poison(node, "D_STRINGOF_TYPE",
		              "cannot apply stringof to a value of type " + type_text(from),
		              "it takes strings, char pointers and arrays, and addresses");
	if (from->kind == Nk::String || types_.is_string(from->type)) {
		const Place place = node->place;
		*node = *compilation_.arena.copy(*from);
		node->place = place;
		return;
	}
	node->kind = Nk::Stringof;
	node->type = types_.string_type();
	node->user = false;
	// A char array's text ends at the array's end, if not before.
	const uint64_t room = types_.is_char_array(from->type) ? types_.size(from->type) : 0;
	const bool full = room && room < types_.string_size();
	if (!full && !from->user)
		return;
	const auto number = [&](uint64_t value) {
		Node* const out = compilation_.arena.make(Nk::Int, node->place);
		out->type = types_.int_type();
		out->value = value;
		out->analyzed = true;
		return out;
	};
	std::vector<Node*> given = {from};
	if (full && !from->user)
		given.push_back(number(0));
	if (full)
		given.push_back(number(room));
	// A user pointer's text has to be copied in.
	*node = *hidden_call(from->user ? DIF_SUBR_COPYINSTR : DIF_SUBR_SUBSTR, std::move(given),
	                     types_.string_type(), node->place);
}

// Where a string is wanted: what is none by itself becomes one, because only its type says where it ends, or that it
// is in user memory.
void Sema::to_text(Node*& node) {
	if (!types_.is_string(node->type) && (types_.is_char_array(node->type) || node->user))
		node = stringof_value(node);
}

Node* Sema::stringof_value(Node* value) {
	Node* const out = compilation_.arena.make(Nk::Stringof, value->place);
	out->a = value;
	analyze(out);
	return out;
}

} // namespace dfr::d
