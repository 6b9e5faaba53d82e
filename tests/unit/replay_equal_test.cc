// SPDX-License-Identifier: GPL-2.0
//
// Live equals replay, without a kernel: an engine in this process records
// firings of given processes on several CPUs; its aggregations and what replay
// computes from its records must print the same bytes. Both sides are the real
// engine, compiler and renderer; only the firings are made up.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

#include "formats/d/canon.h"
#include "formats/error.h"
#include "tests/unit/replay_app.h"

namespace replay_equal_test {

using namespace dfr;
using namespace dfr::test;

namespace {

// 3,000 entries and returns: three programs on four CPUs.
void work(App& app) {
	static const char* const kNames[] = {"alpha", "beta", "gamma"};
	for (unsigned i = 0; i < 3000; i++) {
		const uint64_t at = kStart + i * 1000;
		const unsigned who = i % 7 % 3;
		app.fire(app.entry, at, i % 4, 100 + who, kNames[who], i % 11, i);
		app.fire(app.exit, at + 100 + i % 50, i % 4, 100 + who, kNames[who], i % 5, 0);
	}
}

// What the program has recorded of work().
Kept worked(App& app, const std::string& program) {
	load(app, program);
	work(app);
	finish(app);
	return Kept(app);
}

} // namespace

TEST_CASE("replay: counts equal the live aggregation", "[replay]") {
	App app;
	Kept kept = worked(app, "app::work:entry { @[execname] = count(); capture(); }");
	const std::string live = recorded_says(kept);
	// 3000 firings, who = i % 7 % 3: of each 7, 0 1 2 0 1 2 0: 3 alpha, 2 beta, 2 gamma; 428 * 7 = 2996, + 0 1 2 0
	replay::Answer answer;
	CHECK(replay_says(kept, "app::work:entry { @[execname] = count(); }", &answer) == live);
	CHECK(answer.verdict.complete);
	CHECK(live.find("alpha") != std::string::npos);
	CHECK(live.find("1286") != std::string::npos);
	CHECK(live.find("857") != std::string::npos);
}

TEST_CASE("replay: quantize of arguments, keys of text and numbers", "[replay]") {
	const std::string program = "app::work:entry { @q[probefunc, arg0] = quantize(arg1); @s[cpu] = "
	                            "sum(arg1); @m[pid, tid] = max(arg1); }";
	App app;
	Kept kept = worked(app, program + " app::work:entry { capture(); }");
	CHECK(replay_says(kept, program) == recorded_says(kept));
}

TEST_CASE("replay: thread-local latencies over entry and return", "[replay]") {
	const std::string program =
	    "app::work:entry { self->t = timestamp; } "
	    "app::work:return /self->t/ { @[execname] = quantize(timestamp - self->t); self->t = 0; }";
	App app;
	Kept kept = worked(app, program + " app::work: { capture(); }");
	CHECK(replay_says(kept, program) == recorded_says(kept));
}

TEST_CASE("replay: built-ins are the record's", "[replay]") {
	App app;
	load(app, "app::work:entry { capture(); }");
	app.fire(app.entry, kStart, 2, 70, "one", 5, 6);
	app.fire(app.entry, kStart + 10, 1, 80, "two", 7, 8);
	finish(app);
	Kept kept(app);
	CHECK(replay_says(
	          kept,
	          "app::work:entry { printf(\"%s %d %d %d %d %d %d %s\\n\", execname, pid, tid, cpu, id, "
	          "arg0, arg1, probefunc); }") == "one 7 70 2 4 5 6 work\ntwo 8 80 1 4 7 8 work\n\n");
}

TEST_CASE("replay: BEGIN first, END last, exit() ends it", "[replay]") {
	App app;
	Kept kept = worked(app, "app::work:entry { capture(); }");
	replay::Answer answer;
	CHECK(replay_says(kept,
	                  "BEGIN { printf(\"b\"); } app::work:entry { n++; } "
	                  "app::work:entry /n == 10/ { exit(4); } END { printf(\"%d e\", n); }",
	                  &answer) == "b10 e\n");
	CHECK(answer.exit_status == 4);
}

TEST_CASE("an answer's window ends where recording has", "[replay][verdict]") {
	const bool exits = GENERATE(false, true);
	App app;
	load(app, "app::work:entry { trace(arg0); } app::work:entry /arg0 == 5/ { exit(0); }");
	for (uint64_t i = 1; i <= (exits ? 9 : 4); i++)
		app.fire(app.entry, kStart + i * 1000, 0, 101, "a", i, 0);
	finish(app);
	Kept kept(app);
	kept.identity().events.push_back({.event = DFR_EVENT_PANIC, .time = kStart + 90'000'000'000});
	const trace::Verdict verdict = trace::judge_whole(kept);
	CHECK(verdict.to == kStart + (exits ? 5000 : 10'000'000'000));
	CHECK(verdict.reasons.empty());
}

TEST_CASE("an answer lacks what a probe that is detached yet has not counted", "[replay][verdict]") {
	App app;
	load(app, "app::work:entry { trace(arg0); }");
	app.fire(app.entry, kStart + 1000, 0, 101, "a", 1, 0);
	Kept kept(app);
	const auto mark = [&](uint32_t event, uint64_t time, int32_t value = 0) {
		kept.rewind();
		kept.identity().events.push_back(
		    {.event = event,
		     .value = value ? value : static_cast<int32_t>(app.entry->pb_id),
		     .time = kStart + time});
		return trace::judge_whole(kept).reasons;
	};
	const std::vector<std::string> detached = mark(DFR_EVENT_DETACHED, 2000);
	REQUIRE(detached.size() == 1);
	CHECK(detached[0].starts_with("app:m:work:entry detached by the governor from "));
	CHECK(mark(DFR_EVENT_ATTACHED, 3000).empty());
	// By number, where an overload lasts.
	const std::vector<std::string> counted = mark(DFR_EVENT_DETACHED, 3200, -12);
	REQUIRE(counted.size() == 1);
	CHECK(counted[0].starts_with("12 probes detached by the governor from "));
	const std::vector<std::string> more = mark(DFR_EVENT_DETACHED, 3300, -7);
	REQUIRE(more.size() == 1);
	CHECK(more[0].starts_with("19 probes detached by the governor from "));
	CHECK(mark(DFR_EVENT_ATTACHED, 3400, -19).empty());
	CHECK(mark(DFR_EVENT_DETACHED, 4000).size() == 1);
	CHECK(mark(DFR_EVENT_EXIT, 4500).size() == 1);
	CHECK(mark(DFR_EVENT_STOP, 5000).empty());
	finish(app);
}

TEST_CASE("a state that was killed has counted what its detached probes lacked", "[replay][verdict]") {
	App app;
	load(app, "app::work:entry { trace(arg0); }");
	app.fire(app.entry, kStart + 1000, 0, 101, "a", 1, 0);
	Kept kept(app);
	auto& events = kept.identity().events;
	const auto probe = static_cast<int32_t>(app.entry->pb_id);
	events.push_back({.event = DFR_EVENT_DETACHED, .value = probe, .time = kStart + 2000});
	events.push_back({.event = DFR_EVENT_KILLED, .value = DFR_KILLED_CONSUMER, .time = kStart + 3000});
	const std::vector<std::string> reasons = trace::judge_whole(kept).reasons;
	REQUIRE(reasons.size() == 1);
	CHECK(reasons[0].starts_with("ended by the kernel at "));
	finish(app);
}

TEST_CASE("an answer lacks the probes that could not be armed, if it is about them", "[replay][verdict]") {
	App app;
	load(app, "app::work:entry { trace(arg0); }");
	app.fire(app.entry, kStart + 1000, 0, 101, "a", 1, 0);
	finish(app);
	Kept kept(app);
	const auto judged = [&](int32_t value, const trace::Asked& asked = {}, const char* text = "") {
		kept.rewind();
		kept.identity().events.push_back({.event = DFR_EVENT_UNARMED,
		                                  .value = value,
		                                  .time = kStart,
		                                  .error = EBUSY,
		                                  .text = text});
		trace::Merger all(kept);
		all.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(kept, all, asked);
		kept.identity().events.pop_back();
		return verdict.reasons.empty() ? std::string() : verdict.reasons.at(0);
	};
	const std::string rest =
	    " could not be armed (Device or resource busy): what fired there is not recorded";
	const auto entry = static_cast<int32_t>(app.entry->pb_id);
	CHECK(judged(entry) == "app:m:work:entry" + rest);
	CHECK(judged(entry, {.probe = [](const trace::Probe& probe) { return probe.name == "return"; }})
	          .empty());
	CHECK(judged(0, {.probe = [](const trace::Probe&) { return false; }}) == "some of the probes" + rest);
	CHECK(judged(0, {.probe = [](const trace::Probe&) { return false; }}, "app:late:*:*") ==
	      "some of the probes app:late:*:*" + rest);
	CHECK(judged(-3) == "3 probes" + rest);
}

TEST_CASE("a recording tells the last exit(), also of one whose record found no room", "[replay]") {
	App app;
	load(app, "#pragma D option bufsize=16k\n"
	          "app::work:entry { exit(3); }"
	          "END { tracemem(alloca(15000), 15000); }"
	          "END { tracemem(alloca(15000), 15000); }"
	          "END { tracemem(alloca(15000), 15000); exit(5); }");
	work(app);
	finish(app);
	Kept kept(app);
	replay::Answer answer;
	recorded_says(kept, &answer);
	CHECK(answer.exit_status == 5);
	CHECK(kept.losses().total() == 1);
}

TEST_CASE("replay: a tick that was not recorded runs on the recording's clock", "[replay]") {
	App app;
	load(app, "app::work:entry { capture(); }");
	// One firing, a second of nothing, one more.
	app.fire(app.entry, kStart, 0, 70, "one", 0, 0);
	app.fire(app.entry, kStart + 1'000'000'000, 0, 70, "one", 0, 0);
	finish(app);
	Kept kept(app);
	// Another clock than the recording's is in the engine's own marks: only differences between ticks count.
	const std::string out =
	    replay_says(kept, "BEGIN { last = timestamp; } app::work:entry { go++; } tick-200ms /go == 1/ { "
	                      "printf(\"%d \", (timestamp - last) / 1000000); } "
	                      "tick-200ms { last = timestamp; }");
	CHECK(out.find("200 200 200") != std::string::npos);
}

TEST_CASE("replay: as many keys as there are", "[replay]") {
	App app;
	load(app, "app::work:entry { trace(arg0); }");
	constexpr unsigned kKeys = 200'000;
	for (unsigned i = 0; i < kKeys; i++)
		app.fire(app.entry, kStart + i * 100, 0, 70, "one", i, 0);
	finish(app);
	Kept kept(app);
	REQUIRE(kept.records() == kKeys);
	replay::Answer answer;
	const std::string said =
	    replay_says(kept, "app::work:entry { @[arg0] = count(); @sum = sum(1); }", &answer);
	CHECK(std::count(said.begin(), said.end(), '\n') > kKeys);
	CHECK(said.find(" " + std::to_string(kKeys - 1) + " ") != std::string::npos);
	CHECK(answer.verdict.lost == 0);
}

TEST_CASE("replay: printa() and clear() see the aggregations of their moment", "[replay]") {
	App app;
	load(app, "app::work: { capture(arg0); }");
	for (unsigned i = 1; i <= 10; i++)
		app.fire(i % 5 ? app.entry : app.exit, kStart + i * 100, i % 4, 70, "one", i, 0);
	finish(app);
	Kept kept(app);
	const char* const clause =
	    "app::work:entry { @ = sum(arg0); } app::work:return { printa(\"%@d \", @); "
	    "clear(@); } END { printa(\"%@d\", @); }";
	CHECK(replay_says(kept, clause) == "10 30 0\n");
	// A printa() of an ERROR clause, whatever probe faults.
	replay::ReplayOptions options = quiet();
	options.message = [](const std::string&) {}; // of the fault
	CHECK(replay_says(kept,
	                  "app::work:entry { @ = sum(arg0); } app::work:entry /arg0 == 3/ { "
	                  "trace(1 / (arg0 - 3)); } ERROR { printa(\"%@d \", @); clear(@); } "
	                  "END { printa(\"%@d\", @); }",
	                  nullptr, options) == "6 34\n");
}

TEST_CASE("replay: what was not captured is a compile error", "[replay]") {
	App app;
	load(app, "app::work:entry { trace(arg1); }");
	app.fire(app.entry, kStart, 0, 70, "one", 1, 2);
	finish(app);
	Kept kept(app);
	CHECK(replay_says(kept, "app::work:entry { printf(\"%d\", arg1 + 1); }") == "3\n");
	CHECK(compile_error(kept, "app::work:entry { trace(arg0); }").find("not recorded: arg0") !=
	      std::string::npos);
}

TEST_CASE("replay: a captured product has what its type has no room for", "[replay]") {
	const std::string product = "(unsigned int)arg1 * 4096";
	const std::string use = "self->b = (int64_t)0; self->b += " + product + "; @ = sum(self->b); }";
	const auto recorded = [](App& app, const std::string& program) {
		load(app, program);
		app.fire(app.entry, kStart, 0, 70, "one", 1, 0x200000);
		app.fire(app.entry, kStart + 1000, 0, 70, "one", 1, 1);
		finish(app);
		return Kept(app);
	};
	App app;
	Kept kept = recorded(app, "app::work:entry { capture(" + product + "); " + use);
	const std::string live = recorded_says(kept);
	CHECK(live.find("8589938688") != std::string::npos); // 2^33 + 4096
	CHECK(replay_says(kept, "app::work:entry { " + use) == live);
	const std::string condition = "app::work:entry /" + product + "/ { @ = count(); }";
	const std::string weight = "app::work:entry { @ = quantize(1, " + product + "); }";
	CHECK(replay_says(kept, condition).find(" 2\n") != std::string::npos);
	CHECK(replay_says(kept, weight).find("8589938688") != std::string::npos);
	// What is printed is cut to its type when it is recorded, too, and only that can be asked for later.
	const std::string print = "app::work:entry { trace(" + product + "); }";
	CHECK(replay_says(kept, print) == "04096\n");
	App printed;
	Kept cut = recorded(printed, print);
	CHECK(replay_says(cut, print) == "04096\n");
	CHECK(replay_says(cut, "app::work:entry { self->n = " + product + "; @ = sum(self->n); }")
	          .find(" 4096\n") != std::string::npos);
	CHECK(replay_says(cut, "app::work:entry { @ = sum((char)(" + product + ")); }").find(" 0\n") !=
	      std::string::npos);
	for (const std::string& more : {"app::work:entry { " + use, condition, weight})
		CHECK(compile_error(cut, more).find("not recorded: arg1") != std::string::npos);
}

TEST_CASE("replay: of two names of a value that is taken which each firing has", "[replay][verdict]") {
	App app;
	load(app, "app::work:entry { printf(\"%d\\n\", (int)arg1 + 1); } "
	          "app::work:entry /arg0 == 3/ { capture((int)arg1 + 1); }");
	app.fire(app.entry, kStart, 0, 70, "one", 1, 2);
	app.fire(app.entry, kStart + 1000, 0, 70, "one", 3, 4);
	finish(app);
	Kept kept(app);
	replay::Answer answer;
	const std::string keys = replay_says(
	    kept, "app::work:entry { @[(int)arg1 + 1] = count(); printa(\"%d %@d;\", @); }", &answer);
	CHECK(keys.find("3 1;5 1;") != std::string::npos);
	CHECK(answer.verdict.complete);
}

TEST_CASE("replay: a recording under a predicate answers for that predicate", "[replay]") {
	App app;
	Kept kept = worked(app, "app::work:entry /execname == \"beta\" && arg0 > 3/ { capture(); }");
	replay::Answer answer;
	replay_says(kept, "app::work:entry { @ = count(); }", &answer);
	CHECK_FALSE(answer.verdict.complete);
	REQUIRE_FALSE(answer.verdict.reasons.empty());
	replay_says(kept, "app::work:entry /execname == \"beta\" && arg0 > 3/ { @ = count(); }", &answer);
	CHECK(answer.verdict.complete);
	replay_says(kept, "app::work:entry /arg1 == 2 && execname == \"beta\" && arg0 > 3/ { @ = count(); }",
	            &answer);
	CHECK_FALSE(answer.verdict.reasons.size() > 1);
	// So does one that has variables, too, but not where it changes something in firings that were not recorded.
	const std::pair<const char*, bool> predicates[] = {
	    {"execname == \"beta\" && arg0 > 3 && n++ >= 0", true},
	    {"self->on == 0 && execname == \"beta\" && (x == 0 && arg0 > 3)", true},
	    {"n++ >= 0 && execname == \"beta\" && arg0 > 3", false},
	    {"execname == \"beta\" && n++ >= 0 && arg0 > 3", false},
	    {"execname == \"beta\" && (arg0 > 3 || n == 0)", false},
	    {"execname == \"beta\" && n == 0", false}};
	for (const auto& [predicate, complete] : predicates) {
		INFO(predicate);
		replay_says(kept,
		            std::string("END { self->on = 1; x = 1; n = 1; } "
		                        "app::work:entry /") +
		                predicate + "/ { @ = count(); }",
		            &answer);
		CHECK(answer.verdict.complete == complete);
	}
	replay::ReplayOptions strict = quiet();
	strict.strict = true;
	CHECK_THROWS_AS(replay_says(kept, "app::work:entry { @ = count(); }", nullptr, strict), Error);
}

// REPLAY.md, section 2: of what was recorded for it an analysis gets all of its answer.
TEST_CASE("replay: what was recorded for a predicate with variables answers it", "[replay][verdict]") {
	const std::string analysis = "app::work:entry { self->ts = timestamp; } "
	                             "app::work:return /self->ts && execname == \"beta\"/ { @ = count(); }";
	App app;
	d::CompileOptions compile;
	compile.name = "test";
	d::Diagnostics diagnostics;
	load(app, d::derive(analysis, compile, app, diagnostics).program.image);
	REQUIRE_FALSE(diagnostics.failed());
	work(app);
	finish(app);
	Kept kept(app);
	replay::Answer answer;
	replay::ReplayOptions strict = quiet();
	strict.strict = true;
	// Of 7 programs one after the other 2 are beta.
	CHECK(replay_says(kept, analysis, &answer, strict).find(" 857\n") != std::string::npos);
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.reasons.empty());
}

TEST_CASE("replay: several recording clauses are one firing", "[replay]") {
	App app;
	load(app, "app::work:entry { capture(arg0); } app::work:entry { capture(arg1); }");
	app.fire(app.entry, kStart, 0, 70, "one", 11, 22);
	app.fire(app.entry, kStart + 1, 0, 70, "one", 33, 44);
	finish(app);
	Kept kept(app);
	CHECK(replay_says(kept, "app::work:entry { printf(\"%d+%d \", arg0, arg1); }") == "11+22 33+44 \n");
}

TEST_CASE("replay: what was counted and not recorded is no complete answer", "[replay][verdict]") {
	App app;
	Kept kept = worked(app, "app::work:entry { @[execname] = count(); } app::work:return { x = arg0; }");
	CHECK(compile_error(kept, "app::work:entry { @ = count(); }").find("add capture()") !=
	      std::string::npos);
}

TEST_CASE("replay: a pattern over recorded and counted probes names the counted ones", "[replay][verdict]") {
	App app;
	Kept kept = worked(app, "app::work:entry { capture(); } app::work:return { @ = count(); }");
	replay::Answer answer;
	replay_says(kept, "app::work: { @[probename] = count(); }", &answer);
	CHECK_FALSE(answer.verdict.complete);
	REQUIRE(answer.verdict.reasons.size() == 1);
	CHECK(answer.verdict.reasons[0].find("app:m:work:return was enabled but left no records") == 0);
	replay_says(kept, "app::work:entry { @[probename] = count(); }", &answer);
	CHECK(answer.verdict.complete);
}

TEST_CASE("replay: with -Z a probe that was never enabled is named", "[replay][verdict]") {
	App app;
	Kept kept = worked(app, "app::work:entry { capture(); }");
	replay::RecordingTarget target(kept.catalog(), "kept");
	d::CompileOptions options;
	options.options = {"quiet", "zdefs"};
	d::Diagnostics diagnostics;
	const d::Compiled program =
	    d::compile("app::other:entry { @ = count(); }", options, target, diagnostics);
	REQUIRE_FALSE(diagnostics.failed());
	render::Output output(-1);
	render::NoSymbols symbols;
	const auto answer =
	    replay::replay_program(trace::United({&kept}), target, program, output, symbols, quiet());
	CHECK_FALSE(answer.verdict.complete);
	REQUIRE(answer.verdict.reasons.size() == 1);
	CHECK(answer.verdict.reasons[0].find("nothing that was recorded matches") == 0);
}

TEST_CASE("replay: what every record has is not taken from one clause's capture", "[replay][verdict]") {
	App app;
	Kept kept =
	    worked(app, "app::work:entry { capture(); } app::work:return { trace(pid); trace(execname); }");
	replay::Answer answer;
	// 3,000 entries and 3,000 returns; tids are 100 to 102, so every pid is 10.
	CHECK(replay_says(kept,
	                  "app::work: { @[pid] = count(); } app::work:entry /execname == \"beta\"/ { n++; } "
	                  "END { printf(\"%d\", n); }",
	                  &answer)
	          .find("857") == 0);
	CHECK(replay_says(kept, "app::work: { @[pid] = count(); }", &answer).find("6000") !=
	      std::string::npos);
	CHECK(answer.verdict.complete);
}

TEST_CASE("replay: a clause runs only where its inputs were recorded, and the verdict says where",
          "[replay][verdict]") {
	App app;
	load(app, "app::work:entry /execname == \"alpha\"/ { capture(arg0); } app::work:entry /execname == "
	          "\"beta\"/ { capture(arg1); }");
	app.fire(app.entry, kStart, 0, 70, "alpha", 5, 6);
	app.fire(app.entry, kStart + 1, 0, 80, "beta", 7, 8);
	app.fire(app.entry, kStart + 2, 0, 80, "beta", 9, 10);
	finish(app);
	Kept kept(app);
	replay::Answer answer;
	CHECK(replay_says(kept,
	                  "app::work:entry { n++; printf(\"%d \", arg1); } END { printf(\"n=%d\", n); }",
	                  &answer) == "8 10 n=2\n");
	CHECK_FALSE(answer.verdict.complete);
	const auto named = [&](const std::string& text) {
		return std::any_of(
		    answer.verdict.reasons.begin(), answer.verdict.reasons.end(),
		    [&](const std::string& reason) { return reason.find(text) != std::string::npos; });
	};
	CHECK(named("1 firing of app:m:work:entry was passed over: it lacks arg1, which was recorded only "
	            "where execname == \"beta\""));
	// In a predicate too: it is no fault.
	CHECK(replay_says(kept, "app::work:entry /arg1 == 8 || arg1 == 10/ { @ = count(); }", &answer)
	          .find(" 2\n") != std::string::npos);
}

TEST_CASE("replay: firings that a clause's own predicate leaves out lack nothing", "[replay][verdict]") {
	App app;
	load(app,
	     "app::work:entry { capture(0); } app::work:entry /execname == \"alpha\"/ { capture(arg0); } "
	     "app::work:entry /execname == \"beta\"/ { trace(*(int *)arg1); capture(arg1); }");
	app.fire(app.entry, kStart, 0, 70, "alpha", 5, 6);
	app.fire(app.entry, kStart + 1, 0, 80, "beta", 7, 8);
	app.fire(app.entry, kStart + 2, 0, 70, "alpha", 9, 10);
	finish(app);
	Kept kept(app);
	const auto complete = [&kept](const char* program, const char* says) {
		replay::Answer answer;
		CHECK(replay_says(kept, program, &answer) == says);
		return answer.verdict.complete;
	};
	CHECK(complete("app::work:entry /execname == \"alpha\"/ { n++; s += arg0; } "
	               "END { printf(\"%d %d\", n, s); }",
	               "2 14\n"));
	CHECK(complete(
	    "app::work:entry { n++; } app::work:entry /execname == \"alpha\" && arg0 > 5/ { s += arg0; } "
	    "END { printf(\"%d %d\", n, s); }",
	    "3 9\n"));
	// One of two clauses wants it of all.
	CHECK_FALSE(complete("app::work:entry /execname == \"alpha\"/ { n++; s += arg0; } "
	                     "app::work:entry /arg0 == 7/ { t++; } END { printf(\"%d %d %d\", n, s, t); }",
	                     "2 14 0\n"));
	// What counts before the predicate's inputs would have counted all of them.
	CHECK_FALSE(complete("app::work:entry /m++ < 9 && execname == \"alpha\"/ { n++; s += arg0; } "
	                     "END { printf(\"%d %d %d\", n, s, m); }",
	                     "2 14 2\n"));
	// The recording clause may have faulted, which nobody tells, because another one has the firing.
	CHECK_FALSE(complete("app::work:entry /execname == \"beta\"/ { n++; s += arg1; } "
	                     "END { printf(\"%d %d\", n, s); }",
	                     "0 0\n"));
}

TEST_CASE("replay: a verdict's text that lacks a part is noticed in each test here", "[replay][verdict]") {
	CHECK(is_unfinished("they lack arg0, which was recorded only where "));
	CHECK(is_unfinished("1 firings of a:b:c:d were passed over"));
	CHECK(is_unfinished("the recordings leave out  (1 s)"));
	CHECK_FALSE(is_unfinished("1 firing of a:b:c:d was passed over: it lacks arg0"));
	CHECK_FALSE(is_unfinished("11 firings of a:b:c:d were passed over"));
}

TEST_CASE("replay: an input that no clause of a probe has is told with what to add", "[replay][verdict]") {
	App app;
	Kept kept = worked(app, "app::work:entry { capture(arg0); } app::work:return { capture(arg1); }");
	replay::Answer answer;
	replay_says(kept, "app::work: { @ = count(); @s = sum(arg0); }", &answer);
	CHECK(answer.verdict.reasons ==
	      std::vector<std::string>{
	          "3,000 firings of app:m:work:return were passed over: they lack arg0, which was not "
	          "recorded there: add capture(arg0); to the recording program's clause"});
	CHECK_FALSE(answer.verdict.complete);
}

TEST_CASE("replay: probes whose firings lack the same are told together", "[replay][verdict]") {
	App app;
	std::vector<dfr_probe*> probes;
	for (const char* const name : {"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"})
		probes.push_back(app.another(name));
	load(app, "app::work:e? /arg0 == 1/ { capture(arg0); } app::work:e? /arg0 == 2/ { capture(arg1); }");
	for (size_t i = 0; i < probes.size(); i++)
		app.fire(probes[(i + 3) % probes.size()], kStart + i, 0, 70, "one", 1, 0);
	finish(app);
	Kept kept(app);
	replay::Answer answer;
	replay_says(kept, "app::work:e? { @ = sum(arg1); }", &answer);
	CHECK(std::ranges::count(
	          answer.verdict.reasons,
	          "8 firings of app:m:work:e0 and 7 more probes were passed over: they lack arg1, "
	          "which was recorded only where arg0 == 2") == 1);
}

TEST_CASE("replay: captured stacks are the program's stacks, and print nothing when captured",
          "[replay][verdict]") {
	App app;
	load(app, "app::work:entry { capture(stack(), ustack()); }");
	const u64 kernel[] = {0xffffffff81000010, 0xffffffff81000020},
	          user[] = {0x400010, 0x400020, 0x400030};
	for (unsigned i = 0; i < 2; i++) {
		dfr_env env{};
		env.ev_time = kStart + i;
		env.ev_task = env.ev_tid = env.ev_pid = 70;
		env.ev_stack = kernel;
		env.ev_nstack = 2;
		env.ev_ustack = user;
		env.ev_nustack = 3;
		const u64 arguments[3] = {};
		dfr_user_cpu = 0;
		dfr_fire_env(app.entry, arguments, 3, nullptr, &env);
	}
	finish(app);
	Kept kept(app);
	CHECK(recorded_says(kept) == "\n");
	replay::Answer answer;
	const std::string stacks = replay_says(kept, "app::work:entry { @[stack()] = count(); }", &answer);
	CHECK(answer.verdict.complete);
	CHECK(stacks.find("0xffffffff81000010") != std::string::npos);
	CHECK(stacks.find("0xffffffff81000020") != std::string::npos);
	CHECK(stacks.find(" 2\n") != std::string::npos);
	CHECK(replay_says(kept, "app::work:entry { @[ustack()] = count(); }").find("0x400030") !=
	      std::string::npos);
}

TEST_CASE("replay: where a derived predicate faults, replay faults as the analysis does", "[replay]") {
	const std::string analysis = "app::work:entry /10 / arg0 == 5/ { n++; } ERROR { e++; what = arg4; } "
	                             "END { printf(\"n=%d e=%d fault %d\", n, e, what); }";
	std::vector<std::string> messages;
	replay::ReplayOptions options = quiet();
	options.message = [&](const std::string& text) { messages.push_back(text); };
	App app;
	d::CompileOptions compile;
	compile.name = "test";
	compile.options = {"quiet"};
	d::Diagnostics diagnostics;
	load(app, d::derive(analysis, compile, app, diagnostics).program.image);
	REQUIRE_FALSE(diagnostics.failed());
	for (uint64_t i = 0; i < 6; i++)
		app.fire(app.entry, kStart + i, 0, 70, "one", i % 3, 0);
	finish(app);
	Kept kept(app);
	CHECK(kept.records() == 4); // 10 / 1 is not 5
	CHECK(replay_says(kept, analysis, nullptr, options) ==
	      "n=2 e=2 fault " + std::to_string(DIF_FAULT_DIVZERO) + "\n");
	CHECK(std::count_if(messages.begin(), messages.end(), [](const std::string& text) {
		      return text.find("divide-by-zero in predicate") != std::string::npos;
	      }) == 2);
}

TEST_CASE("replay: a fill ring that stopped says since when", "[replay][verdict]") {
	App app;
	d::CompileOptions options;
	options.options = {"quiet", "bufpolicy=fill", "bufsize=4k"};
	d::Diagnostics diagnostics;
	const auto dof =
	    dof::write(d::compile("app::work:entry { capture(); }", options, app, diagnostics).image);
	app.enable(std::as_bytes(std::span(dof)), false);
	app.own.ev_time = kStart - 1000;
	dfr_user_env = &app.own;
	app.go();
	work(app);
	finish(app);
	Kept kept(app);
	replay::Answer answer;
	replay_says(kept, "app::work:entry { @ = count(); }", &answer);
	CHECK_FALSE(answer.verdict.complete);
	REQUIRE(answer.verdict.reasons.size() == 1);
	CHECK(answer.verdict.reasons[0].find("stopped, full, at ") == 0);
	// Of the time before that nothing is missing.
	replay::ReplayOptions before = quiet();
	before.wanted.to = replay::When{.ns = static_cast<int64_t>(kStart + 2)};
	replay_says(kept, "app::work:entry { @ = count(); }", &answer, before);
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.to < kStart + 3000 * 1000);
	CHECK(answer.verdict.to > kStart);
}

TEST_CASE("conditions are shown as people write them", "[replay][verdict]") {
	CHECK(d::readable("(&& (==$ execname \"csh\") (> arg0 3))") == "execname == \"csh\" && arg0 > 3");
	CHECK(d::readable("(|| (== pid 2) (&& (== pid 3) (! arg1)))") == "pid == 2 || (pid == 3 && !(arg1))");
	CHECK(d::readable("(<u arg0 (cast s4 arg1))") == "arg0 < arg1");
	CHECK(d::readable("(copyinstr arg0)") == "copyinstr(arg0)");
	CHECK(d::readable("pid") == "pid");
}

// formats/d/LANGUAGE.md: ties by key; the addresses of one name are one row, which sorts as the least of them.
TEST_CASE("a name of several addresses sorts as the least, whichever came first", "[replay]") {
	struct Twins final : render::Symboliser {
		types::SymbolName kernel(uint64_t address) override {
			return {"m", address == 0x2000 ? "between" : "twin", 0};
		}
		types::SymbolName user(uint32_t, uint64_t) override { return {}; }
	} symbols;
	for (const auto& [first, second] : {std::pair{0x1000, 0x3000}, std::pair{0x3000, 0x1000}}) {
		App app;
		load(app, "app::work:entry { @[func(arg0)] = count(); }");
		uint64_t time = kStart;
		for (const int address : {first, 0x2000, second, 0x2000})
			app.fire(app.entry, time += 1000, 0, 100, "app", static_cast<uint64_t>(address), 0);
		finish(app);
		Kept kept(app);
		render::Output output(-1);
		replay::render_recording(kept, output, symbols, quiet());
		const std::string said = output.take();
		INFO(said);
		REQUIRE(said.find("m`between") != std::string::npos);
		CHECK(said.find("m`twin") < said.find("m`between"));
	}
}

} // namespace replay_equal_test
