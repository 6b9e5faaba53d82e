// SPDX-License-Identifier: GPL-2.0
//
// Aggregations: every function at its boundaries (values computed by hand from
// kmod/engine/SEMANTICS.md section 4), keys of every kind, full tables, snapshots, clear and trunc.
#include <utility>

#include <catch2/catch.hpp>

#include "tests/unit/engine_store_rig.h"

namespace engine_store_agg_test {

using namespace store_rig;

namespace {

constexpr uint64_t kMin = 1ull << 63; // INT64_MIN
constexpr uint64_t kMax = kMin - 1;
uint64_t minus(uint64_t v) {
	return 0 - v;
}

// One aggregation without keys, fed with arg0.
struct One {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state{rig};

	explicit One(uint32_t kind, uint64_t arg = 0, bool weighted = false) {
		std::vector<Action> actions;
		std::optional<Difo> value;
		if (kind != DFR_ACT_COUNT)
			value = store_rig::arg(0);
		if (weighted) {
			actions.push_back(trace(store_rig::arg(1)));
			actions.back().uarg = DFR_UARG_WEIGHT;
		}
		actions.push_back(aggregate(kind, 1, weighted, value, arg));
		REQUIRE(state.enable(Program().clause("rig::read:entry", actions)) == 0);
		REQUIRE(state.go() == 0);
	}
	void feed(std::initializer_list<uint64_t> values) {
		for (uint64_t value : values)
			rig.fire(read, {value});
	}
	std::vector<uint64_t> words() { return state.aggregation(1)[""]; }
};

} // namespace

TEST_CASE("count, sum, min, max, avg, stddev", "[engine][store][agg]") {
	{
		One one(DFR_ACT_COUNT);
		one.feed({1, 2, 3});
		CHECK(one.words() == std::vector<uint64_t>{3});
	}
	{
		One one(DFR_ACT_SUM);
		one.feed({kMax, 2}); // wraps
		CHECK(one.words() == std::vector<uint64_t>{kMax + 2});
	}
	{
		One one(DFR_ACT_MIN);
		one.feed({5, minus(3), 7});
		CHECK(one.words() == std::vector<uint64_t>{minus(3)});
		one.feed({kMin, 0});
		CHECK(one.words() == std::vector<uint64_t>{kMin});
	}
	{
		One one(DFR_ACT_MAX);
		one.feed({minus(9), minus(3), minus(7)});
		CHECK(one.words() == std::vector<uint64_t>{minus(3)});
		one.feed({kMax});
		CHECK(one.words() == std::vector<uint64_t>{kMax});
	}
	{
		One one(DFR_ACT_AVG);
		one.feed({10, 20});
		CHECK(one.words() == std::vector<uint64_t>{2, 30});
		one.feed({minus(60)});
		CHECK(one.words() == std::vector<uint64_t>{3, minus(30)});
	}
	{
		One one(DFR_ACT_STDDEV);
		one.feed({3, minus(4)});
		CHECK(one.words() == std::vector<uint64_t>{2, minus(1), 25, 0});
		// (2^63)^2 = 2^126, four of them carry into bit 128: beyond, it wraps; two are 2^127.
		One two(DFR_ACT_STDDEV);
		two.feed({kMin});
		CHECK(two.words() == std::vector<uint64_t>{1, kMin, 0, 1ull << 62});
		two.feed({kMin}); // a merge carries, too
		CHECK(two.words() == std::vector<uint64_t>{2, 0, 0, 1ull << 63});
		// (2^32)^2 = 2^64: the first bit of the high word; merged from two snapshots.
		One three(DFR_ACT_STDDEV);
		three.feed({1ull << 32, 0xffffffff});
		CHECK(three.words() ==
		      std::vector<uint64_t>{2, (1ull << 32) + 0xffffffff, 0xfffffffe00000001, 1});
		three.feed({0xffffffff});
		CHECK(three.words() ==
		      std::vector<uint64_t>{3, (1ull << 32) + 2 * 0xffffffffull, 0xfffffffc00000002, 2});
	}
}

TEST_CASE("quantize: powers of two, both signs, 127 buckets", "[engine][store][agg]") {
	One one(DFR_ACT_QUANTIZE);
	std::vector<uint64_t> want(127);
	// {value, bucket}: 63 is 0; 63 + i holds 2^(i-1) to 2^i - 1.
	const std::pair<uint64_t, unsigned> cases[] = {{0, 63},           {1, 64},
	                                               {2, 65},           {3, 65},
	                                               {4, 66},           {1023, 73},
	                                               {1024, 74},        {kMax, 126},
	                                               {1ull << 62, 126}, {minus(1), 62},
	                                               {minus(2), 61},    {minus(3), 61},
	                                               {minus(4), 60},    {minus(1ull << 62), 0},
	                                               {kMin, 0}};
	for (auto [value, bucket] : cases) {
		one.feed({value});
		want[bucket]++;
	}
	CHECK(one.words() == want);
}

TEST_CASE("quantize with a weight", "[engine][store][agg]") {
	One one(DFR_ACT_QUANTIZE, 0, true);
	one.rig.fire(one.read, {5, 10});
	one.rig.fire(one.read, {6, minus(3)});
	std::vector<uint64_t> words = one.words();
	REQUIRE(words.size() == 127);
	CHECK(words[66] == 7);
}

TEST_CASE("lquantize: levels, both ends, 64 bits", "[engine][store][agg]") {
	// base -10, step 5, 4 levels: < -10, [-10,-5), [-5,0), [0,5), [5,10), >= 10
	uint64_t arg = (5ull << 48) | (4ull << 32) | static_cast<uint32_t>(-10);
	One one(DFR_ACT_LQUANTIZE, arg);
	one.feed({minus(11), minus(10), minus(6), minus(5), minus(1), 0, 4, 5, 9, 10, 11});
	one.feed({kMax, kMin, (1ull << 32) + 1, minus((1ull << 32) + 1)}); // nothing is cut to 32 bits
	CHECK(one.words() == std::vector<uint64_t>{arg, 3, 2, 2, 2, 2, 4});
}

TEST_CASE("llquantize: log-linear buckets", "[engine][store][agg]") {
	// factor 10, orders 0 to 1, 10 steps: [1,2) ... [9,10): 9 buckets; [10,20) ... [90,100): 9.
	uint64_t arg = (10ull << 48) | (0ull << 32) | (1ull << 16) | 10;
	One one(DFR_ACT_LLQUANTIZE, arg);
	one.feed({0, minus(5), 1, 2, 9, 10, 19, 20, 99, 100, kMax});
	std::vector<uint64_t> want(1 + 2 + 18);
	want[0] = arg;
	want[1] = 2;  // 0 and -5
	want[2] = 1;  // 1
	want[3] = 1;  // 2
	want[10] = 1; // 9
	want[11] = 2; // 10, 19
	want[12] = 1; // 20
	want[19] = 1; // 99
	want[20] = 2; // 100 and the largest
	CHECK(one.words() == want);
}

TEST_CASE("llquantize with more steps than the first order has values", "[engine][store][agg]") {
	// factor 10, orders 0 to 2, 20 steps. Order 0 ends at 10: n = 10, so 10 - 1 = 9 buckets of 1. Order 1
	// ends at 100: n = 20 of width 5, the lowest 2 belong below: 18. Order 2: 18 of width 50.
	uint64_t arg = (10ull << 48) | (0ull << 32) | (2ull << 16) | 20;
	One one(DFR_ACT_LLQUANTIZE, arg);
	one.feed({1, 9, 10, 14, 15, 99, 100, 149, 150, 999, 1000});
	std::vector<uint64_t> want(1 + 2 + 9 + 18 + 18);
	want[0] = arg;
	want[2] = 1;  // 1
	want[10] = 1; // 9
	want[11] = 2; // 10, 14
	want[12] = 1; // 15
	want[28] = 1; // 99
	want[29] = 2; // 100, 149
	want[30] = 1; // 150
	want[46] = 1; // 999
	want[47] = 1; // 1000
	CHECK(one.words() == want);
}

TEST_CASE("keys of every kind", "[engine][store][agg]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	State state(rig);
	Action stack = act(DFR_ACT_STACK);
	Action ustack = act(DFR_ACT_USTACK);
	stack.arg = 3;
	ustack.arg = 5;
	REQUIRE(state.enable(Program().clause(
	            "rig:::entry",
	            {trace(arg(0, int_type(4, true))), trace(builtin(DIF_VAR_PROBEFUNC, string_type())),
	             aggregate(DFR_ACT_COUNT, 1, 2), trace(text("a longer literal")),
	             act(DFR_ACT_USYM, arg(1)), aggregate(DFR_ACT_COUNT, 2, 2), stack, ustack,
	             act(DFR_ACT_SYM, arg(1)), aggregate(DFR_ACT_COUNT, 3, 3)})) == 0);
	REQUIRE(state.go() == 0);
	const __u64 pcs[] = {0xffffffff81000001, 0xffffffff81000002, 0xffffffff81000003, 0xffffffff81000004};
	const __u64 upcs[] = {0x400001};
	rig.env.ev_stack = pcs;
	rig.env.ev_nstack = 4;
	rig.env.ev_ustack = upcs;
	rig.env.ev_nustack = 1;
	rig.fire(read, {0xfffffffe, 0x55});
	rig.fire(read, {0x1fffffffe, 0x55});
	rig.fire(write, {0xfffffffe, 0x55});
	auto first = state.aggregation(1);
	// int -2 is sign-extended; the probe's id stands for its name.
	CHECK(first[key_of({minus(2), read->pb_id})] == std::vector<uint64_t>{2});
	CHECK(first[key_of({minus(2), write->pb_id})] == std::vector<uint64_t>{1});
	CHECK(state.aggregation(2)[key_of_text("a longer literal") + key_of({100, 0x55})] ==
	      std::vector<uint64_t>{3});
	auto third = state.aggregation(3);
	REQUIRE(third.size() == 1);
	CHECK(third.begin()->first == key_of({3, pcs[0], pcs[1], pcs[2], 100, 1, upcs[0], 0x55}));
	state.read_catalog();
	REQUIRE(state.catalog.aggregations.size() == 3);
	const auto& keys = state.catalog.aggregations[1].keys;
	REQUIRE(keys.size() == 2);
	CHECK(keys[0].kind == DFR_FIELD_INT);
	CHECK(keys[0].flags == DFR_FIELD_SIGNED);
	CHECK(keys[1].kind == DFR_FIELD_PROBETEXT);
	CHECK(keys[1].size == 2);
}

TEST_CASE("text of the probe and strings meet in one aggregation", "[engine][store][agg]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {trace(builtin(DIF_VAR_PROBEFUNC, string_type())),
	                                                     aggregate(DFR_ACT_COUNT, 1, 1)})
	                         .clause("rig::write:entry",
	                                 {trace(text("read")), aggregate(DFR_ACT_COUNT, 1, 1)})) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(read);
	rig.fire(write);
	CHECK(state.aggregation(1)[key_of_text("read")] == std::vector<uint64_t>{2});
}

