// SPDX-License-Identifier: GPL-2.0
//
// Programs that are deeper than any stack, in every way that D nests: the
// compiler must answer, with errors where it has bounds. And inlines of inlines,
// which are few characters and many operators.
#include <catch2/catch.hpp>

#include "tests/unit/d_target.h"

namespace d_depth_test {

using namespace dfr;

namespace {

std::string times(size_t count, std::string_view text) {
	std::string all;
	for (; count; count--)
		all += text;
	return all;
}

bool compiles(const std::string& source) {
	test::TestTarget target;
	d::Diagnostics diagnostics;
	d::compile(source, {}, target, diagnostics);
	return !diagnostics.failed();
}

// Each inline is twice the one before.
std::string doubled(unsigned count) {
	std::string source = "inline int d0 = 1 + 1;\n";
	for (unsigned i = 1; i <= count; i++) {
		const std::string before = "d" + std::to_string(i - 1);
		source += "inline int d" + std::to_string(i) + " = " + before + " + " + before + ";\n";
	}
	return source + "BEGIN { x = d" + std::to_string(count) + "; }";
}

struct Shape {
	const char *begin, *down, *middle, *up, *end;
};

// begin, as often as wanted down, middle, as often up, end.
const Shape kShapes[] = {
    {"BEGIN { x = ", "(", "1", ")", "; }"},
    {"BEGIN { x = ", "- ", "1", "", "; }"},
    {"BEGIN { x = ", "(int)", "1", "", "; }"},
    {"BEGIN { x = ", "sizeof ", "1", "", "; }"},
    {"BEGIN { x = 1", "+1", "", "", "; }"},
    {"BEGIN { x = ", "1 ? 1 : ", "1", "", "; }"},
    {"BEGIN { x = ", "1 ? ", "1", " : 1", "; }"},
    {"BEGIN { ", "x = ", "1", "", "; }"},
    {"struct s { struct s *next; }; struct s *p; BEGIN { q = p", "->next", "", "", "; }"},
    {"inline int i = 1", "+1", "", "", "; BEGIN { x = i; }"},
    {"struct s { int a; }; struct o { int m; }; translator struct o < struct s *z > { m = 1", "+1", "", "",
     "; }; struct s *p; BEGIN { x = xlate <struct o *>(p)->m; }"},
    {"BEGIN { x = ", "strlen(strjoin(\"a\", lltostr(", "1", ")))", "; }"},
    {"BEGIN { ", "{ ", "", "} ", "}"},
    {"BEGIN { ", "if (1) ", "x = 1;", "", " }"},
    {"BEGIN { ", "if (1) { } else ", "x = 1;", "", " }"},
    {"BEGIN { ", "pid ? trace(1) : ", "trace(2);", "", " }"},
    {"", "struct { ", "int a;", " } b;", " BEGIN { }"},
    {"int ", "(", "x", ")", "; BEGIN { }"},
    {"int x", "[1]", "", "", "; BEGIN { }"},
    {"int ", "*", "x", "", "; BEGIN { }"},
};

std::string program(const Shape& shape, size_t depth) {
	return shape.begin + times(depth, shape.down) + shape.middle + times(depth, shape.up) + shape.end;
}

} // namespace

TEST_CASE("Every way to nest works a few levels deep", "[d]") {
	for (const Shape& shape : kShapes) {
		INFO(program(shape, 6));
		CHECK(compiles(program(shape, 6)));
	}
}

TEST_CASE("No program is too deep for the compiler's stack", "[d]") {
	for (const Shape& shape : kShapes) {
		INFO(program(shape, 6));
		// A pointer's stars are counted in a loop: they may be as many as one likes.
		CHECK(compiles(program(shape, 60000)) == (shape.down == std::string_view("*")));
	}
}

TEST_CASE("Inlines that double are used up to a bound", "[d]") {
	CHECK(compiles(doubled(10)));
	CHECK_FALSE(compiles(doubled(60)));
}

TEST_CASE("An error in a long line shows the part around it", "[d]") {
	test::TestTarget target;
	d::Diagnostics diagnostics;
	d::compile("BEGIN { x = 1" + times(5000, " ") + "+ nosuch; }" + times(5000, " "), {}, target,
	           diagnostics);
	const std::string text = diagnostics.render(false);
	CHECK(text.size() < 1000);
	const size_t line = text.find("    "), caret = text.find('^');
	REQUIRE(caret != std::string::npos);
	const size_t caret_line = text.rfind('\n', caret) + 1;
	CHECK(text.substr(line + (caret - caret_line), 6) == "nosuch");
}

TEST_CASE("Errors without end are told in proportion to the program", "[d]") {
	test::TestTarget target;
	d::Diagnostics diagnostics;
	d::compile("BEGIN { x = 1" + times(20000, "}"), {}, target, diagnostics);
	CHECK(diagnostics.render(true).size() < 20000 * 1000);
}

TEST_CASE("A chain of ?: may be a long table", "[d]") {
	CHECK(compiles("int x; inline int t = " + times(350, "x == 2 ? 2 : ") + "0; BEGIN { y = t; }"));
}

TEST_CASE("Actions may be chosen as deeply as if goes", "[d]") {
	CHECK(compiles("BEGIN { " + times(100, "pid ? trace(1) : ") + "trace(2); }"));
	CHECK_FALSE(compiles("BEGIN { " + times(101, "pid ? trace(1) : ") + "trace(2); }"));
}

// Where each dot, or each member, looks at all others, these take hours.
TEST_CASE("Very many dots, and very many members, are read once each", "[d]") {
	for (const char* const end : {"; }", "a`b; }"})
		CHECK_FALSE(compiles("BEGIN { ) " + times(300000, "a.") + end));
	std::string members;
	for (int i = 0; i < 100000; i++)
		members += "int m" + std::to_string(i) + ";";
	CHECK(compiles("struct s { " + members + " struct { int other; }; }; BEGIN { }"));
	CHECK_FALSE(compiles("struct s { " + members + " struct { int m7; }; }; BEGIN { }"));
}

TEST_CASE("An error inside a block leaves the blocks around it counted", "[d]") {
	CHECK_FALSE(compiles("BEGIN { " + times(60000, "{ ) ; ") + "}"));
	test::TestTarget target;
	d::Diagnostics diagnostics;
	d::compile("BEGIN { { { ) ; } } x = 1; }", {}, target, diagnostics);
	CHECK(diagnostics.errors() == 1);
}

} // namespace d_depth_test
