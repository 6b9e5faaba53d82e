// SPDX-License-Identifier: GPL-2.0
//
// Recording, from enable to what a reader decodes: one thin path through the
// whole of the recording half.
#include <catch2/catch.hpp>

#include "tests/unit/engine_store_rig.h"

namespace engine_store_basic_test {

using namespace store_rig;

TEST_CASE("a clause with two captured arguments comes back as it fired", "[engine][store]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig::read:entry", {capture_args()})) == 0);
	REQUIRE(state.matched == 1);
	REQUIRE(state.go() == 0);
	rig.fire(read, {3, 0xffff888012345678}, 1000000);
	rig.fire(read, {static_cast<uint64_t>(-2), 0x1234}, 1000100);
	REQUIRE(state.stop() == 0);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	CHECK(records[0].time == 1000000);
	CHECK(records[0].epid == 1);
	CHECK(records[0].pid == 100);
	CHECK(records[0].tid == 101);
	CHECK(records[0].execname == "csh");
	CHECK(records[0].numbers == std::vector<uint64_t>{3, 0xffff888012345678});
	CHECK(records[1].time == 1000100);
	CHECK(records[1].numbers == std::vector<uint64_t>{static_cast<uint64_t>(-2), 0x1234});
	CHECK(state.damage == 0);
	CHECK(state.status().records == 2);
	CHECK(state.catalog.probe_of(1)->function == "read");
	CHECK(state.blocks.at(0).flags == (DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED));
	// head 4, codes 1, one byte, two bytes: the second record is 8 bytes long.
	CHECK(records[1].offset > records[0].offset);
}

TEST_CASE("counts and sums by execname", "[engine][store]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(
	    state.enable(Program().clause("rig::read:entry", {trace(builtin(DIF_VAR_EXECNAME, string_type())),
	                                                      aggregate(DFR_ACT_COUNT, 1, 1),
	                                                      trace(builtin(DIF_VAR_EXECNAME, string_type())),
	                                                      aggregate(DFR_ACT_SUM, 2, 1, arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	for (int i = 0; i < 5; i++)
		rig.fire(read, {10});
	std::strcpy(rig.env.ev_comm, "a-fifteen-chars");
	rig.fire(read, {7});
	auto counts = state.aggregation(1);
	REQUIRE(counts.size() == 2);
	CHECK(counts[key_of_text("csh")] == std::vector<uint64_t>{5});
	CHECK(counts[key_of_text("a-fifteen-chars")] == std::vector<uint64_t>{1});
	rig.fire(read, {1});
	auto sums = state.aggregation(2);
	CHECK(sums[key_of_text("csh")] == std::vector<uint64_t>{50});
	CHECK(sums[key_of_text("a-fifteen-chars")] == std::vector<uint64_t>{8});
	CHECK(state.status().records == 0);
}

TEST_CASE("BEGIN, END and exit", "[engine][store]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("dtrace:::BEGIN", {trace(constant(1))})
	                         .clause("rig::read:entry", {exit_with(3)})
	                         .clause("rig::read:entry", {trace(constant(2))})
	                         .clause("dtrace:::END", {trace(constant(4))})) == 0);
	REQUIRE(state.matched == 4);
	REQUIRE(state.go() == 0);
	CHECK(state.begin_cpu == 0);
	rig.fire(read);
	rig.fire(read);
	dfr_ioc_status status = state.status();
	CHECK(status.exited == 1);
	CHECK(status.exit_status == 3);
	CHECK(status.activity == DFR_DRAINING);
	REQUIRE(state.stop() == 0);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 3); // the second clause of read comes after exit()
	CHECK(records[0].numbers == std::vector<uint64_t>{1});
	CHECK(records[1].numbers == std::vector<uint64_t>{3});
	CHECK(records[2].numbers == std::vector<uint64_t>{4});
	CHECK(state.catalog.events.size() == 3);
}

TEST_CASE("a predicate decides, and a string is as long as it is", "[engine][store]") {
	Running running(
	    Program().clause("rig::read:entry", arg0_is(7), {trace(text("seven")), trace(arg(0))}));
	auto& [rig, read, state] = running;
	for (uint64_t i = 0; i < 10; i++)
		rig.fire(read, {i});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].texts.at(0) == "seven");
	CHECK(records[0].numbers.at(1) == 7);
}