TEST_CASE("one variable, one function, one shape of key", "[engine][store][agg]") {
	Rig rig;
	rig.probe("read");
	auto refused = [&](const std::vector<Action>& actions) {
		State state(rig);
		int error = state.enable(Program().clause("rig::read:entry", actions));
		CHECK(error == -EINVAL);
		CHECK_FALSE(state.reason.empty());
		return state.reason;
	};
	CHECK(refused({aggregate(DFR_ACT_COUNT, 1, 0), aggregate(DFR_ACT_SUM, 1, 0, arg(0))})
	          .find("functions") != std::string::npos);
	CHECK(refused({trace(arg(0)), aggregate(DFR_ACT_COUNT, 1, 1), aggregate(DFR_ACT_COUNT, 1, 0)})
	          .find("numbers") != std::string::npos);
	CHECK(refused({trace(arg(0)), aggregate(DFR_ACT_COUNT, 1, 1), trace(text("x")),
	               aggregate(DFR_ACT_COUNT, 1, 1)})
	          .find("types") != std::string::npos);
}

TEST_CASE("clear keeps keys, trunc removes them", "[engine][store][agg]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	uint64_t lq = (1ull << 48) | (2ull << 32);
	REQUIRE(state.enable(Program().clause(
	            "rig::read:entry", {trace(arg(0)), aggregate(DFR_ACT_SUM, 1, 1, arg(1)), trace(arg(0)),
	                                aggregate(DFR_ACT_LQUANTIZE, 2, 1, arg(1), lq)})) == 0);
	REQUIRE(state.go() == 0);
	for (uint64_t i = 0; i < 100; i++)
		rig.fire(read, {i % 10, 1});
	CHECK(dfr_state_aggclear(state.state, 9, false) == -EINVAL);
	CHECK(state.aggregation(1).size() == 10); // clear() takes away what was read
	rig.fire(read, {3, 1});                   // and this was not
	REQUIRE(dfr_state_aggclear(state.state, 1, false) == 0);
	auto sums = state.aggregation(1);
	REQUIRE(sums.size() == 10);
	for (auto& [key, words] : sums)
		CHECK(words == std::vector<uint64_t>{key == key_of({3}) ? 1u : 0u});
	CHECK(state.aggregation(2).size() == 10);
	REQUIRE(dfr_state_aggclear(state.state, 2, false) == 0);
	CHECK(state.aggregation(2)[key_of({3})] == std::vector<uint64_t>{lq, 0, 0, 0, 0});
	REQUIRE(dfr_state_aggclear(state.state, 1, true) == 0);
	CHECK(state.aggregation(1).empty());
	CHECK(state.aggregation(2).size() == 10);
	rig.fire(read, {3, 1});
	CHECK(state.aggregation(1)[key_of({3})] == std::vector<uint64_t>{1});
	CHECK(state.aggregation(2)[key_of({3})] == std::vector<uint64_t>{lq, 0, 0, 1, 0});
}

