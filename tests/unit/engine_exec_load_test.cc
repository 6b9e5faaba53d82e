// SPDX-License-Identifier: GPL-2.0
//
// What loading a DOF costs the others: each thing that is dear is done once, work
// that a DOF asks for by naming the same bytes again is bounded, whoever loads can
// be killed at any moment, and the log has one line of it, or none.
#include <catch2/catch.hpp>

#include <cstdio>
#include <functional>
#include <unistd.h>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_load_test {

using namespace dfr::test;

namespace {

unsigned look_ups, digests, questions, killed_at;

int any_symbol(const char*, __u64* address) {
	look_ups++;
	*address = 0xffffffff81000000ull;
	return 0;
}

u64 other_types() {
	digests++;
	return 1;
}

int killed() {
	return ++questions == killed_at ? -EINTR : 0;
}

// One DIFO whose constants are so many symbols of the kernel, each named `times` times.
DofBuilder symbols(uint32_t names, uint32_t times) {
	DofBuilder dof;
	dof.trace(Code().setx(0, 1).ret(1)); // 1 DIF, 2 INTTAB
	std::vector<dof_relodesc> entries;
	for (uint32_t i = 0; i < names; i++)
		for (uint32_t k = 0; k < times; k++)
			entries.push_back({dof.string("symbol" + std::to_string(i)), DOF_RELO_SETX, 0, 0});
	const uint32_t table = dof.table(DOF_SECT_RELTAB, 8, entries);
	dof.table(DOF_SECT_KRELHDR, 4, std::vector<dof_relohdr>{{0, table, 2}});
	return dof;
}

// What `work` makes the engine log.
std::string logged(const std::function<void()>& work) {
	std::FILE* file = std::tmpfile();
	const int before = dup(2);
	std::fflush(stderr);
	dup2(fileno(file), 2);
	work();
	std::fflush(stderr);
	dup2(before, 2);
	close(before);
	std::rewind(file);
	std::string text;
	for (int c; (c = std::fgetc(file)) != EOF;)
		text += static_cast<char>(c);
	std::fclose(file);
	return text;
}

} // namespace

TEST_CASE("a symbol is looked up once, and 4096 of them at most", "[exec][dof]") {
	dfr_user_symbol = any_symbol;
	look_ups = 0;
	CHECK(load(symbols(3, 1000).bytes()).error == 0);
	CHECK(look_ups == 3);
	CHECK(load(symbols(4096, 1).bytes()).error == 0);
	look_ups = 0;
	const Loaded result = load(symbols(4097, 1).bytes());
	dfr_user_symbol = nullptr;
	CHECK(result.error == -EINVAL);
	CHECK(std::string(result.why.rf_reason) == "more than 4096 symbols of the kernel");
	CHECK(look_ups == 4096);
}

TEST_CASE("the digest of this kernel's types is asked for once", "[exec][dof]") {
	const unsigned sections = GENERATE(1u, 2u, 1000u);
	DofBuilder dof;
	dof.trace(Code().ret(0));
	uint32_t last = 0;
	for (unsigned i = 0; i < sections; i++)
		last = dof.table(DOF_SECT_BTFID, 8, std::vector<dof_btfid>{{2, 0, 0}});
	digests = 0;
	const Loaded result = load(dof.bytes(), {true, true, other_types});
	CHECK(digests == 1);
	CHECK(result.error == (sections == 1 ? 0 : -EINVAL));
	if (sections == 1)
		return;
	CHECK(std::string(result.why.rf_reason) == "second digest of types");
	CHECK(result.why.rf_section == last - sections + 2);
}

TEST_CASE("one line of the log a load, nothing that does not print, and none for those without privilege",
          "[exec][dof]") {
	const bool confined = GENERATE(false, true);
	const unsigned clauses = GENERATE(1u, 200u);
	DofBuilder dof;
	const uint32_t difo = dof.difo(Code().ret(0));
	for (unsigned i = 0; i < clauses; i++)
		dof.ecb(dof.probe("sys\ncall", "", "a\x1b[2J", "entry"), difo, kNone,
		        DFR_ECBUARG(i, DFR_ECBUARG_KERNEL_TYPES));
	dof.table(DOF_SECT_BTFID, 8, std::vector<dof_btfid>{{2, 0, 0}});
	const std::vector<uint8_t> bytes = dof.bytes();
	int error = -1;
	const std::string text = logged([&] {
		error = load(bytes, {true, true, other_types, confined}).error;
	});
	CHECK(error == 0);
	CHECK(text == (confined ? ""
	                        : "dfr: sys?call::a?[2J:entry left out: compiled for the types of another "
	                          "kernel; clauses: " +
	                              std::to_string(clauses) + "\n"));
}

