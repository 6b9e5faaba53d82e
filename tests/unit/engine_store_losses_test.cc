// SPDX-License-Identifier: GPL-2.0
//
// Losses that no firing tells, and those that several clauses of a state could count.
#include <catch2/catch.hpp>

#include <ctime>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_losses_test {

using namespace store_rig;

namespace {

constexpr uint64_t kHook = 10'000; // ns
constexpr uint64_t kSecond = 1'000'000'000;

// The governor on a clock of the test's own, which begins two hundred seconds ago.
struct Governed {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	State state{rig};
	uint64_t time = 0;

	explicit Governed(const Program& program) {
		timespec now{};
		clock_gettime(CLOCK_MONOTONIC, &now);
		time = static_cast<uint64_t>(now.tv_sec - 200) * kSecond;
		dfr_engine_govern(rig.engine(), kHook);
		REQUIRE(state.enable(program) == 0);
		REQUIRE(state.go() == 0);
		govern();
	}
	void govern() {
		if (dfr_governor_keep(state.state, time))
			dfr_governor_act(state.state, time);
	}
	// Housekeeping comes every 10 ms, behind `reads` of them.
	void run(uint64_t until, unsigned reads) {
		for (; time < until; govern()) {
			for (unsigned i = 0; i < reads; i++)
				rig.fire(read, {i}, time + i * 10'000'000 / reads);
			time += 10'000'000;
		}
	}
	size_t clauses_of_read() const {
		size_t n = 0;
		for (const dfr_ecb* ecb = read->pb_ecbs; ecb; ecb = ecb->ec_next)
			n++;
		return n;
	}
};

Program reading(uint64_t budget) {
	return Program()
	    .clause("rig::read:entry", {trace(arg(0))})
	    .option(DFR_OPT_BUFSIZE, 32 << 20)
	    .option(DFR_OPT_CPUBUDGET, budget);
}

} // namespace

// Else who asks for the time of the losses would not read it.
TEST_CASE("a block reaches as far as the losses that it tells", "[engine][store][losses]") {
	Governed governed(reading(50));
	governed.run(governed.time + 20 * kSecond, 900); // nine tenths of the CPU
	REQUIRE(governed.state.status().loss[DFR_LOSS_THROTTLE] > 0);
	governed.state.take();
	uint64_t told = 0;
	for (const auto& loss : governed.state.losses.entries)
		told = std::max(told, loss.to);
	REQUIRE(told);
	CHECK(governed.state.blocks.back().last_time >= told);
	// And what comes is behind it.
	governed.rig.fire(governed.write, {}, governed.time);
	governed.run(governed.time + 20 * kSecond, 1);
	const std::vector<Record> records = governed.state.take();
	REQUIRE(!records.empty());
	CHECK(records.front().time > told);
}

TEST_CASE("what detached probes would have recorded ends where exit() has ended the recording",
          "[engine][store][losses]") {
	Governed governed(reading(1).clause("rig::write:entry", {exit_with(0)}));
	const uint64_t start = governed.time;
	governed.run(start + 4 * kSecond, 500);
	REQUIRE(governed.read->pb_ecbs == nullptr);
	const uint64_t detached = governed.time;
	governed.rig.fire(governed.write, {}, detached + kSecond);
	REQUIRE(governed.state.stop() == 0); // some 195 s later
	const uint64_t lost = governed.state.status().loss[DFR_LOSS_DETACHED];
	CHECK(lost > 0);
	CHECK(lost <
	      6 * 50'000); // 50,000 a second since it was detached, at the first moment at the earliest
}

TEST_CASE("a state that never began can be ended", "[engine][store][losses]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(reading(1)) == 0);
	dfr_state_end(state.state);
	CHECK(state.status().activity == DFR_STOPPED);
}

// Clauses that are attached again stand behind those of others.
TEST_CASE("a lost firing counts once for a state whose clauses are not neighbours",
          "[engine][store][losses]") {
	Program program;
	program.option(DFR_OPT_BUFSIZE, 32 << 20).option(DFR_OPT_CPUBUDGET, 1);
	for (const auto& [clause, priority] : {std::pair(0u, DFR_PRIORITY_LOW), {1u, DFR_PRIORITY_HIGH}})
		program.clause("rig::read:entry", {}, {trace(arg(0))},
		               DFR_ECBUARG(clause, DFR_ECBUARG_OF_PRIORITY(priority)));
	Governed governed(program);
	State other(governed.rig);
	REQUIRE(other.enable(Program().clause("rig::read:entry", {trace(arg(0))})) == 0);
	REQUIRE(other.go() == 0);
	REQUIRE(governed.clauses_of_read() == 3);
	// Later the high one would be, too.
	for (const uint64_t end = governed.time + 20 * kSecond;
	     governed.time < end && governed.clauses_of_read() == 3;)
		governed.run(governed.time + 1, 500);
	REQUIRE(governed.clauses_of_read() == 2);
	governed.run(governed.time + 60 * kSecond, 0);
	REQUIRE(governed.clauses_of_read() == 3);
	REQUIRE(governed.read->pb_ecbs->ec_next->ec_state == other.state);
	dfr_probe_lost(governed.read, DFR_LOSS_RETURN_POOL);
	CHECK(governed.state.status().loss[DFR_LOSS_RETURN_POOL] == 1);
	CHECK(other.status().loss[DFR_LOSS_RETURN_POOL] == 1);
}

} // namespace engine_store_losses_test