TEST_CASE("a full table counts each update that it loses", "[engine][store][agg]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(arg(0)), aggregate(DFR_ACT_COUNT, 1, 1)})
	                    .option(DFR_OPT_AGGSIZE, 8192));
	auto& [rig, read, state] = running;
	// A half: 4096 bytes, 64 of head, 16 buckets of 4; an entry: 24 + 8 + 8 = 40. 99 fit.
	for (uint64_t i = 0; i < 150; i++)
		rig.fire(read, {i});
	CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 51);
	for (uint64_t i = 0; i < 150; i++)
		rig.fire(read, {i});
	CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 102);
	auto counts = state.aggregation(1);
	CHECK(counts.size() == 99);
	CHECK(counts[key_of({98})] == std::vector<uint64_t>{2});
	// The halves are empty again; the base table has room for what one CPU's halves hold.
	for (uint64_t i = 99; i < 150; i++)
		rig.fire(read, {i});
	CHECK(state.aggregation(1).size() == 150);
	CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 102);
	state.take();
	REQUIRE(state.losses.entries.size() == 1);
	const dfr::trace::Losses by_firings = std::exchange(state.losses, {});
	CHECK(by_firings.entries[0].count == 102);
	CHECK(by_firings.entries[0].probe == read->pb_id);
	// What the base table has no room for is counted as well: 8192 bytes, 32 buckets: 200 entries.
	const uint64_t before = by_firings.entries[0].to;
	for (uint64_t i = 1000; i < 1060; i++)
		rig.fire(read, {i});
	CHECK(state.aggregation(1).size() == 200);
	CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 102 + 10);
	state.take();
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_AGGREGATION);
	CHECK(state.losses.entries[0].count == 10);
	CHECK(state.losses.entries[0].probe == 0); // the table does not know
	CHECK(state.losses.entries[0].from > before);
	CHECK(state.losses.entries[0].to > state.losses.entries[0].from);
}

