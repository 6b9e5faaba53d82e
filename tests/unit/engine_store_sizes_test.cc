// SPDX-License-Identifier: GPL-2.0
//
// Sizes that a program asks for: all of them are known at go, also those of
// clauses whose probes come later; none wraps, and what no block or table could
// ever take is refused.
#include <catch2/catch.hpp>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_sizes_test {

using namespace store_rig;

namespace {

constexpr uint32_t kLargest = 256 * 1024; // of one value

// `size` bytes at a null pointer.
Difo bytes_value(uint32_t size) {
	Difo difo = constant(0);
	difo.rtype.ckind = DIF_CK_STRUCT;
	difo.rtype.flags = DIF_TF_BYREF;
	difo.rtype.size = size;
	return difo;
}

std::vector<Action> count_by(std::vector<Difo> keys) {
	std::vector<Action> actions;
	for (Difo& key : keys)
		actions.push_back(trace(std::move(key)));
	actions.push_back(aggregate(DFR_ACT_COUNT, 1, static_cast<uint32_t>(actions.size())));
	return actions;
}

} // namespace

TEST_CASE("a clause that matches nothing yet has room for its keys and records", "[engine][store][sizes]") {
	Rig rig;
	State state(rig);
	const std::string wide(250, 'w');
	std::vector<Action> noted;
	for (int i = 0; i < 40; i++)
		noted.push_back(capture(bad_load()));
	REQUIRE(state.enable(
	            Program()
	                .clause("rig::late:entry", count_by({text(wide), text(wide), text(wide), text(wide)}))
	                .clause("rig::late:entry", noted)
	                .clause("rig::late:entry", {capture_args()}),
	            DFR_ENABLE_ZERO_OK) == 0);
	REQUIRE(state.go() == 0);
	dfr_probe* late = rig.probe("late", "entry", 10);
	dfr_probes_created(rig.engine());
	rig.fire(late, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
	CHECK(state.aggregation(
	          1)[key_of_text(wide) + key_of_text(wide) + key_of_text(wide) + key_of_text(wide)] ==
	      std::vector<uint64_t>{1});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	CHECK(records[0].faults == std::vector<int>(40, DIF_FAULT_BADADDR));
	CHECK(records[1].numbers == std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
	// Its layouts alone are in the catalog: none was told for the measuring.
	CHECK(state.catalog.layouts.size() == 3);
}

TEST_CASE("a later probe with more arguments than those before fits too", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read", "entry", 0);
	State state(rig);
	// With the 44 bytes of text the first plan just fills the smallest block.
	std::vector<Action> actions{capture_args()};
	for (int i = 0; i < 43; i++)
		actions.push_back(trace(arg(0)));
	REQUIRE(state.enable(Program().clause("rig:::entry", actions).option(DFR_OPT_BUFSIZE, 1024)) == 0);
	REQUIRE(state.go() == 0);
	dfr_probe* late = rig.probe("late", "entry", 10);
	dfr_probes_created(rig.engine());
	rig.fire(late, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
	CHECK(state.take().size() == 1);
	CHECK(state.status().loss[DFR_LOSS_PRINCIPAL] == 0);
}

// formats/abi/block.h: a NOTE names a field by one byte.
TEST_CASE("a fault of the 256th captured value is told of that value", "[engine][store][sizes]") {
	std::vector<Action> actions(255, capture(arg(0)));
	actions.push_back(capture(bad_load()));
	Running running(Program()
	                    .clause("rig::read:entry", actions)
	                    .clause("rig::read:entry", std::vector<Action>(256, capture(bad_load()))));
	auto& [rig, read, state] = running;
	rig.fire(read, {5});
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	std::vector<int> faults(256, 0);
	faults[255] = DIF_FAULT_BADADDR;
	CHECK(records[0].faults == faults);
	CHECK(records[0].numbers.at(254) == 5);
	CHECK(records[1].faults == std::vector<int>(256, DIF_FAULT_BADADDR));
	CHECK(state.status().errors == 0);
	CHECK(state.damage == 0);
}

TEST_CASE("a value is not captured behind 256 fields", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	const auto enabled = [&state](std::vector<Action> actions) {
		actions.push_back(capture(bad_load()));
		const int error = state.enable(Program().clause("rig::read:entry", std::move(actions)));
		CHECK((error == 0 || state.reason == "capture behind 256 fields of its clause"));
		return error;
	};
	CHECK(enabled(std::vector<Action>(255, trace(arg(0)))) == 0);
	CHECK(enabled(std::vector<Action>(256, trace(arg(0)))) == -EINVAL);
	// CAPTURE_ARGS is up to ten fields, once.
	std::vector<Action> with_arguments(245, capture(arg(0)));
	with_arguments.insert(with_arguments.end(), 2, capture_args());
	CHECK(enabled(with_arguments) == 0);
	with_arguments.push_back(trace(arg(0)));
	CHECK(enabled(with_arguments) == -EINVAL);
	// A key is no field of the record.
	std::vector<Action> with_key = count_by({arg(0), arg(1), text("key")});
	with_key.insert(with_key.end(), 255, trace(arg(0)));
	CHECK(enabled(with_key) == 0);
	with_key.push_back(trace(arg(0)));
	CHECK(enabled(with_key) == -EINVAL);
}

TEST_CASE("a record that adds up to 4 GiB does not come out small", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	std::vector<Action> actions;
	for (int i = 0; i < 16384; i++)
		actions.push_back(trace(bytes_value(kLargest)));
	REQUIRE(state.enable(Program().clause("rig::read:entry", actions)) == 0);
	CHECK(state.go() == -ENOSPC);
}

TEST_CASE("a record that no block would take is refused, whatever the buffer", "[engine][store][sizes]") {
	for (const uint32_t values : {1u, 2u}) {
		Rig rig;
		rig.probe("read");
		State state(rig);
		std::vector<Action> actions;
		for (uint32_t i = 0; i < values; i++)
			actions.push_back(trace(bytes_value(kLargest / 2)));
		REQUIRE(state.enable(
		            Program().clause("rig::read:entry", actions).option(DFR_OPT_BUFSIZE, 4 << 20)) ==
		        0);
		CHECK(state.go() == (values == 1 ? 0 : -ENOSPC));
	}
}

TEST_CASE("a key has a most, declared or by strsize", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	const std::vector<Difo> most(4, bytes_value(kLargest));
	std::vector<Difo> more = most;
	more.push_back(bytes_value(1));
	CHECK(state.enable(Program().clause("rig::read:entry", count_by(more))) == -EINVAL);
	CHECK(state.reason == "an aggregation's key is larger than 1 MiB");
	REQUIRE(state.enable(Program().clause("rig::read:entry", count_by(most))) == 0);
	REQUIRE(state.go() == 0);

	Difo text_of_any = text("a");
	text_of_any.rtype.size = 0;
	for (const size_t strings : {16u, 17u}) {
		State strung(rig);
		REQUIRE(strung.enable(
		            Program()
		                .clause("rig::read:entry", count_by(std::vector<Difo>(strings, text_of_any)))
		                .option(DFR_OPT_STRSIZE, 65536)) == 0);
		CHECK(strung.go() == (strings == 16 ? 0 : -ENOSPC));
	}
}

TEST_CASE("of a confined state a key is smaller", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	REQUIRE(dfr_state_confine(state.state, 1000, 1000, 64 << 20) == 0);
	CHECK(state.enable(Program().clause("rig::read:entry", count_by({bytes_value(64 * 1024 + 1)}))) ==
	      -EINVAL);
	CHECK(state.reason == "unprivileged users may not use an aggregation's key above 64 KiB");
}

// Clauses of at most 64 counts, of `variables` aggregations together.
static Program counts(uint32_t variables) {
	Program program;
	std::vector<Action> actions;
	for (uint32_t i = 1; i <= variables; i++) {
		actions.push_back(count_by({}).back());
		actions.back().uarg = i;
		if (actions.size() == 64 || i == variables)
			program.clause("rig::read:entry", std::exchange(actions, {}));
	}
	return program;
}

TEST_CASE("a state has a most of aggregations, over all of its programs", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	const bool confined = GENERATE(false, true);
	const uint32_t most = confined ? 256 : 4096;
	State state(rig);
	if (confined)
		REQUIRE(dfr_state_confine(state.state, 1000, 1000, 64 << 20) == 0);
	CHECK(state.enable(counts(most + 1)) == -EINVAL);
	CHECK(state.reason == (confined ? "unprivileged users may not use more than 256 aggregations"
	                                : "a state may not have more than 4096 aggregations"));
	REQUIRE(state.enable(counts(most)) == 0);
	REQUIRE(state.enable(counts(most)) == 0); // the same ones
	Program another;
	another.clause("rig::read:entry", {});
	auto one = count_by({});
	one.back().uarg = most + 1;
	another.clause("rig::read:entry", one);
	CHECK(state.enable(another) == -EINVAL);
}

TEST_CASE("a program that is refused for an option leaves no aggregation", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	CHECK(state.enable(counts(1).option(DFR_OPT_BUFPOLICY, 99)) == -EINVAL);
	CHECK(state.state->st_aggvars == nullptr);
}

TEST_CASE("a program has at most 16384 clauses, and a million actions in them", "[engine][store][sizes]") {
	Rig rig;
	rig.probe("read");
	for (const int clauses : {16384, 16385}) {
		State state(rig);
		Program program;
		for (int i = 0; i < clauses; i++)
			program.clause("rig::read:entry", {});
		CHECK(state.enable(program) == (clauses == 16384 ? 0 : -EINVAL));
		CHECK(state.reason == (clauses == 16384 ? "" : "more than 16384 clauses"));
	}
}

// The memory of one who is confined is all that his state takes: what each CPU has besides its buffers, too.
TEST_CASE("of a confined state all memory counts", "[engine][store][sizes]") {
	constexpr unsigned kCpus = 16;
	constexpr uint64_t kScratch = 65536;
	for (const uint64_t memory : {uint64_t{4} << 20, uint64_t{1} << 20}) {
		Rig rig(kCpus);
		rig.probe("read");
		State state(rig);
		REQUIRE(dfr_state_confine(state.state, 1000, 1000, memory) == 0);
		REQUIRE(state.enable(Program()
		                         .clause("rig::read:entry", count_by({arg(0)}))
		                         .option(DFR_OPT_SCRATCHSIZE, kScratch)) == 0);
		const int error = state.go();
		if (memory == kCpus * kScratch) { // nothing is left for buffers
			CHECK(error == -ENOMEM);
			continue;
		}
		REQUIRE(error == 0);
		const uint64_t ring = static_cast<uint64_t>(dfr_state_option(state.state, DFR_OPT_BUFSIZE));
		const uint64_t tables = static_cast<uint64_t>(dfr_state_option(state.state, DFR_OPT_AGGSIZE));
		const uint64_t variables =
		    static_cast<uint64_t>(dfr_state_option(state.state, DFR_OPT_DYNVARSIZE));
		// A ring doubles at most; the base table is one more than there are CPUs.
		CHECK(kCpus * (kScratch + 2 * ring + tables) + tables + variables <= memory);
	}
}

} // namespace engine_store_sizes_test
