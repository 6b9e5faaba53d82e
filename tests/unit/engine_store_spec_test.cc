// SPDX-License-Identifier: GPL-2.0
//
// Speculations: each row of the state table, records with their own times,
// counters, the cleaner's part. CPUs are played by this one thread in turn.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_spec_test {

using namespace store_rig;

namespace {

constexpr uint32_t kId = 0x500; // the global that holds the speculation's number

// open: id = speculation(). say: speculate(id), trace(arg0). commit, discard: of id.
// pick: id = arg0. plain: trace(arg0).
struct Setup {
	Rig rig;
	dfr_probe *open, *say, *commit, *discard, *pick, *plain;
	State state{rig};

	explicit Setup(unsigned cpus = 1, int nspec = 1, const std::function<void(Program&)>& more = {})
	    : rig(cpus), open(rig.probe("open")), say(rig.probe("say")), commit(rig.probe("commit")),
	      discard(rig.probe("discard")), pick(rig.probe("pick")), plain(rig.probe("plain")) {
		Program program;
		program.clause("rig::open:entry", {trace(store_global(kId, speculation()))})
		    .clause("rig::say:entry", {act(DFR_ACT_SPECULATE, load_global(kId)), trace(arg(0))})
		    .clause("rig::commit:entry", {act(DFR_ACT_COMMIT, load_global(kId))})
		    .clause("rig::discard:entry", {act(DFR_ACT_DISCARD, load_global(kId))})
		    .clause("rig::pick:entry", {trace(store_global(kId, arg(0)))})
		    .clause("rig::plain:entry", {trace(arg(0))})
		    .option(DFR_OPT_NSPEC, nspec);
		if (more)
			more(program);
		REQUIRE(state.enable(program) == 0);
		REQUIRE(state.go() == 0);
	}
	~Setup() { dfr_user_cpu = 0; }
	Setup(const Setup&) = delete;
	Setup& operator=(const Setup&) = delete;
	void on(unsigned cpu, dfr_probe* probe, uint64_t value = 0, uint64_t time = 0) {
		dfr_user_cpu = cpu;
		rig.fire(probe, {value}, time);
		dfr_user_cpu = 0;
	}
	std::vector<uint64_t> numbers() {
		std::vector<uint64_t> all;
		for (const Record& record : state.take())
			all.push_back(record.numbers.at(0));
		return all;
	}
	void clean() { dfr_state_clean(state.state); }
	uint64_t loss(int cause) { return state.status().loss[cause]; }
};

using Numbers = std::vector<uint64_t>;

} // namespace

TEST_CASE("a committed speculation keeps its own times, in one group", "[engine][store][spec]") {
	Setup s;
	s.on(0, s.open, 0, 1000);
	s.on(0, s.say, 11, 2000);
	s.on(0, s.plain, 1, 3000);
	s.on(0, s.say, 12, 4000);
	s.on(0, s.commit, 0, 5000);
	s.on(0, s.plain, 2, 6000);
	std::vector<Record> records = s.state.take();
	REQUIRE(records.size() == 4);
	CHECK(records[0].numbers[0] == 1);
	CHECK(records[0].speculation == 0);
	CHECK(records[1].numbers[0] == 11);
	CHECK(records[1].time == 2000);
	CHECK(records[1].speculation == 1);
	CHECK(records[1].commit_time == 5000);
	CHECK(records[2].numbers[0] == 12);
	CHECK(records[2].time == 4000);
	CHECK(records[3].numbers[0] == 2);
	CHECK(records[3].time == 6000);
	CHECK(records[3].execname == "csh");
	CHECK(s.state.blocks.at(0).first_time == 2000);
	CHECK(s.state.blocks.at(0).records == 4);
	CHECK(s.state.status().records == 4);
	CHECK(s.state.damage == 0);
}

TEST_CASE("a discarded speculation costs the ring nothing", "[engine][store][spec]") {
	Setup s;
	s.on(0, s.open);
	s.on(0, s.say, 11);
	s.on(0, s.discard);
	CHECK(s.numbers().empty());
	CHECK(s.state.blocks.empty());
	s.on(0, s.open); // ACTIVEONE on the same CPU: free at once
	s.on(0, s.say, 12);
	s.on(0, s.commit);
	CHECK(s.numbers() == Numbers{12});
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
}

