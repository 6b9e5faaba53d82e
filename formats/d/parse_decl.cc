// SPDX-License-Identifier: GPL-2.0
//
// The parser's declarations: specifiers, declarators, type names in casts. The bodies
// of structs and enums are parse_body.cc. Types are built in TypeTable::program() on the way.
#include "formats/d/parser.h"

#include <bit>

#include "formats/d/sema.h"
#include "formats/error.h"

namespace dfr::d {

using types::Kind;
using types::TypeRef;

namespace {

// Keywords that C does not have: names in a C header.
bool d_word(Tok kind) {
	switch (kind) {
	case Tok::Counter:
	case Tok::Import:
	case Tok::Offsetof:
	case Tok::Probe:
	case Tok::Provider:
	case Tok::Self:
	case Tok::StringKw:
	case Tok::Stringof:
	case Tok::This:
	case Tok::Translator:
	case Tok::Userland:
	case Tok::Xlate: return true;
	default: return false;
	}
}

} // namespace

bool Parser::type_ahead(const Token& token) {
	switch (token.kind) {
	case Tok::Char:
	case Tok::Const:
	case Tok::Double:
	case Tok::Enum:
	case Tok::FloatKw:
	case Tok::IntKw:
	case Tok::Long:
	case Tok::Restrict:
	case Tok::Short:
	case Tok::Signed:
	case Tok::StringKw:
	case Tok::Struct:
	case Tok::Union:
	case Tok::Unsigned:
	case Tok::Userland:
	case Tok::Void:
	case Tok::Volatile: return true;
	case Tok::Ident: {
		const std::string_view name = token.name();
		// Names in use win, and cost no search of the kernel's types.
		if (find_builtin(name) || compilation_.definitions.inlines.contains(name) ||
		    compilation_.definitions.find_variable(DIF_VS_GLOBAL, name) || sema_.bound(name))
			return false;
		if (name.starts_with("`"))
			return false;
		return bool(compilation_.types.find_typedef(name));
	}
	default: return false;
	}
}

void Parser::storage_class(Specifiers& out) {
	if (out.storage != Storage::None)
		compilation_.error("D_DECL_CLASS", tok_.place,
		                   "only one storage class allowed in declaration",
		                   "keep one of extern, typedef, self and this");
	out.storage = at(Tok::Extern)    ? Storage::Extern
	              : at(Tok::Typedef) ? Storage::Typedef
	              : at(Tok::Self)    ? Storage::Self
	                                 : Storage::This;
}

// One word of a declaration's specifiers; false: it is none.
bool Parser::specifier(Specifiers& out, TypeWords& words) {
	switch (tok_.kind) {
	case Tok::Extern:
	case Tok::Typedef:
	case Tok::Self:
	case Tok::This: storage_class(out); return true;
	case Tok::Inline:
		if (out.storage == Storage::None && !compilation_.diagnostics.sources().foreign(tok_.place))
			return false;
		return true; // of C: static inline
	case Tok::Static:
	case Tok::Auto:
	case Tok::Register:
		compilation_.error(
		    "D_DECL_BADCLASS", tok_.place, "specified storage class not appropriate in D",
		    "D has global, self and this variables only; drop " + std::string(tok_.text));
		out.storage = Storage::Bad;
		return true;
	case Tok::Const: words.is_const = true; return true;
	case Tok::Volatile: words.is_volatile = true; return true;
	case Tok::Restrict: return true;
	case Tok::Userland: out.user = true; return true;
	case Tok::Long: words.longs++; return true;
	case Tok::Short: words.is_short = true; return true;
	case Tok::Signed: words.is_signed = true; return true;
	case Tok::Unsigned: words.is_unsigned = true; return true;
	case Tok::Char:
	case Tok::IntKw:
	case Tok::Void:
	case Tok::FloatKw:
	case Tok::Double:
	case Tok::StringKw:
		words.base = tok_.kind;
		words.bases++;
		return true;
	case Tok::Struct:
	case Tok::Union:
	case Tok::Enum:
		out.type = tagged(&out.defines);
		words.bases++;
		// tagged() has read past the type.
		if (at(Tok::Const) || at(Tok::Volatile) || at(Tok::Restrict)) {
			words.is_const |= at(Tok::Const);
			words.is_volatile |= at(Tok::Volatile);
			return true;
		}
		return false;
	case Tok::Ident:
		if (!words.bases && !words.longs && !words.is_short && !words.is_signed &&
		    !words.is_unsigned) {
			if ((out.type = compilation_.types.find_typedef(tok_.name()))) {
				words.bases++;
				return true;
			}
		}
		return false;
	default: return false;
	}
}

// Words that do not go together, such as "long char".
void Parser::check_words(Specifiers& out, const TypeWords& words) {
	const bool modified = words.modified();
	// string is a typedef, as far as these go.
	const bool integer =
	    !out.type && (words.base == Tok::End || words.base == Tok::IntKw || words.base == Tok::Char);
	if (words.bases > 1 || words.longs > 2 || (words.is_short && words.longs) ||
	    (words.is_signed && words.is_unsigned)) {
		compilation_.error("D_DECL_COMBO", out.place, "invalid type combination", "name one type");
		out.type = compilation_.types.int_type();
	} else if (words.base == Tok::Char && (words.longs || words.is_short)) {
		compilation_.error("D_DECL_CHARATTR", out.place,
		                   "long and short may not be used with char type",
		                   "write char, or the integer type that is meant");
	} else if (words.base == Tok::Void && modified) {
		compilation_.error("D_DECL_VOIDATTR", out.place,
		                   "long, short, signed and unsigned may not be used with void",
		                   "drop the attribute");
	} else if (!integer && (words.is_signed || words.is_unsigned || words.is_short)) {
		compilation_.error("D_DECL_SIGNINT", out.place,
		                   "signed and unsigned may only be used with integer type",
		                   "drop the attribute");
	} else if (!integer && words.base != Tok::Double && words.longs) {
		compilation_.error("D_DECL_LONGINT", out.place,
		                   "long may only be used with integer and double types",
		                   words.base == Tok::FloatKw ? "write double" : "drop the attribute");
	}
}

TypeRef Parser::type_of(const Specifiers& out, const TypeWords& words) {
	std::string name;
	if (words.base == Tok::Void)
		return compilation_.types.void_type();
	if (words.base == Tok::StringKw)
		return compilation_.types.string_type();
	if (words.base == Tok::FloatKw)
		name = "float";
	else if (words.base == Tok::Double)
		name = words.longs ? "long double" : "double";
	else if (words.base == Tok::Char)
		name = words.is_unsigned ? "unsigned char" : words.is_signed ? "signed char" : "char";
	else if (!words.bases && !words.modified() && out.storage == Storage::None && !words.is_const &&
	         !words.is_volatile && !out.user)
		syntax();
	else if (words.is_short)
		name = words.is_unsigned ? "unsigned short" : "short";
	else if (words.longs == 1)
		name = words.is_unsigned ? "unsigned long" : "long";
	else if (words.longs >= 2)
		name = words.is_unsigned ? "unsigned long long" : "long long";
	else
		name = words.is_unsigned ? "unsigned int" : "int";
	return compilation_.types.basic(name);
}

Parser::Specifiers Parser::specifiers() {
	Specifiers out;
	TypeWords words;
	out.place = tok_.place;
	while (specifier(out, words))
		advance();
	check_words(out, words);
	if (!out.type)
		out.type = type_of(out, words);
	// Qualifiers say nothing about values: only pointers to const matter, for text.
	if (words.is_const && !compilation_.types.is_string(out.type))
		out.type = compilation_.types.program().qualified(Kind::Const, out.type);
	if (words.is_volatile && !compilation_.types.is_string(out.type))
		out.type = compilation_.types.program().qualified(Kind::Volatile, out.type);
	return out;
}

TypeRef Parser::array_suffix(TypeRef base, Declarator& out) {
	expect(Tok::LBracket, "to open the array's size");
	const Place place = tok_.place;
	if (type_ahead(tok_)) {
		out.assoc = true;
		do {
			const Place at_key = tok_.place;
			const Specifiers given = specifiers();
			const Declarator one = declarator(given.type, false);
			if (!one.name.empty())
				compilation_.error("D_DECL_PROTO_NAME", one.place,
				                   "parameter name not expected in array signature: " +
				                       one.name,
				                   "keys have a type only");
			const TypeRef key = one.type;
			if (!sema_.is_key(key))
				compilation_.error("D_KEY_TYPE", at_key,
				                   "type " + compilation_.types.text(key) +
				                       " cannot be a key",
				                   sema_.key_hint(key));
			out.keys.push_back(key);
		} while (accept(Tok::Comma));
		expect(Tok::RBracket, "after the key types");
		return base;
	}
	uint64_t count = 0;
	if (!at(Tok::RBracket)) {
		const auto given = sema_.constant(ternary());
		out.empty = given && *given == 0;
		if (!given || *given < 0)
			compilation_.error(
			    "D_DECL_ARRSUB", place,
			    "positive integral constant or tuple signature expected as array "
			    "declaration subscript",
			    "write the number of elements, or key types for an associative array");
		else
			count = *given;
	}
	expect(Tok::RBracket, "after the array's size");
	if (at(Tok::LBracket)) {
		if (++nesting_ > 64)
			syntax("this array has too many dimensions");
		base = array_suffix(base, out);
		nesting_--;
	}
	const uint64_t element = compilation_.types.size(base);
	if (compilation_.types.is_void(base) || compilation_.types.is_function(base)) {
		compilation_.error("D_DECL_ARRNULL", place,
		                   "cannot create array of type " + compilation_.types.text(base),
		                   "an array's elements need a size");
		return compilation_.types.int_type();
	}
	if (element && count > UINT32_MAX / element) {
		compilation_.error("D_DECL_ARRBIG", place, "array is too big", "4 GiB is the most");
		count = 1;
	}
	if (compilation_.types.is_string(base))
		base = compilation_.types.stored_string();
	return compilation_.types.program().array(base, count);
}

TypeRef Parser::function_suffix(TypeRef base) {
	expect(Tok::LParen, "to open the parameters");
	std::vector<types::Parameter> parameters;
	std::deque<std::string> names;
	bool varargs = false;
	while (!at(Tok::RParen)) {
		if (at(Tok::Ellipsis)) {
			advance();
			varargs = true;
			if (!at(Tok::RParen))
				compilation_.error("D_DECL_PROTO_VARARGS", tok_.place,
				                   "... must be the last parameter", "move it to the end");
			while (!at(Tok::RParen) && !at(Tok::End))
				advance();
			break;
		}
		const Specifiers given = specifiers();
		if (given.storage != Storage::None)
			compilation_.error(
			    "D_DECL_PARMCLASS", given.place,
			    "inappropriate storage class for function or associative array parameter",
			    "drop it");
		const Declarator one = declarator(given.type, false);
		if (compilation_.types.is_void(one.type)) {
			if (!parameters.empty() || !one.name.empty() || !at(Tok::RParen))
				compilation_.error("D_DECL_PROTO_VOID", given.place,
				                   "void must be the only parameter", "drop it");
			break;
		}
		if (compilation_.types.is_struct(one.type) && !compilation_.types.size(one.type))
			compilation_.error("D_DECL_PROTO_TYPE", given.place,
			                   "a parameter may not have incomplete type " +
			                       compilation_.types.text(one.type),
			                   "define the type first, or point to it");
		parameters.push_back({names.emplace_back(one.name), one.type});
		if (!accept(Tok::Comma))
			break;
	}
	expect(Tok::RParen, "after the parameters");
	return compilation_.types.program().function(base, parameters, varargs);
}

TypeRef Parser::suffixes(TypeRef base, Declarator& out) {
	if (at(Tok::LParen))
		return function_suffix(base);
	if (at(Tok::LBracket))
		return array_suffix(base, out);
	return base;
}

void Parser::declared_name(Declarator& out, bool need_name) {
	if (at(Tok::Ident) || (d_word(tok_.kind) && compilation_.diagnostics.sources().foreign(tok_.place))) {
		out.name = tok_.name();
		if (out.name.find('`') != std::string::npos) {
			compilation_.error("D_DECL_SCOPE", tok_.place,
			                   "cannot specify scope in a declaration: " + out.name,
			                   "a declaration is always the program's own: write the name alone");
			out.name = out.name.substr(out.name.rfind('`') + 1);
		}
		advance();
	} else if (at(Tok::Aggregation)) {
		compilation_.error(
		    "D_DECL_DYNOBJ", tok_.place,
		    "cannot declare an object without a type of its own: " + std::string(tok_.text),
		    "an aggregation comes to be with its first assignment: " + std::string(tok_.text) +
		        " = count();");
		throw Failure{};
	} else if (need_name) {
		compilation_.error("D_DECL_IDENT", tok_.place, "missing or invalid identifier in declaration",
		                   "a name is expected here");
		throw Failure{};
	}
}

Parser::Declarator Parser::declarator(TypeRef base, bool need_name) {
	Declarator out;
	out.place = tok_.place;
	if (++nesting_ > 64)
		too_deep("this declarator is nested too deeply");
	while (at(Tok::Star)) {
		advance();
		base = compilation_.types.program().pointer(base);
		while (at(Tok::Const) || at(Tok::Volatile) || at(Tok::Restrict) || at(Tok::Userland))
			advance();
	}
	// ( opens an inner declarator, unless a parameter list follows directly.
	if (at(Tok::LParen) && !type_ahead(peek()) && peek().kind != Tok::RParen) {
		const uint32_t inner = tok_.place.offset;
		unsigned open = 0;
		do {
			open += at(Tok::LParen);
			open -= at(Tok::RParen);
			if (at(Tok::End))
				syntax("a parenthesis is not closed");
			advance();
		} while (open);
		base = suffixes(base, out);
		const uint32_t after = tok_.place.offset;
		lexer_.rewind(inner);
		advance();
		advance();
		const bool assoc = out.assoc;
		const auto keys = out.keys;
		out = declarator(base, need_name);
		if (assoc) {
			out.assoc = true;
			out.keys = keys;
		}
		lexer_.rewind(after);
		advance();
	} else {
		out.place = tok_.place;
		declared_name(out, need_name);
		out.type = suffixes(base, out);
	}
	nesting_--;
	return out;
}

TypeRef Parser::type_name(bool* user) {
	const Specifiers given = specifiers();
	if (given.storage != Storage::None)
		compilation_.error("D_DECL_CLASS", given.place, "storage class in a type name", "drop it");
	if (user)
		*user = given.user;
	const Declarator one = declarator(given.type, false);
	if (!one.name.empty())
		syntax("a type is expected here, without a name");
	return one.type;
}

TypeRef Parser::type_name_only() {
	try {
		advance();
		const TypeRef type = type_name();
		if (at(Tok::End))
			return type;
	} catch (const Failure&) {
	}
	return {};
}

void Parser::declaration() {
	const size_t before = compilation_.diagnostics.all().size();
	attributes_ = {};
	advance();
	const Specifiers base = specifiers();
	if (at(Tok::Semicolon)) {
		if (!base.defines && types::info(types::resolve(base.type)).kind != Kind::Forward)
			compilation_.error("D_DECL_USELESS", base.place,
			                   "declaration name expected: useless declaration",
			                   "name what is declared");
		return;
	}
	const CAttributes shared = attributes_;
	for (;;) {
		const Declarator one = declarator(base.type, true);
		if (function_body(one.type))
			return compilation_.diagnostics.truncate(before);
		declare(base, one);
		if (!at(Tok::Comma))
			break;
		advance();
		attributes_ = shared;
		attributes_.add(tok_.attributes);
	}
	if (!at(Tok::Semicolon))
		syntax("a declaration ends with ;");
}

// A C header may define small functions; D has none, and goes over it.
bool Parser::function_body(TypeRef type) {
	const Sources& sources = compilation_.diagnostics.sources();
	if (!at(Tok::LBrace) || !compilation_.types.is_function(type) ||
	    sources.locate(tok_.place).file == sources.name(tok_.place.source))
		return false;
	skip_item();
	return true;
}

// What __attribute__((mode(...))) makes of an integer.
TypeRef Parser::of_mode(TypeRef type) {
	if (!attributes_.bytes || !compilation_.types.is_integer(type))
		return type;
	static constexpr const char* kSigned[] = {"signed char", "short", "int", "long"};
	static constexpr const char* kUnsigned[] = {"unsigned char", "unsigned short", "unsigned int",
	                                            "unsigned long"};
	return compilation_.types.basic(
	    (compilation_.types.is_signed(type) ? kSigned : kUnsigned)[std::countr_zero(attributes_.bytes)]);
}

// A layout that cannot be told is not guessed.
void Parser::check_alignment(const CAttributes& attributes, Place place) {
	if (!attributes.unclear)
		return;
	compilation_.error(
	    "D_SYNTAX", place, "aligned( ) is not a power of two that can be computed here",
	    "write it as a number, or one made with + - * / << | & of numbers and sizeof of basic types");
	throw Failure{};
}

// A typedef, a constant or a parameter of this name would be meant where the program writes the null pointer.
bool Parser::hides_null(std::string_view name, Place place) {
	if (name != "NULL")
		return false;
	compilation_.error("D_DECL_IDRED", place, "identifier redeclared: NULL",
	                   "NULL is the integer 0; choose another name");
	return true;
}

void Parser::declare(const Specifiers& base, const Declarator& one) {
	switch (base.storage) {
	case Storage::Typedef: {
		if (hides_null(one.name, one.place))
			return;
		auto& program = compilation_.types.program();
		check_alignment(attributes_, one.place);
		const TypeRef type = of_mode(one.type);
		const TypeRef known = program.find(types::NameSpace::Ordinary, one.name);
		if (compilation_.definitions.find_variable(DIF_VS_GLOBAL, one.name))
			compilation_.error("D_DECL_IDRED", one.place,
			                   "global variable redeclared as a type: " + one.name,
			                   "give one of the two another name");
		else if (one.assoc)
			compilation_.error("D_DECL_LOCASSC", one.place,
			                   "a typedef may not be an associative array",
			                   "give the number of elements");
		else if (known && !compilation_.types.same(known, type))
			compilation_.error("D_DECL_TYPERED", one.place, "type redeclared: " + one.name,
			                   "it was " + types::to_c(types::resolve(known)));
		else if (const TypeRef name = program.typedef_name(one.name, type); attributes_.align)
			compilation_.types.set_alignment(name, attributes_.align);
		return;
	}
	case Storage::Extern:
		if (compilation_.diagnostics.sources().foreign(
		        one.place)) // the C library's are no symbols of the kernel
			return;
		if (hides_null(one.name, one.place))
			return;
		compilation_.definitions.externs[one.name] = {one.type, base.user};
		return;
	case Storage::Bad: return;
	default: {
		if (compilation_.diagnostics.sources().foreign(one.place))
			return;
		const uint8_t scope = base.storage == Storage::Self   ? DIF_VS_THREAD
		                      : base.storage == Storage::This ? DIF_VS_LOCAL
		                                                      : DIF_VS_GLOBAL;
		if (scope == DIF_VS_GLOBAL &&
		    compilation_.types.program().find(types::NameSpace::Ordinary, one.name))
			return compilation_.error("D_DECL_TYPERED", one.place,
			                          "type redeclared as a variable: " + one.name,
			                          "give one of the two another name");
		if (one.empty && compilation_.types.is_array(one.type))
			return compilation_.error("D_DECL_ARRSUB", one.place,
			                          "positive integral constant or tuple signature expected as "
			                          "array declaration subscript",
			                          "an array has at least one element");
		sema_.declare_variable(scope, one.name, one.place, one.type, one.assoc, one.keys, base.user);
		return;
	}
	}
}

} // namespace dfr::d
