// SPDX-License-Identifier: GPL-2.0
//
// The parser's structs, unions and enums: tags, bodies, members, constants. What stands
// around them in a declaration is parse_decl.cc. Types are built in TypeTable::program()
// on the way.
#include "formats/d/parser.h"

#include <algorithm>

#include "formats/d/sema.h"
#include "formats/error.h"

namespace dfr::d {

using types::Kind;
using types::TypeRef;

namespace {

// What an array of arrays holds at the end; [] has no size, and that is right.
TypeRef element_of(TypeRef type) {
	for (types::TypeInfo info = types::info(types::resolve(type)); info.kind == Kind::Array;
	     info = types::info(types::resolve(type)))
		type = info.target;
	return type;
}

} // namespace

TypeRef Parser::tagged(bool* defines) {
	const Kind kind = at(Tok::Struct) ? Kind::Struct : at(Tok::Union) ? Kind::Union : Kind::Enum;
	const Place place = tok_.place;
	const CAttributes before = attributes_;
	attributes_ = {};
	advance();
	std::string tag;
	if (at(Tok::Ident)) {
		tag = tok_.name();
		advance();
	}
	auto& program = compilation_.types.program();
	if (at(Tok::LBrace)) {
		*defines = true;
		const auto space = kind == Kind::Struct  ? types::NameSpace::Struct
		                   : kind == Kind::Union ? types::NameSpace::Union
		                                         : types::NameSpace::Enum;
		const TypeRef known = tag.empty() ? TypeRef{} : program.find(space, tag);
		TypeRef type;
		if (known && types::info(known).kind != Kind::Forward) {
			compilation_.error("D_DECL_TYPERED", place, "type redeclared: " + types::to_c(known),
			                   "the first declaration holds; give this one another tag");
			type = program.forward(kind, {});
		} else {
			type = program.forward(kind, tag);
		}
		kind == Kind::Enum ? enum_body(type) : struct_body(type);
		attributes_ = before; // those behind the body are the type's
		return type;
	}
	attributes_.add(before);
	if (tag.empty())
		syntax("a tag or a body in braces must follow");
	if (const TypeRef found = compilation_.types.find_tag(kind, tag))
		return found;
	if (tag.find('`') != std::string::npos) {
		compilation_.error("D_TYPE_ERR", place, "failed to resolve type " + tag + ": no such type",
		                   "the part before ` names the module or vmlinux");
		return compilation_.types.int_type();
	}
	if (kind == Kind::Enum) {
		compilation_.error("D_TYPE_ERR", place,
		                   "failed to resolve type enum " + tag + ": no such type",
		                   "define it first, with its constants");
		return compilation_.types.int_type();
	}
	return program.forward(kind, tag);
}

// The number of bits behind a member's colon; -1: it was wrong.
int32_t Parser::bit_field(const Declarator& one) {
	const Place place = tok_.place;
	const auto bits = sema_.constant(ternary());
	const uint64_t room = compilation_.types.size(one.type) * 8;
	if (!bits || *bits < 0 || (*bits == 0 && !one.name.empty())) {
		compilation_.error("D_DECL_BFCONST", place,
		                   "positive integral constant expression or name expected as bit-field size",
		                   "write the number of bits");
	} else if (!compilation_.types.is_integer(one.type)) {
		compilation_.error("D_DECL_BFTYPE", place, "invalid type for bit-field: " + one.name,
		                   "only integers and enums have bit-fields");
	} else if (static_cast<uint64_t>(*bits) > room) {
		compilation_.error("D_DECL_BFSIZE", place,
		                   "bit-field too big for type or of invalid size: " + one.name,
		                   "at most " + std::to_string(room) + " bits fit");
	} else {
		return static_cast<int32_t>(*bits);
	}
	return -1;
}

// An anonymous struct's members are its owner's.
void Parser::check_members(TypeRef anonymous, StructBody& body) {
	const TypeRef type = types::resolve(anonymous);
	const uint64_t count = types::info(type).count;
	for (uint32_t i = 0; i < count; i++) {
		const types::Member one = type.container->member(type.id, i);
		if (one.name.empty() && compilation_.types.is_struct(one.type))
			check_members(one.type, body);
		else if (!one.name.empty() && !body.taken.emplace(one.name).second)
			compilation_.error("D_DECL_MNAME", places_[type.id][std::string(one.name)],
			                   "member name redeclared: " + std::string(one.name),
			                   "the members of an anonymous struct or union are its owner's: "
			                   "rename one of the two");
	}
}

// A member that is just an anonymous struct or union.
void Parser::anonymous_member(TypeRef type, StructBody& body) {
	check_alignment(attributes_, tok_.place);
	check_members(type, body);
	body.members.push_back({"", type, -1, attributes_.packed, attributes_.align});
}

// One member of those that share a type's name.
void Parser::member(TypeRef base, StructBody& body) {
	Declarator one;
	one.place = tok_.place;
	one.type = base;
	int32_t width = -1;
	if (!at(Tok::Colon)) {
		one = declarator(base, false);
		if (one.name.empty() && !at(Tok::Semicolon) && !at(Tok::Comma) && !at(Tok::Colon))
			syntax("a member's name is expected");
		if (one.name.empty() && !at(Tok::Colon))
			compilation_.error("D_DECL_MNAME", one.place, "member declaration requires a name",
			                   "only an anonymous struct, union or bit-field has none");
	}
	if (one.assoc)
		compilation_.error("D_DECL_LOCASSC", one.place, "a member may not be an associative array",
		                   "give the number of elements");
	if (accept(Tok::Colon)) {
		width = bit_field(one);
	} else if (!compilation_.types.size(element_of(one.type))) {
		const bool object =
		    compilation_.types.is_void(one.type) || compilation_.types.is_function(one.type);
		compilation_.error(
		    object ? "D_DECL_VOIDOBJ" : "D_DECL_INCOMPLETE", one.place,
		    (object ? "cannot have a member of type " : "incomplete struct/union/enum ") +
		        types::to_c(one.type) + ": " + one.name,
		    "define the type first, or point to it");
		one.type = compilation_.types.int_type();
	}
	if (!one.name.empty() && !body.taken.insert(one.name).second) {
		compilation_.error("D_DECL_MNAME", one.place, "member name redeclared: " + one.name,
		                   "rename one of the two");
		one.name += "'";
	}
	// The program's string has no C size of its own.
	if (compilation_.types.is_string(one.type))
		one.type = compilation_.types.stored_string();
	check_alignment(attributes_, one.place);
	body.places[one.name] = one.place;
	body.members.push_back({body.names.emplace_back(one.name), of_mode(one.type), width,
	                        attributes_.packed, attributes_.align});
}

// Its body ends at `end`.
void Parser::define_struct(TypeRef type, const CAttributes& own, StructBody& body, Place end) {
	const uint64_t pack = compilation_.pack.empty() ? 0 : compilation_.pack.back();
	const uint64_t most = own.packed ? 1 : pack;
	for (types::MemberSpec& one : body.members) {
		// Of a typedef: instead of its type's, and packed as that would be.
		const uint64_t given = compilation_.types.alignment_of(one.type);
		if (given && one.align) {
			one.align = std::max(one.align, given);
		} else if (given && !one.packed && !own.packed) {
			one.packed = given < types::align_of(one.type).value_or(1);
			one.align = given;
		}
		if (pack)
			one.align = std::min(one.align, pack);
	}
	try {
		compilation_.types.program().define(type, body.members, {most, std::max(own.align, 1U)});
	} catch (const Error&) {
		compilation_.error("D_DECL_ARRBIG", end, types::to_c(type) + " is too big",
		                   "128 GiB is the most");
		compilation_.types.program().define(type, {}, {});
	}
}

void Parser::struct_body(TypeRef type) {
	if (++nesting_ > 64)
		too_deep("structs are nested too deeply");
	CAttributes own = attributes_;
	expect(Tok::LBrace, "to open the members");
	bodies_++;
	// The system's headers may have such ones, as GNU C.
	if (at(Tok::RBrace) && !compilation_.diagnostics.sources().foreign(tok_.place))
		compilation_.error("D_SYNTAX", tok_.place, "syntax error near \"}\"",
		                   "a struct or union has at least one member");
	StructBody body;
	while (!at(Tok::RBrace)) {
		if (at(Tok::End))
			syntax("the struct's closing brace is missing");
		attributes_ = tok_.attributes;
		if (at(Tok::Ident) && !compilation_.types.find_typedef(tok_.name()))
			syntax("a member begins with its type, and " + std::string(tok_.name()) + " is none");
		const Specifiers base = specifiers();
		if (base.storage != Storage::None)
			compilation_.error("D_DECL_CLASS", base.place,
			                   "storage class in a member's declaration",
			                   "members have no storage class");
		// A member of just an anonymous struct or union.
		if (at(Tok::Semicolon) && types::info(base.type).name.empty() &&
		    compilation_.types.is_struct(base.type)) {
			anonymous_member(base.type, body);
			advance();
			continue;
		}
		const CAttributes shared = attributes_;
		for (;;) {
			member(base.type, body);
			if (!accept(Tok::Comma))
				break;
			attributes_ = shared;
			attributes_.add(tok_.attributes);
		}
		expect(Tok::Semicolon, "after the member");
	}
	const Place end = tok_.place;
	attributes_ = {};
	bodies_--;
	advance();
	own.add(attributes_);
	nesting_--;
	check_alignment(own, end);
	if (types::info(type).kind != Kind::Forward)
		return compilation_.error("D_DECL_TYPERED", end, "type redeclared: " + types::to_c(type),
		                          "its own body defines it again");
	define_struct(type, own, body, end);
	if (types::info(type).name.empty())
		places_[type.id] = std::move(body.places);
}

void Parser::enum_body(TypeRef type) {
	expect(Tok::LBrace, "to open the constants");
	bodies_++;
	if (at(Tok::RBrace))
		compilation_.error("D_SYNTAX", tok_.place, "syntax error near \"}\"",
		                   "an enum has at least one constant");
	TypeTable::OpenEnum open(compilation_.types);
	std::set<std::string> names;
	for (int64_t value = 0; !at(Tok::RBrace);) {
		value = enumerator(open, names, value);
		if (!accept(Tok::Comma))
			break;
	}
	expect_last(Tok::RBrace, "to close the enum");
	bodies_--;
	advance();
	if (types::info(type).kind != Kind::Forward)
		return compilation_.error("D_DECL_TYPERED", tok_.place,
		                          "type redeclared: " + types::to_c(type),
		                          "its own body defines it again");
	uint32_t bytes = 4;
	bool is_signed = true;
	if (attributes_.packed) { // the smallest integer that holds them
		int64_t least = 0, most = 0;
		for (const auto& one : open.constants()) {
			least = std::min(least, one.value);
			most = std::max(most, one.value);
		}
		is_signed = least < 0;
		const int64_t reach = is_signed ? std::max(~least, most) : most / 2;
		bytes = reach <= INT8_MAX ? 1 : reach <= INT16_MAX ? 2 : 4;
	}
	compilation_.types.program().define_enum(type, open.constants(), bytes, is_signed);
}

// One constant, besides `names`: `value`, if the program gives it none. Returns what the next one is.
int64_t Parser::enumerator(TypeTable::OpenEnum& open, std::set<std::string>& names, int64_t value) {
	if (!at(Tok::Ident))
		syntax("an enum's body is a list of names");
	const Place place = tok_.place;
	const std::string name(tok_.name());
	hides_null(name, place);
	advance();
	if (accept(Tok::Assign)) {
		if (at(Tok::Comma) || at(Tok::RBrace))
			syntax("the value of " + name + " is missing");
		const auto given = sema_.constant(ternary());
		if (!given)
			compilation_.error("D_DECL_ENCONST", place,
			                   "enumerator '" + name +
			                       "' must be assigned to an integral constant expression",
			                   "only constants can be used here");
		else
			value = *given;
	}
	if (value > INT32_MAX || value < INT32_MIN)
		compilation_.error("D_DECL_ENOFLOW", place,
		                   "enumerator '" + name + "' value overflows INT_MAX",
		                   "an enum's constants have 32 bits");
	const auto hidden = compilation_.definitions.inlines.find(name);
	if (!names.insert(name).second || compilation_.types.program().find_enumerator(name) ||
	    (hidden != compilation_.definitions.inlines.end() && !hidden->second.library))
		compilation_.error("D_DECL_IDRED", place, "identifier redeclared: " + name,
		                   "rename one of the two");
	open.add(name, value);
	// An overflow is reported by the next one.
	return static_cast<int64_t>(static_cast<uint64_t>(value) + 1);
}

} // namespace dfr::d