// SEMANTICS.md, section 2 h: who records to the speculation loses there.
TEST_CASE("printm() of more than its size is a loss of the speculation", "[engine][store][spec]") {
	const Action longer = printm(8, "sixteen letters."); // if arg0 says so
	Setup s(1, 1, [&](Program& program) {
		program.clause("rig::say:entry", {act(DFR_ACT_SPECULATE, load_global(kId)), longer});
	});
	s.on(0, s.open);
	s.on(0, s.say, 9);
	CHECK(s.loss(DFR_LOSS_SPEC) == 1);
	CHECK(s.loss(DFR_LOSS_PRINCIPAL) == 0);
	s.on(0, s.commit);
	CHECK(s.numbers() == Numbers{9});
}

// SEMANTICS.md, section 5: what a clause records behind its own discard goes nowhere, so nothing is lost.
TEST_CASE("printm() of more than its size behind a discard is no loss", "[engine][store][spec]") {
	const Action longer = printm(8, "sixteen letters."); // if arg0 says so
	Setup s(1, 1, [&](Program& program) {
		program.clause("rig::say:entry", {act(DFR_ACT_SPECULATE, load_global(kId)),
		                                  act(DFR_ACT_DISCARD, load_global(kId)), longer});
	});
	s.on(0, s.open);
	s.on(0, s.say, 9);
	CHECK(s.loss(DFR_LOSS_SPEC) + s.loss(DFR_LOSS_PRINCIPAL) == 0);
	CHECK(s.numbers().empty());
}

TEST_CASE("speculation() with none free: unavailable, or busy while one is being cleaned",
          "[engine][store][spec]") {
	Setup s(2);
	s.on(0, s.open);
	s.on(0, s.open); // returns 0
	CHECK(s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 1);
	s.on(0, s.say, 1); // speculate(0): dropped in silence
	CHECK(s.numbers().empty());
	CHECK(s.loss(DFR_LOSS_SPEC) == 0);
	s.on(0, s.pick, 1);
	s.on(0, s.say, 5);
	s.on(1, s.commit); // ACTIVEONE on another CPU
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 1);
	s.clean();
	CHECK(s.numbers() == Numbers{5});
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 1);
	CHECK(s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 1);
}

TEST_CASE("numbers out of range are illegal operations, 0 is nothing", "[engine][store][spec]") {
	Setup s;
	s.on(0, s.pick, 2);
	s.on(0, s.say, 1);
	s.on(0, s.commit);
	s.on(0, s.discard);
	CHECK(s.state.status().errors == 3);
	s.on(0, s.pick, 0);
	s.on(0, s.say, 1);
	s.on(0, s.commit);
	s.on(0, s.discard);
	CHECK(s.state.status().errors == 3);
	// 1 is in range and INACTIVE: speculate drops, commit and discard do nothing.
	s.on(0, s.pick, 1);
	s.on(0, s.say, 1);
	s.on(0, s.commit);
	s.on(0, s.discard);
	CHECK(s.state.status().errors == 3);
	CHECK(s.numbers().empty());
}

TEST_CASE("commit and discard of a speculation that nothing was traced to", "[engine][store][spec]") {
	Setup s;
	s.on(0, s.open);
	s.on(0, s.commit); // ACTIVE: at once
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 0);
	s.on(0, s.discard); // ACTIVE -> DISCARDING: by the cleaner
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 1);
	s.clean();
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 1);
}

TEST_CASE("several CPUs: commit takes this CPU's part, the cleaner or who asks for all the others'",
          "[engine][store][spec]") {
	enum class By { Housekeeping, Listing, Taking };
	const By by = GENERATE(By::Housekeeping, By::Listing, By::Taking);
	Setup s(3);
	s.on(0, s.open, 0, 100);
	s.on(0, s.say, 10, 200);
	s.on(1, s.say, 11, 300);
	s.on(2, s.say, 12, 400);
	s.on(1, s.commit, 0, 500);
	const uint64_t before = s.state.status().records;
	s.on(0, s.say, 13, 600); // COMMITTINGMANY: dropped
	dfr_ioc_blocks io{};
	switch (by) {
	case By::Housekeeping: s.clean(); break;
	case By::Listing: dfr_state_blocks(s.state.state, &io, nullptr); break;
	case By::Taking: break;
	}
	CHECK(s.state.status().records == before + (by == By::Taking ? 0 : 2));
	std::vector<Record> records = s.state.take();
	REQUIRE(records.size() == 3);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		CHECK(records[cpu].cpu == cpu);
		CHECK(records[cpu].time == 200 + 100 * cpu);
		CHECK(records[cpu].commit_time == 500);
	}
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 0);
}

