// SPDX-License-Identifier: GPL-2.0
//
// The registry: globs, which probes a description means, arming in batches,
// probes that come and go, several states on one probe. More than 800 lines,
// because matching, arming and going are tried on the same probes together.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_probe_test {

using namespace store_rig;

namespace {

std::vector<std::string> matches(Rig& rig, const char* provider, const char* module, const char* function,
                                 const char* name) {
	std::vector<std::string> found;
	const char* pattern[4] = {provider, module, function, name};
	dfr_probes_match(
	    rig.engine(), pattern, 0, false,
	    [](const dfr_probe* probe, void* arg) {
		    static_cast<std::vector<std::string>*>(arg)->push_back(std::string(probe->pb_function) +
		                                                           ":" + probe->pb_name);
		    return true;
	    },
	    &found);
	return found;
}

// Running, and `inside` is called while outer's argument 3 (42) is fetched: inside a firing.
struct Nested {
	explicit Nested(std::function<void()> what) {
		inside = std::move(what);
		rig.ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
			inside();
			return 42;
		};
		REQUIRE(state.enable(Program()
		                         .clause("rig::outer:entry", {trace(arg(3))})
		                         .clause("rig::inner:entry", {trace(constant(1))})) == 0);
		REQUIRE(state.go() == 0);
	}
	void hit_inner(uint32_t level) {
		dfr_env env = rig.env;
		env.ev_level = level;
		dfr_fire_env(inner, nullptr, 0, nullptr, &env);
	}

	Rig rig;
	dfr_probe* outer = rig.probe("outer", "entry", 4);
	dfr_probe* inner = rig.probe("inner");
	State state{rig};
	static inline std::function<void()> inside;
};

} // namespace

TEST_CASE("globs", "[engine][store][probe]") {
	CHECK(dfr_glob("", "anything"));
	CHECK(dfr_glob("*", ""));
	CHECK(dfr_glob("read", "read"));
	CHECK_FALSE(dfr_glob("read", "reads"));
	CHECK_FALSE(dfr_glob("reads", "read"));
	CHECK(dfr_glob("*read", "vfs_read"));
	CHECK(dfr_glob("vfs_*", "vfs_"));
	CHECK(dfr_glob("*a*a*", "banana"));
	CHECK_FALSE(dfr_glob("*a*a*a*a*", "banana"));
	CHECK(dfr_glob("r?ad", "read"));
	CHECK_FALSE(dfr_glob("r?ad", "rad"));
	CHECK(dfr_glob("[a-c]x", "bx"));
	CHECK_FALSE(dfr_glob("[a-c]x", "dx"));
	CHECK(dfr_glob("[!a-c]x", "dx"));
	CHECK_FALSE(dfr_glob("[!a-c]x", "ax"));
	CHECK(dfr_glob("[]x]", "]"));
	CHECK(dfr_glob("[a-]", "-"));
	CHECK(dfr_glob("a\\*b", "a*b"));
	CHECK_FALSE(dfr_glob("a\\*b", "axb"));
	CHECK(dfr_glob("[a", "[a")); // no bracket closes: an ordinary character
	CHECK_FALSE(dfr_glob("[a-", "a"));
	CHECK(dfr_glob("*[0-9]", "cpu7"));
	CHECK(dfr_glob("a***b", "ab"));
	CHECK(dfr_glob("[\\]]", "]"));
}

TEST_CASE("descriptions match by exact text, by glob, and by nothing", "[engine][store][probe]") {
	Rig rig;
	rig.probe("read", "entry");
	rig.probe("read", "return");
	rig.probe("write", "entry");
	rig.probe("readv", "entry", 2, "other");
	using Names = std::vector<std::string>;
	CHECK(matches(rig, "", "", "read", "") == Names{"read:entry", "read:return"});
	CHECK(matches(rig, "rig", "", "read*", "entry") == Names{"read:entry", "readv:entry"});
	CHECK(matches(rig, "r?g", "other", "", "") == Names{"readv:entry"});
	CHECK(matches(rig, "fbt", "", "", "").empty());
	CHECK(matches(rig, "", "", "close", "").empty());
	CHECK(matches(rig, "dtrace", "", "", "") == Names{":BEGIN", ":END", ":ERROR"});
	CHECK(matches(rig, "", "", "", "BEGIN") == Names{":BEGIN"});
	CHECK(matches(rig, "", "", "", "*").size() == 7);
	CHECK(dfr_probe_by_id(rig.engine(), 1)->pb_name == std::string("BEGIN"));
	CHECK(dfr_probe_by_id(rig.engine(), 8) == nullptr);
	CHECK(dfr_probe_by_id(rig.engine(), 0) == nullptr);
	CHECK(dfr_probe_create(&rig.provider, "test", "read", "entry", 2, nullptr) == nullptr);
	CHECK(dfr_probe_find(&rig.provider, "test", "read", "return")->pb_id == 5);
	CHECK(dfr_probe_find(&rig.provider, "test", "never", "return") == nullptr);
}

TEST_CASE("many probes: strings and chains grow", "[engine][store][probe]") {
	Rig rig;
	for (int i = 0; i < 20000; i++) {
		std::string function = "function_" + std::to_string(i);
		REQUIRE(dfr_probe_create(&rig.provider, "vmlinux", function.c_str(), "entry", 6, nullptr));
		REQUIRE(dfr_probe_create(&rig.provider, "vmlinux", function.c_str(), "return", 2, nullptr));
	}
	CHECK(dfr_probe_count(rig.engine()) == 40003);
	CHECK(matches(rig, "rig", "vmlinux", "function_12345", "").size() == 2);
	CHECK(matches(rig, "rig", "vmlinux", "function_1234*", "return").size() == 11);
	CHECK(matches(rig, "rig", "", "", "entry").size() == 20000);
}

