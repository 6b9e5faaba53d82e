// SPDX-License-Identifier: GPL-2.0
//
// Analysis of calls and translations: subroutines against their prototypes,
// actions where they may stand, xlate and the members of what it gives.
#include "formats/d/sema.h"

#include <algorithm>

namespace dfr::d {

using types::TypeRef;

bool Sema::is_action_call(const Node* node) {
	return node->kind == Nk::Call && find_action(node->text);
}

void Sema::call(Node* node) {
	if (const Subroutine* const known = find_subroutine(node->text))
		return subroutine(node, *known);
	if (const ActionInfo* const action = find_action(node->text)) {
		const bool recordable = action->group == ActionGroup::Stack ||
		                        action->group == ActionGroup::UStack ||
		                        action->group == ActionGroup::Symbol;
		if (recordable && recorded_ok_)
			return recorded(node, *action);
		return poison(
		    node, "D_OP_ACT", node->text + "( ) is an action and cannot be part of an expression",
		    recordable ? "it may stand alone, be a key of an aggregation or an argument of printf()"
		               : "make it a statement of its own");
	}
	if (find_agg_function(node->text))
		return poison(node, "D_AGG_FUNC",
		              "aggregating function " + node->text +
		                  "( ) may only be assigned to an aggregation",
		              "write: @name = " + node->text + "(...);");
	if (find_builtin(node->text) || compilation_.definitions.inlines.contains(node->text) ||
	    compilation_.definitions.find_variable(DIF_VS_GLOBAL, node->text))
		return poison(node, "D_FUNC_IDKIND",
		              "illegal use of variable '" + node->text + "' as a function",
		              "drop the parentheses");
	poison(node, "D_FUNC_UNDEF", "undefined function name: " + node->text,
	       suggestion(node->text, function_names()));
}

bool Sema::argument_fits(char code, Node* argument) {
	const TypeRef type = argument->type;
	if (argument->kind == Nk::Translated)
		return false;
	switch (code) {
	case 's': return types_.is_string_like(type) || is_null(argument);
	case 'i':
	case 'c': return types_.is_integer(type);
	case 'a': return types_.is_scalar(type) || types_.is_array(type) || types_.is_string(type);
	case 'n': return types_.is_scalar(type);
	case 'w': // known to be none: everything but scratch memory would fault
		return (types_.is_integer(type) && argument->kind != Nk::Int) ||
		       ((types_.is_pointer(type) || types_.is_array(type)) && !argument->user &&
		        !is_null(argument) && memory_of(argument) != kOtherMemory);
	case '6': {
		const TypeRef to = types_.is_pointer(type) ? types::resolve(types_.target(type)) : TypeRef{};
		return to &&
		       (types_.is_void(to) || (types_.is_struct(to) && types::info(to).name == "in6_addr"));
	}
	case 'p': return types_.is_pointer(type) || is_null(argument);
	default: return types_.is_scalar(type) || types_.is_float(type);
	}
}

// A constant that no scratchsize suffices for can only be a mistake.
void Sema::check_size(Node* node, const Subroutine& known) {
	const bool alloca = known.number == DIF_SUBR_ALLOCA;
	if (!alloca && known.number != DIF_SUBR_COPYIN && known.number != DIF_SUBR_COPYINTO)
		return;
	const Node* const size = node->list[alloca ? 0 : 1];
	if (size->kind != Nk::Int || size->value <= DIF_SCRATCH_MAX)
		return;
	const auto bytes = static_cast<int64_t>(size->value);
	const bool negative = bytes < 0 && types_.is_signed(size->type);
	poison_at(node, size->place, alloca ? "D_ALLOCA_SIZE" : "D_PROTO_ARG",
	          node->text + "( ) argument #" + (alloca ? "1" : "2") + " is " +
	              (negative ? "negative: " + std::to_string(bytes)
	                        : "too large: " + std::to_string(size->value)),
	          negative ? "a size is 0 or more"
	                   : "scratch memory is at most " + std::to_string(DIF_SCRATCH_MAX) +
	                         " bytes (-x scratchsize)");
}

void Sema::check_count(Node* node, const Subroutine& known) {
	size_t least = 0, most = 0;
	bool optional = false;
	for (const char c : known.arguments) {
		if (c == '?') {
			optional = true;
			continue;
		}
		most++;
		least += !optional;
	}
	const size_t given = node->list.size();
	if (given < least || given > most)
		return poison(node, "D_PROTO_LEN",
		              node->text + "( ) prototype mismatch: " + std::to_string(given) + " arg" +
		                  (given == 1 ? "" : "s") + " passed, " +
		                  (least != most && given < least ? "at least " : "") +
		                  std::to_string(given < least ? least : most) + " expected",
		              "prototype: " + std::string(known.prototype));
}

// Each argument as the prototype has it, converted where that is meant.
void Sema::fit_arguments(Node* node, const Subroutine& known) {
	const size_t given = node->list.size();
	size_t i = 0;
	for (const char c : known.arguments) {
		if (c == '?')
			continue;
		if (i >= given)
			break;
		Node*& argument = node->list[i];
		if (!argument_fits(c, argument))
			return poison_at(
			    node, argument->place, "D_PROTO_ARG",
			    node->text + "( ) argument #" + std::to_string(i + 1) +
			        " is incompatible with prototype:\n\tprototype: " +
			        std::string(known.prototype) + "\n\t argument: " + type_text(argument),
			    argument->kind == Nk::Translated ? "use one of its members"
			    : c == 's' && types_.is_integer(argument->type)
			        ? "for a user address use copyinstr(), for a kernel address stringof()"
			    : c == 'n' ? "the address is a number or a pointer, such as arg0"
			    : c == 'w' ? "it writes only to memory from alloca() or copyin()"
			    : c == '6' ? "it reads 16 bytes: cast the pointer to in6_addr_t *"
			               : "");
		if (c == 's')
			to_text(argument);
		if (c == 'w')
			decay(argument);
		if (c == 'c')
			argument = cast_to(types_.basic("char"), argument);
		i++;
	}
}

TypeRef Sema::result_of(const Subroutine& known) {
	if (known.result == "string")
		return types_.string_type();
	if (known.result == "void *")
		return types_.pointer_to(types_.void_type());
	if (known.result == "uintptr_t *")
		return types_.pointer_to(types_.named("uintptr_t"));
	if (known.result == "void")
		return types_.void_type();
	if (known.result.starts_with("struct ")) {
		std::string tag(known.result.substr(7));
		tag.resize(tag.find(' '));
		const TypeRef found = types_.find_tag(types::Kind::Struct, tag);
		return types_.pointer_to(found ? found : types_.program().forward(types::Kind::Struct, tag));
	}
	const TypeRef named = types_.named(known.result);
	return named ? named : types_.basic(known.result);
}

void Sema::subroutine(Node* node, const Subroutine& known) {
	for (Node* const argument : node->list) {
		analyze(argument);
		if (poisoned(argument))
			node->kind = Nk::Error;
	}
	if (poisoned(node))
		return;
	check_count(node, known);
	if (!poisoned(node))
		fit_arguments(node, known);
	if (!poisoned(node))
		check_size(node, known);
	if (poisoned(node))
		return;
	if (known.flags & kAbsent)
		return poison(node, "D_VAR_UNSUP", "subroutine " + node->text + "( ) does not exist on Linux",
		              "what it asks about belongs to another system's kernel");
	if (known.flags & kKernel && compilation_.kernel_missing())
		return poison(node, "D_VAR_UNSUP",
		              "subroutine " + node->text + "( ) is not supported by " +
		                  compilation_.target.description(),
		              "it reads kernel state: load the module (dfr.ko) and run as root");
	if (known.number == DIF_SUBR_INET_NTOP && node->list[0]->kind == Nk::Int &&
	    node->list[0]->value != 2 && node->list[0]->value != 10)
		compilation_.diagnostics.warning("D_PROTO_ARG", node->list[0]->place,
		                                 "inet_ntop() knows AF_INET (2) and AF_INET6 (10) only", "");
	if (known.flags & kDestructive) {
		compilation_.result.destructive = true;
		compilation_.copyout = node;
	}
	node->kind = Nk::Subr;
	node->subroutine = &known;
	node->writable = known.flags & kWritable;
	node->type = result_of(known);
}

// stack(), sym(x) and their like as a key or an argument: an action of its own.
void Sema::recorded(Node* node, const ActionInfo& action) {
	for (Node* const argument : node->list) {
		analyze(argument);
		if (poisoned(argument)) {
			node->kind = Nk::Error;
			return;
		}
	}
	node->kind = Nk::Recorded;
	node->action = &action;
	node->type = types_.void_type();
}

// -- translators

void Sema::define_translator(std::unique_ptr<Translator> translator) {
	if (!types_.is_struct(translator->out))
		return compilation_.error("D_XLATE_SOU", translator->place,
		                          "translator output type must be a struct or union",
		                          "it is " + types_.text(translator->out));
	for (const auto& known : compilation_.definitions.translators) {
		if (types_.same(known->out, translator->out) && types_.same(known->in, translator->in))
			return compilation_.error("D_XLATE_REDECL", translator->place,
			                          "translator from " + types_.text(translator->in) + " to " +
			                              types_.text(translator->out) +
			                              " has already been declared",
			                          "keep one of the two");
	}
	compilation_.definitions.translators.push_back(std::move(translator));
	if (!compilation_.in_library)
		check_translator(*compilation_.definitions.translators.back());
}

// Stands for a value of the type that is not known yet.
Node* Sema::any_value(TypeRef type, Place place) {
	Node* const out = compilation_.arena.make(Nk::Cast, place);
	out->a = compilation_.arena.make(Nk::Int, place);
	out->a->type = types_.int_type();
	out->a->value = 1; // not NULL
	out->a->analyzed = out->analyzed = out->lvalue = true;
	out->type = out->cast = type;
	return out;
}

namespace {

// Whether args[] is meant, whose types are a probe's. What is deeper than analysis goes is not looked at.
bool names_args(const Node* node, unsigned depth = 0) {
	if (!node || depth > Sema::kDeepest)
		return false;
	const auto inside = [depth](const Node* one) { return names_args(one, depth + 1); };
	return node->text == "args" || inside(node->a) || inside(node->b) || inside(node->c) ||
	       std::any_of(node->list.begin(), node->list.end(), inside);
}

} // namespace

// Analyses a use of `body` that nobody made: the definition is what is told of, and no clause relies on it. False:
// it was wrong, and its uses are silent.
bool Sema::checked(Node* node, const Node* body) {
	if (names_args(body))
		return true;
	const Attributes statements = compilation_.statements;
	const auto least = std::exchange(compilation_.settings.least, std::nullopt);
	const bool kernel_types = compilation_.kernel_types;
	analyze(node);
	compilation_.kernel_types = kernel_types;
	compilation_.settings.least = least;
	compilation_.statements = statements;
	return !poisoned(node);
}

void Sema::check_inline(const InlineDef& def) {
	Node* const use = compilation_.arena.make(Nk::Name, def.place);
	use->text = def.name;
	Node* whole = use;
	if (def.array) {
		whole = compilation_.arena.make(Nk::Index, def.place);
		whole->a = use;
		for (const InlineParameter& parameter : def.parameters)
			whole->list.push_back(any_value(parameter.type, def.place));
	}
	if (!checked(whole, def.body))
		def.body->kind = Nk::Error;
}

void Sema::check_translator(Translator& translator) {
	for (const auto& [name, body] : translator.members) {
		if (!types::find_member(translator.out, name))
			continue; // the parser has said so
		Node* const object = compilation_.arena.make(Nk::Translated, body->place);
		object->a = any_value(translator.in, body->place);
		object->type = translator.out;
		object->translator = &translator;
		object->analyzed = true;
		Node* const member = compilation_.arena.make(Nk::Member, body->place);
		member->a = object;
		member->text = name;
		if (!checked(member, body))
			body->kind = Nk::Error;
	}
}

Translator* Sema::find_translator(TypeRef out, TypeRef in) {
	Translator* fuzzy = nullptr;
	for (const auto& one : compilation_.definitions.translators) {
		if (!types_.same(one->out, out))
			continue;
		if (types_.same(one->in, in))
			return one.get();
		// Any pointer fits void *, an integer any integer.
		if ((types_.is_pointer(in) && types_.is_pointer(one->in) &&
		     types_.is_void(types_.target(one->in))) ||
		    (types_.is_integer(in) && types_.is_integer(one->in)))
			fuzzy = one.get();
	}
	return fuzzy;
}

void Sema::translate(Node* node) {
	analyze(node->a);
	if (poisoned(node->a)) {
		node->kind = Nk::Error;
		return;
	}
	const bool pointer = types_.is_pointer(node->cast);
	const TypeRef out = pointer ? types_.target(node->cast) : node->cast;
	if (!types_.is_struct(out))
		return poison(node, "D_XLATE_SOU",
		              "cannot translate to type " + types_.text(node->cast) +
		                  ": must be a struct or union, or a pointer to one",
		              "");
	if (node->a->kind == Nk::Translated)
		return poison(node, "D_XLATE_INCOMPAT", "a translated value cannot be translated again",
		              "translate the value that it was made from");
	Translator* const found = find_translator(out, node->a->type);
	if (!found)
		return poison(node, "D_XLATE_NONE",
		              "cannot translate from \"" + type_text(node->a) + "\" to \"" +
		                  types_.text(node->cast) + "\"",
		              "no translator between these types is defined");
	node->kind = Nk::Translated;
	node->type = node->cast;
	node->translator = found;
}

void Sema::translated_member(Node* node) {
	Node* const object = node->a;
	Translator* const translator = object->translator;
	const bool pointer = types_.is_pointer(object->type);
	if (pointer != node->arrow)
		return poison(node, "D_OP_SOU",
		              std::string("operator ") + (node->arrow ? "->" : ".") +
		                  " cannot be applied to " + type_text(object),
		              pointer ? "use ->" : "use .");
	const auto found = translator->members.find(node->text);
	if (found == translator->members.end()) {
		if (!types::find_member(translator->out, node->text)) {
			std::vector<std::string_view> names;
			for (const auto& one : translator->members)
				names.push_back(one.first);
			return poison(node, "D_TYPE_MEMBER",
			              node->text + " is not a member of " + types_.text(translator->out),
			              suggestion(node->text, names));
		}
		return poison(node, "D_XLATE_NOCONV",
		              "translator does not define conversion for member: " + node->text,
		              "this system has no such information");
	}
	std::map<std::string, Node*, std::less<>> values;
	values[translator->parameter] = object->a;
	Node* const body = clone(found->second, values);
	std::vector<std::pair<std::string, Node*>> saved;
	saved.swap(bound_);
	analyze(body);
	saved.swap(bound_);
	if (poisoned(body)) {
		node->kind = Nk::Error;
		return;
	}
	const auto member = types::find_member(translator->out, node->text);
	const Place place = node->place;
	TypeRef type = member ? member->type : body->type;
	// A string member declared in a struct is a char array there.
	if (types_.is_char_array(type) && types_.is_string(body->type))
		type = types_.string_type();
	if (body->kind == Nk::Translated || types_.same(type, body->type) || types_.is_struct(type) ||
	    (types_.is_array(type) && types_.is_array(body->type))) {
		*node = *body;
		node->place = place;
		return;
	}
	if (!convertible(type, body) && !(types_.is_scalar(type) && types_.is_scalar(body->type)) &&
	    !(types_.is_char_array(type) && types_.is_string_like(body->type)))
		return poison(node, "D_XLATE_INCOMPAT",
		              "translator member " + node->text + " definition uses incompatible types: \"" +
		                  types_.text(type) + "\" = \"" + type_text(body) + "\"",
		              "");
	node->kind = Nk::Cast;
	node->a = body;
	node->cast = types_.is_char_array(type) ? types_.string_type() : type;
	node->type = node->cast;
	cast(node);
	node->place = place;
}

} // namespace dfr::d
