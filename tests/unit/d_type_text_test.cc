// SPDX-License-Identifier: GPL-2.0
//
// Types as text: what is written is read as the same type, wrong text is refused.
#include <catch2/catch.hpp>

#include "formats/d/type_text.h"
#include "formats/error.h"
#include "tests/unit/d_target.h"

namespace d_type_text_test {

using namespace dfr;

TEST_CASE("type text: a struct of everything") {
	test::TestTarget target;
	const auto result =
	    test::compile("enum e { A, B = -3 }; typedef int t;\n"
	                  "struct in { short x, y; };\n"
	                  "struct s { t a; int b:3; int c:5; struct in in; char n[10]; struct s *next; enum "
	                  "e e; union { long l; char k; } u; string *p; };\n"
	                  "struct s v; BEGIN { print(v); }",
	                  target);
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	const dof::Action& action = result.compiled.image.bodies[0].actions[0];
	CHECK(*action.format == "struct s");
	types::ProgramTypes types;
	const types::TypeRef type = d::read_type_text(action.type, types);
	CHECK(types::to_c(type) == "struct s");
	// a 0, b and c in the byte at 4, in at 6, n at 10, next at 24, e at 32, u at 40, p at 48.
	CHECK(types::size_of(type) == 56);
	CHECK(types::find_member(type, "c")->bit_offset == 35);
	CHECK(types::find_member(type, "c")->bit_width == 5);
	CHECK(types::find_member(type, "n")->bit_offset == 80);
	CHECK(types::find_member(type, "u")->bit_offset == 320);
	CHECK(types::declare(types::find_member(type, "next")->type, "next") == "struct s *next");
	CHECK(types::declare(types::find_member(type, "a")->type, "a") == "t a");
	CHECK(types::find_enumerator(types::find_member(type, "e")->type, -3)->name == "B");
	CHECK(d::write_type_text(type) == action.type);
}

TEST_CASE("type text: wrong text is refused") {
	for (const char* const text :
	     {"", "X 1", "I", "I 0 s int", "I 32 s", "P 7", "A 3", "S 4 - a:0:0", "S 4 - a:0:0:0",
	      "S 4 - a:999:0:1\nI 32 s int", "A 1 1\nA 1 0", "E 4 s - A", "T 0 x"}) {
		types::ProgramTypes types;
		INFO(text);
		CHECK_THROWS_AS(d::read_type_text(text, types), Error);
	}
}

} // namespace d_type_text_test