// Ids whose group of 256 cannot have a name are passed over: the first and the last of a group, and
// groups of more names than are remembered, are not.
TEST_CASE("a name among many probes of other names", "[engine][store][probe]") {
	Rig rig;
	std::vector<std::string> rare;
	for (uint32_t id = 4; id <= 5000; id++) {
		const bool is_rare = id == 255 || id == 256 || id == 2047 || id == 4096 || id == 5000;
		const std::string function = "function_" + std::to_string(id);
		const std::string name = is_rare                  ? "rare"
		                         : id > 1000 && id < 1300 ? "name_" + std::to_string(id)
		                                                  : "entry";
		REQUIRE(rig.probe(function, name)->pb_id == id);
		if (is_rare)
			rare.push_back(function + ":rare");
	}
	CHECK(matches(rig, "", "", "", "rare") == rare);
	CHECK(matches(rig, "", "", "", "name_1001").size() == 1);
	CHECK(matches(rig, "", "", "", "name_1299").size() == 1);
	CHECK(matches(rig, "", "", "", "ERROR") == std::vector<std::string>{":ERROR"});
	CHECK(matches(rig, "", "", "", "entry").size() == 4997 - 5 - 299);
}

TEST_CASE("arming: once for each probe, in one batch, undone in the end", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	rig.probe("write");
	{
		State first(rig);
		State second(rig);
		REQUIRE(first.enable(Program().clause("rig:::entry", {}).clause("rig::read:", {})) == 0);
		CHECK(first.matched == 3);
		CHECK(rig.armed.empty()); // nothing before go
		REQUIRE(first.go() == 0);
		CHECK(rig.armed == std::vector<std::string>{"+read", "+write", "commit"});
		rig.armed.clear();
		REQUIRE(second.enable(Program().clause("rig::read:", {})) == 0);
		REQUIRE(second.go() == 0);
		CHECK(rig.armed == std::vector<std::string>{"commit"});
		rig.fire(read);
		CHECK(first.take().size() == 2);
		CHECK(second.take().size() == 1);
		REQUIRE(first.stop() == 0);
		CHECK(rig.armed == std::vector<std::string>{"commit", "-write", "commit"});
		rig.fire(read);
		CHECK(first.take().empty());
		CHECK(second.take().size() == 1);
		CHECK(dfr_provider_unregister(&rig.provider) == -EBUSY);
	}
	CHECK(rig.armed.back() == "commit");
	CHECK(rig.armed[rig.armed.size() - 2] == "-read");
	CHECK(read->pb_ecbs == nullptr);
	CHECK(dfr_provider_unregister(&rig.provider) == 0);
	CHECK(matches(rig, "rig", "", "", "").empty());
	CHECK(dfr_provider_register(rig.engine(), &rig.provider) == 0);
}

TEST_CASE("what cannot be armed is left out, the rest goes on", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig::read:entry", {}).clause("dtrace:::BEGIN", {})) == 0);
	rig.arm_error = -EPERM;
	REQUIRE(state.go() == 0);
	CHECK(read->pb_ecbs == nullptr);
	CHECK(read->pb_armed == 0);
	CHECK(state.take().size() == 1);
}

TEST_CASE("a description that matches nothing is refused by name, or waits with -Z",
          "[engine][store][probe]") {
	Rig rig;
	State state(rig);
	CHECK(state.enable(Program().clause("rig::close:entry", {})) == -ESRCH);
	CHECK(state.reason == "no probe matches rig::close:entry");
	CHECK(state.enable(Program().clause("rig::clo\nse:en\x1btry", {})) == -ESRCH);
	CHECK(state.reason == "no probe matches rig::clo?se:en?try");
	REQUIRE(state.enable(Program().clause("rig::close:entry", {trace(arg(0))}), DFR_ENABLE_ZERO_OK) == 0);
	CHECK(state.matched == 0);
	REQUIRE(state.go() == 0);
	dfr_probe* close = rig.probe("close");
	rig.probe("closed");
	CHECK(close->pb_ecbs == nullptr);
	dfr_probes_created(rig.engine());
	CHECK(rig.armed == std::vector<std::string>{"commit", "+close", "commit"});
	dfr_probes_created(rig.engine()); // never twice
	rig.fire(close, {9});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].numbers.at(0) == 9);
	CHECK(state.catalog.probe_of(records[0].epid)->function == "close");
}

TEST_CASE("probes that go take their enablings with them", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* mine = rig.probe("mine", "entry", 2, "module");
	dfr_probe* stays = rig.probe("stays");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig:::entry", {trace(arg(0))})) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(mine, {1});
	REQUIRE(dfr_probes_remove(&rig.provider, "module") == 0);
	CHECK(matches(rig, "rig", "", "", "").size() == 1);
	rig.fire(stays, {2});
	CHECK(state.take().size() == 2);
	// It comes again: a new probe, matched anew, under its old numbers.
	mine = rig.probe("mine", "entry", 2, "module");
	dfr_probes_created(rig.engine());
	rig.fire(mine, {3});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].epid == 1);
}

TEST_CASE("a module that comes and goes leaves no more than once", "[engine][store][probe]") {
	Rig rig;
	rig.probe("stays");
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig:module::", {trace(arg(0))})
	                         .clause("rig::second:entry", {trace(arg(1))}),
	                     DFR_ENABLE_ZERO_OK) == 0);
	REQUIRE(state.go() == 0);
	uint32_t probes = 0;
	u64 catalog = 0, committed;
	for (unsigned i = 0; i < 200; i++) {
		dfr_probe* first = rig.probe("first", "entry", 2, "module");
		dfr_probe* second = rig.probe("second", "entry", 2, "module");
		dfr_probes_created(rig.engine());
		dfr_state_catalog(state.state, 0, nullptr, 0, &committed);
		if (i <= 1) { // the first take() makes spare blocks, which the catalog names
			probes = dfr_probe_count(rig.engine());
			catalog = committed;
		}
		REQUIRE(dfr_probe_count(rig.engine()) == probes);
		REQUIRE(committed == catalog);
		rig.fire(second, {i, 1000 + i});
		std::vector<Record> records = state.take();
		REQUIRE(records.size() == 2);
		CHECK(records[0].numbers.at(0) == i);
		CHECK(records[1].numbers.at(0) == 1000 + i);
		CHECK(state.catalog.probe_of(records[1].epid)->function == "second");
		rig.fire(first, {i});
		CHECK(state.take().size() == 1);
		REQUIRE(dfr_probes_remove(&rig.provider, "module") == 0);
	}
	// One of other arguments is another probe, whose entry in the catalog says so.
	rig.probe("first", "entry", 3, "module");
	CHECK(dfr_probe_count(rig.engine()) == probes + 1);
}

