// SPDX-License-Identifier: GPL-2.0
//
// An answer that may be less than whole is never called complete: what kept firings,
// or parts of what they read, out of a recording is named in the verdict.
// analyze/replay/REPLAY.md, sections 3 and 7.
#include <catch2/catch.hpp>

#include "analyze/render/programs.h"
#include "analyze/replay/conditions.h"
#include "tests/unit/replay_app.h"

namespace replay_conditions_test {

using namespace dfr;
using namespace dfr::test;

namespace {

using Reasons = std::vector<std::string>;

// 12 firings on two CPUs, each of an entry, with its number, and a return.
void work(App& app) {
	for (unsigned i = 0; i < 12; i++) {
		app.fire(app.entry, kStart + i * 1000, i % 2, 70, "one", i, 100 + i);
		app.fire(app.exit, kStart + i * 1000 + 500, i % 2, 70, "one", i, 0);
	}
	finish(app);
}

// What dfr record would have recorded: with a record of each fault.
Kept recorded(App& app, const std::string& program) {
	const auto dof = render::error_program();
	app.enable(std::as_bytes(std::span(dof)), false);
	load(app, program);
	work(app);
	return Kept(app);
}

Reasons reasons(Kept& kept, const std::string& program, bool complete,
                const replay::ReplayOptions& options = quiet()) {
	replay::Answer answer;
	replay_says(kept, program, &answer, options);
	CHECK(answer.verdict.complete == complete);
	return answer.verdict.reasons;
}

const char* const kCount = "app::work:entry { @ = count(); }";

// Firings with a text and stacks of its process.
Kept with_memory(App& app, const std::string& program, const char* text, unsigned frames) {
	load(app, program);
	const u64 stack[] = {0xffffffff81000010, 0xffffffff81000020, 0xffffffff81000030};
	for (unsigned i = 0; i < 2; i++) {
		dfr_env env{};
		env.ev_time = kStart + i;
		env.ev_task = env.ev_tid = env.ev_pid = 70;
		env.ev_flags = DFR_ENV_LIVE;
		env.ev_stack = env.ev_ustack = stack;
		env.ev_nstack = env.ev_nustack = frames;
		const u64 arguments[3] = {reinterpret_cast<u64>(text), 0, 0};
		dfr_user_cpu = 0;
		dfr_fire_env(app.entry, arguments, 3, nullptr, &env);
	}
	finish(app);
	return Kept(app);
}

} // namespace

TEST_CASE("replay: firings whose clause faulted are counted as missing", "[replay][verdict]") {
	App app;
	Kept kept =
	    recorded(app, "app::work:entry { trace(10 / (arg0 % 3)); } app::work:return { capture(); }");
	// 0, 3, 6 and 9 faulted, on CPUs 0, 1, 0 and 1.
	replay::Answer answer;
	CHECK(replay_says(kept, kCount, &answer).find(" 8\n") != std::string::npos);
	CHECK_FALSE(answer.verdict.complete);
	CHECK(answer.verdict.reasons ==
	      Reasons{"4 firings of app:m:work:entry left no record, because a clause faulted there"});
	replay::ReplayOptions part = quiet();
	part.wanted.cpus = {false, true};
	CHECK(reasons(kept, kCount, false, part) ==
	      Reasons{"2 firings of app:m:work:entry left no record, because a clause faulted there"});
	part = quiet();
	part.wanted.from = replay::parse_when("@" + std::to_string(kStart + 7000));
	CHECK(reasons(kept, kCount, false, part) ==
	      Reasons{"1 firing of app:m:work:entry left no record, because a clause faulted there"});
	part.wanted.from = replay::parse_when("@" + std::to_string(kStart + 9500));
	CHECK(reasons(kept, kCount, true, part).empty());
	CHECK(reasons(kept, "app::work:return { @ = count(); }", true).empty());
	// Where threads know of each other, one engine makes the firings; of a `self->`, several may.
	CHECK(reasons(kept, "app::work:entry { n++; }", false).size() == 1);
	CHECK(reasons(kept, "app::work:entry { self->n++; @ = count(); }", false).size() == 1);
}

TEST_CASE("replay: a firing that another clause recorded is there, whatever faulted", "[replay][verdict]") {
	for (const char* program :
	     {"app::work:entry { trace(10 / (arg0 % 3)); } app::work:entry { capture(arg1); }",
	      "app::work:entry { capture(arg1); } app::work:entry { trace(10 / (arg0 % 3)); }",
	      "app::work:entry { @ = sum(10 / (arg0 % 3)); } app::work:entry { capture(arg1); }"}) {
		INFO(program);
		App app;
		Kept kept = recorded(app, program);
		replay::Answer answer;
		CHECK(replay_says(kept, "app::work:entry { @ = sum(arg1); }", &answer).find(" 1266\n") !=
		      std::string::npos);
		CHECK(answer.verdict.complete);
		CHECK(answer.verdict.reasons.empty());
	}
	// What only the faulting clause has, such a firing lacks.
	App app;
	Kept kept = recorded(
	    app,
	    "app::work:entry { capture(arg0); n = 10 / (arg0 % 3); } app::work:entry { capture(arg1); }");
	CHECK(
	    reasons(kept, "app::work:entry { @ = sum(arg0); }", false) ==
	    Reasons{"4 firings of app:m:work:entry were passed over: they lack arg0, which was recorded only "
	            "where its clause did not fault"});
}

TEST_CASE("replay: where faults left no records, a clause that may fault is a condition",
          "[replay][verdict]") {
	const std::pair<const char*, bool> programs[] = {
	    {"trace(10 / arg0);", true},
	    {"trace(copyinstr(arg0));", true},
	    {"trace(stringof(arg0));", true},
	    {"x = strlen(execname); this->t = execname; trace(arg0);", true},
	    {"trace(arg0 / (arg1 ? 1 : 0));", true},
	    {"capture(10 / arg0);", false},
	    {"capture(copyinstr(arg0));", false},
	    {"trace(arg0 / 1000 + arg1 % 7);", false},
	    {"n++; self->at = timestamp; trace(execname); printf(\"%s %d\", probefunc, pid);", false},
	    {"@[execname] = sum(arg0); capture();", false},
	    {"trace(execname == \"one\" && arg0 > 3);", false}};
	for (const auto& [clause, conditional] : programs) {
		INFO(clause);
		App app;
		const std::string program = std::string("app::work:entry { ") + clause + " }";
		load(app, program);
		app.fire(app.entry, kStart, 0, 70, "one", 1, 1);
		finish(app);
		Kept kept(app);
		CHECK(reasons(kept, kCount, !conditional) ==
		      (conditional
		           ? Reasons{"app:m:work:entry was recorded only where its clause did not fault"}
		           : Reasons{}));
		// So that is what dfr compile and the boot add a clause to; and only that.
		dof::Image image = compiled(program, app).image;
		replay::tell_faults(image);
		replay::tell_faults(image);
		CHECK(image.ecbs.size() == (conditional ? 2 : 1));
	}
}

TEST_CASE("replay: a compiled program tells of its faults", "[replay][verdict]") {
	App app;
	dof::Image image = compiled("app::work:entry { trace(10 / (arg0 % 3)); }", app).image;
	replay::tell_faults(image);
	load(app, image);
	work(app);
	Kept kept(app);
	CHECK(reasons(kept, kCount, false) ==
	      Reasons{"4 firings of app:m:work:entry left no record, because a clause faulted there"});
	// Not one that counts only, nor one with an ERROR clause of its own.
	for (const char* const program : {"app::work:entry { @ = sum(10 / arg0); }",
	                                  "app::work:entry { trace(10 / arg0); } ERROR { n++; }"}) {
		dof::Image other = compiled(program, app).image;
		const size_t before = other.ecbs.size();
		replay::tell_faults(other);
		CHECK(other.ecbs.size() == before);
	}
}

TEST_CASE("replay: what was recorded by speculations is a condition", "[replay][verdict]") {
	App app;
	Kept kept = recorded(app, "app::work:entry { self->s = speculation(); } "
	                          "app::work:entry { speculate(self->s); trace(arg0); } "
	                          "app::work:return /arg0 % 3 == 0/ { commit(self->s); } "
	                          "app::work:return /arg0 % 3 != 0/ { discard(self->s); }");
	replay::Answer answer;
	CHECK(replay_says(kept, kCount, &answer).find(" 12\n") == std::string::npos);
	CHECK_FALSE(answer.verdict.complete);
	REQUIRE_FALSE(answer.verdict.reasons.empty());
	CHECK(answer.verdict.reasons.back() ==
	      "app:m:work:entry was recorded only where the speculation was committed");
}

TEST_CASE("replay: an input that is missing when it is read is counted", "[replay][verdict]") {
	App first, second;
	Kept with = recorded(first, "app::work:entry { capture(arg0); }");
	Kept without = recorded(second, "app::work:entry { capture(arg1); }");
	replay::RecordingTarget known(with.catalog(), "with");
	const trace::United united({&without});
	replay::RecordingTarget target(united);
	// Compiled against a recording in which each firing has it, so nothing asks for it first.
	for (const unsigned threads : {1u, 2u}) {
		replay::ReplayOptions options = quiet();
		options.threads = threads;
		options.message = [](const std::string&) {};
		render::Output output(-1);
		render::NoSymbols symbols;
		without.rewind();
		const auto answer = replay::replay_program(
		    united, target, compiled("app::work:entry { @ = sum(arg0); }", known), output, symbols,
		    options);
		CHECK_FALSE(answer.verdict.complete);
		REQUIRE(answer.verdict.reasons.size() == 1);
		CHECK(answer.verdict.reasons[0].find(
		          "12 firings of app:m:work:entry were passed over: they lack "
		          "arg0") == 0);
	}
}

TEST_CASE("replay: a recording of one CPU is a condition, unless only that is asked", "[replay][verdict]") {
	App app;
	Kept kept = recorded(app, "#pragma D option cpu=1\napp::work:entry { capture(); }");
	CHECK(reasons(kept, kCount, false) == Reasons{"only CPU 1 was recorded (-x cpu=)"});
	replay::ReplayOptions part = quiet();
	part.wanted.cpus = {false, true};
	CHECK(reasons(kept, kCount, true, part).empty());
	CHECK(reasons(kept, std::string("#pragma D option cpu=1\n") + kCount, true).empty());
	CHECK(reasons(kept, std::string("#pragma D option cpu=0\n") + kCount, false).size() == 1);
}

TEST_CASE("replay: what a user without privilege recorded is of his tasks only", "[replay][verdict]") {
	App first, second;
	Kept own = recorded(first, "app::work:entry { capture(); }");
	Kept all = recorded(second, "app::work:return { capture(); }");
	own.place("own.dfr", "alpha", 1, 0);
	all.place("all.dfr", "alpha", 1, 0);
	const auto asked = [&](const std::vector<Kept*>& of) {
		replay::Answer answer;
		replay_says(of, kCount, &answer);
		CHECK(answer.verdict.complete == answer.verdict.reasons.empty());
		return answer.verdict.reasons;
	};
	CHECK(asked({&own}).empty());
	CHECK(asked({&own, &all}).empty());
	own.identity().machine["confined"] = "1000";
	CHECK(asked({&own}) == Reasons{"only tasks of user 1000 were recorded (without privilege)"});
	// What others did at its probes nobody has.
	CHECK(asked({&own, &all}) ==
	      Reasons{"all.dfr: nothing that was recorded matches app::work:entry",
	              "own.dfr: only tasks of user 1000 were recorded (without privilege)"});
}

TEST_CASE("replay: texts that were cut for a smaller strsize are counted", "[replay][verdict]") {
	const char* const program =
	    "#pragma D option strsize=16\napp::work:entry { capture(copyinstr(arg0)); }";
	const char* const asked = "app::work:entry { @[copyinstr(arg0)] = count(); }";
	const Reasons cut = {
	    "2 texts of app:m:work:entry may have been cut to 15 bytes when recorded (-x strsize=)"};
	App app;
	Kept kept = with_memory(app, program, "/usr/share/a/long/name", 0);
	CHECK(reasons(kept, asked, false) == cut);
	CHECK(reasons(kept, std::string("#pragma D option strsize=16\n") + asked, true).empty());
	CHECK(reasons(kept, kCount, true).empty());
	App other;
	Kept whole = with_memory(other, program, "/usr/share/a/b", 0);
	CHECK(reasons(whole, asked, true).empty());
	// Without capture() no note tells that it was cut.
	App traced;
	Kept text = with_memory(
	    traced, "#pragma D option strsize=16\napp::work:entry { capture(arg0); trace(copyinstr(arg0)); }",
	    "/usr/share/a/long/name", 0);
	Reasons of_both = reasons(text, asked, false);
	CHECK(std::find(of_both.begin(), of_both.end(), cut[0]) != of_both.end());
}

TEST_CASE("replay: stacks that were recorded less deep are counted", "[replay][verdict]") {
	const char* const program = "#pragma D option stackframes=2\n#pragma D option ustackframes=2\n"
	                            "app::work:entry { capture(stack(), ustack()); }";
	for (const unsigned frames : {0u, 1u, 2u, 3u})
		for (const std::string kind : {"stack", "ustack"}) {
			INFO(frames << kind);
			App app;
			Kept kept = with_memory(app, program, "", frames);
			const std::string asked = "app::work:entry { @[" + kind + "()] = count(); }";
			CHECK(reasons(kept, asked, frames < 2) ==
			      (frames < 2
			           ? Reasons{}
			           : Reasons{"2 stacks of app:m:work:entry may go on after the 2 frames that "
			                     "were recorded (-x stackframes=, ustackframes=)"}));
			CHECK(reasons(kept, "#pragma D option " + kind + "frames=2\n" + asked, true).empty());
		}
}

// REPLAY.md, section 1: variables are always the replaying program's own.
TEST_CASE("replay: the left side of a comma is computed, in a value and in a predicate",
          "[replay][verdict]") {
	const std::string end = " END { printf(\"n=%d\", n); }";
	const auto says = [&end](Kept& kept, const std::string& clause, bool complete) {
		replay::Answer answer;
		const std::string said = replay_says(kept, clause + end, &answer);
		CHECK(answer.verdict.complete == complete);
		return said.substr(0, said.find('\n'));
	};
	App app;
	Kept kept = recorded(app, "app::work:entry { capture(); }");
	CHECK(says(kept, "app::work:entry { @ = sum((n++, arg0)); }", true) == "n=12");
	CHECK(says(kept, "app::work:entry /(n++, cpu == 1)/ { @ = count(); }", true) == "n=12");
	App other;
	Kept part = recorded(other, "app::work:entry /cpu == 1/ { capture(); }");
	CHECK(says(part, "app::work:entry /(n++, cpu == 1)/ { @ = count(); }", false) == "n=6");
}

TEST_CASE("replay: a pattern that names more than was enabled is noted", "[replay][verdict]") {
	const auto notes = [](Kept& kept, const std::string& program) {
		replay::Answer answer;
		replay_says(kept, program, &answer);
		CHECK(answer.verdict.complete);
		return answer.verdict.notes;
	};
	App app;
	Kept kept = recorded(app, "app::work:entry { capture(); }");
	CHECK(notes(kept, "app::work: { @ = count(); }") ==
	      Reasons{"1 probe that matches app::work: was recorded; others, if there are any, were not"});
	for (const char* program : {"app::work:entry { @ = count(); }", "app:m:work:entry { @ = count(); }",
	                            "BEGIN { n = 1; } tick-1s { n++; } app::work:entry { @ = count(); }"})
		CHECK(notes(kept, program).empty());
	App other;
	Kept all = recorded(other, "app::: { capture(); }");
	CHECK(notes(all, "app::work: { @ = count(); }").empty());
	CHECK(notes(all, "app::w*:entry { @ = count(); }").empty());
	CHECK(notes(all, ":::entry { @ = count(); }") ==
	      Reasons{"1 probe that matches :::entry was recorded; others, if there are any, were not"});
}

TEST_CASE("replay: conditions are taken apart at their &&", "[replay][verdict]") {
	using Parts = std::vector<std::string_view>;
	CHECK(replay::conjuncts("(&& (&& (> arg0 3) (== execname \"a )\")) pid)") ==
	      Parts{"(== execname \"a )\")", "(> arg0 3)", "pid"});
	CHECK(replay::conjuncts("pid") == Parts{"pid"});
	// What no compiler wrote is taken as one.
	for (const char* text : {"(&& a", "(&& a b", "(&& a b) c", "(&& )", "(&& a b c)", "", "(&& \"a b)"})
		CHECK(replay::conjuncts(text) == Parts{text});
	// Each character is looked at once, however deep a chain stands.
	std::string deep;
	for (unsigned i = 0; i < 100'000; i++)
		deep += "(&& ";
	CHECK(replay::conjuncts(deep) == Parts{deep});
	std::string chain = "a";
	for (unsigned i = 0; i < 500; i++)
		chain = "(&& " + chain + " a)";
	CHECK(replay::conjuncts(chain).size() == 501);
}

TEST_CASE("replay: a pattern lies within another one, or it is not known", "[replay][verdict]") {
	const auto within = [](const char* one, const char* other) {
		const auto pattern = [](const char* text) {
			const auto fields = d::probe_fields(text);
			return d::ProbePattern{"", fields.at(0), fields.at(1), fields.at(2), fields.at(3)};
		};
		return replay::within(pattern(one), pattern(other));
	};
	CHECK(within("syscall::read:entry", "syscall:::entry"));
	CHECK(within("syscall::read:entry", "syscall::re?d:*"));
	CHECK(within("fbt::vfs_*:entry", "fbt::v*:entry"));
	CHECK(within("fbt::vfs_*:entry", "fbt:::"));
	CHECK_FALSE(within("syscall:::entry", "syscall::read:entry"));
	CHECK_FALSE(within("syscall::read:", "syscall::read:entry"));
	CHECK_FALSE(within("fbt::v*:entry", "fbt::vfs_*:entry"));
	CHECK_FALSE(within("fbt::vfs_*:entry", "fbt::*s_*:entry"));
}

} // namespace replay_conditions_test