TEST_CASE("what was speculated before a ring was full, and committed after it, is lost",
          "[engine][store][spec]") {
	const bool before = GENERATE(true, false);
	Setup s(1, 1, [](Program& program) {
		program.option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_FILL).option(DFR_OPT_BUFSIZE, 4096);
	});
	s.on(0, s.open, 0, 100);
	if (before)
		s.on(0, s.say, 10, 200);
	for (uint64_t time = 1000; time < 3000; time++)
		s.on(0, s.plain, 1, time);
	if (!before) // it was asked to stop then
		s.on(0, s.say, 10, 3000);
	s.on(0, s.commit, 0, 4000);
	CHECK(s.loss(DFR_LOSS_PRINCIPAL) == (before ? 1 : 0));
}

TEST_CASE("several CPUs: the cleaner's part of a commit is there when the owner goes",
          "[engine][store][spec]") {
	Setup s(2);
	s.on(0, s.open, 0, 100);
	s.on(0, s.say, 10, 200);
	s.on(1, s.say, 11, 300);
	s.on(1, s.commit, 0, 400);
	dfr_state_end(s.state.state);
	CHECK(s.numbers() == Numbers{10, 11});
}

TEST_CASE("several CPUs: the cleaner's part of a commit is there when the state is killed",
          "[engine][store][spec]") {
	const bool by_deadman = GENERATE(true, false);
	Setup s(2);
	s.on(0, s.open, 0, 100);
	s.on(0, s.say, 10, 200);
	s.on(1, s.say, 11, 300);
	s.on(1, s.commit, 0, 400);
	if (by_deadman)
		REQUIRE(dfr_becomes_over(s.state.state, DFR_ACTIVE, DFR_KILLED, 500));
	else
		REQUIRE(dfr_state_kill(s.state.state)); // its consumer has not been seen
	// No housekeeping comes between.
	REQUIRE(s.state.stop() == 0);
	CHECK(s.numbers() == Numbers{10, 11});
}

TEST_CASE("several CPUs: discard", "[engine][store][spec]") {
	Setup s(2);
	s.on(0, s.open);
	s.on(0, s.say, 10);
	s.on(1, s.say, 11);
	s.on(1, s.discard);
	s.on(0, s.say, 12); // DISCARDING: dropped
	s.clean();
	CHECK(s.numbers().empty());
	s.on(1, s.open);
	s.on(1, s.say, 13);
	s.on(1, s.commit);
	CHECK(s.numbers() == Numbers{13});
}

TEST_CASE("a full speculation counts what it loses", "[engine][store][spec]") {
	Setup s(1, 1, [](Program& program) { program.option(DFR_OPT_SPECSIZE, 512); });
	s.on(0, s.open, 0, 100);
	// Chunks of 256 bytes, two of them: 72 of head, context 28, records of 6, reserved at 33: 184 bytes hold
	// k with 28 + 6 (k - 1) + 33 <= 184: 21.
	for (uint64_t i = 0; i < 50; i++)
		s.on(0, s.say, i, 1000 + i);
	CHECK(s.loss(DFR_LOSS_SPEC) == 8);
	s.on(0, s.commit, 0, 5000);
	std::vector<Record> records = s.state.take();
	REQUIRE(records.size() == 42);
	for (size_t i = 0; i < 42; i++)
		REQUIRE(records[i].time == 1000 + i);
	REQUIRE(s.state.losses.entries.size() == 1);
	CHECK(s.state.losses.entries[0].cause == DFR_LOSS_SPEC);
	CHECK(s.state.losses.entries[0].count == 8);
}

TEST_CASE("a commit that the ring has no room for loses exactly its records", "[engine][store][spec]") {
	Setup s(1, 1, [](Program& program) {
		program.option(DFR_OPT_BUFSIZE, 4096).option(DFR_OPT_BLOCKSIZE, 512);
	});
	s.on(0, s.open);
	for (uint64_t i = 0; i < 30; i++)
		s.on(0, s.say, i);
	for (uint64_t i = 0; i < 1000; i++)
		s.on(0, s.plain, i % 100);
	uint64_t before = s.loss(DFR_LOSS_PRINCIPAL);
	uint64_t recorded = s.state.status().records;
	s.on(0, s.commit);
	CHECK(s.loss(DFR_LOSS_PRINCIPAL) == before + 30);
	CHECK(s.numbers().size() == recorded);
}