TEST_CASE("a distribution that the base table has no room for counts its firings", "[engine][store][agg]") {
	const struct {
		uint32_t kind;
		uint64_t parameters;
		uint64_t half, base; // keys that fit into a table of 4096 bytes, and of 8192
	} kinds[] = {
	    // An entry: 24 bytes, a key of 8, and 127 words.
	    {DFR_ACT_QUANTIZE, 0, 3, 7},
	    // 5 words, of which the first has the parameters.
	    {DFR_ACT_LQUANTIZE, uint64_t{1} << 48 | uint64_t{2} << 32, 55, 111},
	};
	for (const auto& [kind, parameters, half, base] : kinds) {
		Running running(
		    Program()
		        .clause("rig::read:entry", {trace(arg(0)), aggregate(kind, 1, 1, arg(1), parameters)})
		        .option(DFR_OPT_AGGSIZE, 8192));
		auto& [rig, read, state] = running;
		for (uint64_t round = 0; round < 3; round++) {
			for (uint64_t i = 0; i < 2 * half; i++)
				rig.fire(read, {round * half + i / 2, 1});
			state.aggregation(1);
		}
		CHECK(state.aggregation(1).size() == base);
		CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 2 * (3 * half - base));
	}
}

// A program of aggregations alone writes no record that would tell of the first loss before there is another.
TEST_CASE("losses of a table that are told together have a span that covers all", "[engine][store][agg]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(arg(0)), aggregate(DFR_ACT_COUNT, 1, 1)})
	                    .option(DFR_OPT_AGGSIZE, 8192));
	auto& [rig, read, state] = running;
	// As above: 99 entries fit into a half, 200 into the base table.
	for (uint64_t i = 0; i < 198; i++) {
		rig.fire(read, {i});
		if (i == 98 || i == 197)
			CHECK(state.aggregation(1).size() == i + 1);
	}
	const uint64_t after_snapshot = dfr_plat_clock(nullptr);
	for (uint64_t i = 0; i < 300; i++)
		rig.fire(read, {1000 + i % 150});
	// By the half, each at its time.
	CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 2 * 51);
	// By the base table: since the last snapshot.
	state.aggregation(1);
	CHECK(state.status().loss[DFR_LOSS_AGGREGATION] == 2 * (51 + 97));
	state.take();
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].count == 2 * (51 + 97));
	CHECK(state.losses.entries[0].from <= after_snapshot);
}

