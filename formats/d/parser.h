// SPDX-License-Identifier: GPL-2.0
//
// The parser: tokens to trees, one top-level item at a time. Types are made
// while their declarations are read, since a later line's meaning depends on
// them. Expressions come out untyped: sema.h.
//
// After a syntax error it skips to the end of the statement or item and goes
// on, so that one run reports all of them.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/d/compilation.h"

namespace dfr::d {

class Sema;

class Parser {
public:
	Parser(Compilation& compilation, Sema& sema, uint32_t source);

	// What an item was. Declarations, inlines and translators are in the definitions
	// when it returns.
	enum class Item : uint8_t { Clause, Declaration, End };
	Item next(Clause& out);
	// Where the item began that next() gave last.
	Place item_place() const { return item_place_; }

	// A type name alone, as a target's text for an argument: "struct file *".
	types::TypeRef type_name_only();

private:
	struct Failure {}; // a syntax error, reported
	enum class Storage : uint8_t { None, Extern, Typedef, Self, This, Bad };
	struct Specifiers {
		types::TypeRef type;
		Storage storage = Storage::None;
		bool user = false;
		bool defines = false; // a struct, union or enum body
		Place place;
	};
	struct TypeWords { // of a basic type, and its qualifiers
		unsigned longs = 0, bases = 0;
		bool is_short = false, is_signed = false, is_unsigned = false;
		bool is_const = false, is_volatile = false;
		Tok base = Tok::End;
		bool modified() const { return longs || is_short || is_signed || is_unsigned; }
	};
	using Places = std::map<std::string, Place, std::less<>>; // of members, by name
	struct StructBody {
		std::vector<types::MemberSpec> members;
		std::deque<std::string> names;            // that the members refer to
		std::set<std::string, std::less<>> taken; // by members, also of anonymous ones
		Places places;
	};
	struct Declarator {
		std::string name;
		Place place;
		types::TypeRef type;
		bool assoc = false;
		std::vector<types::TypeRef> keys;
		bool empty = false; // [0]
	};

	// -- tokens
	void advance() {
		tok_ = lexer_.next();
		attributes_.add(tok_.attributes);
	}
	bool at(Tok kind) const { return tok_.kind == kind; }
	bool accept(Tok kind);
	void expect(Tok kind, const char* where);
	void expect_last(Tok kind, const char* where); // does not read the token after it
	Token peek();
	[[noreturn]] void syntax(std::string hint = {});
	[[noreturn]] void too_deep(std::string message, std::string hint = {});
	void skip_statement();
	void unread(uint32_t from);
	void skip_item();

	// -- items (parse_unit.cc)
	void probe_list(Clause& clause);
	Description probe_description();
	void split_description(Description& desc);
	Item clause(Clause& out);
	void statements(std::vector<Stmt>& out);
	void statement(std::vector<Stmt>& out);
	[[noreturn]] void loop();
	void if_statement(std::vector<Stmt>& out);
	void inline_definition();
	void translator_definition();
	void provider_definition();
	void provider_probe(ProviderDef& def);
	void check_translation(const std::string& probe, Place place, types::TypeRef native,
	                       const types::Parameter& wanted, uint32_t position);
	bool declaration_ahead();

	// -- declarations (parse_decl.cc)
	void declaration();
	bool function_body(types::TypeRef type);
	types::TypeRef of_mode(types::TypeRef type);
	void check_alignment(const CAttributes& attributes, Place place);
	void declare(const Specifiers& base, const Declarator& one);
	bool hides_null(std::string_view name, Place place);
	Specifiers specifiers();
	void storage_class(Specifiers& out);
	bool specifier(Specifiers& out, TypeWords& words);
	void check_words(Specifiers& out, const TypeWords& words);
	types::TypeRef type_of(const Specifiers& out, const TypeWords& words);
	void declared_name(Declarator& out, bool need_name);
	Declarator declarator(types::TypeRef base, bool need_name);
	types::TypeRef suffixes(types::TypeRef base, Declarator& out);
	types::TypeRef array_suffix(types::TypeRef base, Declarator& out);
	types::TypeRef function_suffix(types::TypeRef base);
	types::TypeRef type_name(bool* user = nullptr);
	bool type_ahead(const Token& token);

	// -- structs, unions and enums (parse_body.cc)
	types::TypeRef tagged(bool* defines);
	void struct_body(types::TypeRef type);
	void check_members(types::TypeRef anonymous, StructBody& body);
	void anonymous_member(types::TypeRef type, StructBody& body);
	void member(types::TypeRef base, StructBody& body);
	int32_t bit_field(const Declarator& one);
	void define_struct(types::TypeRef type, const CAttributes& own, StructBody& body, Place end);
	void enum_body(types::TypeRef type);
	int64_t enumerator(TypeTable::OpenEnum& open, std::set<std::string>& names, int64_t value);

	// -- expressions (parse_expr.cc)
	Node* expression(); // with commas
	Node* assignment();
	Node* ternary();
	Node* binary(unsigned level);
	Node* unary();
	bool c_errno();
	Node* postfix();
	Node* primary();
	Node* number();
	Node* name_or_call();
	Node* aggregation();
	Node* offset_of();
	Node* translation();
	Node* parenthesis();
	std::vector<Node*> arguments(Tok close);
	bool predicate_ends();
	Node* node(Nk kind) { return compilation_.arena.make(kind, tok_.place); }
	Node* node(Nk kind, Place place) { return compilation_.arena.make(kind, place); }

	Compilation& compilation_;
	Sema& sema_;
	Lexer lexer_;
	Token tok_;
	Place item_place_;
	CAttributes attributes_; // since what they belong to began
	bool in_predicate_ = false;
	unsigned depth_ = 0;                // of parentheses in a predicate
	std::map<uint32_t, Places> places_; // of structs without a tag, by their id
	unsigned nesting_ = 0;              // of anything, to bound recursion
	unsigned bodies_ = 0;               // of structs and enums that are open
	friend struct Nesting;
};

} // namespace dfr::d
