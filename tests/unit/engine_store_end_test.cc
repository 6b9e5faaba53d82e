// SPDX-License-Identifier: GPL-2.0
//
// How a state's end that comes in probe context gets into its catalog (kmod/engine/recording/state.c): by whoever asks
// for its records or its status, before housekeeping has looked, with the time from which on nothing is sure.
#include <catch2/catch.hpp>

#include <thread>
#include <utility>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_end_test {

using namespace store_rig;

namespace {

using Events = std::vector<std::pair<int32_t, uint64_t>>; // value, time

Events events(State& state, uint32_t which) {
	state.read_catalog();
	Events found;
	for (const auto& mark : state.catalog.events)
		if (mark.event == which)
			found.emplace_back(mark.value, mark.time);
	return found;
}

enum class Asks { kBlocks, kTake, kStatus, kStop };

void ask(State& state, Asks how) {
	dfr_ioc_blocks io{.cpu = 0, .count = 8};
	std::vector<dfr_ioc_seen> seen(io.count);
	switch (how) {
	case Asks::kBlocks: dfr_state_blocks(state.state, &io, seen.data()); break;
	case Asks::kTake: state.take_raw(true); break;
	case Asks::kStatus: state.status(); break;
	case Asks::kStop: CHECK(state.stop() == 0); break;
	}
}

Asks any_way() {
	return GENERATE(Asks::kBlocks, Asks::kTake, Asks::kStatus, Asks::kStop);
}

} // namespace

TEST_CASE("who asks for records or status is told that the deadman has ended the state",
          "[engine][store][end]") {
	constexpr uint64_t kHook = 10'000, kStep = kHook + kHook / 50, kStart = 1'000'000'000'000; // 98 %
	const Asks how = any_way();
	Running running(
	    Program().clause("rig::read:entry", {trace(arg(0))}).option(DFR_OPT_BUFSIZE, 32 << 20),
	    [](Rig& rig) { dfr_engine_govern(rig.engine(), kHook); });
	auto& [rig, read, state] = running;
	uint64_t time = kStart;
	for (; dfr_state_activity(state.state) == DFR_ACTIVE; time += kStep) {
		REQUIRE(time < kStart + 4'000'000'000);
		rig.fire(read, {1}, time);
	}
	const uint64_t killed = time - kStep;
	for (int i = 0; i < 1000; i++, time += kStep)
		rig.fire(read, {2}, time);
	CHECK(events(state, DFR_EVENT_KILLED).empty());
	ask(state, how);
	CHECK(events(state, DFR_EVENT_KILLED) == Events{{DFR_KILLED_COST, killed}});
	if (how != Asks::kStop)
		CHECK(read->pb_ecbs != nullptr); // disarming patches code
	dfr_state_clean(state.state);
	CHECK(read->pb_ecbs == nullptr);
	CHECK(events(state, DFR_EVENT_KILLED).size() == 1);
	CHECK(events(state, DFR_EVENT_STOP).empty());
	CHECK(state.status().records == (killed - kStart) / kStep + 1);
}

TEST_CASE("where an owner goes, the catalog says when recording ended", "[engine][store][end]") {
	Running running(Program().clause("rig::read:entry", {trace(arg(0))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {1}, 1000);
	dfr_state_end(state.state);
	rig.fire(read, {2}, 2000);
	const Events stops = events(state, DFR_EVENT_STOP);
	REQUIRE(stops.size() == 1);
	CHECK(stops[0].first == -1);
	CHECK(state.status().records == 1);
}

TEST_CASE("a stop's time is when the state began to end", "[engine][store][end]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(arg(0))})
	                    .clause("dtrace:::END", {trace(constant(3))}));
	auto& [rig, read, state] = running;
	REQUIRE(state.stop() == 0);
	const Events stops = events(state, DFR_EVENT_STOP);
	REQUIRE(stops.size() == 1);
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1); // END's
	CHECK(records[0].time > stops[0].second);
}

// One of its clauses may have recorded the firing, and the others have not.
TEST_CASE("what is told is not later than a firing that was under way", "[engine][store][end]") {
	static State* dying;
	Rig rig;
	dfr_probe* read = rig.probe("read", "entry", 4);
	rig.ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
		dfr_becomes_over(dying->state, DFR_ACTIVE, DFR_KILLED, 2500); // as by another CPU
		return 7;
	};
	State first(rig), second(rig);
	dying = &second;
	REQUIRE(first.enable(Program().clause("rig::read:entry", {trace(arg(0)), trace(arg(3))})) == 0);
	REQUIRE(second.enable(Program().clause("rig::read:entry", {trace(arg(0))})) == 0);
	REQUIRE(first.go() == 0);
	REQUIRE(second.go() == 0);
	rig.fire(read, {1}, 2000);
	rig.fire(read, {1}, 3000);
	CHECK(first.status().records == 2);
	CHECK(second.status().records == 0);
	CHECK(events(second, DFR_EVENT_KILLED) == Events{{DFR_KILLED_COST, 2000}});
}

