// SPDX-License-Identifier: GPL-2.0
//
// Triggers: snapshot() actions and oopses, as a state counts them and wakes for them
// (kmod/engine/recording/trigger.c; LANGUAGE.md section 11).
#include <catch2/catch.hpp>

#include <algorithm>
#include <csetjmp>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_trigger_test {

using namespace store_rig;

namespace {

Action snapshot(const std::string& reason) {
	Action action = act(DFR_ACT_SNAPSHOT);
	action.format = reason;
	return action;
}

struct Asked {
	int error = 0;
	dfr_ioc_triggers io{};
	std::vector<dfr_ioc_trigger> entries;
	u64 seen = 0;
};

Asked ask(State& state, uint32_t room = DFR_REASONS_MAX + 1) {
	Asked result;
	result.entries.resize(room);
	result.io.count = room;
	result.error = dfr_state_triggers(state.state, &result.io, result.entries.data(), &result.seen);
	result.entries.resize(result.error ? 0 : result.io.count);
	return result;
}

thread_local int wakes;

// Counts wake-ups while it lives.
struct Waker {
	Waker() {
		wakes = 0;
		dfr_user_wake = [](dfr_state*) { wakes++; };
	}
	~Waker() { dfr_user_wake = nullptr; }
	Waker(const Waker&) = delete;
	Waker& operator=(const Waker&) = delete;
};

} // namespace

TEST_CASE("snapshot() counts by reason, with the times of first and last", "[engine][store][trigger]") {
	Running run(
	    Program()
	        .clause("rig::read:entry", arg0_is(1), {snapshot("slow")})
	        .clause("rig::read:entry", arg0_is(2), {trace(arg(1)), snapshot("odd"), snapshot("slow")}));
	run.rig.fire(run.read, {1}, 1000);
	run.rig.fire(run.read, {1}, 2000);
	run.rig.fire(run.read, {2, 77}, 3000);
	Asked asked = ask(run.state);
	REQUIRE(asked.entries.size() == 3);
	CHECK(std::string(asked.entries[0].reason) == "slow");
	CHECK(asked.entries[0].count == 3);
	CHECK(asked.entries[0].first == 1000);
	CHECK(asked.entries[0].last == 3000);
	CHECK(std::string(asked.entries[1].reason) == "odd");
	CHECK(asked.entries[1].count == 1);
	CHECK(std::string(asked.entries[2].reason) == "oops");
	CHECK(asked.entries[2].flags == DFR_TRIGGER_OOPS);
	CHECK(asked.entries[2].count == 0);
	CHECK(asked.entries[2].last == 0);
	CHECK(asked.seen == 4);
	CHECK(asked.io.asked == 0);
	// Each firing has left one record, and only trace() a field.
	run.state.stop();
	const std::vector<Record> records = run.state.take();
	REQUIRE(records.size() == 3);
	CHECK(records[0].numbers.empty());
	CHECK(records[2].numbers == std::vector<uint64_t>{77});
}

TEST_CASE("first is the first since somebody asked", "[engine][store][trigger]") {
	Running run(Program().clause("rig::read:entry", {snapshot("slow")}));
	run.rig.fire(run.read);
	const Asked before = ask(run.state);
	const Asked quiet = ask(run.state);
	CHECK(quiet.entries[0].count == 1);
	CHECK(quiet.entries[0].first == 0);
	CHECK(quiet.entries[0].last == before.entries[0].last);
	CHECK(quiet.io.asked == before.io.time);
	run.rig.fire(run.read);
	run.rig.fire(run.read);
	const Asked after = ask(run.state);
	CHECK(after.entries[0].count == 3);
	CHECK(after.entries[0].first > quiet.io.time);
	CHECK(after.entries[0].first < after.entries[0].last);
}

TEST_CASE("a trigger wakes once for each demand, however many there are", "[engine][store][trigger]") {
	Waker waker;
	Running run(Program().clause("rig::read:entry", {snapshot("storm")}));
	for (int i = 0; i < 1000; i++)
		run.rig.fire(run.read);
	CHECK(wakes == 0);
	CHECK(dfr_state_triggered(run.state.state) == 1000);
	dfr_state_await_trigger(run.state.state);
	for (int i = 0; i < 1000; i++)
		run.rig.fire(run.read);
	CHECK(wakes == 1);
	dfr_state_await_trigger(run.state.state);
	run.rig.fire(run.read);
	CHECK(wakes == 2);
	const Asked asked = ask(run.state);
	CHECK(asked.seen == 2001);
	CHECK(dfr_state_triggered(run.state.state) == 2001);
}

