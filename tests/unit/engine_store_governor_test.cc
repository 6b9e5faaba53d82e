// SPDX-License-Identifier: GPL-2.0
//
// The governor on a clock of the test's own: firings cost what the hook is said
// to cost (the engine's own time is 0, as the clock stands still in a firing),
// so shares of CPU time are exact but for the sampling.
#include <catch2/catch.hpp>

#include <random>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

using namespace store_rig;

namespace {

constexpr uint64_t kHook = 10'000; // ns
constexpr uint64_t kSecond = 1'000'000'000;

uint64_t now_ns() {
	timespec t{};
	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<uint64_t>(t.tv_sec) * kSecond + static_cast<uint64_t>(t.tv_nsec);
}

// `count` firings, `step` ns apart; what they take is kHook of each step.
uint64_t fire_at(Rig& rig, dfr_probe* probe, uint64_t from, uint64_t step, uint64_t count) {
	for (uint64_t i = 0; i < count; i++)
		rig.fire(probe, {i}, from + i * step);
	return from + count * step;
}

// Housekeeping's part, at this time.
void govern(State& state, uint64_t now) {
	if (dfr_governor_keep(state.state, now))
		dfr_governor_act(state.state, now);
}

Program with_budget(uint64_t percent) {
	Program program =
	    Program().clause("rig::read:entry", {trace(arg(0))}).option(DFR_OPT_BUFSIZE, 32 << 20);
	if (percent)
		program.option(DFR_OPT_CPUBUDGET, percent);
	return program;
}

void govern_hooks(Rig& rig) {
	dfr_engine_govern(rig.engine(), kHook);
}

bool has_event(State& state, uint32_t event) {
	state.read_catalog();
	for (const auto& mark : state.catalog.events)
		if (mark.event == event)
			return true;
	return false;
}

} // namespace

TEST_CASE("a budget: what is above it is left out, counted, and comes back", "[engine][store][governor]") {
	Running running(with_budget(10), govern_hooks);
	auto& [rig, read, state] = running;
	// Half of the CPU against a tenth: 1 s is saved up and shrinks by 0.4 s a second.
	const uint64_t start = now_ns() - 100 * kSecond;
	const uint64_t calls = 6 * kSecond / (2 * kHook);
	fire_at(rig, read, start, 2 * kHook, calls);
	const uint64_t throttled = state.status().loss[DFR_LOSS_THROTTLE];
	const uint64_t recorded = state.status().records;
	CHECK(recorded + throttled == calls);
	CHECK(recorded > 2.2 * kSecond / (2 * kHook));
	CHECK(recorded < 2.8 * kSecond / (2 * kHook));
	// A hundred seconds later there is credit again.
	dfr_state_clean(state.state);
	rig.fire(read, {1}, now_ns());
	CHECK(state.status().records == recorded + 1);
	state.take();
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_THROTTLE);
	CHECK(state.losses.entries[0].probe == read->pb_id);
	CHECK(state.losses.entries[0].count == throttled);
	CHECK(state.losses.entries[0].from > start + 2 * kSecond);
	CHECK(state.losses.entries[0].from < start + 3 * kSecond);
}