TEST_CASE("a snapshot says how much room it needs", "[engine][store][agg]") {
	One one(DFR_ACT_COUNT);
	one.feed({1});
	u64 bytes = 0;
	CHECK(dfr_state_aggsnap(one.state.state, nullptr, 0, &bytes, false) == -ENOSPC);
	CHECK(bytes > sizeof(dfr_aggtab));
	CHECK(one.words() == std::vector<uint64_t>{1});
}

TEST_CASE("what only a viewer's snapshot has shown is lost to a clear, which tells it",
          "[engine][store][agg]") {
	for (const bool remove : {false, true}) {
		One one(DFR_ACT_COUNT);
		const auto snapshot = [&](bool views) {
			std::vector<uint64_t> room(1 << 16);
			u64 bytes = 0;
			REQUIRE(dfr_state_aggsnap(one.state.state, room.data(), room.size() * 8, &bytes,
			                          views) == 0);
		};
		one.feed({1, 2});
		snapshot(true);
		snapshot(false); // shows these, too
		one.feed({3, 4, 5});
		snapshot(true);
		u64 bytes = 0;
		REQUIRE(dfr_state_aggsnap(one.state.state, nullptr, 0, &bytes, false) ==
		        -ENOSPC); // shows nothing
		one.feed({6});
		REQUIRE(dfr_state_aggclear(one.state.state, 1, remove) == 0);
		CHECK(one.state.status().loss[DFR_LOSS_AGGREGATION] == 3);
		CHECK(one.words() == std::vector<uint64_t>{1});
		REQUIRE(dfr_state_aggclear(one.state.state, 1, remove) == 0);
		CHECK(one.state.status().loss[DFR_LOSS_AGGREGATION] == 3);
	}
}

} // namespace engine_store_agg_test
