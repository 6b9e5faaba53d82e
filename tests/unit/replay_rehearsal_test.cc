// SPDX-License-Identifier: GPL-2.0
//
// dfr record --for: whether the recording that an analysis derives will answer it.
#include <catch2/catch.hpp>

#include "analyze/replay/recording_target.h"
#include "analyze/replay/rehearsal.h"
#include "formats/d/compile.h"
#include "tests/unit/d_target.h"

namespace replay_rehearsal_test {

using namespace dfr;

namespace {

// What a replay of the recording that `analysis` derives would say to it.
test::Result rehearsed(const std::string& analysis) {
	test::TestTarget machine;
	d::CompileOptions options;
	d::Diagnostics diagnostics;
	const d::Derived derived = d::derive(analysis, options, machine, diagnostics);
	INFO(diagnostics.render(true));
	REQUIRE(!diagnostics.failed());
	const trace::Catalog catalog = replay::catalog_to_be(derived.program.image, machine);
	replay::RecordingTarget recording(catalog, "the recording");
	return test::compile(analysis, recording);
}

} // namespace

TEST_CASE("rehearsal: what can be derived can be answered") {
	for (const char* const analysis : {
	         "syscall::read:entry { @[execname, arg1] = count(); }",
	         "syscall::read:entry /pid == 7 && uid/ { @[copyinstr(arg0)] = sum(arg1 * 2); }",
	         "syscall::read:entry { self->p = copyinstr(arg0); } syscall::read:return /self->p != NULL/ "
	         "{ @[self->p] = count(); }",
	         "syscall::read:entry { @a[arg0 > 100 ? 1 : 0] = count(); @b = sum(arg0 > 100 ? 1L : 0L); }",
	         "struct s { int a; }; syscall::read:entry { print((struct s *)arg0); }",
	         "syscall::read:entry { @ = sum((int)arg0 * (int)arg1 / 2); self->n = (int)arg0 + 1; }",
	         "syscall::read:entry { p = (int *)alloca(8); *p = arg0; @[*p, stringof(execname)] = "
	         "count(); }",
	         "BEGIN { x = 1; } syscall::read:entry { @[uid > 0 ? uid : 7, stack(3)] = count(); } END { "
	         "printa(@); } tick-1s { x++; }",
	     }) {
		const auto result = rehearsed(analysis);
		INFO(analysis << "\n" << result.diagnostics.render(true));
		CHECK(!result.diagnostics.failed());
	}
}

TEST_CASE("rehearsal: what cannot be derived is an error where it stands") {
	struct {
		const char* analysis;
		const char* where; // the text at the error's place
		const char* hint;
	} const cases[] = {
	    {"syscall::read:entry { self->p = arg0; } syscall::read:return { @[copyinstr(self->p)] = "
	     "count(); }",
	     "copyinstr(self->p)", "the program computes a part of it"},
	    {"syscall::read:entry { this->n = arg1; @[*(int *)this->n] = count(); }", "*(int *)",
	     "the program computes a part of it"},
	    {"syscall::read:entry { self->p = (int *)arg0; } syscall::read:return { x = self->p[1]; }", "[1]",
	     "the program computes a part of it"},
	    // Replay fires BEGIN itself, and has nothing to read there.
	    {"BEGIN { x = uid; } syscall::read:entry { @[x] = count(); }", "uid;", "capture(uid)"},
	};
	for (const auto& one : cases) {
		const auto result = rehearsed(one.analysis);
		INFO(one.analysis << "\n" << result.diagnostics.render(true));
		REQUIRE(result.diagnostics.errors() == 1);
		const d::Diagnostic& error = result.diagnostics.all()[0];
		CHECK(error.tag == "D_CAPTURE_MISSING");
		CHECK(std::string_view(one.analysis).substr(error.place.offset).starts_with(one.where));
		CHECK(error.hint.find(one.hint) != std::string::npos);
	}
}

TEST_CASE("rehearsal: argument types of a kernel that is not this one are said to be missing") {
	test::TestTarget machine;
	d::CompileOptions options;
	d::Diagnostics diagnostics;
	const d::Derived derived =
	    d::derive("syscall::read:entry { @[arg0] = count(); }", options, machine, diagnostics);
	trace::Catalog catalog = replay::catalog_to_be(derived.program.image, machine);
	catalog.machine["engine"] = "kernel";
	catalog.machine["release"] = "1.2.3-other";
	replay::RecordingTarget recording(catalog, "the recording");
	const auto result = test::compile("syscall::read:entry { @[args[0]] = count(); }", recording);
	REQUIRE(result.diagnostics.errors() == 1);
	CHECK(result.diagnostics.all()[0].tag == "D_ARGS_NONE");
	CHECK(result.diagnostics.all()[0].hint.find("1.2.3-other") != std::string::npos);
}

} // namespace replay_rehearsal_test