TEST_CASE("what fires while the cleaner writes on a CPU is nested, and counted", "[engine][store][spec]") {
	static Setup* setup;
	static uint64_t woken;
	const uint32_t level = GENERATE(DFR_LEVEL_TASK, DFR_LEVEL_NMI);
	Setup s(2, 1, [](Program& program) {
		program.option(DFR_OPT_BUFSIZE, 4096).option(DFR_OPT_BLOCKSIZE, 512);
	});
	setup = &s;
	woken = 0;
	s.rig.env.ev_level = DFR_LEVEL_TASK;
	s.on(0, s.open);
	for (uint64_t i = 0; i < 20; i++)
		s.on(0, s.say, i);
	for (uint64_t i = 0; i < 50; i++)
		s.on(0, s.plain, i);
	s.on(1, s.commit);
	s.rig.env.ev_level = level;
	// The group does not fit into the open block: that is closed, and waking its consumer runs traced code.
	dfr_user_wake = [](dfr_state*) {
		woken++;
		CHECK(dfr_user_cpu == 0);
		setup->rig.fire(setup->plain, {99});
	};
	s.clean();
	dfr_user_wake = nullptr;
	CHECK(woken == 1);
	CHECK(s.state.status().shadow == (level == DFR_LEVEL_TASK));
	CHECK(s.loss(DFR_LOSS_NMI) == (level == DFR_LEVEL_NMI));
	CHECK(s.loss(DFR_LOSS_PRINCIPAL) == 0);
	const Numbers numbers = s.numbers();
	CHECK(numbers.size() == 70);
	CHECK(std::count(numbers.begin(), numbers.end(), 99) == 0);
	CHECK(s.state.damage == 0);
}

TEST_CASE("a long commit is spread over blocks", "[engine][store][spec]") {
	Setup s(1, 1, [](Program& program) {
		program.option(DFR_OPT_SPECSIZE, 1 << 20)
		    .option(DFR_OPT_BUFSIZE, 1 << 20)
		    .option(DFR_OPT_BLOCKSIZE, 4096);
	});
	s.on(0, s.open, 0, 100);
	// 20,000 records in chunks of 22: more than one firing copies.
	for (uint64_t i = 0; i < 20000; i++)
		s.on(0, s.say, i % 100, 1000 + i);
	CHECK(s.loss(DFR_LOSS_SPEC) == 0);
	s.on(0, s.commit, 0, 50000);
	s.clean();
	s.on(0, s.plain, 7, 60000);
	std::vector<Record> records = s.state.take();
	REQUIRE(records.size() == 20001);
	for (size_t i = 0; i < 20000; i++) {
		REQUIRE(records[i].time == 1000 + i);
		REQUIRE(records[i].commit_time == 50000);
	}
	CHECK(records[20000].time == 60000);
	CHECK(s.state.damage == 0);
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) == 0);
}

TEST_CASE("five hundred open at once", "[engine][store][spec]") {
	Setup s(2, 1024);
	for (uint64_t i = 0; i < 500; i++) {
		s.on(i % 2, s.open);
		s.on(i % 2, s.say, i);
	}
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) + s.loss(DFR_LOSS_SPEC) == 0);
	// CPU n hands out numbers from 7 n on: odd and even ones interleave. Commit every one from CPU 0.
	for (uint64_t id = 1; id <= 1024; id++) {
		s.on(0, s.pick, id);
		s.on(0, s.commit);
	}
	s.clean();
	Numbers all = s.numbers();
	std::sort(all.begin(), all.end());
	REQUIRE(all.size() == 500);
	for (uint64_t i = 0; i < 500; i++)
		CHECK(all[i] == i);
}

