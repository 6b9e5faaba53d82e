// SPDX-License-Identifier: GPL-2.0
//
// A program's whole life with one allocation failing, for each allocation in
// turn: whatever does not succeed says so, and nothing is left behind (ASan's
// leak check sees to that).
#include <algorithm>
#include <catch2/catch.hpp>

#include "formats/abi/anchor.h"
#include "tests/unit/engine_store_rig.h"

namespace engine_store_nomem_test {

using namespace store_rig;

namespace {

Program everything() {
	return Program()
	    .clause("rig::read:entry", {capture(arg(0)), trace(builtin(DIF_VAR_EXECNAME, string_type()))})
	    .clause("rig::*:entry", arg0_is(7),
	            {act(DFR_ACT_DIFEXPR, store_global(DIF_VAR_USER_FIRST, arg(0)))})
	    .clause("rig::read:entry", {trace(speculation())})
	    .clause("dtrace:::BEGIN", {trace(constant(1))})
	    .clause("dtrace:::END", {trace(constant(2))})
	    .option(DFR_OPT_BUFSIZE, 65536)
	    .option(DFR_OPT_AGGSIZE, 65536)
	    .option(DFR_OPT_BUFRESIZE, 1);
}

// false: the failure came too late, there are not so many allocations.
bool live_without(unsigned long number, unsigned& refused) {
	static uint8_t table[1 << 16];
	const std::vector<uint8_t> dof = everything().bytes();
	const dfr_load_limits limits{true, false};
	dfr_ioc_taken taken[32];
	dfr_refusal why{};
	dfr_state* state = nullptr;
	u32 matched = 0, cpu = 0, count = 0;
	u64 bytes = 0;
	bool left = false;
	Rig rig(2);
	dfr_probe* read = rig.probe("read");

	dfr_user_alloc_fails = number;
	int error = dfr_state_create(rig.engine(), &state);
	if (!error) {
		error = dfr_state_enable(state, dof.data(), dof.size(), &limits, 0, &matched, &why);
		if (!error)
			error = dfr_state_go(state, &cpu);
		if (!error) {
			rig.fire(read, {7, 8});
			dfr_state_clean(state);
			const dfr_probe* late =
			    dfr_probe_create(&rig.provider, "test", "write", "entry", 2, nullptr);
			CHECK(late == dfr_probe_find(&rig.provider, "test", "write", "entry"));
			dfr_probes_created(rig.engine());
			dfr_state_aggsnap(state, table, sizeof(table), &bytes, false);
			CHECK(dfr_state_stop(state, &cpu) == 0);
			dfr_state_take(state, ~0u, true, taken, 32, &count, &left);
			for (u32 i = 0; i < count; i++)
				CHECK(dfr_state_release(state, taken[i].cpu, taken[i].block, taken[i].seq) ==
				      0);
		}
		dfr_state_destroy(state);
	}
	const bool reached = dfr_user_alloc_fails == 0;
	dfr_user_alloc_fails = 0;
	refused += error != 0;
	CHECK((error == 0 || error == -ENOMEM));
	// It was this allocation's fault alone: the next program runs.
	State next(rig);
	REQUIRE(next.enable(everything()) == 0);
	REQUIRE(next.go() == 0);
	rig.fire(read, {7, 8});
	CHECK(next.status().records >= 2);
	return reached;
}

// What anchors list of CPU 1: kind and half.
thread_local std::vector<std::pair<uint32_t, uint32_t>> listed;

void note_anchor(const dfr_state*, uint32_t kind, uint32_t cpu, uint32_t half, void*, size_t, size_t) {
	if (cpu == 1)
		listed.emplace_back(kind, half);
}

} // namespace

// kmod/engine/recording/prepare.c: a harvest takes the first table of a CPU that it finds.
TEST_CASE("of a CPU for which there was no memory no anchor lists anything", "[engine][store][nomem]") {
	unsigned long number = 1;
	for (bool failed = true; failed; number++) {
		Rig rig(2);
		rig.probe("read");
		State state(rig);
		REQUIRE(state.enable(everything().clause(
		            "rig::read:entry", {trace(arg(0)), aggregate(DFR_ACT_COUNT, 1, 1, {}, 0)})) == 0);
		dfr_user_set_ncpus(1); // the other one is away
		REQUIRE(state.go() == 0);
		dfr_user_set_ncpus(2);
		listed.clear();
		dfr_user_anchor = note_anchor;
		dfr_user_alloc_fails = number;
		failed = dfr_engine_cpu_prepare(rig.engine(), 1, true) != 0;
		dfr_user_alloc_fails = 0;
		if (failed) {
			CHECK(listed.empty());
			REQUIRE(dfr_engine_cpu_prepare(rig.engine(), 1, true) == 0);
		}
		dfr_user_anchor = nullptr;
		for (const uint32_t half : {0, 1})
			CHECK(std::ranges::count(listed,
			                         std::pair<uint32_t, uint32_t>(DFR_ANCHOR_AGG, half)) == 1);
		CHECK(std::ranges::count(listed, std::pair<uint32_t, uint32_t>(DFR_ANCHOR_TALLY, 0)) == 1);
		CHECK(std::ranges::count(listed, std::pair<uint32_t, uint32_t>(DFR_ANCHOR_SPEC, 0)) == 1);
		state.read_catalog();
		CHECK(state.catalog.memory.at({DFR_ANCHOR_TALLY, 1, 0}) == 1);
	}
	CHECK(number > 12);
}

TEST_CASE("each allocation fails once", "[engine][store][nomem]") {
	unsigned refused = 0;
	unsigned long number = 1;
	while (live_without(number, refused))
		number++;
	CHECK(number > 40);
	CHECK(refused > number / 2);
}

} // namespace engine_store_nomem_test
