// SPDX-License-Identifier: GPL-2.0
//
// The tree: what the parser makes and the analysis types in place. One node
// type for all expressions, since most passes (analysis, folding, cloning,
// canonical text, code) walk them alike. Nodes live in an arena for as long as
// the compilation; pointers between them are plain.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "formats/abi/dof.h"
#include "formats/d/diagnostics.h"
#include "formats/d/lexer.h"
#include "formats/types/types.h"

namespace dfr::d {

struct Variable;
struct AggVariable;
struct Builtin;
struct Subroutine;
struct ActionInfo;
struct Translator;

enum class Nk : uint8_t {
	Error,  // reported; poisons what it is part of, silently
	Int,    // value
	Float,  // real
	String, // text
	Name,   // text: an identifier not looked up yet, or `scoped
	SelfKw, // `self`, only left of ->
	ThisKw,
	AggName,    // text: @name; list: keys if bracketed
	Call,       // text, list
	Unary,      // op, a; postfix for x++; b: where x++ is written, if not as in a
	Binary,     // op, a, b (the comma, too)
	Assign,     // op, a, b
	Ternary,    // a ? b : c
	Index,      // a [list]
	Member,     // a . text, or -> (arrow)
	Cast,       // (cast) a
	SizeofType, // cast
	SizeofExpr, // a
	Offsetof,   // cast, text
	Stringof,   // a
	Xlate,      // xlate <cast> (a)
	// made by the analysis
	Var,        // variable; list: keys of an associative array
	BuiltinVar, // builtin; list: index of an array
	Subr,       // subroutine; list
	Symbol,     // text: "module`name"; value: address if `known`
	Translated, // translator; a: the input. No value, only members
	AggRef,     // aggregation (as an argument of printa and the like)
	Recorded,   // stack(), sym(x), ...: an action as a key or printf argument
	Captured    // replay: input `value`
};

struct Node {
	Nk kind = Nk::Error;
	Tok op = Tok::Bad;
	bool postfix = false;
	bool arrow = false;
	bool parenthesized = false;
	bool analyzed = false;
	bool user = false;      // a pointer into user memory, or a value there
	bool lvalue = false;    // has an address or is a variable
	bool writable = false;  // memory that D may write: alloca, copyin
	bool known = false;     // Symbol: the address is known now
	bool bracketed = false; // AggName with []
	bool is_call = false;   // Recorded
	bool wide = false;      // Captured: it may be more than its type can hold
	Place place;
	types::TypeRef type;
	types::TypeRef cast; // Cast, SizeofType, Offsetof, Xlate
	Node* a = nullptr;
	Node* b = nullptr;
	Node* c = nullptr;
	std::vector<Node*> list;
	std::string text;
	uint64_t value = 0;
	double real = 0;
	// Member: where it is in `a`'s object; bit_width 0: no bit-field.
	uint64_t bit_offset = 0;
	uint32_t bit_width = 0;
	union {
		Variable* variable;
		AggVariable* aggregation;
		const Builtin* builtin;
		const Subroutine* subroutine;
		const ActionInfo* action;
		Translator* translator = nullptr;
	};
};

class Arena {
public:
	Node* make(Nk kind, Place place) {
		Node& node = nodes_.emplace_back();
		node.kind = kind;
		node.place = place;
		return &node;
	}
	Node* copy(const Node& from) { return &nodes_.emplace_back(from); }

private:
	std::deque<Node> nodes_;
};

struct Stmt {
	Node* expression = nullptr; // null: an `if`
	Node* condition = nullptr;
	std::vector<Stmt> then, otherwise;
	Place place;
};

struct Description {
	Place place;
	std::string text; // as written, macros replaced
	std::string host, provider, module, function, name;
	uint32_t id = 0;
};

struct Clause {
	Place place;
	dfr_priority priority = DFR_PRIORITY_NORMAL;
	std::vector<Description> probes;
	Node* predicate = nullptr;
	std::vector<Stmt> statements;
};

} // namespace dfr::d