TEST_CASE("the cleaner's visit has a bound for all speculations together", "[engine][store][spec]") {
	constexpr uint64_t kOpen = 40, kRecords = 400;
	static unsigned visits;
	const bool commits = GENERATE(true, false);
	Setup s(2, kOpen, [](Program& program) { program.option(DFR_OPT_BUFSIZE, 4 << 20); });
	for (uint64_t i = 0; i < kOpen; i++) {
		s.on(1, s.open);
		for (uint64_t n = 0; n < kRecords; n++)
			s.on(1, s.say, n);
	}
	REQUIRE(s.loss(DFR_LOSS_SPEC) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
	for (uint64_t id = 1; id <= kOpen; id++) {
		s.on(0, s.pick, id);
		s.on(0, commits ? s.commit : s.discard);
	}
	visits = 0;
	dfr_user_visit = [](unsigned cpu) { visits += cpu == 1; };
	s.clean();
	dfr_user_visit = nullptr;
	// 40 times 400 records of 13 bytes or more, 64 KiB in a visit; what is dropped are chunks of 256 bytes, 1,024 in a visit.
	CHECK(visits >= (commits ? kOpen * kRecords * 13 >> 16 : 1));
	CHECK(s.numbers().size() == (commits ? kOpen * kRecords : 0));
	s.on(1, s.open);
	s.on(1, s.say, 7);
	s.on(1, s.commit);
	CHECK(s.numbers() == Numbers{7});
}

TEST_CASE("the later parts of a clause that speculates fit where its first part does",
          "[engine][store][spec]") {
	const std::string wide(250, 'w');
	Setup s(1, 1, [&](Program& program) {
		program
		    .clause("rig::plain:entry", {}, {act(DFR_ACT_SPECULATE, load_global(kId))},
		            DFR_ECBUARG(100, 0))
		    .clause("rig::plain:entry", arg(0), {trace(text(wide))},
		            DFR_ECBUARG(100, DFR_ECBUARG_CONTINUATION));
	});
	s.on(0, s.open);
	s.on(0, s.plain, 1);
	s.on(0, s.commit);
	CHECK(s.loss(DFR_LOSS_SPEC) == 0);
	std::vector<Record> records = s.state.take();
	REQUIRE(!records.empty());
	CHECK(records.back().texts.at(0) == wide);
	CHECK(records.back().speculation == 1);
}

namespace {

// again: each firing of "again" opens a speculation, records to it as `actions` says, and shows on
// "plain" what the number was. nspec and the pool are small: what is kept by mistake is missed soon.
struct InClause : Setup {
	explicit InClause(std::vector<Action> actions)
	    : Setup(1, 1, [&](Program& program) {
		      std::vector<Action> all = {act(DFR_ACT_DIFEXPR, store_global(kId, speculation())),
		                                 act(DFR_ACT_SPECULATE, load_global(kId)), trace(arg(0))};
		      all.insert(all.end(), actions.begin(), actions.end());
		      program.clause("rig::plain:entry", all).option(DFR_OPT_SPECPOOL, 4096);
	      }) {}
	// Of "plain": its own record, and what became of the speculation.
	Numbers fire(uint64_t value) {
		on(0, plain, value);
		return numbers();
	}
};

} // namespace

TEST_CASE("discard in the clause that speculates: nothing of the clause is recorded, the rest of it runs",
          "[engine][store][spec]") {
	const uint32_t after = kId + 1;
	InClause s({act(DFR_ACT_DISCARD, load_global(kId)), trace(arg(0)),
	            act(DFR_ACT_DIFEXPR, store_global(after, arg(0))), trace(arg(0))});
	for (uint64_t i = 1; i < 200; i++) {
		CHECK(s.fire(i) == Numbers{i});
		s.on(0, s.commit); // of a number that is free: nothing
	}
	CHECK(s.numbers().empty());
	CHECK(s.state.status().errors == 0);
	CHECK(s.loss(DFR_LOSS_SPEC) + s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
	s.on(0, s.open);
	s.on(0, s.say, 12);
	s.on(0, s.commit);
	CHECK(s.numbers().back() == 12);
}

TEST_CASE("discard in a clause takes what others have recorded as well", "[engine][store][spec]") {
	Setup s(1, 1, [](Program& program) {
		program.clause("rig::plain:entry", {act(DFR_ACT_SPECULATE, load_global(kId)), trace(arg(0)),
		                                    act(DFR_ACT_DISCARD, load_global(kId))});
	});
	s.on(0, s.open);
	for (uint64_t i = 0; i < 500; i++)
		s.on(0, s.say, i);
	s.numbers();
	s.on(0, s.plain, 1);
	s.on(0, s.commit);
	CHECK(s.numbers() == Numbers{1});
	s.on(0, s.open);
	CHECK(s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
}

TEST_CASE("in a clause that speculates: commit, then discard, and both again", "[engine][store][spec]") {
	const Action commit = act(DFR_ACT_COMMIT, load_global(kId)),
	             discard = act(DFR_ACT_DISCARD, load_global(kId));
	SECTION("commit, discard") {
		InClause s({commit, discard, discard});
		for (uint64_t i = 0; i < 100; i++)
			CHECK(s.fire(i) == Numbers{i, i});
	}
	SECTION("discard, commit") {
		InClause s({discard, commit, discard});
		for (uint64_t i = 0; i < 100; i++)
			CHECK(s.fire(i) == Numbers{i});
	}
	SECTION("discard, the number again, discard") {
		const Action again = act(DFR_ACT_DIFEXPR, store_global(kId, speculation()));
		InClause s({discard, again, discard, trace(arg(0))});
		for (uint64_t i = 0; i < 100; i++) {
			CHECK(s.fire(i) == Numbers{i});
			s.clean(); // nothing was traced to the second
		}
		CHECK(s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
	}
	SECTION("a discard of another's number") {
		InClause s({act(DFR_ACT_DISCARD, constant(0)), commit});
		CHECK(s.fire(1) == Numbers{1, 1});
	}
}

TEST_CASE("discard or commit in a part of an `if`: later parts record to nowhere, and run",
          "[engine][store][spec]") {
	const uint32_t kind = GENERATE(DFR_ACT_DISCARD, DFR_ACT_COMMIT);
	const bool records = GENERATE(false, true); // the part that ends the speculation
	const uint32_t after = kId + 1;
	std::vector<Action> end = {act(kind, load_global(kId))};
	if (records)
		end.insert(end.begin(), trace(arg(0)));
	const uint64_t more = DFR_ECBUARG(100, DFR_ECBUARG_CONTINUATION);
	Setup s(1, 1, [&](Program& program) {
		program
		    .clause("rig::plain:entry", {},
		            {act(DFR_ACT_DIFEXPR, store_global(kId, speculation())),
		             act(DFR_ACT_SPECULATE, load_global(kId)), trace(constant(70))},
		            DFR_ECBUARG(100, 0))
		    .clause("rig::plain:entry", {}, end, more)
		    .clause("rig::plain:entry", {}, {trace(constant(90))}, more)
		    // The number is open again, for somebody else.
		    .clause("rig::plain:entry", {}, {act(DFR_ACT_DIFEXPR, store_global(kId, speculation()))},
		            more)
		    .clause("rig::plain:entry", {}, {trace(store_global(after, arg(0))), trace(constant(91))},
		            more)
		    .clause("rig::plain:entry", {trace(load_global(after))})
		    .clause("rig::plain:entry", {act(DFR_ACT_COMMIT, load_global(kId))});
	});
	for (uint64_t i = 1; i < 100; i++) {
		s.on(0, s.plain, i);
		Numbers expected = {i};
		if (kind == DFR_ACT_COMMIT)
			expected.push_back(70);
		if (kind == DFR_ACT_COMMIT && records)
			expected.push_back(i);
		expected.push_back(i);
		CHECK(s.numbers() == expected);
	}
	CHECK(s.loss(DFR_LOSS_SPEC) + s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
}

TEST_CASE("a fault behind a discard: ERROR finds everything in its place", "[engine][store][spec]") {
	const uint32_t kind = GENERATE(DFR_ACT_DISCARD, DFR_ACT_COMMIT);
	const bool before = GENERATE(false, true);
	Setup s(1, 1, [&](Program& program) {
		std::vector<Action> actions = {act(DFR_ACT_DIFEXPR, store_global(kId, speculation())),
		                               act(DFR_ACT_SPECULATE, load_global(kId)), trace(arg(0))};
		if (before)
			actions.push_back(act(DFR_ACT_DISCARD, load_global(kId)));
		actions.push_back(trace(bad_load()));
		program.clause("rig::plain:entry", actions)
		    .clause("dtrace:::ERROR", {act(DFR_ACT_SPECULATE, load_global(kId)), trace(constant(80)),
		                               act(kind, load_global(kId))})
		    .clause("dtrace:::ERROR", {trace(constant(81))});
	});
	for (uint64_t i = 1; i < 100; i++) {
		s.on(0, s.plain, i);
		Numbers expected = {i};
		if (!before && kind == DFR_ACT_COMMIT)
			expected.push_back(80);
		expected.push_back(81);
		CHECK(s.numbers() == expected);
	}
	CHECK(s.state.status().errors == 99);
	CHECK(s.loss(DFR_LOSS_SPEC) + s.loss(DFR_LOSS_SPEC_BUSY) + s.loss(DFR_LOSS_SPEC_UNAVAILABLE) == 0);
}

} // namespace engine_store_spec_test