// Two CPUs call exit() at once: the record of the second is dropped, although its firing began first.
TEST_CASE("an exit() that comes too late moves the end before its firing", "[engine][store][end]") {
	static State* exits;
	Rig rig;
	dfr_probe* read = rig.probe("read", "entry", 4);
	rig.ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
		if (dfr_becomes_over(exits->state, DFR_ACTIVE, DFR_DRAINING, 2500)) // as by another CPU
			exits->state->st_exited = 1;
		return 7;
	};
	State state(rig);
	exits = &state;
	REQUIRE(state.enable(Program().clause("rig::read:entry", {trace(arg(3)), exit_with(0)})) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(read, {1}, 2000);
	CHECK(state.status().records == 0);
	CHECK(events(state, DFR_EVENT_EXIT) == Events{{0, 2000}});
}

TEST_CASE("a stop's time is not later than a firing that it cuts short", "[engine][store][end]") {
	static State* stopped;
	static std::thread stopper;
	const bool owner_goes = GENERATE(false, true);
	static bool goes;
	Rig rig;
	dfr_probe* read = rig.probe("read", "entry", 4);
	rig.ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
		stopper = std::thread([] { goes ? dfr_state_end(stopped->state) : (void)stopped->stop(); });
		while (dfr_state_activity(stopped->state) == DFR_ACTIVE)
			std::this_thread::yield();
		return 7;
	};
	State state(rig);
	stopped = &state;
	goes = owner_goes;
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {trace(arg(3))})
	                         .clause("rig::read:entry", {trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(read, {1});
	stopper.join();
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1); // the second clause's is missing
	const Events stops = events(state, DFR_EVENT_STOP);
	REQUIRE(stops.size() == 1);
	CHECK(stops[0].second <= records[0].time);
}

TEST_CASE("who asks for records or status is told of exit() and of a full ring", "[engine][store][end]") {
	const Asks how = any_way();
	Running running(Program()
	                    .clause("rig::read:entry", arg0_is(9), {exit_with(3)})
	                    .clause("rig::read:entry", {trace(arg(0))})
	                    .option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_FILL)
	                    .option(DFR_OPT_BUFSIZE, 4096));
	auto& [rig, read, state] = running;
	SECTION("exit()") {
		rig.fire(read, {1}, 1000);
		rig.fire(read, {9}, 2000);
		rig.fire(read, {1}, 3000);
		CHECK(events(state, DFR_EVENT_EXIT).empty());
		ask(state, how);
		CHECK(events(state, DFR_EVENT_EXIT) == Events{{3, 2000}});
	}
	SECTION("a full ring") {
		for (uint64_t time = 1000; time < 3000; time++)
			rig.fire(read, {1}, time);
		CHECK(events(state, DFR_EVENT_FULL).empty());
		ask(state, how);
		const uint64_t recorded = state.status().records;
		REQUIRE(recorded < 2000);
		CHECK(events(state, DFR_EVENT_FULL) == Events{{0, 1000 + recorded - 1}});
	}
}

// The catalog's last extent is full, and the next allocation fails.
void exhaust(State& state) {
	const dfr_catlog_extent* const last = state.state->st_extent_last;
	const size_t left = last->ce_start + last->ce_size - state.state->st_catalog_end;
	dfr_cat_entry entry{.type = DFR_CAT_FILL, .size = sizeof(entry)};
	const std::vector<std::byte> rest(left - sizeof(entry) - sizeof(dfr_cat_tail));
	REQUIRE(dfr_state_catalog_add(state.state, &entry, rest.data(), rest.size()) == 0);
	REQUIRE(last == state.state->st_extent_last);
	dfr_user_alloc_fails = 1;
}