TEST_CASE("probes are provided on demand, before they are matched", "[engine][store][probe]") {
	static int asked;
	asked = 0;
	Rig rig;
	rig.ops.provide = [](dfr_provider* provider, const char* const* pattern) {
		asked++;
		if (std::string(pattern[3]) == "tick-97")
			dfr_probe_create(provider, "", "", "tick-97", 1, nullptr);
		return 0;
	};
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig:::tick-97", {})) == 0);
	CHECK(state.matched == 1);
	CHECK(asked == 1);
	State other(rig);
	REQUIRE(other.enable(Program().clause("dtrace:::BEGIN", {})) == 0);
	CHECK(asked == 1); // another provider's pattern
}

TEST_CASE("a program is refused if a provider could not make all the probes that it asks for",
          "[engine][store][probe]") {
	static int error;
	error = -ENOMEM;
	Rig rig;
	rig.probe("read");
	rig.ops.provide = [](dfr_provider*, const char* const*) { return error; };
	State state(rig);
	const Program all = Program().clause("rig:::entry", {});
	CHECK(state.enable(all, DFR_ENABLE_ZERO_OK) == -ENOMEM);
	CHECK(state.reason == "there is no memory for all the probes of rig:::entry");
	error = -E2BIG;
	CHECK(state.enable(all) == -E2BIG);
	CHECK(state.reason == "more probes than there may be are those of rig:::entry");
	error = -EFBIG;
	CHECK(state.enable(all) == -EFBIG);
	CHECK_THAT(state.reason, Catch::StartsWith("a function of more than 64 KiB"));
	error = -EINTR;
	CHECK(state.enable(all) == -EINTR);
	CHECK_THAT(state.reason, Catch::StartsWith("the task was killed"));
	error = -E2BIG;
	const char* pattern[4] = {"rig", "", "", ""};
	const auto list = [&] {
		return dfr_probes_match(
		    rig.engine(), pattern, 0, false, [](const dfr_probe*, void*) { return true; }, nullptr);
	};
	CHECK(list() == -E2BIG);
	error = 0;
	CHECK(list() == 0);
	CHECK(state.enable(all) == 0);
}

// formats/abi/catalog.h, DFR_EVENT_UNARMED.
TEST_CASE("a state is told of probes that came and could not be made, if it has asked for such",
          "[engine][store][probe]") {
	Rig rig;
	rig.probe("read");
	State runs(rig), waits(rig), others(rig), ended(rig);
	for (State* const state : {&runs, &waits, &ended})
		REQUIRE(state->enable(Program()
		                          .clause("rig::read:entry", {trace(arg(0))})
		                          .clause("rig:late*::return", {trace(arg(0))}),
		                      DFR_ENABLE_ZERO_OK) == 0);
	REQUIRE(
	    others.enable(Program().clause("rig::read:entry", {trace(arg(0))}).clause("other:::return", {}),
	                  DFR_ENABLE_ZERO_OK) == 0);
	for (State* const state : {&runs, &others, &ended})
		REQUIRE(state->go() == 0);
	REQUIRE(ended.stop() == 0);
	std::string module = "later";
	dfr_probes_missing(
	    &rig.provider, module.c_str(), -ENOMEM,
	    [](const char* const pattern[4], void* arg) {
		    return dfr_glob(pattern[1], static_cast<std::string*>(arg)->c_str()) &&
		           pattern[3] == std::string("return");
	    },
	    &module);
	REQUIRE(waits.go() == 0);
	for (State* const state : {&runs, &waits, &others, &ended}) {
		state->read_catalog();
		const auto& events = state->catalog.events;
		const auto found = std::find_if(events.begin(), events.end(), [](const auto& event) {
			return event.event == DFR_EVENT_UNARMED;
		});
		INFO((state == &runs) << (state == &waits) << (state == &others));
		REQUIRE((found != events.end()) == (state == &runs || state == &waits));
		if (found == events.end())
			continue;
		CHECK(found->value == 0);
		CHECK(found->error == ENOMEM);
		CHECK(found->text == "rig:later:*:*");
	}
}

TEST_CASE("clauses run in program order and see each other's variables; predicates at their turn",
          "[engine][store][probe]") {
	Running running(Program()
	                    .clause("rig::read:entry", {trace(store_global(0x500, arg(0)))})
	                    .clause("rig::read:entry", load_global(0x500), {trace(load_global(0x500))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {0});
	rig.fire(read, {5});
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].numbers.at(0) == 5);
	CHECK(records[0].epid == 2);
}

TEST_CASE("options: taken over, checked, in force after go", "[engine][store][probe]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	CHECK(dfr_state_option(state.state, DFR_OPT_BUFSIZE) == 4 << 20);
	CHECK(dfr_state_option(state.state, DFR_OPT_NSPEC) == 1);
	CHECK(dfr_state_option(state.state, 99999) == static_cast<u64>(DFR_OPT_UNSET));
	REQUIRE(state.enable(Program().option(DFR_OPT_STRSIZE, 100).option(DFR_OPT_BLOCKSIZE, 8192)) == 0);
	// A later DOF of the same state, as an anonymous enabling's last one.
	REQUIRE(state.enable(Program().clause("rig::read:entry", {}).option(DFR_OPT_STRSIZE, 50)) == 0);
	REQUIRE(state.go() == 0);
	CHECK(dfr_state_option(state.state, DFR_OPT_STRSIZE) == 50);
	CHECK(dfr_state_block_size(state.state) == 8192);
	CHECK(state.enable(Program().clause("rig::read:entry", {})) == -EBUSY);
	CHECK(state.go() == -EBUSY);
	State other(rig);
	CHECK(other.enable(Program().option(DFR_OPT_BUFPOLICY, 3)) == -EINVAL);
	CHECK(other.enable(Program().option(DFR_OPT_SCRATCHSIZE, (4 << 20) + 1)) == -EINVAL);
	CHECK(other.enable(Program().option(DFR_OPT_BLOCKSIZE, 5000)) == -EINVAL);
	CHECK(other.enable(Program().option(DFR_OPT_STRSIZE, 1 << 20)) == -EINVAL);
	CHECK(other.enable(Program().option(DFR_OPT_CPU, 64)) == -EINVAL);
	CHECK(other.enable(Program().option(DFR_OPT_MEMORY, 2)) == -EINVAL);
}