TEST_CASE("snapshot() takes effect where its record finds no room", "[engine][store][trigger]") {
	Running run(
	    Program()
	        .clause("rig::read:entry", {trace(text("a record that fills the ring")), snapshot("full")})
	        .option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_FILL)
	        .option(DFR_OPT_BUFSIZE, 4096));
	for (int i = 0; i < 2000; i++)
		run.rig.fire(run.read);
	CHECK(ask(run.state).entries[0].count == 2000);
	run.state.stop();
	CHECK(run.state.take().size() < 2000);
}

TEST_CASE("an oops is a trigger of each state that records, and none of a confined one",
          "[engine][store][trigger]") {
	Rig rig;
	rig.probe("read");
	dfr_engine_oops(rig.engine(), 500);
	State first(rig), later(rig);
	REQUIRE(first.enable(Program().clause("rig::read:entry", {trace(arg(0))})) == 0);
	REQUIRE(first.go() == 0);
	CHECK(ask(first).entries.at(0).count == 0); // it was before go
	dfr_engine_oops(rig.engine(), 1000);
	CHECK(dfr_state_triggered(first.state) == 1);
	REQUIRE(later.enable(Program().clause("rig::read:entry", {trace(arg(0))})) == 0);
	later.status();
	REQUIRE(later.go() == 0);
	dfr_engine_oops(rig.engine(), 2000);
	const Asked both = ask(first), one = ask(later);
	CHECK(both.entries.at(0).count == 2);
	CHECK(both.entries.at(0).first == 1000);
	CHECK(both.entries.at(0).last == 2000);
	CHECK(one.entries.at(0).count == 1);
	CHECK(one.entries.at(0).first == 2000);
	// A recording tells of it by a mark, as soon as somebody asks, and once.
	later.status();
	dfr_state_clean(later.state);
	later.read_catalog();
	std::vector<std::pair<std::string, uint64_t>> marks;
	for (const auto& event : later.catalog.events)
		if (event.event == DFR_EVENT_MARK)
			marks.emplace_back(event.text, event.time);
	CHECK(marks == std::vector<std::pair<std::string, uint64_t>>{{"oops of the kernel", 2000}});
	// A user without privilege hears of his own triggers alone.
	State own(rig);
	REQUIRE(dfr_state_confine(own.state, 1000, 100, 32 << 20) == 0);
	const dfr_load_limits confined{.ll_confined = true};
	const std::vector<uint8_t> dof = Program().clause("dtrace:::BEGIN", {snapshot("mine")}).bytes();
	REQUIRE(dfr_state_enable(own.state, dof.data(), dof.size(), &confined, 0, nullptr, nullptr) == 0);
	rig.env.ev_uid = 1000;
	rig.env.ev_gid = 100;
	REQUIRE(own.go() == 0);
	dfr_engine_oops(rig.engine(), 2500);
	const Asked his = ask(own);
	REQUIRE(his.entries.size() == 1);
	CHECK(std::string(his.entries[0].reason) == "mine");
	CHECK(dfr_state_triggered(own.state) == his.entries[0].count);
	ask(first);
	// More than there are times kept of: an earlier one is not made up, and all are counted.
	for (uint64_t i = 0; i < 100; i++)
		dfr_engine_oops(rig.engine(), 3000 + i);
	const Asked many = ask(first);
	CHECK(many.entries.at(0).count == 103);
	CHECK(many.entries.at(0).last == 3099);
}

namespace {

std::vector<std::pair<int32_t, uint64_t>> kills(State& state) {
	state.read_catalog();
	std::vector<std::pair<int32_t, uint64_t>> killed;
	for (const auto& event : state.catalog.events)
		if (event.event == DFR_EVENT_KILLED)
			killed.emplace_back(event.value, event.time);
	return killed;
}

bool has_event(State& state, uint32_t event) {
	state.read_catalog();
	const auto& events = state.catalog.events;
	return std::any_of(events.begin(), events.end(),
	                   [event](const auto& mark) { return mark.event == event; });
}

} // namespace

