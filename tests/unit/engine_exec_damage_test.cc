// SPDX-License-Identifier: GPL-2.0
//
// Compiled programs with a single byte changed, all of them: each is refused
// with a place and a reason, or loads and runs without harm (the sanitizer
// builds run this test too).
#include <catch2/catch.hpp>

#include "formats/dof/image.h"
#include "tests/unit/d_target.h"
#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_damage_test {

using namespace dfr;

namespace {

std::vector<uint8_t> compiled(const char* source) {
	test::TestTarget target;
	d::CompileOptions options;
	options.zdefs = true;
	const auto result = test::compile(source, target, options);
	INFO(result.diagnostics.render(true));
	REQUIRE(!result.diagnostics.failed());
	return dof::write(result.compiled.image);
}

// What the recording half does with a program, without the recording.
void run_all(const test::Loaded& loaded) {
	static char buffer[256 * 1024];
	test::Rig rig(256, 1 << 16);
	const dfr_program& program = *loaded.program;
	if (dfr_vars_declare(rig.vars.get(), loaded.program.get(), &rig.why))
		return;
	for (uint32_t i = 0; i < program.pg_ndifos; i++) {
		const dfr_difo& difo = program.pg_difos[i];
		uint64_t value = rig.run(&difo);
		if (rig.fault() >= 0 || !(difo.di_rtype.flags & DIF_TF_BYREF))
			continue;
		if (difo.di_rtype.kind == DIF_KIND_STRING)
			dfr_machine_copy_str(&rig.machine, buffer, value, 256, false, nullptr);
		else
			dfr_machine_copy(&rig.machine, buffer, value, difo.di_rtype.size, false);
	}
}

void change_every_byte(const char* source) {
	const std::vector<uint8_t> good = compiled(source);
	test::Loaded whole = test::load(good);
	INFO(whole.why.rf_reason);
	REQUIRE(whole.error == 0);
	run_all(whole);
	size_t refused = 0, ran = 0, unexplained = 0;
	for (size_t at = 0; at < good.size(); at++) {
		for (int flip : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
			std::vector<uint8_t> bytes = good;
			bytes[at] = static_cast<uint8_t>(bytes[at] ^ flip);
			test::Loaded result = test::load(bytes);
			if (!result.error) {
				run_all(result);
				ran++;
				continue;
			}
			refused++;
			unexplained += !result.why.rf_reason[0] || result.why.rf_offset >= good.size();
		}
	}
	CHECK(unexplained == 0);
	CHECK(refused > 0);
	CHECK(ran > 0);
}

} // namespace

TEST_CASE("a byte changed: the classic program", "[exec][damage]") {
	change_every_byte("fbt::malloc:entry /execname == \"csh\"/ { trace(arg0); }");
}

TEST_CASE("a byte changed: aggregations", "[exec][damage]") {
	change_every_byte("syscall:::entry { capture(); @[execname] = count(); @q = quantize(arg2); }");
}

TEST_CASE("a byte changed: variables and subroutines", "[exec][damage]") {
	change_every_byte(
	    "BEGIN { self->t = timestamp; a[pid, \"x\"] = strlen(execname); s = strjoin(\"a\", execname); "
	    "printf(\"%s %d\\n\", substr(s, 1), a[pid, \"x\"] / (self->t + 1)); exit(0); }");
}

} // namespace engine_exec_damage_test