// Sizes are not lowered, and the refusal has both numbers.
TEST_CASE("a state that does not fit into reserved memory is refused", "[store][probe][reserved]") {
	Rig rig(2);
	rig.probe("read");
	const Program program = Program()
	                            .clause("rig::read:entry", {trace(arg(0))})
	                            .option(DFR_OPT_BUFSIZE, 1 << 20)
	                            .option(DFR_OPT_MEMORY, DFR_MEMORY_RESERVED);
	u64 wanted = 0, left = 0;
	dfr_user_reserved_left = 2 << 20; // two rings, and nothing for what lists them
	{
		State state(rig);
		REQUIRE(state.enable(program) == 0);
		CHECK(state.go() == -ENOMEM);
		dfr_state_room(state.state, &wanted, &left);
		CHECK(left == 2 << 20);
		CHECK(wanted > 2 << 20);
		CHECK(wanted < 3 << 20);
	}
	dfr_user_reserved_left = wanted;
	State state(rig);
	REQUIRE(state.enable(program) == 0);
	CHECK(state.go() == 0);
	CHECK(dfr_state_option(state.state, DFR_OPT_BUFSIZE) == 1 << 20);
	// The first spares of each CPU's ring count, else a consumer might get no block.
	const auto wanted_with = [&](uint64_t block_size) {
		State refused(rig);
		Program larger = program;
		dfr_user_reserved_left = 0;
		REQUIRE(refused.enable(larger.option(DFR_OPT_BLOCKSIZE, block_size)) == 0);
		REQUIRE(refused.go() == -ENOMEM);
		dfr_state_room(refused.state, &wanted, &left);
		return wanted;
	};
	CHECK(wanted_with(128 << 10) == wanted_with(64 << 10) + 2 * 2 * (64 << 10));
	dfr_user_reserved_left = ~0ull;
}

TEST_CASE("destructive programs need the option", "[engine][store][probe]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig::read:entry", {act(DFR_ACT_STOP)})) == 0);
	CHECK(state.go() == -EACCES);
	State willing(rig);
	REQUIRE(
	    willing.enable(
	        Program().clause("rig::read:entry", {act(DFR_ACT_STOP)}).option(DFR_OPT_DESTRUCTIVE, 0)) ==
	    0);
	CHECK(willing.go() == 0);
}

TEST_CASE("a fault in ERROR itself is counted and goes no further", "[engine][store][probe]") {
	Running running(Program()
	                    .clause("rig::read:entry", bad_load(), {})
	                    .clause("dtrace:::ERROR", {trace(arg(2)), trace(bad_load())})
	                    .clause("dtrace:::ERROR", {trace(arg(1)), trace(arg(2))}));
	auto& [rig, read, state] = running;
	rig.fire(read);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].numbers == std::vector<uint64_t>{1, 0}); // action 0: the predicate
	CHECK(state.status().errors == 2);
	CHECK(state.status().loss[DFR_LOSS_DOUBLE_ERROR] == 1);
}

TEST_CASE("parts of a clause that `if` split", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	uint64_t first = DFR_ECBUARG(4, 0);
	uint64_t later = DFR_ECBUARG(4, DFR_ECBUARG_CONTINUATION);
	REQUIRE(state.enable(
	            Program()
	                .clause("rig::read:entry", arg(0), {trace(constant(1))}, first)
	                .clause("rig::read:entry", arg(1), {trace(constant(2)), trace(bad_load())}, later)
	                .clause("rig::read:entry", {}, {trace(constant(3))}, later)
	                .clause("rig::read:entry", {}, {trace(constant(4))}, DFR_ECBUARG(5, 0))) == 0);
	REQUIRE(state.go() == 0);
	auto numbers = [&] {
		std::vector<uint64_t> all;
		for (const Record& record : state.take())
			all.push_back(record.numbers.at(0));
		return all;
	};
	rig.fire(read, {0, 0}); // the first part's predicate is the clause's
	CHECK(numbers() == std::vector<uint64_t>{4});
	rig.fire(read, {1, 0}); // the condition of one part does not hold: the others go on
	CHECK(numbers() == std::vector<uint64_t>{1, 3, 4});
	rig.fire(read, {1, 1}); // a part that faults ends the clause
	CHECK(numbers() == std::vector<uint64_t>{1, 4});
}

TEST_CASE("exit() in a part of a clause ends no clause that runs", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	const uint64_t first = DFR_ECBUARG(4, 0), later = DFR_ECBUARG(4, DFR_ECBUARG_CONTINUATION);
	for (const char* probe : {"rig::read:entry", "dtrace:::BEGIN", "dtrace:::END"}) {
		State state(rig);
		REQUIRE(state.enable(Program()
		                         .clause("rig::read:entry", {trace(constant(9))}) // go() wants one
		                         .clause(probe, {}, {trace(constant(1))}, first)
		                         .clause(probe, {}, {exit_with(2)}, later)
		                         .clause(probe, {}, {trace(constant(3))}, later)
		                         .clause(probe, constant(0), {trace(constant(4))}, later)
		                         .clause(probe, {}, {trace(constant(5))}, later)
		                         .clause(probe, {}, {trace(constant(6))}, DFR_ECBUARG(5, 0))
		                         .clause(probe, {}, {trace(constant(7))},
		                                 DFR_ECBUARG(5, DFR_ECBUARG_CONTINUATION))) == 0);
		REQUIRE(state.go() == 0);
		rig.fire(read);
		rig.fire(read);
		REQUIRE(state.stop() == 0);
		std::vector<uint64_t> numbers;
		for (const Record& record : state.take())
			if (record.numbers.at(0) != 9)
				numbers.push_back(record.numbers.at(0));
		std::vector<uint64_t> expected{1, 2, 3, 5};
		if (std::string_view(probe) == "dtrace:::END") // END is the last, so all of it runs
			expected.insert(expected.end(), {6, 7});
		CHECK(numbers == expected);
		CHECK(state.status().exit_status == 2);
	}
}

