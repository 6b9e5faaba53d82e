// SPDX-License-Identifier: GPL-2.0
//
// The governor on a clock of the test's own: firings cost what the hook is said
// to cost (the engine's own time is 0, as the clock stands still in a firing),
// so shares of CPU time are exact but for the sampling.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <random>
#include <thread>
#include <utility>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_governor_test {

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

// How many of them are not detached.
template <size_t N> size_t armed(dfr_probe* const (&probes)[N]) {
	return static_cast<size_t>(std::count_if(std::begin(probes), std::end(probes),
	                                         [](const dfr_probe* probe) { return probe->pb_ecbs; }));
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
		// Whoever finds the dead machine's memory is told before anybody has asked.
		CHECK(state.state->st_tally->killed == 1);
		CHECK(state.state->st_tally->over != 0);
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
				dfr_governor_charge(cpu, read->pb_ecbs, DFR_A_FIRING, 0, from, time,
				                    weight ? weight : 64);
				dfr_governor_judge(cpu, read->pb_ecbs, time);
				left = weight = 33 + random() % 64;
				cpu->pc_samples++;
			}
			pass(kRest);
		}
		CHECK(state.status().activity == (stops ? DFR_ACTIVE : DFR_KILLED));
	}
}

// Nine tenths of the CPU by five states, of which only one has no budget: none of the five takes another's part.
TEST_CASE("the deadman: what states with a budget take is not held against the others",
          "[engine][store][governor]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_engine_govern(rig.engine(), kHook);
	State unbounded(rig), first(rig), second(rig), third(rig), fourth(rig);
	REQUIRE(unbounded.enable(with_budget(0)) == 0);
	REQUIRE(unbounded.go() == 0);
	for (State* state : {&first, &second, &third, &fourth}) {
		REQUIRE(state->enable(with_budget(50)) == 0);
		REQUIRE(state->go() == 0);
	}
	fire_at(rig, read, now_ns() - 100 * kSecond, 5 * kHook, 4 * kSecond / (5 * kHook));
	CHECK(unbounded.status().activity == DFR_ACTIVE);
}

