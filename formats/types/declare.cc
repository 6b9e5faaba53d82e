// SPDX-License-Identifier: GPL-2.0
//
// Types as C text. A declarator is written around what it declares, innermost
// first, so this walks from the outer type inwards, growing the declarator on
// both sides, and puts the basic type's name in front at the end.
#include <string>

#include "formats/error.h"
#include "formats/types/types.h"

namespace dfr::types {
namespace {

constexpr unsigned kMostNested = 8;
constexpr unsigned kMostParameters = 100;

const char* keyword(Kind kind) {
	switch (kind) {
	case Kind::Struct: return "struct ";
	case Kind::Union: return "union ";
	case Kind::Enum: return "enum ";
	case Kind::Const: return "const";
	case Kind::Volatile: return "volatile";
	case Kind::Restrict: return "restrict";
	default: return "";
	}
}

std::string base_name(const TypeInfo& type) {
	if (type.kind == Kind::Void)
		return "void";
	const Kind kind = type.kind == Kind::Forward ? type.forward : type.kind;
	return keyword(kind) + (type.name.empty() ? std::string("(anon)") : std::string(type.name));
}

// `text` is the declarator so far. A pointer binds looser than what stands to
// the right of a name, hence the parentheses.
struct DeclaratorText {
	std::string text;
	bool ends_in_pointer = false;

	void wrap() {
		if (ends_in_pointer)
			text = "(" + text + ")";
		ends_in_pointer = false;
	}

	void prepend(const std::string& word) {
		const bool joins = text.empty() || text[0] == '[';
		text = joins ? word + text : word + " " + text;
	}
};

// How much of one declaration is written. Functions that take functions that
// take functions grow without end in a short file of damaged types.
struct Limit {
	unsigned depth = 0;
	unsigned* left;
};

std::string declare_at(TypeRef type, std::string_view name, Limit limit);

std::string parameters(TypeRef function, const TypeInfo& type, Limit limit) {
	std::string text = "(";
	for (std::uint32_t i = 0; i < type.count; i++) {
		if (*limit.left == 0)
			return text + ", (...))";
		--*limit.left;
		const Parameter parameter = function.container->parameter(function.id, i);
		text += (i ? ", " : "") + declare_at(parameter.type, {}, {limit.depth + 1, limit.left});
	}
	if (type.is_varargs)
		text += type.count ? ", ..." : "...";
	else if (type.count == 0)
		text += "void";
	return text + ")";
}

std::string declare_at(TypeRef type, std::string_view name, Limit limit) {
	DeclaratorText declarator{std::string(name)};
	std::string qualifiers; // of the next pointer outwards, or of the base
	for (unsigned steps = 0; steps < kMaxDepth && limit.depth < kMostNested; steps++) {
		const TypeInfo here = info(type);
		switch (here.kind) {
		case Kind::Pointer:
			if (!qualifiers.empty())
				declarator.prepend(qualifiers);
			qualifiers.clear();
			declarator.text = "*" + declarator.text;
			declarator.ends_in_pointer = true;
			break;
		case Kind::Array: {
			declarator.wrap();
			declarator.text += "[" + std::to_string(here.count) + "]";
			break;
		}
		case Kind::Function:
			declarator.wrap();
			declarator.text += parameters(type, here, limit);
			break;
		case Kind::Const:
		case Kind::Volatile:
		case Kind::Restrict:
			qualifiers += (qualifiers.empty() ? "" : " ") + std::string(keyword(here.kind));
			break;
		default: {
			std::string base = qualifiers.empty() ? "" : qualifiers + " ";
			base += base_name(here);
			return declarator.text.empty() ? base : base + " " + declarator.text;
		}
		}
		type = here.target;
	}
	// Too deep to be a type that somebody wrote; still something to print.
	return "(...) " + declarator.text;
}

} // namespace

std::string to_c(TypeRef type) {
	return declare(type, {});
}

std::string declare(TypeRef type, std::string_view name) {
	unsigned left = kMostParameters;
	return declare_at(type, name, {0, &left});
}

} // namespace dfr::types