TEST_CASE("scratch memory lives through the parts of a clause, and no longer", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	Difo allocate;
	allocate.text = {DIF_INSTR_WIDE(DIF_OP_SETX, 0, 1), DIF_INSTR_R(DIF_OP_ALLOCS, 1, 0, 2),
	                 DIF_INSTR_R(DIF_OP_LDX, 2, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	allocate.integers = {40};
	allocate.rtype = int_type(8);
	const uint64_t later = DFR_ECBUARG(4, DFR_ECBUARG_CONTINUATION);
	// No compiler makes the first part so: it runs no DIF, and begins anew all the same.
	REQUIRE(
	    state.enable(Program()
	                     .clause("rig::read:entry", {}, {act(DFR_ACT_CAPTURE_ARGS)}, DFR_ECBUARG(4, 0))
	                     .clause("rig::read:entry", {}, {trace(allocate)}, later)
	                     .clause("rig::read:entry", arg(0), {trace(allocate)}, later)
	                     .clause("rig::read:entry", {trace(allocate)})
	                     .option(DFR_OPT_SCRATCHSIZE, 64)) == 0);
	REQUIRE(state.go() == 0);
	for (unsigned i = 0; i < 10; i++) {
		rig.fire(read, {0});
		CHECK(state.status().errors == 0);
	}
	rig.fire(read, {1}); // 80 bytes in one clause
	CHECK(state.status().errors == 1);
	rig.fire(read, {0});
	CHECK(state.status().errors == 1);
}

TEST_CASE("a CPU that comes records from its first firing on", "[engine][store][probe]") {
	Rig rig(2);
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig::read:entry", {trace(arg(0))})) == 0);
	dfr_user_set_ncpus(1); // the other one is away
	REQUIRE(state.go() == 0);
	dfr_user_set_ncpus(2);
	dfr_user_cpu = 1;
	rig.fire(read, {1});
	CHECK(state.status().loss[DFR_LOSS_HOTPLUG] == 1);
	REQUIRE(dfr_engine_cpu_prepare(rig.engine(), 1, false) == 0);
	rig.fire(read, {2});
	dfr_engine_cpu_online(rig.engine(), 1);
	rig.fire(read, {3});
	dfr_user_cpu = 0;
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	CHECK(records[0].numbers.at(0) == 2);
	CHECK(records[0].cpu == 1);
	CHECK(state.status().loss[DFR_LOSS_HOTPLUG] == 1);
}

// A CPU that go has not visited yet leaves out what fires there: nothing of that is behind go's time.
TEST_CASE("from go's time on each CPU records", "[engine][store][probe]") {
	for (int round = 0; round < 100; round++) {
		Rig rig(8);
		dfr_probe* read = rig.probe("read");
		State state(rig);
		REQUIRE(state.enable(Program()
		                         .clause("rig::read:entry", {trace(arg(0))})
		                         .option(DFR_OPT_BUFSIZE, 1 << 20)) == 0);
		std::atomic<bool> done = false, runs = false;
		std::vector<uint64_t> fired;
		std::thread last([&] {
			dfr_user_cpu = 7;
			for (; !done; runs = true) {
				const uint64_t time = dfr_user_clock(1);
				rig.fire(read, {1}, time);
				fired.push_back(time);
			}
		});
		while (!runs)
			std::this_thread::yield();
		REQUIRE(state.go() == 0);
		done = true;
		last.join();
		state.read_catalog();
		uint64_t go = 0;
		for (const auto& mark : state.catalog.events)
			if (mark.event == DFR_EVENT_GO)
				go = mark.time;
		std::erase_if(fired, [go](uint64_t time) { return time < go; });
		std::vector<Record> records = state.take();
		std::erase_if(records, [go](const Record& record) { return record.time < go; });
		REQUIRE(records.size() >= fired.size());
	}
}

// The CPU runs already, because others had the locks when it came: no firing is in neither count.
TEST_CASE("a CPU that runs gets its share between two firings", "[engine][store][probe]") {
	for (int round = 0; round < 200; round++) {
		Rig rig(2);
		dfr_probe* read = rig.probe("read");
		State state(rig);
		// With a budget the deadman leaves it alone, however long a busy host takes.
		REQUIRE(state.enable(Program()
		                         .clause("rig::read:entry", {trace(arg(0))})
		                         .option(DFR_OPT_CPUBUDGET, 100)) == 0);
		dfr_user_set_ncpus(1);
		REQUIRE(state.go() == 0);
		dfr_user_set_ncpus(2);
		std::atomic<bool> done = false;
		std::atomic<uint64_t> fired = 0;
		std::thread other([&] {
			dfr_user_cpu = 1;
			while (!done) {
				rig.fire(read, {1});
				fired++;
			}
		});
		while (!fired)
			std::this_thread::yield();
		REQUIRE(dfr_engine_cpu_prepare(rig.engine(), 1, true) == 0);
		done = true;
		other.join();
		const dfr_ioc_status status = state.status();
		REQUIRE(status.loss[DFR_LOSS_HOTPLUG] + status.loss[DFR_LOSS_THROTTLE] + status.records ==
		        fired);
	}
}

TEST_CASE("hits inside a firing: the engine's shadow is no loss, an NMI's is", "[engine][store][probe]") {
	uint32_t level;
	Nested nested([&] { nested.hit_inner(level); });
	auto& [rig, outer, inner, state] = nested;
	level = DFR_LEVEL_TASK;
	rig.fire(outer, {1});
	CHECK(state.status().shadow == 1);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 0);
	level = DFR_LEVEL_NMI;
	rig.fire(outer, {1});
	CHECK(state.status().shadow == 1);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 1);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 2);
	CHECK(records[1].numbers.at(0) == 42);
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_NMI);
	CHECK(state.losses.entries[0].count == 1);
}

