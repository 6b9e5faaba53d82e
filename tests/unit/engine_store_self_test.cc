// SPDX-License-Identifier: GPL-2.0
//
// Measurements through a thread-local number: set to the time where something
// begins, aggregated and given back where it ends. Times are given, so the sums
// are known; thousands of threads at once meet in the table of numbers.
#include <catch2/catch.hpp>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_self_test {

using namespace store_rig;

namespace {

constexpr uint32_t kStart = DIF_VAR_USER_FIRST;

Difo of(std::vector<uint32_t> text, dif_type type) {
	return with_number(std::move(text), type, kStart);
}

const uint32_t kReturn = DIF_INSTR_R(DIF_OP_RET, 0, 0, 1);

// self->t = timestamp
Difo set_time() {
	return of({DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_TIMESTAMP, 1), DIF_INSTR_WIDE(DIF_OP_STTS, kStart, 1),
	           DIF_INSTR_R(DIF_OP_RET, 0, 0, 0)},
	          dif_type{});
}

// self->t = 0
Difo give_back() {
	return of({DIF_INSTR_WIDE(DIF_OP_STTS, kStart, 0), DIF_INSTR_R(DIF_OP_RET, 0, 0, 0)}, dif_type{});
}

// /self->t/
Difo is_set() {
	return of({DIF_INSTR_WIDE(DIF_OP_LDTS, kStart, 1), kReturn}, int_type(8));
}

// timestamp - self->t
Difo since() {
	return of({DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_TIMESTAMP, 1), DIF_INSTR_WIDE(DIF_OP_LDTS, kStart, 2),
	           DIF_INSTR_R(DIF_OP_SUB, 1, 2, 1), kReturn},
	          int_type(8));
}

struct Measured {
	Rig rig;
	dfr_probe* begin = rig.probe("work");
	dfr_probe* end = rig.probe("work", "return");
	State state{rig};

	explicit Measured(std::vector<Action> at_end) {
		Program program;
		program.clause("rig::work:entry", {act(DFR_ACT_DIFEXPR, set_time())});
		program.clause("rig::work:return", is_set(), std::move(at_end));
		REQUIRE(state.enable(program) == 0);
		REQUIRE(state.go() == 0);
	}
	void fire(dfr_probe* probe, uint32_t tid, uint64_t time) {
		rig.env.ev_task = rig.env.ev_tid = tid;
		rig.fire(probe, {}, time);
	}
	std::vector<uint64_t> words(const std::string& key = "") { return state.aggregation(1)[key]; }
};

} // namespace

TEST_CASE("what is measured is counted once, and only where it began", "[engine][store][self]") {
	Measured measured({aggregate(DFR_ACT_SUM, 1, 0, since()), act(DFR_ACT_DIFEXPR, give_back())});
	measured.fire(measured.end, 101, 500); // began nowhere
	CHECK(measured.state.aggregation(1).empty());
	measured.fire(measured.begin, 101, 1000);
	measured.fire(measured.begin, 102, 1010);
	measured.fire(measured.end, 101, 1300);
	measured.fire(measured.end, 101, 1400); // has been given back
	CHECK(measured.words() == std::vector<uint64_t>{300});
	measured.fire(measured.end, 102, 1510);
	measured.fire(measured.begin, 101, 2000);
	measured.fire(measured.begin, 101, 2007); // begins anew
	measured.fire(measured.end, 101, 2017);
	CHECK(measured.words() == std::vector<uint64_t>{300 + 500 + 10});
}

TEST_CASE("what is measured by name: the first of a key, and the next", "[engine][store][self]") {
	Measured measured({trace(builtin(DIF_VAR_EXECNAME, string_type())),
	                   aggregate(DFR_ACT_MAX, 1, 1, since()), act(DFR_ACT_DIFEXPR, give_back())});
	for (uint64_t took : {30, 70, 50}) {
		uint64_t from = 1000 * took;
		measured.fire(measured.begin, 101, from);
		measured.fire(measured.end, 101, from + took);
	}
	CHECK(measured.words(key_of_text("csh")) == std::vector<uint64_t>{70});
}

TEST_CASE("given back before it is looked at, it is 0", "[engine][store][self]") {
	// So what is counted is all of the time.
	Measured measured({act(DFR_ACT_DIFEXPR, give_back()), aggregate(DFR_ACT_SUM, 1, 0, since())});
	measured.fire(measured.begin, 101, 1000);
	measured.fire(measured.end, 101, 1300);
	CHECK(measured.words() == std::vector<uint64_t>{1300});
}

TEST_CASE("thousands of threads are measured at once", "[engine][store][self]") {
	// The first at random. With the others as the hash's factor, the threads' homes are in a small part
	// of the table.
	constexpr uint64_t kFactors[] = {0,
	                                 0x0cba16940b193e5b,
	                                 0x706564c370074467,
	                                 0x763ed516dd7218b1,
	                                 0x99ff787987b4e5f3,
	                                 0xd41132c9e24b79fb,
	                                 0x1929a1bb9e168d33};
	const uint64_t factor = GENERATE_COPY(from_range(std::begin(kFactors), std::end(kFactors)));
	dfr_user_fixed_secret = factor ? factor ^ 0x9e3779b97f4a7c15 : 0; // dfr_hashkey_make()
	Measured measured({aggregate(DFR_ACT_SUM, 1, 0, since()), act(DFR_ACT_DIFEXPR, give_back())});
	dfr_user_fixed_secret = 0;
	constexpr uint32_t kThreads = 6000;
	for (uint32_t round = 0; round < 2; round++) {
		uint64_t base = 1'000'000 * (round + 1);
		for (uint32_t i = 0; i < kThreads; i++)
			measured.fire(measured.begin, 1000 + 7 * i, base + 10 * i);
		for (uint32_t i = 0; i < kThreads; i++) // each took 100,000 and its own number
			measured.fire(measured.end, 1000 + 7 * i, base + 100'000 + 11 * i);
	}
	// The sum of 0 to n - 1 is n (n - 1) / 2.
	CHECK(measured.words()[0] ==
	      2 * (uint64_t{kThreads} * 100'000 + uint64_t{kThreads} * (kThreads - 1) / 2));
	CHECK(measured.state.status().loss[DFR_LOSS_DYNVAR] == 0);
}

// A machine may die before housekeeping has looked.
TEST_CASE("a store that is lost is on the counters' page at once", "[engine][store][self]") {
	Rig rig;
	dfr_probe* work = rig.probe("work");
	State state(rig);
	Program program;
	program.clause("rig::work:entry", {act(DFR_ACT_DIFEXPR, set_time())}).option(DFR_OPT_DYNVARSIZE, 16);
	program.option(DFR_OPT_BUFRESIZE, 1);
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(work, {}, 1000);
	rig.fire(work, {}, 2000);
	CHECK(DFR_TALLY_VALUE(state.state->st_shares[0]->sh_tally->loss[DFR_LOSS_DYNVAR]) == 2);
	state.take();
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].probe == work->pb_id);
	CHECK(state.losses.entries[0].count == 2);
	CHECK(state.losses.entries[0].from == 1000);
	CHECK(state.losses.entries[0].to == 2000);
	CHECK(state.status().loss[DFR_LOSS_DYNVAR] == 2);
}

} // namespace engine_store_self_test