TEST_CASE("an oops in a firing ends all states, and none starts any more", "[engine][store][trigger]") {
	const unsigned before = GENERATE(0u, 2u); // records
	const bool hit_again = GENERATE(false, true);
	static Rig* dying;
	static std::jmp_buf survived;
	static uint64_t oopsed;
	static const dfr_cpu* cpu;
	Rig rig;
	dying = &rig;
	dfr_probe* read = rig.probe("read", "entry", 4);
	// The kernel oopses where an argument is asked for that was not passed, prints for a second, and the task is gone.
	rig.ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
		dfr_hold hold{};
		oopsed = dfr_plat_clock(nullptr);
		dfr_cpu_hold(dying->engine(), 0, &hold);
		REQUIRE(hold.he_fires);
		dfr_engine_oops(dying->engine(), oopsed + 1'000'000'000);
		dfr_cpu_abandon(dying->engine());
		dfr_cpu_unhold(dying->engine(), &hold);
		std::longjmp(survived, 1);
	};
	State listed(rig), taken(rig), asked(rig), kept(rig), exited(rig), stopped(rig), later(rig);
	const Program program = Program().clause("rig::read:entry", {trace(arg(0)), trace(arg(1))});
	const auto all = {&listed, &taken, &asked, &kept, &exited, &stopped};
	for (State* state : all)
		REQUIRE(state->enable(program) == 0);
	REQUIRE(later.enable(program) == 0);
	REQUIRE(exited.enable(Program().clause("rig::read:entry", arg0_is(9), {exit_with(3)})) == 0);
	const uint64_t gone = dfr_plat_clock(nullptr);
	for (State* state : all)
		REQUIRE(state->go() == 0);
	if (before) {
		rig.fire(read, {1, 2});
		rig.fire(read, {9, 2});
	}
	cpu = dfr_cpu_of(rig.engine(), 0);
	const uint64_t recorded = before ? cpu->pc_last : gone;
	const unsigned long held = dfr_user_lock_cpu(rig.engine(), 0); // as the kernel has its interrupts off
	const u64 three = 3;
	if (!setjmp(survived)) // without rig.fire(), whose vectors nobody would free
		dfr_fire_env(read, &three, 1, nullptr, &rig.env);
	CHECK(cpu->pc_busy);
	dfr_user_unlock_cpu(held);
	CHECK_FALSE(dfr_cpu_still(rig.engine(), 0, cpu->pc_stamp)); // no variable waits for it
	CHECK(dfr_state_activity(kept.state) == DFR_ACTIVE);
	// A hit there ends the states, too: who has their locks may be dead.
	if (hit_again) {
		rig.fire(read, {2, 2});
		CHECK(dfr_state_activity(kept.state) == DFR_KILLED);
	}
	// Who asks before housekeeping has looked is told with the answer.
	dfr_ioc_blocks io{.cpu = 0, .count = 8};
	std::vector<dfr_ioc_seen> seen(io.count);
	dfr_state_blocks(listed.state, &io, seen.data());
	CHECK(kills(listed).size() == 1);
	// A block that was opened for the record which was not written is none.
	CHECK(io.count == (before ? 1 : 0));
	CHECK(io.newest == io.count);
	CHECK(taken.take().size() == before);
	CHECK(kills(taken).size() == 1);
	CHECK(asked.status().activity == DFR_KILLED);
	CHECK(kills(asked).size() == 1);
	// Housekeeping disarms those, ends two, and a consumer the last; END fires in none.
	for (State* state : {&listed, &taken, &asked, &kept, &exited}) {
		CHECK(dfr_state_keep(state->state));
		dfr_state_settle(state->state);
		CHECK_FALSE(dfr_state_keep(state->state));
	}
	CHECK(stopped.stop() == 0);
	for (State* state : all) {
		CHECK(state->status().activity == DFR_KILLED);
		CHECK(state->status().records ==
		      before + (state == &exited && before ? 1 : 0)); // that of exit()
		CHECK(state->stop() == 0);
		const auto killed = kills(*state);
		REQUIRE(killed.size() == 1);
		CHECK(killed[0].first == DFR_KILLED_OOPS);
		// Not when the kernel told of it, but no later than the dead firing.
		CHECK(killed[0].second >= recorded);
		CHECK(killed[0].second <= oopsed);
	}
	CHECK(read->pb_ecbs == nullptr);
	CHECK(later.go() == -EIO);
	// The guard is not given back by the visits that ended them.
	CHECK(cpu->pc_busy);
	// What was committed is whole, and the verdict says that it is not all.
	CHECK(listed.take().size() == before);
}