// It is counted when it is told, which a record of the fast path does not.
TEST_CASE("an NMI's loss is told with a time from before it", "[engine][store][probe]") {
	Running running(Program().clause("rig::read:entry", {trace(arg(0))}));
	auto& [rig, read, state] = running;
	rig.fire(read, {1}, 1000);
	dfr_cpu* cpu = dfr_cpu_of(rig.engine(), 0);
	dfr_env in_nmi = rig.env;
	in_nmi.ev_level = DFR_LEVEL_NMI;
	dfr_cpu_enter(cpu);
	dfr_fire_env(read, nullptr, 0, nullptr, &in_nmi);
	dfr_cpu_leave(cpu);
	for (uint64_t time = 2000; time < 2010; time++)
		rig.fire(read, {1}, time);
	CHECK(state.take().size() == 11);
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_NMI);
	CHECK(state.losses.entries[0].from <= 1000);
	CHECK(state.losses.entries[0].to >= 2009);
}

TEST_CASE("what a provider loses to an NMI counts once", "[engine][store][probe]") {
	Running running(Program().clause("rig::read:entry", {trace(arg(0))}));
	auto& [rig, read, state] = running;
	dfr_probe_lost(read, DFR_LOSS_NMI);
	rig.fire(read, {1});
	CHECK(state.take().size() == 1);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 1);
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].count == 1);
}

TEST_CASE("an NMI that hits before a firing knows its level is not judged by the last firing",
          "[engine][store][probe]") {
	Running running(Program().clause("rig::read:entry", {trace(builtin(DIF_VAR_PID, int_type(4)))}));
	auto& [rig, read, state] = running;
	dfr_env in_nmi = rig.env;
	in_nmi.ev_level = DFR_LEVEL_NMI;
	dfr_fire_env(read, nullptr, 0, nullptr, &in_nmi); // asks for the task, and so learns its level
	dfr_cpu* cpu = dfr_cpu_of(rig.engine(), 0);
	dfr_cpu_enter(cpu); // a firing has begun, and knows nothing yet
	dfr_fire_env(read, nullptr, 0, nullptr, &in_nmi);
	dfr_cpu_leave(cpu);
	CHECK(state.status().shadow == 0);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 1);
}

TEST_CASE("while a CPU is held nothing is recorded, also inside a firing", "[engine][store][probe]") {
	uint32_t level;
	const auto held = [&](Nested& nested) {
		dfr_engine* engine = nested.rig.engine();
		dfr_hold hold, second;
		dfr_cpu_hold(engine, level, &hold);
		nested.hit_inner(level);
		dfr_cpu_hold(engine, level, &second);
		dfr_cpu_unhold(engine, &second);
		nested.hit_inner(level);
		nested.hit_inner(DFR_LEVEL_NMI);
		dfr_cpu_unhold(engine, &hold);
	};
	Nested nested([&] { held(nested); });
	auto& [rig, outer, inner, state] = nested;
	level = DFR_LEVEL_IRQ;
	held(nested);
	CHECK(state.status().shadow == 2);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 1);
	level = DFR_LEVEL_NMI; // whoever holds is an NMI himself: all of these hits are his own
	held(nested);
	CHECK(state.status().shadow == 5);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 1);
	CHECK(state.take().empty());
	nested.hit_inner(DFR_LEVEL_TASK); // let go
	CHECK(state.take().size() == 1);
	rig.fire(outer, {1}); // held inside a firing, which goes on
	CHECK(state.status().shadow == 8);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 1);
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].numbers.at(0) == 42);
}

TEST_CASE("what a provider could not deliver inside a firing would have been nested",
          "[engine][store][probe]") {
	Nested nested([&] { dfr_probe_lost(nested.inner, DFR_LOSS_RETURN_POOL); });
	auto& [rig, outer, inner, state] = nested;
	rig.fire(outer, {1});
	CHECK(state.status().shadow == 1);
	CHECK(state.status().loss[DFR_LOSS_NMI] == 0);
	CHECK(state.status().loss[DFR_LOSS_RETURN_POOL] == 0);
	CHECK(state.take().size() == 1);
}

TEST_CASE("what fires on a CPU without a share is lost once for each firing, and the ledger tells of it",
          "[engine][store][probe]") {
	Rig rig(2);
	dfr_probe* read = rig.probe("read");
	dfr_probe* write = rig.probe("write");
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {trace(arg(0))})
	                         .clause("rig::read:entry", {trace(arg(1))})
	                         .clause("rig::write:entry", {trace(arg(0))})) == 0);
	dfr_user_set_ncpus(1); // the other is away at go, and nobody hears when it comes
	REQUIRE(state.go() == 0);
	dfr_user_set_ncpus(2);
	auto on_second = [&](dfr_probe* probe) {
		dfr_user_cpu = 1;
		rig.fire(probe, {1, 2});
		dfr_user_cpu = 0;
	};
	on_second(read);
	on_second(read);
	dfr_user_cpu = 1;
	dfr_probe_lost(read, DFR_LOSS_RETURN_POOL);
	dfr_user_cpu = 0;
	CHECK(state.status().loss[DFR_LOSS_HOTPLUG] == 3);
	// An image of now has them on the state's page, and later on that of the CPU that tells of them.
	CHECK(DFR_TALLY_VALUE(state.state->st_tally->loss[DFR_LOSS_HOTPLUG]) == 3);
	dfr_state_clean(state.state);
	CHECK(DFR_TALLY_VALUE(state.state->st_tally->loss[DFR_LOSS_HOTPLUG]) == 0);
	CHECK(DFR_TALLY_VALUE(state.state->st_shares[0]->sh_tally->loss[DFR_LOSS_HOTPLUG]) == 3);
	CHECK(state.status().loss[DFR_LOSS_HOTPLUG] == 3);
	CHECK(state.take().empty());
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_HOTPLUG);
	CHECK(state.losses.entries[0].count == 3);
	CHECK(state.losses.entries[0].probe == read->pb_id);
	CHECK(state.losses.entries[0].from > 0);
	CHECK(state.losses.entries[0].to > state.losses.entries[0].from);
	const uint64_t told = state.losses.entries[0].to;
	state.losses = {};
	on_second(read);
	on_second(write);
	on_second(read);
	REQUIRE(state.stop() == 0); // no housekeeping comes in between
	CHECK(state.status().loss[DFR_LOSS_HOTPLUG] == 6);
	CHECK(state.take().empty());
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].count == 3);
	CHECK(state.losses.entries[0].probe == 0); // several
	CHECK(state.losses.entries[0].from == told);
}