TEST_CASE("what there is no memory to tell is told when there is", "[engine][store][end]") {
	Running running(Program()
	                    .clause("rig::read:entry", arg0_is(9), {exit_with(3)})
	                    .clause("rig::read:entry", {trace(arg(0))})
	                    .clause("rig::later:entry", {trace(arg(0))})
	                    .option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_FILL)
	                    .option(DFR_OPT_BUFSIZE, 4096),
	                [](Rig& rig) { rig.probe("later"); });
	auto& [rig, read, state] = running;
	const auto told = [&state = state](uint32_t event) {
		CHECK(state.state->st_nevents == (event != DFR_EVENT_MARK));
		state.status(); // asks; there is memory again
		return events(state, event);
	};
	const uint64_t catalog = state.state->st_catalog_end;
	exhaust(state);
	SECTION("exit()") {
		rig.fire(read, {9}, 2000);
		state.status();
		CHECK(told(DFR_EVENT_EXIT) == Events{{3, 2000}});
	}
	SECTION("a full ring") {
		for (uint64_t time = 1000; time < 3000; time++)
			rig.fire(read, {1}, time);
		state.status();
		CHECK(told(DFR_EVENT_FULL).size() == 1);
	}
	SECTION("a kill") {
		CHECK(dfr_state_kill(state.state));
		CHECK(told(DFR_EVENT_KILLED).size() == 1);
	}
	SECTION("a stop") {
		CHECK(state.stop() == 0);
		CHECK(told(DFR_EVENT_STOP).size() == 1);
	}
	SECTION("probes that are not there") {
		dfr_probes_missing(
		    &rig.provider, "m", -ENOMEM, [](const char* const*, void*) { return true; }, nullptr);
		CHECK(told(DFR_EVENT_UNARMED).size() == 1);
	}
	SECTION("an oops of the kernel") {
		dfr_engine_oops(rig.engine(), 5000);
		state.status();
		CHECK(told(DFR_EVENT_MARK) == Events{{0, 5000}});
	}
	SECTION("a person's mark, which the person can make again") {
		CHECK(dfr_state_mark(state.state, "here", 5000) == -ENOMEM);
		CHECK(told(DFR_EVENT_MARK).empty());
	}
	CHECK(dfr_user_alloc_fails == 0);
	CHECK(state.state->st_nevents == 0);
	CHECK(state.state->st_catalog_end > catalog);
}

// A consumer that goes on where another one left off has blocks without records, too.
TEST_CASE("a ring that is full behind a block without records has the time of that block",
          "[engine][store][end]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(arg(0))})
	                    .option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_FILL)
	                    .option(DFR_OPT_BUFSIZE, 4096));
	auto& [rig, read, state] = running;
	rig.fire(read, {1}, 1000);
	for (int i = 0; i < 64; i++) {
		dfr_state_disown(state.state);
		state.take_raw(true);
	}
	rig.fire(read, {1}, 3'000'000'000'000'000);
	const Events full = events(state, DFR_EVENT_FULL);
	REQUIRE(full.size() == 1);
	CHECK(full[0].second >= 1000);
	CHECK(full[0].second <= 3'000'000'000'000'000);
}

TEST_CASE("an owner who goes hides no kill that nobody has noticed", "[engine][store][end]") {
	Running running(Program().clause("rig::read:entry", {trace(arg(0))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {1}, 1000);
	REQUIRE(dfr_becomes_over(state.state, DFR_ACTIVE, DFR_KILLED, 2000)); // as by the deadman
	rig.fire(read, {1}, 3000);
	dfr_state_end(state.state);
	CHECK(events(state, DFR_EVENT_KILLED) == Events{{DFR_KILLED_COST, 2000}});
	CHECK(dfr_state_activity(state.state) == DFR_KILLED);
}

TEST_CASE("an exit() in END alone is not at the time of the stop", "[engine][store][end]") {
	Running running(Program().clause("dtrace:::END", {exit_with(4)}));
	auto& [rig, read, state] = running;
	REQUIRE(state.stop() == 0);
	const Events exits = events(state, DFR_EVENT_EXIT), stops = events(state, DFR_EVENT_STOP);
	REQUIRE(exits.size() == 1);
	REQUIRE(stops.size() == 1);
	CHECK(exits[0].second > stops[0].second);
}

TEST_CASE("an exit() in END has an event of its own, at its own time", "[engine][store][end]") {
	Running running(Program()
	                    .clause("rig::read:entry", arg0_is(9), {exit_with(3)})
	                    .clause("dtrace:::END", {exit_with(4)}));
	auto& [rig, read, state] = running;
	rig.fire(read, {9}, 2000);
	REQUIRE(state.stop() == 0);
	const Events exits = events(state, DFR_EVENT_EXIT);
	REQUIRE(exits.size() == 2);
	CHECK(exits[0] == std::pair<int32_t, uint64_t>{3, 2000});
	CHECK(exits[1].first == 4);
	CHECK(exits[1].second > 2000);
}

} // namespace engine_store_end_test