TEST_CASE("an oops in a firing at each moment of a go and of a stop", "[engine][store][trigger]") {
	const bool stopping = GENERATE(false, true);
	const int moment = GENERATE(range(0, 8)); // visits of the CPU before it
	static dfr_engine* engine;
	static int left;
	Rig rig;
	engine = rig.engine();
	State state(rig);
	const Program program = Program()
	                            .clause("dtrace:::BEGIN", {trace(constant(1))})
	                            .clause("dtrace:::END", {trace(constant(2))})
	                            .clause("rig::read:entry", {trace(arg(0))});
	dfr_probe* read = rig.probe("read");
	REQUIRE(state.enable(program) == 0);
	const uint64_t gone = dfr_plat_clock(nullptr);
	if (stopping)
		REQUIRE(state.go() == 0);
	left = moment;
	dfr_user_visit = [](unsigned cpu) {
		if (left-- != 0)
			return;
		dfr_cpu_enter(dfr_cpu_of(engine, cpu)); // by a firing of another state
		dfr_cpu_abandon(engine);
	};
	if (stopping)
		rig.fire(read, {3});
	CHECK((stopping ? state.stop() : state.go()) == 0);
	dfr_user_visit = nullptr;
	const bool killed = state.status().activity == DFR_KILLED;
	CHECK(kills(state).size() == killed);
	for (const auto& [why, time] : kills(state))
		CHECK(time >= gone); // also where the CPU had no firing yet
	CHECK(has_event(state, DFR_EVENT_STOP) == (stopping && !killed));
	// It happened, and before END was over; or after it.
	const bool died = left < 0;
	CHECK(dfr_cpu_of(rig.engine(), 0)->pc_busy == died);
	if (moment == 0)
		CHECK(killed);
	if (!stopping)
		CHECK(killed == died);
	size_t ends = 0;
	for (const Record& record : state.take())
		ends += record.numbers.at(0) == 2;
	CHECK(ends == (stopping && !killed ? 1 : 0));
}

TEST_CASE("who asks with too little room loses nothing", "[engine][store][trigger]") {
	Running run(Program().clause("rig::read:entry", {snapshot("slow")}));
	run.rig.fire(run.read);
	const Asked refused = ask(run.state, 1);
	CHECK(refused.error == -ENOSPC);
	CHECK(refused.io.count == 2);
	const Asked asked = ask(run.state, 2);
	CHECK(asked.error == 0);
	CHECK(asked.entries[0].first != 0);
	CHECK(asked.io.asked == 0);
}

TEST_CASE("a state has at most 32 reasons, of all its programs together", "[engine][store][trigger]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	Program full, one_more;
	for (int i = 0; i < DFR_REASONS_MAX; i++)
		full.clause("rig::read:entry", {snapshot("reason " + std::to_string(i))});
	REQUIRE(state.enable(full) == 0);
	one_more.clause("rig::read:entry", {snapshot("reason 3"), snapshot("another")});
	CHECK(state.enable(one_more) == -EINVAL);
	CHECK(state.reason == "the state's programs have more than 32 different reasons for snapshot");
	REQUIRE(state.enable(Program().clause("rig::read:entry", {snapshot("reason 3")})) == 0);
	REQUIRE(state.go() == 0);
	CHECK(ask(state).entries.size() == DFR_REASONS_MAX + 1);
	full.clause("rig::read:entry", {snapshot("another")});
	State other(rig);
	CHECK(other.enable(full) == -EINVAL);
	CHECK(other.reason == "more than 32 different reasons for snapshot");
}

TEST_CASE("a reason is 1 to 63 bytes of printable text", "[engine][store][trigger]") {
	Rig rig;
	rig.probe("read");
	const auto enable = [&rig](const Action& action) {
		State state(rig);
		state.enable(Program().clause("rig::read:entry", {action}));
		return state.reason;
	};
	CHECK(enable(snapshot(std::string(63, 'x'))).empty());
	CHECK(enable(snapshot("langsame Plätze")).empty());
	const std::string why = "snapshot's reason is longer than 63 bytes, or not printable";
	CHECK(enable(snapshot(std::string(64, 'x'))) == why);
	CHECK(enable(snapshot("two\nlines")) == why);
	CHECK(enable(snapshot("\x7f")) == why);
	CHECK(enable(snapshot("")) == "format is empty");
	CHECK(enable(act(DFR_ACT_SNAPSHOT)) == "snapshot lacks its reason");
	Action with_value = act(DFR_ACT_SNAPSHOT, constant(1));
	with_value.format = "slow";
	CHECK(enable(with_value) == "action takes no expression");
}

} // namespace engine_store_trigger_test