TEST_CASE("what a provider could not deliver is counted by every state that listens",
          "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State first(rig);
	State second(rig);
	Program program =
	    Program().clause("rig::read:entry", {trace(arg(0))}).clause("rig::read:entry", {trace(arg(1))});
	for (State* state : {&first, &second}) {
		REQUIRE(state->enable(program) == 0);
		REQUIRE(state->go() == 0);
	}
	dfr_probe_lost(read, DFR_LOSS_RETURN_POOL);
	dfr_probe_lost(read, DFR_LOSS_RETURN_POOL);
	dfr_probe_lost(read, 4000); // no such cause
	for (State* state : {&first, &second}) {
		CHECK(state->status().loss[DFR_LOSS_RETURN_POOL] == 2);
		state->take();
		REQUIRE(state->losses.entries.size() == 1);
		CHECK(state->losses.entries[0].probe == read->pb_id);
		CHECK(state->losses.entries[0].count == 2);
		CHECK(state->blocks.back().lost == 2); // it was opened to tell of them
	}
}

// kmod/engine/provider.h, missed().
TEST_CASE("what a provider did not hear of is lost once, and who had it off is told",
          "[engine][store][probe]") {
	static u64 count;
	static bool is_off;
	count = 3;
	is_off = false;
	Rig rig;
	dfr_probe* read = rig.probe("read");
	rig.probe("write");
	rig.ops.missed = [](const dfr_probe* probe, s64, bool* off) -> u64 {
		*off = is_off;
		return probe->pb_function == std::string("read") ? count : 0;
	};
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {trace(arg(0))})
	                         .clause("rig::read:entry", {trace(arg(1))})
	                         .clause("rig::write:entry", {trace(arg(1))})) == 0);
	REQUIRE(state.go() == 0);
	const u64 began = state.state->st_missed_time;
	count = 10;
	is_off = true;
	SECTION("housekeeping") {
		state.state->st_missed_time = began - 2'000'000'000;
		dfr_state_clean(state.state);
		CHECK(state.status().loss[DFR_LOSS_MISSED] == 7);
		CHECK(state.state->st_missed_time >= began);
		state.state->st_missed_time -= 2'000'000'000;
		dfr_state_clean(state.state); // has nothing new to say
	}
	SECTION("a stop") {}
	const u64 asked = state.state->st_missed_time;
	REQUIRE(state.stop() == 0);
	CHECK(state.state->st_missed_time >= asked);
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 7);
	state.take();
	REQUIRE(state.losses.entries.size() == 1);
	CHECK(state.losses.entries[0].cause == DFR_LOSS_MISSED);
	CHECK(state.losses.entries[0].probe == read->pb_id);
	CHECK(state.losses.entries[0].count == 7);
	CHECK(state.losses.entries[0].from <= began);
	state.read_catalog();
	std::vector<int> off;
	for (const dfr::trace::EventMark& mark : state.catalog.events)
		if (mark.event == DFR_EVENT_UNARMED) {
			off.push_back(mark.value);
			CHECK(mark.error == ECANCELED);
			CHECK(mark.time <= began);
		}
	CHECK(off == std::vector<int>{static_cast<int>(read->pb_id), static_cast<int>(read->pb_id) + 1});
}

TEST_CASE("what was missed until a clause is taken off its probe is told", "[engine][store][probe]") {
	static u64 count;
	count = 3;
	Rig rig;
	rig.ops.missed = [](const dfr_probe* probe, s64, bool* off) -> u64 {
		*off = false;
		return probe->pb_function == std::string("read") ? count : 0;
	};
	rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {trace(arg(0))})
	                         .clause("rig::read:entry", {trace(arg(1))})) == 0);
	REQUIRE(state.go() == 0);
	count = 10;
	SECTION("whoever asks for the status has it") {}
	SECTION("a kill") {
		CHECK(dfr_state_kill(state.state));
		count = 11; // when nothing is recorded any more
	}
	SECTION("clauses that are thinned and come back") {
		dfr_state_thin(state.state, DFR_PRIORITY_NORMAL);
		count = 20; // while they are off
		dfr_state_unthin(state.state, DFR_PRIORITY_NORMAL);
	}
	SECTION("the probe's module goes") {
		dfr_probes_remove_if(
		    &rig.provider, [](const dfr_probe*, void*) { return true; }, nullptr);
		count = 20;
	}
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 7);
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 7);
}

TEST_CASE("what is missed before recording begins, and after exit(), is nobody's", "[engine][store][probe]") {
	static u64 count;
	count = 0;
	Rig rig;
	rig.ops.missed = [](const dfr_probe*, s64, bool* off) -> u64 {
		*off = false;
		return count;
	};
	rig.patching = [] { count += 5; }; // behind the link, before BEGIN
	dfr_probe* read = rig.probe("read");
	State state(rig);
	REQUIRE(state.enable(Program().clause("rig::read:entry", {exit_with(3)})) == 0);
	REQUIRE(state.go() == 0);
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 0);
	count += 7;
	rig.fire(read);
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 7); // and has seen the exit()
	count += 20;
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 7);
	state.state->st_missed_time -= 2'000'000'000;
	dfr_state_clean(state.state);
	REQUIRE(state.stop() == 0);
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 7);
}

TEST_CASE("what was missed while a clause was off is told by the other one at the probe",
          "[engine][store][probe]") {
	static u64 count;
	count = 3;
	Rig rig;
	rig.ops.missed = [](const dfr_probe*, s64, bool* off) -> u64 {
		*off = false;
		return count;
	};
	rig.probe("read");
	State state(rig);
	const uint32_t low = DFR_ECBUARG(0, DFR_ECBUARG_OF_PRIORITY(DFR_PRIORITY_LOW));
	REQUIRE(state.enable(Program()
	                         .clause("rig::read:entry", {}, {trace(arg(0))}, low)
	                         .clause("rig::read:entry", {trace(arg(1))})) == 0);
	REQUIRE(state.go() == 0);
	dfr_state_thin(state.state, DFR_PRIORITY_LOW);
	count = 20;
	dfr_state_unthin(state.state, DFR_PRIORITY_LOW);
	CHECK(state.status().loss[DFR_LOSS_MISSED] == 17);
}

