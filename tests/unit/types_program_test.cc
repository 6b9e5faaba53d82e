// SPDX-License-Identifier: GPL-2.0
//
// ProgramTypes and the operations of types.h: C declarations as text, layout
// (expected offsets worked out by hand from the System V ABI), equivalence.
#include <catch2/catch.hpp>

#include <array>

#include "formats/error.h"
#include "formats/types/btf.h"
#include "formats/types/program_types.h"
#include "tests/unit/types_btf_builder.h"

namespace types_program_test {

using namespace dfr::types;
using Catch::Contains;

namespace {

struct Basics {
	ProgramTypes p;
	TypeRef int_ = p.integer("int", {32, true});
	TypeRef uint_ = p.integer("unsigned int", {32, false});
	TypeRef char_ = p.integer("char", {8, true, true});
	TypeRef short_ = p.integer("short", {16, true});
	TypeRef long_ = p.integer("long", {64, true});

	TypeRef make(Kind kind, std::string_view tag, std::vector<MemberSpec> members) {
		const TypeRef type = p.forward(kind, tag);
		p.define(type, members);
		return type;
	}

	std::string place(TypeRef type, std::string_view member) {
		const auto found = find_member(type, member);
		return found ? std::to_string(found->bit_offset) + ":" + std::to_string(found->bit_width)
		             : "none";
	}
};

} // namespace

TEST_CASE("program types: derived types are interned and written as C") {
	Basics t;
	ProgramTypes& p = t.p;
	CHECK(p.pointer(t.int_) == p.pointer(t.int_));
	CHECK(p.array(t.int_, 3) != p.array(t.int_, 4));
	CHECK(p.integer("int", {}) == t.int_);
	CHECK(to_c(p.void_type()) == "void");
	CHECK(to_c(p.pointer(p.void_type())) == "void *");
	CHECK(to_c(p.array(t.char_, 16)) == "char [16]");
	CHECK(to_c(p.array(p.pointer(t.char_), 4)) == "char *[4]");
	CHECK(to_c(p.pointer(p.array(t.char_, 4))) == "char (*)[4]");
	CHECK(to_c(p.array(p.array(t.int_, 3), 2)) == "int [2][3]");
	CHECK(declare(p.array(p.array(t.int_, 3), 2), "grid") == "int grid[2][3]");
	CHECK(to_c(p.pointer(p.qualified(Kind::Const, t.char_))) == "const char *");
	CHECK(declare(p.qualified(Kind::Const, p.pointer(t.char_)), "s") == "char *const s");
	CHECK(to_c(p.pointer(p.qualified(Kind::Const, p.pointer(t.char_)))) == "char *const *");
	CHECK(to_c(p.forward(Kind::Union, "u")) == "union u");
	CHECK(to_c(p.forward(Kind::Enum, "")) == "enum (anon)");

	const std::array one{Parameter{"x", t.int_}};
	const TypeRef function = p.function(t.int_, one, false);
	CHECK(to_c(function) == "int (int)");
	CHECK(to_c(p.pointer(function)) == "int (*)(int)");
	CHECK(declare(p.array(p.pointer(function), 2), "table") == "int (*table[2])(int)");
	CHECK(declare(p.function(p.pointer(t.char_), {}, false), "f") == "char *f(void)");
	CHECK(declare(p.function(p.void_type(), one, true), "f") == "void f(int, ...)");
	// signal(): a function that takes and returns function pointers.
	const std::array handler{Parameter{"", t.int_}, Parameter{"", p.pointer(function)}};
	CHECK(declare(p.function(p.pointer(function), handler, false), "signal") ==
	      "int (*signal(int, int (*)(int)))(int)");
}

TEST_CASE("program types: structs are laid out as C does") {
	Basics t;
	const TypeRef s =
	    t.make(Kind::Struct, "s",
	           {{"a", t.char_}, {"b", t.int_}, {"c", t.short_}, {"d", t.long_}, {"e", t.char_}});
	CHECK(t.place(s, "b") == "32:0");
	CHECK(t.place(s, "c") == "64:0");
	CHECK(t.place(s, "d") == "128:0");
	CHECK(t.place(s, "e") == "192:0");
	CHECK(*size_of(s) == 32);
	CHECK(*align_of(s) == 8);

	const TypeRef u = t.make(Kind::Union, "u", {{"a", t.p.array(t.char_, 5)}, {"b", t.short_}});
	CHECK(*size_of(u) == 6);
	CHECK(t.place(u, "b") == "0:0");

	const TypeRef empty = t.make(Kind::Struct, "empty", {});
	CHECK(*size_of(empty) == 0);
	CHECK(*align_of(empty) == 1);
	const TypeRef flexible = t.make(Kind::Struct, "f", {{"n", t.char_}, {"data", t.p.array(t.int_, 0)}});
	CHECK(t.place(flexible, "data") == "32:0");
	CHECK(*size_of(flexible) == 4);
}

TEST_CASE("program types: bit-fields are laid out as C does") {
	Basics t;
	// int a:3; int b:30 (crosses a unit of 32: moves); short c:9 (fits the unit of
	// 16 at 62? no: 62..71 crosses 64, moves); char d.
	const TypeRef s = t.make(Kind::Struct, "s",
	                         {{"a", t.int_, 3}, {"b", t.int_, 30}, {"c", t.short_, 9}, {"d", t.char_}});
	CHECK(t.place(s, "a") == "0:3");
	CHECK(t.place(s, "b") == "32:30");
	CHECK(t.place(s, "c") == "64:9");
	CHECK(t.place(s, "d") == "80:0");
	CHECK(*size_of(s) == 12);

	// ": 0" closes the unit; an unnamed field leaves room and does not align.
	const TypeRef z = t.make(Kind::Struct, "z", {{"a", t.char_, 2}, {"", t.int_, 0}, {"b", t.char_, 1}});
	CHECK(t.place(z, "b") == "32:1");
	CHECK(*size_of(z) == 5);
	const TypeRef r = t.make(Kind::Struct, "r", {{"a", t.char_, 2}, {"", t.int_, 4}, {"b", t.char_, 1}});
	CHECK(t.place(r, "b") == "6:1");
	CHECK(*size_of(r) == 1);
	CHECK(info(r).count == 2);
}

TEST_CASE("program types: anonymous members are searched and completed types seen") {
	Basics t;
	const TypeRef inner = t.make(Kind::Union, "", {{"x", t.int_}, {"y", t.long_}});
	const TypeRef outer = t.make(Kind::Struct, "o", {{"first", t.int_}, {"", inner}, {"last", t.int_}});
	CHECK(t.place(outer, "x") == "64:0");
	CHECK(t.place(outer, "last") == "128:0");
	CHECK_FALSE(find_member(outer, ""));

	const TypeRef node = t.p.forward(Kind::Struct, "node");
	const TypeRef link = t.p.pointer(node);
	CHECK_FALSE(size_of(node));
	t.p.define(node, std::array{MemberSpec{"next", link}, MemberSpec{"n", t.int_}});
	CHECK(t.p.find(NameSpace::Struct, "node") == node);
	CHECK(*size_of(info(link).target) == 16);
	CHECK_THROWS_WITH(t.p.define(node, {}), Contains("only once"));
}

TEST_CASE("program types: what C forbids is refused") {
	Basics t;
	const TypeRef open = t.p.forward(Kind::Struct, "open");
	const auto define = [&](MemberSpec member) {
		t.p.define(t.p.forward(Kind::Struct, ""), std::array{member});
	};
	CHECK_THROWS_WITH(define({"m", open}), Contains("incomplete type struct open"));
	CHECK_THROWS_WITH(define({"m", t.p.void_type()}), Contains("incomplete"));
	CHECK_THROWS_WITH(define({"m", t.int_, 33}), Contains("33 bits"));
	CHECK_THROWS_WITH(define({"m", t.p.pointer(t.int_), 3}), Contains("does not fit"));
	CHECK_THROWS_WITH(define({"m", t.p.array(t.long_, std::uint64_t(1) << 62)}), Contains("larger"));
	CHECK_THROWS_WITH(define({"m", t.p.array(t.long_, std::uint64_t(1) << 50)}), Contains("too large"));
	// In bits it would be 0 again.
	CHECK_THROWS_WITH(define({"m", t.p.array(t.long_, std::uint64_t(1) << 58)}), Contains("too large"));
	CHECK_THROWS(t.p.pointer({}));
	CHECK_THROWS(t.p.info(9999));
}

TEST_CASE("program types: enums, typedefs, functions and variables by name") {
	Basics t;
	const TypeRef colour = t.p.forward(Kind::Enum, "colour");
	t.p.define_enum(colour, std::array{Enumerator{"RED", 0}, Enumerator{"BLUE", -2}});
	CHECK(t.p.find_enumerator("BLUE")->value == -2);
	CHECK(t.p.find_enumerator("BLUE")->type == colour);
	CHECK(*size_of(colour) == 4);
	CHECK_FALSE(t.p.find_enumerator("GREEN"));

	std::string name = "id_t";
	const TypeRef alias = t.p.typedef_name(name, t.p.qualified(Kind::Volatile, t.int_));
	name = "gone"; // the container keeps its own copy
	CHECK(t.p.find(NameSpace::Ordinary, "id_t") == alias);
	CHECK(resolve(alias) == t.int_);
	CHECK(unqualified(alias) == alias);
	CHECK(to_c(t.p.pointer(alias)) == "id_t *");
	t.p.name_variable("v", alias);
	CHECK(t.p.find_variable("v") == alias);
	CHECK_FALSE(t.p.find_function("v"));
}

TEST_CASE("types: equivalence crosses containers") {
	dfr::test::BtfBuilder b;
	const auto long_int = b.integer("long int", 8, 1);
	const auto list = b.type("list_head", 4, 1, 8);
	b.words({b.string("next"), list + 1, 0});
	const auto list_pointer = b.pointer(list);
	const Btf btf("vmlinux", b.blob());
	Basics t;
	ProgramTypes& p = t.p;

	CHECK(equivalent({&btf, long_int}, t.long_));
	CHECK(equivalent(p.qualified(Kind::Const, t.long_), {&btf, long_int}));
	CHECK_FALSE(equivalent(t.int_, t.uint_));
	CHECK_FALSE(equivalent(t.int_, t.long_));
	CHECK(equivalent({&btf, list_pointer}, p.pointer(TypeRef{&btf, list})));
	CHECK(equivalent({&btf, list_pointer}, p.pointer(p.forward(Kind::Struct, "list_head"))));
	CHECK_FALSE(equivalent({&btf, list_pointer}, p.pointer(p.forward(Kind::Struct, "other"))));
	CHECK_FALSE(equivalent({&btf, list_pointer}, p.pointer(t.int_)));
	CHECK(equivalent(p.array(t.int_, 3), p.array(t.int_, 3)));
	CHECK_FALSE(equivalent(p.array(t.int_, 3), p.array(t.int_, 4)));
	CHECK(equivalent(p.void_type(), {&btf, 0}));

	const std::array one{Parameter{"x", t.long_}};
	const std::array other{Parameter{"y", TypeRef{&btf, long_int}}};
	CHECK(equivalent(p.function(t.int_, one, false), p.function(t.int_, other, false)));
	CHECK_FALSE(equivalent(p.function(t.int_, one, false), p.function(t.int_, other, true)));
	CHECK_FALSE(equivalent(p.function(t.int_, one, false), p.function(t.uint_, one, false)));
}

} // namespace types_program_test
