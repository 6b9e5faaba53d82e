// SPDX-License-Identifier: GPL-2.0
//
// The classic listing of the talks and papers, word for word: instruction words
// and the layout of dtrace -S. Expected values come from formats/dif/DIF.md,
// not from the compiler.
#include <catch2/catch.hpp>

#include "formats/dif/disasm.h"
#include "tests/unit/d_target.h"

namespace d_golden_test {

using namespace dfr;

namespace {

// Without the address of the object, which is no part of the layout.
std::string without_pointer(std::string text) {
	const size_t at = text.find("DIFO 0x");
	const size_t end = text.find(' ', at + 5);
	return text.erase(at + 5, end - at - 5);
}

// The program of the classic listing.
auto compile_listed() {
	test::TestTarget target;
	d::CompileOptions options;
	options.zdefs = true;
	return test::compile("fbt::malloc:entry /execname == \"csh\"/ { trace(arg0); }", target, options);
}

} // namespace

TEST_CASE("the classic listing: instruction words") {
	const auto result = compile_listed();
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	const dof::Image& image = result.compiled.image;
	REQUIRE(image.bodies.size() == 1);
	REQUIRE(image.bodies[0].predicate);
	CHECK(image.bodies[0].predicate->text == std::vector<uint32_t>{0x29011801, 0x26000102, 0x27010200,
	                                                               0x12000006, 0x0e000001, 0x11000007,
	                                                               0x25000001, 0x23000001});
	REQUIRE(image.bodies[0].actions.size() == 1);
	CHECK(image.bodies[0].actions[0].kind == DFR_ACT_DIFEXPR);
	CHECK(image.bodies[0].actions[0].difo->text == std::vector<uint32_t>{0x29010601, 0x23000001});
	REQUIRE(image.ecbs.size() == 1);
	CHECK(image.ecbs[0].probe == dof::ProbeDesc{"", "fbt", "", "malloc", "entry", 0});
}

TEST_CASE("the classic listing: layout") {
	const auto result = compile_listed();
	const dof::Body& body = result.compiled.image.bodies[0];
	CHECK(without_pointer(dif::disassemble(*body.predicate)) ==
	      "\nDIFO  returns D type (integer) (size 4)\n"
	      "OFF OPCODE      INSTRUCTION\n"
	      "00: 29011801    ldgs DT_VAR(280), %r1\t\t! DT_VAR(280) = \"execname\"\n"
	      "01: 26000102    sets DT_STRING[1], %r2\t\t! \"csh\"\n"
	      "02: 27010200    scmp %r1, %r2\n"
	      "03: 12000006    be   6\n"
	      "04: 0e000001    mov  %r0, %r1\n"
	      "05: 11000007    ba   7\n"
	      "06: 25000001    setx DT_INTEGER[0], %r1\t\t! 0x1\n"
	      "07: 23000001    ret  %r1\n"
	      "\n"
	      "NAME             ID   KND SCP FLAG TYPE\n"
	      "execname         118  scl glb r    string (unknown) by ref (size 256)\n");
	CHECK(without_pointer(dif::disassemble(*body.actions[0].difo)) ==
	      "\nDIFO  returns D type (integer) (size 8)\n"
	      "OFF OPCODE      INSTRUCTION\n"
	      "00: 29010601    ldgs DT_VAR(262), %r1\t\t! DT_VAR(262) = \"arg0\"\n"
	      "01: 23000001    ret  %r1\n"
	      "\n"
	      "NAME             ID   KND SCP FLAG TYPE\n"
	      "arg0             106  scl glb r    D type (integer) (size 8)\n");
}

} // namespace d_golden_test