TEST_CASE("within the budget nothing is left out", "[engine][store][governor]") {
	Running running(with_budget(10), govern_hooks);
	auto& [rig, read, state] = running;
	fire_at(rig, read, now_ns() - 100 * kSecond, 12 * kHook, 200'000); // a twelfth, for 24 s
	CHECK(state.status().loss[DFR_LOSS_THROTTLE] == 0);
	CHECK(state.status().records == 200'000);
}

TEST_CASE("a state with a name has a budget, one without has none", "[engine][store][governor]") {
	for (const bool kept : {true, false}) {
		Rig rig;
		dfr_probe* read = rig.probe("read");
		dfr_engine_govern(rig.engine(), kHook);
		State state(rig);
		REQUIRE(state.enable(with_budget(0)) == 0);
		if (kept)
			dfr_state_set_name(state.state, "mine", false);
		REQUIRE(state.go() == 0);
		fire_at(rig, read, now_ns() - 100 * kSecond, 2 * kHook, 3 * kSecond / (2 * kHook));
		CHECK((state.status().loss[DFR_LOSS_THROTTLE] > 0) == kept);
		CHECK(state.status().activity == DFR_ACTIVE);
	}
}

TEST_CASE("the deadman: more than nine tenths of a CPU for a second", "[engine][store][governor]") {
	const uint64_t calls = 4 * kSecond / kHook;
	for (const uint64_t step : {kHook + kHook / 50, kHook + kHook / 4}) { // 98 %, 80 %
		Running running(with_budget(0), govern_hooks);
		auto& [rig, read, state] = running;
		fire_at(rig, read, now_ns() - 100 * kSecond, step, calls);
		if (step > kHook + kHook / 10) {
			CHECK(state.status().activity == DFR_ACTIVE);
			CHECK(state.status().records == calls);
			continue;
		}
		CHECK(state.status().activity == DFR_KILLED);
		CHECK(state.status().records > kSecond / step);
		CHECK(state.status().records < 2.5 * kSecond / step);
		dfr_state_clean(state.state); // housekeeping takes the probes away
		CHECK(read->pb_ecbs == nullptr);
		CHECK(has_event(state, DFR_EVENT_KILLED));
		CHECK(state.stop() == 0); // it has ended already, and fires no END
		CHECK(state.status().activity == DFR_KILLED);
	}
}

// What is taken for a probe's cost there is that of a machine that was not running.
TEST_CASE("the deadman: one bad quarter of a second is none", "[engine][store][governor]") {
	for (const unsigned bad : {1u, 4u}) { // of each second
		Running running(with_budget(0), govern_hooks);
		auto& [rig, read, state] = running;
		uint64_t time = now_ns() - 100 * kSecond;
		for (unsigned second = 0; second < 4; second++)
			for (unsigned quarter = 0; quarter < 4; quarter++) {
				const uint64_t step = quarter < bad ? kHook / 5 : 5 * kHook; // 500 %, 20 %
				time = fire_at(rig, read, time, step, kSecond / 4 / step);
			}
		CHECK((state.status().activity == DFR_ACTIVE) == (bad == 1));
	}
}

// A virtual CPU whose host runs it for 3 ms of each 9: the clock goes on meanwhile. Firings of 96 % of the time that it runs
// are a third of all time, whatever stands still inside a sample; if it is never stopped, they are too much.
TEST_CASE("the deadman: what a host takes is not what probes take", "[engine][store][governor]") {
	constexpr uint64_t kFiring = 4'800, kRest = 200, kRun = 3'000'000, kStop = 6'000'000;
	for (const bool stops : {false, true}) {
		Running running(with_budget(0), [](Rig& rig) { dfr_engine_govern(rig.engine(), 1); });
		auto& [rig, read, state] = running;
		dfr_cpu* cpu = dfr_cpu_of(rig.engine(), 0);
		std::mt19937 random(1);
		const uint64_t start = now_ns() - 100 * kSecond;
		uint64_t time = start, runs_until = time + kRun;
		// Time passes; the machine may be stopped in it.
		const auto pass = [&](uint64_t ns) {
			time += ns;
			if (!stops || time < runs_until)
				return;
			time += kStop;
			runs_until = time + kRun - random() % 1'000;
		};
		unsigned weight = 0, left = 64;
		while (time < start + 60 * kSecond && state.status().activity == DFR_ACTIVE) {
			const uint64_t from = time;
			pass(kFiring);
			if (!--left) {
				dfr_governor_charge(cpu, read->pb_ecbs, 0, from, time, weight ? weight : 64);
				dfr_governor_judge(cpu, read->pb_ecbs, time);
				left = weight = 33 + random() % 64;
				cpu->pc_samples++;
			}
			pass(kRest);
		}
		CHECK(state.status().activity == (stops ? DFR_ACTIVE : DFR_KILLED));
	}
}

TEST_CASE("two states that only together are too much: one is killed", "[engine][store][governor]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	dfr_engine_govern(rig.engine(), kHook);
	State first(rig), second(rig);
	REQUIRE(first.enable(Program().clause("rig::read:entry", {trace(arg(0))})) == 0);
	REQUIRE(second.enable(Program().clause("rig::write:entry", {trace(arg(0))})) == 0);
	REQUIRE(first.go() == 0);
	REQUIRE(second.go() == 0);
	uint64_t time = now_ns() - 100 * kSecond;
	for (unsigned i = 0; i < 150'000; i++, time += kHook + kHook / 50) // 3 s, half of it each
		rig.fire(i & 1 ? read : write, {1}, time);
	const bool one = first.status().activity == DFR_KILLED;
	const bool other = second.status().activity == DFR_KILLED;
	CHECK(one != other);
}

TEST_CASE("where leaving out is too dear, probes are detached", "[engine][store][governor]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(with_budget(1).clause("rig::write:entry", {trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	const uint64_t start = now_ns() - 4 * kSecond;
	govern(state, start);
	for (uint64_t time = start; time < start + 4 * kSecond; time += 2 * kHook)
		rig.fire(time % (200 * kHook) ? read : write, {1}, time);
	govern(state, start + 4 * kSecond);
	CHECK(read->pb_ecbs == nullptr); // the dearest, and more than half of it all
	CHECK(write->pb_ecbs != nullptr);
	CHECK(has_event(state, DFR_EVENT_DETACHED));
	const uint64_t before = state.status().loss[DFR_LOSS_THROTTLE];
	govern(state, start + 9 * kSecond);
	CHECK(read->pb_ecbs == nullptr);
	govern(state, start + 15 * kSecond);
	CHECK(read->pb_ecbs != nullptr);
	CHECK(has_event(state, DFR_EVENT_ATTACHED));
	CHECK(state.status().loss[DFR_LOSS_THROTTLE] > before); // what it would have been
	rig.fire(read, {7}, start + 15 * kSecond + 1);
	CHECK(state.take().back().numbers.at(0) == 7);
}

// Without an end of the chain the firing that follows would not end either.
TEST_CASE("clauses that are detached and attached again run once each, in the chain's new order",
          "[engine][store][governor]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig), other(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {trace(constant(1))})
	                         .clause("rig::read:entry", {trace(constant(2))})
	                         .option(DFR_OPT_BUFSIZE, 32 << 20)
	                         .option(DFR_OPT_CPUBUDGET, 1)) == 0);
	REQUIRE(other.enable(Program().clause("rig::read:entry", {trace(constant(3))})) == 0);
	REQUIRE(state.go() == 0);
	REQUIRE(other.go() == 0);
	const uint64_t start = now_ns() - 4 * kSecond;
	govern(state, start);
	fire_at(rig, read, start, 4 * kHook, 4 * kSecond / (4 * kHook));
	govern(state, start + 4 * kSecond);
	REQUIRE(has_event(state, DFR_EVENT_DETACHED));
	REQUIRE(read->pb_ecbs != nullptr); // the other state's
	govern(state, start + 15 * kSecond);
	REQUIRE(has_event(state, DFR_EVENT_ATTACHED));
	state.take();
	const uint64_t before = other.status().records;
	rig.fire(read, {}, start + 15 * kSecond + 1);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	CHECK(records[0].numbers.at(0) == 1);
	CHECK(records[1].numbers.at(0) == 2);
	CHECK(other.status().records == before + 1);
}

TEST_CASE("a budget is a percentage", "[engine][store][governor]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	CHECK(state.enable(with_budget(101)) == -EINVAL);
	CHECK(state.reason == "cpubudget is not a percentage of a CPU, 1 to 100");
	CHECK(state.enable(with_budget(100)) == 0);
}

// 600 instructions of DIF: more than a chunk of work (work.c).
Difo heavy() {
	Difo difo = arg(0);
	difo.text.insert(difo.text.begin(), 600, DIF_INSTR_R(DIF_OP_ADD, 0, 0, 2));
	return difo;
}

TEST_CASE("a dear firing is charged as it is, whether it is a sample or not",
          "[engine][store][governor][work]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_engine_govern(rig.engine(), 1); // samples alone would find next to nothing
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {act(DFR_ACT_DIFEXPR, heavy())})
	                         .option(DFR_OPT_CPUBUDGET, 1)) == 0);
	REQUIRE(state.go() == 0);
	// A chunk counts as 16,384 ns where no clock says otherwise: a sixth of the time, against a hundredth.
	fire_at(rig, read, now_ns() - 100 * kSecond, 100'000, 20'000);
	CHECK(state.status().loss[DFR_LOSS_THROTTLE] > 10'000);
	CHECK(state.status().loss[DFR_LOSS_THROTTLE] < 15'000);
}

TEST_CASE("who ends a state and begins another does not begin with a full purse",
          "[engine][store][governor]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_engine_govern(rig.engine(), kHook);
	uint64_t time = now_ns();
	uint64_t recorded[3];
	for (int i = 0; i < 3; i++) {
		State state(rig);
		if (i == 2)
			dfr_state_set_name(state.state, "another", false);
		REQUIRE(state.enable(with_budget(10)) == 0);
		REQUIRE(state.go() == 0);
		time = fire_at(rig, read, time, 2 * kHook, 3 * kSecond / (2 * kHook)); // the half
		recorded[i] = state.status().records;
	}
	CHECK(recorded[0] > 2.2 * kSecond / (2 * kHook));
	CHECK(recorded[1] < 0.1 * kSecond / (2 * kHook));
	CHECK(recorded[2] > 2.2 * kSecond / (2 * kHook)); // another account
}