TEST_CASE("a fault fires ERROR with its five arguments", "[engine][store]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(arg(0)), trace(bad_load())})
	                    .clause("dtrace:::ERROR", {trace(arg(1)), trace(arg(2)), trace(arg(3)),
	                                               trace(arg(4)), trace(arg(5))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {5});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].epid == 2);
	CHECK(records[0].numbers == std::vector<uint64_t>{1, 2, 0, DIF_FAULT_BADADDR, 0});
	CHECK(state.status().errors == 1);
}

TEST_CASE("a captured field's fault is a note, and the record stays", "[engine][store]") {
	Running running(
	    Program().clause("rig::read:entry", {capture(arg(0)), capture(bad_load()), capture(arg(1))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {5, 300});
	rig.fire(read, {6, 301});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	for (const Record& record : records) {
		CHECK(record.faults == std::vector<int>{0, DIF_FAULT_BADADDR, 0});
		CHECK(record.numbers.at(1) == 0);
	}
	CHECK(records[0].numbers.at(2) == 300);
	CHECK(records[1].numbers.at(2) == 301);
	CHECK(state.status().errors == 0);
	CHECK(state.damage == 0);
}

// LANGUAGE.md, section 11; SEMANTICS.md, section 2 h.
TEST_CASE("printm() of more than its size is a lost record, and no part of the bytes", "[engine][store]") {
	Running running(Program().clause("rig::read:entry", {printm(8, "sixteen letters.")}));
	auto& [rig, read, state] = running;
	for (const uint64_t length : {uint64_t{8}, uint64_t{9}, uint64_t{3}, ~uint64_t{0}, uint64_t{0}})
		rig.fire(read, {length});
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 3);
	CHECK(records[0].texts.at(0) == "sixteen ");
	CHECK(records[1].texts.at(0) == "six");
	CHECK(records[2].texts.at(0).empty());
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 2);
	CHECK(state.status().errors == 0);
	uint64_t told = 0;
	for (const dfr::trace::Losses::Loss& loss : state.losses.entries) {
		CHECK(loss.cause == DFR_LOSS_PRINCIPAL);
		told += loss.count;
	}
	CHECK(told == 2);
	CHECK(state.damage == 0);
}

TEST_CASE("printm() records as much as it says, up to 65535 bytes", "[engine][store]") {
	const std::string bytes(65535, 'b');
	Running running(
	    Program().clause("rig::read:entry", {printm(65535, bytes)}).option(DFR_OPT_BUFSIZE, 4 << 20));
	auto& [rig, read, state] = running;
	rig.fire(read, {65535});
	rig.fire(read, {65536});
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].texts.at(0) == bytes);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 1);
}

// The catalog is never shortened, and a state may be kept for months.
TEST_CASE("the clocks are told again only when they have gone apart", "[engine][store]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig::read:entry", {})) == 0);
	REQUIRE(state.go() == 0);
	const uint64_t start = dfr_plat_clock(nullptr), minute = 60'000'000'000;
	for (int second = 0; second < 30; second++)
		dfr_state_clock(state.state, start + minute * second / 60);
	state.read_catalog();
	CHECK(state.catalog.clocks.size() == 1);
	// After a minute, two more, four more and so on: twenty in a year.
	for (uint64_t at = 1, count = 2; at < 366 * 24 * 60; at += at + 1, count++) {
		dfr_state_clock(state.state, start + minute * at - minute / 2);
		state.read_catalog();
		CHECK(state.catalog.clocks.size() == count - 1);
		dfr_state_clock(state.state, start + minute * at);
		state.read_catalog();
		CHECK(state.catalog.clocks.size() == count);
	}
	CHECK(state.catalog.clocks.size() == 20);
}

TEST_CASE("a state is read and ends while somebody else has the engine's lock", "[engine][store]") {
	Running running(Program().clause("rig::read:entry", {trace(arg(0))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {1});
	dfr_mutex_lock(dfr_engine_lock(rig.engine()));
	CHECK(state.take().size() == 1);
	CHECK(state.status().activity == DFR_ACTIVE);
	CHECK(dfr_state_halt(state.state, nullptr) == 0);
	rig.fire(read, {2});
	CHECK(state.status().activity == DFR_STOPPED);
	CHECK(state.take().empty());
	CHECK(read->pb_ecbs != nullptr); // its probe is armed yet
	dfr_state_settle(state.state);
	CHECK(read->pb_ecbs == nullptr);
	dfr_mutex_unlock(dfr_engine_lock(rig.engine()));
}

} // namespace engine_store_basic_test