TEST_CASE("who loads may be killed at any moment", "[exec][dof]") {
	const bool confined = GENERATE(false, true);
	DofBuilder dof = confined ? DofBuilder() : symbols(5, 2);
	for (int i = 0; i < 20; i++)
		dof.trace(Code().ret(0));
	const std::vector<uint8_t> bytes = dof.bytes();
	dfr_user_symbol = any_symbol;
	dfr_user_proceed = killed;
	questions = killed_at = 0;
	CHECK(load(bytes, {true, true, nullptr, confined}).error == 0);
	const unsigned all = questions;
	CHECK(all >=
	      (confined ? 60
	                : 50)); // for each relocation, clause and DIFO; confined ones are looked at once more
	for (killed_at = 1; killed_at <= all; killed_at++) {
		questions = 0;
		CHECK(load(bytes, {true, true, nullptr, confined}).error == -EINTR);
		CHECK(questions == killed_at);
	}
	dfr_user_symbol = nullptr;
	dfr_user_proceed = nullptr;
}

TEST_CASE("host fields are no more than clauses may be", "[exec][dof]") {
	DofBuilder dof;
	dof.trace(Code().ret(0)); // 1 DIF, 2 STRTAB, 3 DIFOHDR, 4 PROBEDESC, 5 ACTDESC, 6 ECBDESC
	const uint32_t host = dof.string("web*");
	const std::vector<dof_hostdesc> hosts(8192, {6, 0, host, 0});
	dof.table(DOF_SECT_HOSTDESC, 4, hosts);
	dof.table(DOF_SECT_HOSTDESC, 4, hosts);
	CHECK(load(dof.bytes()).error == 0);
	dof.table(DOF_SECT_HOSTDESC, 4, std::vector<dof_hostdesc>(1, hosts[0]));
	CHECK(std::string(load(dof.bytes()).why.rf_reason) == "more host fields than there may be clauses");
}

// A confined program's bounds are lower: text, sections that headers name, actions, names.
TEST_CASE("work that is asked for again and again has an end, and a nearer one without privilege",
          "[exec][dof]") {
	DofBuilder dof;
	std::string reason;
	const uint32_t where = dof.probe("dtrace", "", "", "BEGIN");
	SECTION("instructions") {
		const std::vector<uint32_t> text(30000, DIF_INSTR_R(DIF_OP_RET, 0, 0, 0));
		const uint32_t dif = dof.table(DOF_SECT_DIF, 4, text);
		std::vector<Act> acts;
		for (int i = 0; i < 5; i++)
			acts.push_back({DFR_ACT_DIFEXPR, dof.difo_header(kInt64, {dif})});
		dof.ecb(where, kNone, dof.actions(acts));
		reason = "program is too large altogether";
	}
	SECTION("links") {
		std::vector<uint32_t> links(10000, dof.add(DOF_SECT_COMMENTS, 1, 0, {0}, 0));
		links.push_back(dof.table(DOF_SECT_DIF, 4, Code().ret(0).text));
		const uint32_t header = dof.difo_header(kInt64, links);
		std::vector<Act> acts;
		for (int i = 0; i < 7; i++)
			acts.push_back({DFR_ACT_DIFEXPR, dof.alias(DOF_SECT_DIFOHDR, 4, header, 0,
			                                           sizeof(dif_type) + links.size() * 4)});
		dof.ecb(where, kNone, dof.actions(acts));
		reason = "DIFO headers name too many sections altogether";
	}
	SECTION("actions") {
		const uint32_t actions =
		    dof.actions(std::vector<Act>(1000, {DFR_ACT_DIFEXPR, dof.difo(Code().ret(0))}));
		for (int i = 0; i < 33; i++)
			dof.ecb(where, kNone, actions);
		reason = "too many actions in all clauses together";
	}
	SECTION("names") {
		const uint32_t format = dof.string(std::string(100000, 'x'));
		dof.ecb(where, kNone,
		        dof.actions(std::vector<Act>(90, {DFR_ACT_PRINTF, kNone, 0, format, 0x100, 0})));
		reason = "strings are too long altogether";
	}
	CHECK(load(dof.bytes()).error == 0);
	const Loaded result = load(dof.bytes(), {true, true, nullptr, true});
	CHECK(result.error == -EINVAL);
	CHECK(std::string(result.why.rf_reason) == reason);
}

} // namespace engine_exec_load_test