TEST_CASE("probes whose arguments a program may not have are told once, as a number",
          "[engine][store][probe]") {
	Rig rig;
	rig.probe("read");
	rig.probe("readv");
	rig.probe("write");
	State state(rig);
	const std::vector<uint8_t> bytes =
	    Program()
	        .clause("rig::read*:entry", {trace(arg(0))})
	        .clause("rig::write:entry", {trace(arg(1))})
	        .clause("rig:::entry", {trace(builtin(DIF_VAR_PID, int_type(4, true)))})
	        .bytes();
	const dfr_load_limits limits{}; // neither kernel reads nor anything else
	dfr_refusal why{};
	REQUIRE(dfr_state_enable(state.state, bytes.data(), bytes.size(), &limits, 0, &state.matched, &why) ==
	        0);
	REQUIRE(state.go() == 0);
	state.read_catalog();
	std::vector<std::pair<int, int>> unarmed;
	for (const dfr::trace::EventMark& mark : state.catalog.events)
		if (mark.event == DFR_EVENT_UNARMED)
			unarmed.emplace_back(mark.value, mark.error);
	CHECK(unarmed == std::vector<std::pair<int, int>>{{-2, EPERM}, {6, EPERM}}); // 1 to 3 are dtrace's
	CHECK(rig.armed == std::vector<std::string>{"+read", "+readv", "+write", "commit"});
}

TEST_CASE("the patterns that states have, for probes made on demand", "[engine][store][probe]") {
	Rig rig;
	rig.probe("read");
	State state(rig);
	REQUIRE(
	    state.enable(
	        Program().clause("rig::read:entry", {trace(arg(0))}).clause("rig::later*:", {trace(arg(0))}),
	        DFR_ENABLE_ZERO_OK) == 0);
	// No probe is made for a user without privilege.
	State confined(rig);
	REQUIRE(dfr_state_confine(confined.state, 1000, 100, 32 << 20) == 0);
	const dfr_load_limits limits{.ll_confined = true};
	const std::vector<uint8_t> dof = Program().clause("rig::his*:", {trace(arg(0))}).bytes();
	REQUIRE(dfr_state_enable(confined.state, dof.data(), dof.size(), &limits, DFR_ENABLE_ZERO_OK, nullptr,
	                         nullptr) == 0);
	std::vector<std::string> patterns;
	dfr_patterns_wanted(
	    rig.engine(),
	    [](const char* const pattern[4], void* arg) {
		    static_cast<std::vector<std::string>*>(arg)->push_back(
		        std::string(pattern[0]) + ":" + pattern[1] + ":" + pattern[2] + ":" + pattern[3]);
	    },
	    &patterns);
	CHECK(patterns == std::vector<std::string>{"rig::read:entry", "rig::later*:"});
}

TEST_CASE("a user without privilege has patterns of bounded length", "[engine][store][probe]") {
	Rig rig;
	State state(rig);
	REQUIRE(dfr_state_confine(state.state, 1000, 100, 32 << 20) == 0);
	const auto enable = [&](size_t letters, bool of_host = false) {
		const std::string glob = "[" + std::string(letters - 2, 'a') + "]";
		Program program;
		program.clause("rig::" + (of_host ? "" : glob) + ":entry", {trace(arg(0))});
		const std::vector<uint8_t> dof = program.host(of_host ? glob : "").bytes();
		const dfr_load_limits limits{.ll_confined = true};
		dfr_refusal why{};
		const int error = dfr_state_enable(state.state, dof.data(), dof.size(), &limits,
		                                   DFR_ENABLE_ZERO_OK, nullptr, &why);
		return error ? std::string(why.rf_reason) : "";
	};
	CHECK(enable(64).empty());
	CHECK(enable(65) == "unprivileged users may not use patterns of more than 64 letters");
	CHECK(enable(64, true).empty());
	CHECK(enable(65, true) == "unprivileged users may not use patterns of more than 64 letters");
}

TEST_CASE("all recorded kinds of value, as their layout says", "[engine][store][probe]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	Action stack = act(DFR_ACT_STACK);
	Action ustack = act(DFR_ACT_USTACK);
	stack.arg = 2;
	ustack.arg = 3;
	State state(rig);
	REQUIRE(
	    state.enable(Program().clause(
	        "rig::read:entry", {trace(builtin(DIF_VAR_EXECNAME, string_type())),
	                            trace(builtin(DIF_VAR_PROBEFUNC, string_type())), stack, ustack,
	                            act(DFR_ACT_USYM, arg(0)), act(DFR_ACT_SYM, arg(0)), act(DFR_ACT_PRINTF),
	                            trace(builtin(DIF_VAR_TIMESTAMP, int_type(8, false)))})) == 0);
	REQUIRE(state.go() == 0);
	const __u64 pcs[] = {0xffffffff81000001, 0xffffffff81000002, 0xffffffff81000003};
	rig.env.ev_stack = pcs;
	rig.env.ev_nstack = 3;
	rig.env.ev_ustack = pcs;
	rig.env.ev_nustack = 1;
	rig.fire(read, {0x77}, 123456);
	std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	state.read_catalog();
	const dfr::trace::Layout* layout = state.catalog.layout_of(1);
	REQUIRE(layout);
	std::vector<int> kinds;
	for (const dfr_field& field : layout->fields)
		kinds.push_back(field.kind);
	CHECK(kinds == std::vector<int>{DFR_FIELD_STRING, DFR_FIELD_PROBETEXT, DFR_FIELD_STACK,
	                                DFR_FIELD_USTACK, DFR_FIELD_USYM, DFR_FIELD_INT,
	                                DFR_FIELD_INT}); // printf() without arguments has no field
	CHECK(records[0].texts.at(0) == "csh");
	CHECK(records[0].texts.at(2) == key_of({pcs[0], pcs[1]}));
	CHECK(records[0].texts.at(3).size() >= 8);
	CHECK(records[0].texts.at(4) == key_of({100, 0x77}));
	CHECK(records[0].numbers.at(5) == 0x77);
	CHECK(records[0].numbers.at(6) == 123456);
	CHECK(state.damage == 0);
}

} // namespace engine_store_probe_test
