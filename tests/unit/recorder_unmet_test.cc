// SPDX-License-Identifier: GPL-2.0
//
// What the module says to be off, and to whom it matters.
#include <catch2/catch.hpp>

#include <fstream>

#include "recorder/unmet.h"
#include "tests/unit/scratch_folder.h"

namespace recorder_unmet_test {

using namespace dfr;

TEST_CASE("what is off is read from the module and told to those who ask for it") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("unmet");
	std::ofstream(path) << "fbt\tftrace_lock is not what its name says\n"
	                       "sched:::tick\tsched_tick has another prototype\n"
	                       "returns of functions: fbt:::return\trethook.pool lies elsewhere\n";
	const auto all = recorder::unmet(path);
	REQUIRE(all.size() == 3);
	CHECK(all[1].off == "sched:::tick");
	CHECK(all[1].why == "sched_tick has another prototype");
	CHECK(recorder::off_of("fbt", "entry", all) ==
	      "off on this kernel: fbt: ftrace_lock is not what its name says");
	CHECK(recorder::off_of("sched", "tick", all) ==
	      "off on this kernel: sched:::tick: sched_tick has another prototype");
	CHECK(recorder::off_of("vfs", "return", all) ==
	      "off on this kernel: returns of functions: fbt:::return: rethook.pool lies elsewhere");
	CHECK(recorder::off_of("vfs", "entry", all).empty());
	CHECK(recorder::off_of("", "entry", all).empty());
	CHECK(recorder::unmet("/nonexistent").empty());
}

} // namespace recorder_unmet_test