// Chunks of work are judged inside the clause that did it, at a probe that quieter states have enabled before.
TEST_CASE("the deadman: who fills chunks of work is killed, not another one at the probe",
          "[engine][store][governor]") {
	for (const uint64_t budget : {0, 50}) {
		Rig rig;
		dfr_probe* read = rig.probe("read");
		State quiet(rig), dear(rig);
		REQUIRE(quiet.enable(with_budget(0)) == 0);
		REQUIRE(dear.enable(with_budget(budget)) == 0);
		REQUIRE(quiet.go() == 0);
		REQUIRE(dear.go() == 0);
		const dfr_firing firing{.fr_engine = rig.engine(), .fr_probe = read};
		dfr_cpu* cpu = dfr_cpu_of(rig.engine(), 0);
		const uint64_t start = now_ns() - 100 * kSecond;
		for (uint64_t i = 0; i < 400; i++) // each 10 ms, of which it takes 9.9
			dfr_governor_dear(cpu, dear.state, &firing, 9'900'000, start + i * 10'000'000);
		CHECK(quiet.status().activity == DFR_ACTIVE);
		CHECK(dear.status().activity == (budget ? DFR_ACTIVE : DFR_KILLED));
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
	const uint64_t before = state.status().loss[DFR_LOSS_DETACHED];
	govern(state, start + 9 * kSecond);
	CHECK(read->pb_ecbs == nullptr);
	govern(state, start + 15 * kSecond);
	CHECK(read->pb_ecbs != nullptr);
	CHECK(has_event(state, DFR_EVENT_ATTACHED));
	CHECK(state.status().loss[DFR_LOSS_DETACHED] > before); // what it would have been
	rig.fire(read, {7}, start + 15 * kSecond + 1);
	CHECK(state.take().back().numbers.at(0) == 7);
}

// What is left may cost as much: of system calls all pass one hook, which goes with the last probe that needs it.
TEST_CASE("as long as detaching does not help, more probes are detached", "[engine][store][governor]") {
	Rig rig;
	dfr_probe* const probes[] = {rig.probe("read"), rig.probe("write"), rig.probe("open")};
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(with_budget(1)
	                         .clause("rig::write:entry", {trace(arg(0))})
	                         .clause("rig::open:entry", {trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	const uint64_t start = now_ns() - 200 * kSecond;
	uint64_t time = start;
	govern(state, time);
	for (const uint64_t end = start + 4 * kSecond; time < end; time += 2 * kHook)
		rig.fire(probes[time / (2 * kHook) % 3], {1, 2}, time);
	govern(state, time);
	CHECK(armed(probes) == 1); // the dearest, and more than half of it all
	dfr_probe* const last = *std::find_if(std::begin(probes), std::end(probes),
	                                      [](const dfr_probe* probe) { return probe->pb_ecbs; });
	for (const uint64_t end = time + kSecond / 2; time < end; time += 2 * kHook)
		rig.fire(last, {1, 2}, time);
	govern(state, time);
	CHECK(armed(probes) == 1); // too early to tell
	for (const uint64_t end = time + kSecond; time < end; time += 2 * kHook)
		rig.fire(last, {1, 2}, time);
	govern(state, time);
	CHECK(armed(probes) == 0);
	govern(state, start + 15 * kSecond); // the wait has begun anew
	CHECK(armed(probes) == 0);
	const uint64_t before = state.status().loss[DFR_LOSS_DETACHED];
	govern(state, start + 17 * kSecond);
	CHECK(armed(probes) == 3);
	// What they would have been until now: two for 196 s, a third of all; the last one for 194.5 s, of its 5.5.
	const double expected = (2.0 / 3 * 196 + (4.0 / 3 + 1.5) / 5.5 * 194.5) * kSecond / (2 * kHook);
	const auto lost = static_cast<double>(state.status().loss[DFR_LOSS_DETACHED] - before);
	CHECK(lost > 0.95 * expected);
	CHECK(lost < 1.05 * expected);
}

// Patching may take seconds, in which all still costs what it did.
TEST_CASE("whether detaching helps is judged when it has ended", "[engine][store][governor]") {
	Rig rig;
	dfr_probe* const probes[] = {rig.probe("read"), rig.probe("write")};
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(with_budget(1).clause("rig::write:entry", {trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	uint64_t time = now_ns() - 200 * kSecond;
	govern(state, time);
	const auto fire_until = [&](uint64_t end) {
		for (; time < end; time += 2 * kHook)
			rig.fire(probes[time / (2 * kHook) % 3 > 0], {1, 2}, time);
	};
	fire_until(time + 4 * kSecond);
	const uint64_t begin = time;
	bool due = true;
	rig.patching = [&] {
		fire_until(begin + 3 * kSecond);
		due = dfr_governor_keep(state.state, time);
	};
	govern(state, time);
	rig.patching = nullptr;
	CHECK(!due);
	CHECK(probes[1]->pb_ecbs == nullptr);
	fire_until(begin + 7 * kSecond / 2);
	govern(state, time);
	CHECK(probes[0]->pb_ecbs != nullptr);
}

// formats/abi/catalog.h, DFR_EVENT_DETACHED. The catalog is never shortened.
TEST_CASE("an overload that lasts names its probes once, and counts them from then on",
          "[engine][store][governor]") {
	Rig rig;
	dfr_probe* const probes[] = {rig.probe("read"), rig.probe("write"), rig.probe("open")};
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(with_budget(1)
	                         .clause("rig::write:entry", {trace(arg(0))})
	                         .clause("rig::write:entry", {trace(arg(1))})
	                         .clause("rig::open:entry", {trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	uint64_t time = now_ns() - 200 * kSecond;
	govern(state, time);
	for (const uint64_t wait : {10, 20, 40}) {
		for (const uint64_t end = time + 4 * kSecond; time < end; time += 2 * kHook)
			rig.fire(probes[time / (2 * kHook) % 3], {1, 2}, time);
		govern(state, time);
		CHECK(armed(probes) == 1);
		time += (wait + 1) * kSecond;
		govern(state, time);
		CHECK(armed(probes) == 3);
	}
	state.read_catalog();
	std::vector<int32_t> detached, attached;
	for (const auto& mark : state.catalog.events)
		if (mark.event == DFR_EVENT_DETACHED || mark.event == DFR_EVENT_ATTACHED)
			(mark.event == DFR_EVENT_DETACHED ? detached : attached).push_back(mark.value);
	REQUIRE(detached.size() == 4);
	CHECK(detached[0] > 0);
	CHECK(detached[1] > 0);
	CHECK(std::vector(detached.begin() + 2, detached.end()) == std::vector<int32_t>{-2, -2});
	CHECK(std::vector(attached.end() - 2, attached.end()) == std::vector<int32_t>{-2, -2});
}

TEST_CASE("a probe that cannot be attached again is none that was", "[engine][store][governor]") {
	Running running(with_budget(1), govern_hooks);
	auto& [rig, read, state] = running;
	const uint64_t start = now_ns() - 4 * kSecond;
	govern(state, start);
	fire_at(rig, read, start, 2 * kHook, 4 * kSecond / (2 * kHook));
	govern(state, start + 4 * kSecond);
	REQUIRE(has_event(state, DFR_EVENT_DETACHED));
	const uint64_t before = state.status().loss[DFR_LOSS_DETACHED];
	rig.arm_error = -EBUSY;
	govern(state, start + 15 * kSecond);
	CHECK(read->pb_ecbs == nullptr);
	CHECK(has_event(state, DFR_EVENT_UNARMED));
	CHECK(!has_event(state, DFR_EVENT_ATTACHED));
	CHECK(state.status().loss[DFR_LOSS_DETACHED] > before);
}

TEST_CASE("a probe that goes while it is detached leaves its losses", "[engine][store][governor]") {
	Rig rig;
	dfr_probe* read = rig.probe("read", "entry", 2, "module");
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(with_budget(1)) == 0);
	REQUIRE(state.go() == 0);
	const uint64_t start = now_ns() - 4 * kSecond;
	govern(state, start);
	fire_at(rig, read, start, 2 * kHook, 4 * kSecond / (2 * kHook));
	govern(state, start + 4 * kSecond);
	REQUIRE(has_event(state, DFR_EVENT_DETACHED));
	const uint64_t before = state.status().loss[DFR_LOSS_DETACHED];
	REQUIRE(dfr_probes_remove(&rig.provider, "module") == 0);
	CHECK(has_event(state, DFR_EVENT_ATTACHED));
	const uint64_t gone = state.status().loss[DFR_LOSS_DETACHED];
	CHECK(gone > before);
	state.stop();
	CHECK(state.status().loss[DFR_LOSS_DETACHED] == gone);
}

TEST_CASE("a state that is killed tells what its detached probes have lost", "[engine][store][governor]") {
	Running running(with_budget(1), govern_hooks);
	auto& [rig, read, state] = running;
	const uint64_t start = now_ns() - 4 * kSecond;
	govern(state, start);
	fire_at(rig, read, start, 2 * kHook, 4 * kSecond / (2 * kHook));
	govern(state, start + 4 * kSecond);
	REQUIRE(has_event(state, DFR_EVENT_DETACHED));
	const uint64_t before = state.status().loss[DFR_LOSS_DETACHED];
	REQUIRE(dfr_state_kill(state.state));
	const uint64_t killed = state.status().loss[DFR_LOSS_DETACHED];
	CHECK(killed > before);
	CHECK(state.stop() == 0);
	CHECK(state.status().loss[DFR_LOSS_DETACHED] == killed);
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

// Thinning (kmod/engine/RULES.md, section 8).

Program& of_priority(Program& program, const std::string& probe, uint32_t clause, dfr_priority priority) {
	return program.clause(probe, {}, {trace(arg(0))},
	                      DFR_ECBUARG(clause, DFR_ECBUARG_OF_PRIORITY(priority)));
}

Program low_read_high_write() {
	Program program;
	program.option(DFR_OPT_BUFSIZE, 32 << 20).option(DFR_OPT_CPUBUDGET, 1);
	of_priority(program, "rig::read:entry", 0, DFR_PRIORITY_LOW);
	return of_priority(program, "rig::write:entry", 1, DFR_PRIORITY_HIGH);
}

struct Storm {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	State state{rig};
	uint64_t time = now_ns() - 200 * kSecond;
	uint64_t reads = 0, reads_detached = 0, writes = 0;

	explicit Storm(const Program& program) {
		dfr_engine_govern(rig.engine(), kHook);
		REQUIRE(state.enable(program, DFR_ENABLE_ZERO_OK) == 0);
		REQUIRE(state.go() == 0);
		govern(state, time);
	}
	// `each` reads and one write every 10 ms, then housekeeping.
	void run(uint64_t until, unsigned each) {
		for (; time < until; time += 10'000'000) {
			for (unsigned i = 0; i < each; i++) {
				reads_detached += !read->pb_ecbs;
				rig.fire(read, {reads++}, time + i * 10'000'000 / each);
			}
			rig.fire(write, {writes++}, time + 9'999'999);
			govern(state, time + 9'999'999);
		}
	}
	// Recorded firings of the clause.
	uint64_t recorded(const std::vector<Record>& records, const dfr_probe* probe) {
		uint64_t n = 0;
		for (const Record& record : records)
			n += state.catalog.ecb(record.epid)->probe == probe->pb_id;
		return n;
	}
};

TEST_CASE("clauses of low priority go off first, and all of them is accounted for",
          "[engine][store][governor][thin]") {
	Storm storm(low_read_high_write());
	const uint64_t start = storm.time;
	storm.run(start + 20 * kSecond, 500);  // half of the CPU
	CHECK(storm.read->pb_ecbs == nullptr); // leaving out would have cost as much
	storm.run(start + 40 * kSecond, 0);
	const uint64_t back = storm.reads;
	storm.run(start + 50 * kSecond, 1);
	REQUIRE(storm.state.stop() == 0);
	const std::vector<Record> records = storm.state.take();
	CHECK(storm.state.damage == 0);
	CHECK(storm.state.status().loss[DFR_LOSS_THROTTLE] == 0);
	CHECK(storm.state.status().loss[DFR_LOSS_DETACHED] == 0);
	CHECK(storm.recorded(records, storm.write) == storm.writes);
	uint64_t left_out = 0;
	REQUIRE(storm.state.losses.stretches.size() > 1);
	CHECK(storm.state.losses.stretches.size() < 20); // of more than a second each
	for (const auto& stretch : storm.state.losses.stretches) {
		CHECK(stretch.priority == DFR_PRIORITY_LOW);
		CHECK(stretch.cpu == 0);
		CHECK(stretch.detached);
		CHECK(stretch.to > stretch.from + kSecond);
		CHECK(stretch.from > start);
		left_out += stretch.left_out;
	}
	CHECK(storm.recorded(records, storm.read) + left_out + storm.reads_detached == storm.reads);
	CHECK(storm.recorded(records, storm.read) > storm.reads - back); // when it was over, all again
	CHECK(storm.state.losses.entries.empty());
}

// Waiting costs no CPU: where patching waits for others, its probes come back as soon as there is credit.
TEST_CASE("probes stay detached by what patching cost, not by how long it took",
          "[engine][store][governor][thin]") {
	const auto stay = [](std::function<void()> patching) {
		Storm storm(low_read_high_write());
		storm.rig.patching = std::move(patching);
		while (storm.read->pb_ecbs)
			storm.run(storm.time + 10'000'000, 500);
		return storm.state.state->st_thinned_until[DFR_PRIORITY_LOW] - storm.time;
	};
	const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
	const auto work = [] {
		const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 10;
		while (std::clock() < end) {
		}
	};
	CHECK(stay(wait) < 5 * kSecond);
	CHECK(stay(work) >= 5 * kSecond);
}

// A detach that took long keeps a priority away for long, and the one below it must not come back meanwhile.
TEST_CASE("low clauses stay off as long as normal ones are detached", "[engine][store][governor][thin]") {
	Rig rig;
	dfr_probe* low = rig.probe("read");
	dfr_probe* normal = rig.probe("write");
	dfr_probe* high = rig.probe("open");
	Program program;
	program.option(DFR_OPT_BUFSIZE, 32 << 20).option(DFR_OPT_CPUBUDGET, 1);
	of_priority(program, "rig::read:entry", 0, DFR_PRIORITY_LOW);
	of_priority(program, "rig::write:entry", 1, DFR_PRIORITY_NORMAL);
	of_priority(program, "rig::open:entry", 2, DFR_PRIORITY_HIGH);
	govern_hooks(rig);
	State state(rig);
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
	uint64_t time = now_ns() - 200 * kSecond;
	const auto run = [&](uint64_t seconds, unsigned each) {
		for (const uint64_t end = time + seconds * kSecond; time < end; time += 10'000'000) {
			for (unsigned i = 0; i < each; i++)
				rig.fire(i & 1 ? low : normal, {i}, time + i * 10'000'000 / each);
			rig.fire(high, {1}, time + 9'999'998);
			govern(state, time + 9'999'999);
		}
	};
	run(5, 500);
	REQUIRE(low->pb_ecbs == nullptr);
	REQUIRE(normal->pb_ecbs == nullptr);
	state.state->st_thinned_until[DFR_PRIORITY_NORMAL] = time + 60 * kSecond;
	run(50, 0);
	CHECK(normal->pb_ecbs == nullptr);
	CHECK(low->pb_ecbs == nullptr);
	run(20, 0);
	CHECK(normal->pb_ecbs != nullptr);
	CHECK(low->pb_ecbs != nullptr);
	CHECK(high->pb_ecbs != nullptr);
}

// A hundredth and a bit: leaving out low ones makes it less than the budget, so nothing need be detached.
TEST_CASE("where leaving out is enough, probes stay attached", "[engine][store][governor][thin]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	Program program;
	program.option(DFR_OPT_BUFSIZE, 32 << 20).option(DFR_OPT_CPUBUDGET, 10);
	program.clause("rig::read:entry", {}, {trace(arg(0))}, // the one that is sampled
	               DFR_ECBUARG(1, DFR_ECBUARG_OF_PRIORITY(DFR_PRIORITY_HIGH)));
	of_priority(program, "rig::read:entry", 0, DFR_PRIORITY_LOW);
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
	uint64_t time = now_ns() - 100 * kSecond;
	uint64_t reads = 0;
	for (const uint64_t end = time + 30 * kSecond; time < end; time += kHook * 9, reads++) // 11 %
		rig.fire(read, {reads}, time);
	const dfr_stretch& now =
	    dfr_thinned(state.state->st_shares[0], DFR_PRIORITY_LOW)->now; // an image has it, too
	CHECK(now.from != 0);
	CHECK(!DFR_TALLY_VALUE(now.detached));
	REQUIRE(state.stop() == 0);
	uint64_t of[2] = {};
	std::vector<uint64_t> alone; // times of firings of which only the high clause was recorded
	for (const Record& record : state.take()) {
		of[record.epid - 1]++;
		if (record.epid == 1)
			alone.push_back(record.time);
		else if (!alone.empty() && alone.back() == record.time)
			alone.pop_back();
	}
	REQUIRE(state.losses.stretches.size() == 1);
	REQUIRE(!alone.empty());
	CHECK(alone.front() >= state.losses.stretches[0].from);
	CHECK(of[0] == reads);
	CHECK(of[1] + state.losses.stretches[0].left_out == reads);
}

TEST_CASE("a stretch that is not over is told, also after its beginning was overwritten",
          "[engine][store][governor][thin]") {
	Program program = low_read_high_write();
	program.option(DFR_OPT_BUFSIZE, 64 << 10).option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_RING);
	Storm storm(program);
	const uint64_t start = storm.time;
	while (storm.read->pb_ecbs)
		storm.run(storm.time + 1, 500);
	CHECK(storm.time < start + kSecond);
	for (unsigned i = 0; i < 50'000; i++) // ns apart: they cost nothing that the governor sees
		storm.rig.fire(storm.write, {i}, storm.time + i);
	storm.state.take();
	REQUIRE(storm.state.losses.stretches.size() == 1);
	CHECK(storm.state.losses.stretches[0].to == 0);
	CHECK(storm.state.losses.stretches[0].from > start);
	CHECK(storm.state.losses.stretches[0].from < storm.time);
}

// A snapshot asks which stretches go on, then copies the blocks without closing them.
TEST_CASE("who asks what it costs finds a stretch that is over in a block, also where nothing has fired",
          "[engine][store][governor][thin]") {
	Storm storm(low_read_high_write());
	while (storm.read->pb_ecbs)
		storm.run(storm.time + 1, 500);
	storm.state.take();
	while (!storm.read->pb_ecbs)
		govern(storm.state, storm.time += 10'000'000);
	dfr_ioc_cpu_cost cost[2] = {};
	dfr_ioc_cost asked{.count = 2};
	dfr_state_cost(storm.state.state, &asked, cost);
	CHECK(cost[0].thinned_since[DFR_PRIORITY_LOW] == 0);
	dfr_ioc_seen seen[2] = {};
	dfr_ioc_blocks io{.count = 2};
	dfr_state_blocks(storm.state.state, &io, seen);
	REQUIRE(io.count == 1);
	CHECK(seen[0].committed > 0);
	storm.state.take();
	REQUIRE(storm.state.losses.stretches.size() == 1);
	CHECK(storm.state.losses.stretches[0].to != 0);
	CHECK(storm.state.losses.stretches[0].to == io.last);
}

// The open block may have room for some of what is to be told only.
TEST_CASE("who asks what it costs finds all stretches told, however full the block is",
          "[engine][store][governor][thin]") {
	Program program = low_read_high_write();
	program.option(DFR_OPT_BUFSIZE, 8192).option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_RING);
	Storm storm(program);
	while (storm.read->pb_ecbs)
		storm.run(storm.time + 1, 500);
	dfr_share* const share = storm.state.state->st_shares[0];
	for (unsigned i = 0; i < 2000; i++) {
		for (unsigned records = 0; records < i % 7; records++)
			storm.rig.fire(storm.write, {i}, storm.time++);
		dfr_probe_lost(storm.write, DFR_LOSS_RETURN_POOL);
		dfr_thin_tell(share);
		dfr_ioc_cpu_cost cost{};
		dfr_ioc_cost asked{.count = 1};
		dfr_state_cost(storm.state.state, &asked, &cost);
		REQUIRE_FALSE(share->sh_thin_untold);
	}
}

// Else a recorder, who sees the clauses that have probes, would not ask for it.
TEST_CASE("a high priority of no probe lets nothing be thinned", "[engine][store][governor][thin]") {
	Program program;
	program.option(DFR_OPT_BUFSIZE, 32 << 20).option(DFR_OPT_CPUBUDGET, 1);
	of_priority(program, "rig::read:entry", 0, DFR_PRIORITY_NORMAL);
	of_priority(program, "rig::nosuch:entry", 1, DFR_PRIORITY_HIGH);
	Storm storm(program);
	storm.run(storm.time + 5 * kSecond, 500);
	REQUIRE(storm.state.stop() == 0);
	storm.state.take();
	CHECK(storm.state.losses.stretches.empty());
	CHECK(storm.state.status().loss[DFR_LOSS_THROTTLE] > 0);
}

// Disarming takes time.
TEST_CASE("a stop during detaching tells of the probe that is being disarmed", "[engine][store][governor]") {
	static dfr_state* stopped;
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_engine_govern(rig.engine(), kHook);
	State state(rig);
	REQUIRE(state.enable(with_budget(1)) == 0);
	REQUIRE(state.go() == 0);
	rig.ops.disarm = [](dfr_provider*, dfr_probe*) {
		if (dfr_state* const ending = std::exchange(stopped, nullptr))
			CHECK(dfr_state_halt(ending, nullptr) == 0);
	};
	stopped = state.state;
	const uint64_t start = now_ns() - 4 * kSecond;
	govern(state, start);
	for (uint64_t time = start; time < start + 4 * kSecond; time += 2 * kHook)
		rig.fire(read, {1}, time);
	govern(state, start + 4 * kSecond);
	REQUIRE(stopped == nullptr);
	CHECK(has_event(state, DFR_EVENT_DETACHED));
	CHECK(state.status().loss[DFR_LOSS_DETACHED] > 0);
}

TEST_CASE("END of a low priority fires while its other clauses are detached",
          "[engine][store][governor][thin]") {
	Program program = low_read_high_write();
	of_priority(program, "dtrace:::END", 2, DFR_PRIORITY_LOW);
	Storm storm(program);
	while (storm.read->pb_ecbs)
		storm.run(storm.time + 1, 500);
	REQUIRE(storm.state.stop() == 0);
	const dfr_probe* const end = dfr_probe_by_id(storm.rig.engine(), DFR_PROBE_END);
	CHECK(storm.recorded(storm.state.take(), end) == 1);
	REQUIRE(storm.state.losses.stretches.size() == 1);
	CHECK(storm.state.losses.stretches[0].detached);
}

TEST_CASE("without priorities, or within the budget, nothing is thinned", "[engine][store][governor][thin]") {
	for (const bool alike : {true, false}) {
		Program program;
		program.option(DFR_OPT_BUFSIZE, 32 << 20).option(DFR_OPT_CPUBUDGET, 10);
		of_priority(program, "rig::read:entry", 0, alike ? DFR_PRIORITY_NORMAL : DFR_PRIORITY_LOW);
		of_priority(program, "rig::write:entry", 1, DFR_PRIORITY_NORMAL);
		Storm storm(program);
		storm.run(storm.time + 20 * kSecond, alike ? 500 : 80); // half of the CPU, or a twelfth
		REQUIRE(storm.state.stop() == 0);
		storm.state.take();
		CHECK(storm.state.losses.stretches.empty());
		CHECK((storm.state.status().loss[DFR_LOSS_THROTTLE] > 0) == alike);
	}
}

TEST_CASE("what it costs can be asked", "[engine][store][governor][thin]") {
	Storm storm(low_read_high_write());
	dfr_ioc_cpu_cost cost[2] = {};
	dfr_ioc_cost io{};
	io.count = 2;
	storm.time = now_ns() - kSecond; // the question is asked now
	govern(storm.state, storm.time);
	while (storm.read->pb_ecbs)
		storm.run(storm.time + 1, 500);
	dfr_state_cost(storm.state.state, &io, cost);
	CHECK(io.budget == 1);
	CHECK(io.count == 1);
	CHECK(io.cpu == 0xffffffff);
	CHECK(io.detached == 1u << DFR_PRIORITY_LOW);
	CHECK(cost[0].cpu == 0);
	CHECK(cost[0].most == static_cast<int64_t>(kSecond / 10));
	CHECK(cost[0].credit < cost[0].most);
	CHECK(cost[0].spent > 1'000);
	CHECK(cost[0].throttled_since == 0);
	CHECK(cost[0].thinned_since[DFR_PRIORITY_LOW] != 0);
	CHECK(cost[0].thinned_since[DFR_PRIORITY_NORMAL] == 0);
	CHECK(cost[0].thinned_firings > 0);
}

TEST_CASE("a clause of no known priority is refused", "[engine][store][governor][thin]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	CHECK(state.enable(Program().clause("rig::read:entry", {}, {trace(arg(0))},
	                                    DFR_ECBUARG(0, 3 << 3))) == -EINVAL);
	CHECK(state.reason == "clause has an unknown priority");
}

} // namespace engine_store_governor_test
