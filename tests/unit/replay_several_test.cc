// SPDX-License-Identifier: GPL-2.0
//
// One answer over recordings of several states, boots and hosts: what is counted
// together, what is kept apart, in which order it comes, and what the verdict says.
#include <catch2/catch.hpp>

#include "formats/error.h"
#include "formats/trace/joined.h"
#include "formats/trace/redact.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/scratch_folder.h"

namespace replay_several_test {

using namespace dfr;
using namespace dfr::test;

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;
// When the made-up hosts' clocks began.
constexpr uint64_t kZero = 1'700'000'000 * kSecond;

const char* const kCapture = "app::work: { capture(arg0, arg1); }";

// Four firings of thread 70, a second apart; arg0 is `first`, first + 10, ...
Kept four(App& app, const std::string& program, uint64_t first, uint64_t start = kStart) {
	dfr_user_cpu = 0; // of BEGIN
	load(app, program);
	for (unsigned i = 0; i < 4; i++)
		app.fire(app.entry, start + i * kSecond, i % 2, 70, "one", first + 10ull * i, i);
	finish(app);
	Kept kept(app);
	for (trace::EventMark& mark : kept.identity().events)
		mark.time += start - kStart;
	return kept;
}

bool says(const replay::Answer& answer, const std::string& text) {
	return std::any_of(
	    answer.verdict.reasons.begin(), answer.verdict.reasons.end(),
	    [&text](const std::string& reason) { return reason.find(text) != std::string::npos; });
}

// A file of it that was not ended, or whose recording goes on, and is whole up to the fourth firing's time.
std::vector<std::unique_ptr<trace::FileSource>>
killed(const ScratchFolder& folder, Kept& kept, uint64_t until = kStart + 3 * kSecond, bool goes_on = false) {
	const std::string path = folder.file("killed.dfr");
	{
		trace::FileWriter writer(path, false,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		kept.rewind();
		while (const auto block = kept.next())
			writer.block(*block);
		writer.account(kept, until);
		if (goes_on)
			writer.finish(true);
	}
	std::vector<std::unique_ptr<trace::FileSource>> files;
	files.push_back(trace::open_file(path));
	return files;
}

} // namespace

TEST_CASE("replay of several hosts: what both have is counted together", "[replay][several]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1);
	// Other EPIDs, another layout, one more probe.
	two.another("other");
	Kept beta = four(two,
	                 "app::work:other, app::work:return { trace(tid); } app::work:entry { @ = count(); } "
	                 "app::work:entry { trace(execname); capture(arg1, arg0); }",
	                 1);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "beta", 2, kZero);
	replay::Answer answer;
	const char* const program =
	    "app::work:entry { n++; s += arg0; @c[cpu] = count(); } END { printf(\"%d %d %d\", n, s, tid); }";
	const std::string said = replay_says({&alpha, &beta}, program, &answer);
	CHECK(said.find("8 128 ") == 0); // 2 * (1 + 11 + 21 + 31)
	// Both have CPUs 0 and 1, each with two firings.
	CHECK(said.find("0                4\n") != std::string::npos);
	CHECK(said.find("1                4\n") != std::string::npos);
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.records == 8);
	CHECK(answer.verdict.cpus == 4);
	CHECK(answer.verdict.hosts == 2);
	CHECK(answer.verdict.clock_error == 0);
}

TEST_CASE("replay of several hosts: firings come in the order of wall time", "[replay][several]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1);
	Kept beta = four(two, kCapture, 2, kStart + 500 * kSecond);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	// Its clock is ahead by 500 s, less half a second.
	beta.place("beta.dfr", "beta", 2, kZero - 500 * kSecond + kSecond / 2);
	const char* const program =
	    "uint64_t last; app::work:entry { printf(\"%d:%d \", arg0, last ? (timestamp - "
	    "last) / 1000000 : 0); last = timestamp; }"
	    "END { printf(\"%d\", walltimestamp - timestamp); }";
	const std::string expected = "1:0 2:500 11:500 12:500 21:500 22:500 31:500 32:500 0\n";
	CHECK(replay_says({&alpha, &beta}, program) == expected);
	CHECK(replay_says({&beta, &alpha}, program) == expected);
}

TEST_CASE("replay of several hosts: thread-local variables are each thread's own", "[replay][several]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1), beta = four(two, kCapture, 2);
	const char* const program =
	    "self int x; app::work:entry { printf(\"%d-%d \", arg0, self->x); self->x = arg0; t[tid]++; } "
	    "END { printf(\"%d\", t[70]); }";
	// Thread 70 of alpha and thread 70 of beta are two.
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "beta", 2, kZero + kSecond / 4);
	const std::string apart = "1-0 2-0 11-1 12-2 21-11 22-12 31-21 32-22 8\n";
	CHECK(replay_says({&alpha, &beta}, program) == apart);
	// So are those of two boots of one host.
	beta.place("beta.dfr", "alpha", 2, kZero + kSecond / 4);
	CHECK(replay_says({&alpha, &beta}, program) == apart);
	// In two states of one boot it is the same thread.
	App three;
	Kept later = four(three, kCapture, 2, kStart + kSecond / 4);
	later.place("later.dfr", "alpha", 1, kZero);
	CHECK(replay_says({&alpha, &later}, program) == "1-0 2-1 11-2 12-11 21-12 22-21 31-22 32-31 8\n");
}

TEST_CASE("replay of several states of a boot: what both have recorded is one firing", "[replay][several]") {
	App one, two;
	Kept first = four(one, "app::work:entry { capture(arg0); }", 5);
	Kept second = four(two, "app::work:entry { capture(arg1); }", 5);
	first.place("first.dfr", "alpha", 1, kZero);
	second.place("second.dfr", "alpha", 1, kZero);
	replay::Answer answer;
	CHECK(
	    replay_says({&first, &second},
	                "app::work:entry { n++; printf(\"%d+%d \", arg0, arg1); } END { printf(\"%d\", n); }",
	                &answer) == "5+0 15+1 25+2 35+3 4\n");
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.hosts == 1);
	// On their boot's own clock.
	CHECK(replay_says({&first, &second}, "app::work:entry { @ = min(timestamp); }")
	          .find(std::to_string(kStart)) != std::string::npos);
}

// Each copy that dfr redact makes has a boot's number of its own.
TEST_CASE("replay of several: recordings that may be of one boot are told", "[replay][several][redact]") {
	App one, two, three;
	Kept alpha = four(one, kCapture, 1), beta = four(two, kCapture, 1),
	     later = four(three, kCapture, 1, kStart + 20 * kSecond);
	const auto may_be_one = [&](Kept& other, uint64_t zero, bool redacted) {
		alpha.place("alpha.dfr", "", 1, kZero);
		other.place("other.dfr", "", 2, zero);
		if (redacted)
			other.identity().machine = {{trace::kKeptKey, "pid, walltime"}};
		replay::Answer answer;
		replay_says({&alpha, &other}, "app::work:entry { @ = count(); }", &answer);
		const bool told =
		    says(answer, "alpha.dfr and other.dfr may be of one boot, which dfr redact");
		CHECK(answer.verdict.complete == !told);
		return told;
	};
	CHECK(may_be_one(beta, kZero, true));
	CHECK(may_be_one(beta, kZero + kSecond / 2, true));
	CHECK_FALSE(may_be_one(beta, kZero, false));
	CHECK_FALSE(may_be_one(beta, kZero + 2 * kSecond, true)); // another machine's
	CHECK_FALSE(may_be_one(later, kZero, true));              // they have no time in common
}

TEST_CASE("replay of several: each recording's own losses, gaps and windows are named", "[replay][several]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1);
	load(two, "#pragma D option bufpolicy=ring\n#pragma D option bufsize=256k\n" + std::string(kCapture));
	for (unsigned i = 0; i < 20'000; i++)
		two.fire(two.entry, kStart + 10 * kSecond + i * kMillisecond, 1, 80, "busy", 2, 0);
	two.own.ev_time = kStart + 30 * kSecond;
	two.stop();
	dfr_user_env = nullptr;
	Kept beta(two);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "beta", 2, kZero);
	replay::Answer whole, alone;
	replay_says(beta, "app::work:entry { n++; } END { printf(\"%d\", n); }", &alone);
	REQUIRE(alone.verdict.windowed);
	// The window of beta takes nothing from alpha, which was over before it.
	const std::string said = replay_says(
	    {&alpha, &beta},
	    "app::work:entry { @[execname] = count(); } tick-1s { t++; } END { printf(\"%d\", t); }", &whole);
	CHECK(whole.verdict.complete);
	CHECK(whole.verdict.windowed);
	CHECK(whole.verdict.records == 4 + alone.verdict.records);
	CHECK(said.find("one                                                               4\n") !=
	      std::string::npos);
	CHECK(said.find(std::to_string(alone.verdict.records) + "\n") != std::string::npos);
	CHECK(said.find("30") == 0); // ticks from alpha's go to beta's stop
	replay::ReplayOptions all = quiet();
	all.wanted.all = true;
	replay_says({&alpha, &beta}, "app::work:entry { @ = count(); }", &whole, all);
	CHECK_FALSE(whole.verdict.complete);
	CHECK(says(whole, "beta.dfr: before "));
	CHECK_FALSE(says(whole, "alpha.dfr: "));
}

TEST_CASE("replay of several: a recording without what the program asks for is named",
          "[replay][several][verdict]") {
	App one, two, three;
	Kept alpha = four(one, kCapture, 1);
	Kept beta = four(two, "app::work:return { capture(); }", 1); // never fires
	Kept gamma = four(three, "app::work:entry /arg0 > 20/ { capture(arg0, arg1); }", 1);
	const char* const program = "app::work:entry { @ = count(); }";
	replay::Answer answer;
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "beta", 2, kZero);
	gamma.place("gamma.dfr", "alpha", 3, kZero);
	CHECK(replay_says({&alpha, &beta}, program, &answer) == "\n                4\n");
	CHECK_FALSE(answer.verdict.complete);
	CHECK(says(answer, "beta.dfr: nothing that was recorded matches app::work:entry"));
	replay_says({&alpha, &beta}, "beta:app::work:return { @ = count(); }", &answer);
	CHECK(answer.verdict.complete);
	// Each clause at its host; a release names one, too; BEGIN is the answer's.
	CHECK(replay_says({&alpha, &beta},
	                  "alp*:app::work:entry, 6.9-beta:app::work: { @[probename] = count(); } "
	                  "beta::::BEGIN { printf(\"b\"); } gamma::::BEGIN { printf(\"g\"); }",
	                  &answer) ==
	      "b\n  entry                                                             4\n");
	CHECK(replay_says(alpha,
	                  "alpha:app::work:entry { @a = count(); } beta:app::work:entry { @b = sum(100); }",
	                  &answer) == "\n                4\n");
	CHECK(answer.verdict.complete);
	// Under a condition in one boot, without in the other.
	replay_says({&alpha, &gamma}, program, &answer);
	CHECK_FALSE(answer.verdict.complete);
	CHECK(says(answer, "was recorded only where"));
	replay_says({&alpha, &gamma}, "app::work: { @ = count(); }", &answer);
	CHECK(says(answer, "gamma.dfr: only 1 of 2 probes"));
	// Another state of that boot has it, of the same time.
	beta.place("beta.dfr", "alpha", 1, kZero);
	replay_says({&alpha, &beta}, program, &answer);
	CHECK(answer.verdict.complete);
	// Up to where it is whole, if its recorder went on in a next file.
	const ScratchFolder folder;
	trace::JoinedSource part(killed(folder, alpha, kStart + 3 * kSecond, true));
	const auto of_both = [&] {
		const trace::United united({&part, &beta});
		replay::RecordingTarget target(united);
		render::Output output(-1);
		render::NoSymbols symbols;
		beta.rewind();
		return replay::replay_program(united, target, compiled(program, target), output, symbols,
		                              quiet());
	};
	answer = of_both();
	CHECK_FALSE(answer.verdict.complete);
	CHECK(says(answer, "beta.dfr: nothing that was recorded matches app::work:entry"));
	// And not behind its exit(), though it was stopped later.
	alpha.identity().events.push_back({.event = DFR_EVENT_EXIT, .time = kStart + 5 * kSecond});
	replay_says({&alpha, &beta}, program, &answer);
	CHECK_FALSE(answer.verdict.complete);
	CHECK(says(answer, "beta.dfr: nothing that was recorded matches app::work:entry"));
	replay::ReplayOptions before = quiet();
	before.wanted.to = replay::parse_when("@" + std::to_string(kStart + 4 * kSecond));
	replay_says({&alpha, &beta}, program, &answer, before);
	CHECK(answer.verdict.complete);
}

TEST_CASE("replay of several hosts: what the clocks were wrong by is named", "[replay][several][verdict]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1), beta = four(two, kCapture, 2);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "beta", 2, kZero);
	// Two seconds later somebody set the clock back by 250 ms; then the machine slept for an hour.
	const uint64_t set = kZero - 250 * kMillisecond, slept = 3600 * kSecond;
	beta.identity().clocks.push_back(
	    {kStart + 2 * kSecond, kStart + 2 * kSecond + set, kStart + 2 * kSecond});
	beta.identity().clocks.push_back(
	    {kStart + 3 * kSecond, kStart + 3 * kSecond + set + slept, kStart + 3 * kSecond + slept});
	replay::Answer answer;
	// In beta's order, and an hour passes before its last firing.
	CHECK(replay_says({&alpha, &beta},
	                  "BEGIN { t = timestamp; } app::work:entry { printf(\"%d \", arg0); } "
	                  "END { printf(\"%d\", (timestamp - t) / 1000000000); }",
	                  &answer) == "2 1 12 11 22 21 31 32 3603\n");
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.clock_error == 250 * kMillisecond);
	const trace::United united({&alpha, &beta});
	CHECK(trace::verdict_line(answer.verdict, united.catalog())
	          .find("of 2 hosts (in the order of their clocks, seen to be wrong by up to 250.000 ms)") !=
	      std::string::npos);
	beta.identity().clocks.clear();
	CHECK_THROWS_AS(replay_says({&alpha, &beta}, "app::work:entry { @ = count(); }"), Error);
}

TEST_CASE("replay of several: a span is one of the answer's time", "[replay][several]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1), beta = four(two, kCapture, 2, kStart + 500 * kSecond);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "beta", 2, kZero - 500 * kSecond + 100 * kSecond);
	const char* const program = "app::work:entry { printf(\"%d \", arg0); }";
	replay::ReplayOptions options = quiet();
	options.wanted.from = replay::parse_when("+2s");
	options.wanted.to = replay::parse_when("+101500ms");
	replay::Answer answer;
	CHECK(replay_says({&alpha, &beta}, program, &answer, options) == "21 31 2 12 \n");
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.records == 4);
	// Each is named that has not all of the span. The answer begins with the first go, a microsecond before kStart; a
	// recording ends with its END.
	const auto at = [&](Kept& kept, uint64_t milliseconds) {
		return trace::time_text(kept.catalog(), kStart - 1000 + milliseconds * kMillisecond);
	};
	const std::string only = ": of this time only ";
	CHECK(answer.verdict.notes ==
	      std::vector{"alpha.dfr" + only + at(alpha, 2000) + "-" +
	                      trace::time_text(alpha.catalog(), kStart + 10 * kSecond),
	                  "beta.dfr" + only + at(beta, 500'000) + "-" + at(beta, 501'500)});
	CHECK(answer.verdict.hosts == 2);
	options.wanted.from = replay::parse_when("+50s");
	CHECK(replay_says({&alpha, &beta}, program, &answer, options) == "2 12 \n");
	CHECK(answer.verdict.records == 2);
	REQUIRE(answer.verdict.notes.size() == 2);
	CHECK(answer.verdict.notes[0] == "alpha.dfr: nothing of this time");
	CHECK(answer.verdict.hosts == 1);
	const trace::United both({&alpha, &beta});
	CHECK_THAT(trace::verdict_line(answer.verdict, both.catalog()),
	           Catch::Contains("2 CPUs, 2 records; alpha.dfr: nothing of this time"));
	options.wanted.from = options.wanted.to = std::nullopt;
	replay_says({&alpha, &beta}, program, &answer, options);
	CHECK(answer.verdict.notes.empty());
	options.wanted.from = replay::parse_when("+50s");
	options.wanted.to = replay::parse_when("+60s");
	CHECK_THROWS_AS(replay_says({&alpha, &beta}, program, &answer, options), Error);
}

// REPLAY.md section 7.
TEST_CASE("replay of several: a time that no recording of a boot has is named",
          "[replay][several][verdict]") {
	App one, two, three;
	Kept alpha = four(one, kCapture, 1), later = four(two, kCapture, 2, kStart + 100 * kSecond);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	later.place("later.dfr", "alpha", 1, kZero);
	replay::ReplayOptions options = quiet();
	replay::Answer answer;
	const auto ask = [&](const std::vector<Kept*>& all) {
		replay_says(all, "app::work:entry { @ = count(); }", &answer, options);
		return answer.verdict.reasons;
	};
	const auto at = [&](uint64_t ns) { return trace::time_text(alpha.catalog(), ns); };
	const auto hole = [&](uint64_t from, uint64_t to, const std::string& length) {
		return std::vector{"the recordings leave out " + at(from) + "-" + at(to) + " (" + length +
		                   ", between alpha.dfr and later.dfr)"};
	};
	const uint64_t stop = kStart + 10 * kSecond, go = kStart + 100 * kSecond - 1000;
	CHECK(ask({&alpha, &later}) == hole(stop, go, "90.0 s"));
	CHECK_FALSE(answer.verdict.complete);
	CHECK(ask({&later, &alpha}) == hole(stop, go, "90.0 s"));
	// A remark that is made when nothing records says nothing of what fires.
	alpha.identity().events.push_back(
	    {.event = DFR_EVENT_MARK, .value = -1, .time = kStart + 50 * kSecond});
	CHECK(ask({&alpha, &later}) == hole(stop, go, "90.0 s"));
	// --from and --to leave out all or a part of it.
	options.wanted.to = replay::parse_when("@" + std::to_string(stop));
	CHECK(ask({&alpha, &later}).empty());
	CHECK(answer.verdict.complete);
	options.wanted.to = replay::parse_when("@" + std::to_string(kStart + 70 * kSecond));
	options.wanted.from = replay::parse_when("@" + std::to_string(kStart + 5 * kSecond));
	CHECK(ask({&alpha, &later}) == hole(stop, kStart + 70 * kSecond, "60.0 s"));
	options.wanted.from = replay::parse_when("@" + std::to_string(kStart + 60 * kSecond));
	options.wanted.to = std::nullopt;
	CHECK(ask({&alpha, &later}) == hole(kStart + 60 * kSecond, go, "40.0 s"));
	options.wanted.from = replay::parse_when("@" + std::to_string(go));
	CHECK(ask({&alpha, &later}).empty());
	CHECK(answer.verdict.complete);
	options = quiet();
	// Of other boots nothing lies between; a third state of this boot may have it.
	later.place("later.dfr", "alpha", 2, kZero);
	CHECK(ask({&alpha, &later}).empty());
	CHECK(answer.verdict.complete);
	later.place("later.dfr", "alpha", 1, kZero);
	Kept between = four(three, kCapture, 3, kStart + 5 * kSecond);
	between.place("between.dfr", "alpha", 1, kZero);
	between.identity().events.back().time = go;
	CHECK(ask({&alpha, &later, &between}).empty());
	CHECK(answer.verdict.complete);
	between.identity().events.back().time = go - 250'000;
	CHECK_THAT(ask({&alpha, &later, &between}).at(0),
	           Catch::Contains("(0.250 ms, between between.dfr and later.dfr)"));
}

TEST_CASE("replay of several hosts: rows begin with the host", "[replay][several]") {
	App one, two;
	Kept alpha = four(one, kCapture, 1), beta = four(two, kCapture, 2);
	alpha.place("alpha.dfr", "alpha", 1, kZero);
	beta.place("beta.dfr", "betabeta", 2, kZero + 1);
	replay::ReplayOptions loud = quiet();
	loud.style.quiet = false;
	const char* const program = "BEGIN { trace(1); } app::work:entry /arg0 < 3/ { trace(cpu); }";
	const std::string said = replay_says({&alpha, &beta}, program, nullptr, loud);
	CHECK(said.find("HOST     CPU     ID                    FUNCTION:NAME\n"
	                "-          0      1                           :BEGIN         1\n"
	                "alpha      0      4                       work:entry         0\n"
	                "betabeta   0      6                       work:entry         0\n") == 0);
	// Each host's calls are indented by themselves.
	loud.style.flowindent = true;
	const std::string flow = replay_says({&alpha, &beta}, program, nullptr, loud);
	CHECK(flow.find("HOST     CPU FUNCTION") == 0);
	CHECK(flow.find("alpha      0  -> work ") != std::string::npos);
	CHECK(flow.find("betabeta   0  -> work ") != std::string::npos);
	// One host's rows have no name.
	CHECK(replay_says({&alpha}, program, nullptr, loud).find("CPU FUNCTION") == 0);
}

TEST_CASE("replay: a recording that was killed is whole up to its last mark", "[replay][verdict]") {
	App app;
	Kept kept = four(app, kCapture, 1);
	const ScratchFolder folder;
	trace::JoinedSource source(killed(folder, kept));
	const trace::United united({&source});
	const auto ask = [&](bool all) {
		replay::RecordingTarget target(united);
		render::Output output(-1);
		render::NoSymbols symbols;
		replay::ReplayOptions options = quiet();
		options.wanted.all = all;
		const d::Compiled program = compiled("app::work:entry { @ = count(); }", target);
		const auto answer = replay::replay_program(united, target, program, output, symbols, options);
		return std::pair(output.take(), answer.verdict);
	};
	const auto [said, verdict] = ask(false);
	CHECK(said == "\n                3\n");
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.to < kStart + 3 * kSecond);
	REQUIRE(verdict.reasons.size() == 2);
	CHECK_THAT(verdict.reasons[0], Catch::Contains("it was not finished; what was recorded before"));
	CHECK(verdict.reasons[1] == "1 record from outside of the window left out (--all takes them)");
	const auto [all, partial] = ask(true);
	CHECK(all == "\n                4\n");
	CHECK_FALSE(partial.complete);
	REQUIRE(partial.reasons.size() == 1);
	CHECK_THAT(partial.reasons[0], Catch::Contains("it was not finished; what was recorded before"));
}

namespace {

// What a program says of a file that killed() has made.
std::pair<std::string, trace::Verdict> of_file(trace::BlockSource& source, const char* program,
                                               const replay::Wanted& wanted = {}) {
	const trace::United united({&source});
	replay::RecordingTarget target(united);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options = quiet();
	options.wanted = wanted;
	const auto answer =
	    replay::replay_program(united, target, compiled(program, target), output, symbols, options);
	return {output.take(), answer.verdict};
}

} // namespace

// REPLAY.md, section 5: a part is whole up to its mark; what is behind it is of some CPUs only.
TEST_CASE("replay: who asks behind the mark of a recording that goes on gets a partial answer",
          "[replay][verdict]") {
	App app;
	Kept kept = four(app, kCapture, 1);
	const ScratchFolder folder;
	trace::JoinedSource source(killed(folder, kept, kStart + 3 * kSecond, true));
	const char* const count = "app::work:entry { @ = count(); }";
	const auto up_to = [](uint64_t time) {
		return replay::Wanted{.to = replay::parse_when("@" + std::to_string(time))};
	};
	const std::vector<std::string> behind = {"after " +
	                                         trace::time_text(source.catalog(), kStart + 3 * kSecond) +
	                                         " records of some CPUs are missing (taken later)"};
	for (const replay::Wanted& wanted :
	     {replay::Wanted{}, up_to(kStart + 5 * kSecond / 2), up_to(kStart + 3 * kSecond - 1)}) {
		const auto [said, verdict] = of_file(source, count, wanted);
		CHECK(said == "\n                3\n");
		CHECK(verdict.complete);
		// Who names an end knows that there is more.
		CHECK(verdict.reasons.size() == (wanted.part() ? 0 : 1));
	}
	for (const replay::Wanted& wanted : {replay::Wanted{.all = true}, up_to(kStart + 3 * kSecond)}) {
		const auto [said, verdict] = of_file(source, count, wanted);
		CHECK(said == "\n                4\n");
		CHECK_FALSE(verdict.complete);
		CHECK(verdict.reasons == behind);
	}
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options = quiet();
	CHECK(replay::render_recording(source, output, symbols, options).verdict.complete);
	options.wanted.all = true;
	CHECK(replay::render_recording(source, output, symbols, options).verdict.reasons == behind);
}

// REPLAY.md, section 4: through stretches without records too; section 5: a recording that was cut is whole up to its
// mark.
TEST_CASE("replay: timers fire up to the last mark, though nothing was recorded before it",
          "[replay][verdict]") {
	App app;
	Kept kept = four(app, kCapture, 1); // from a microsecond before kStart to 3 s later
	std::erase_if(kept.identity().events,
	              [](const trace::EventMark& mark) { return mark.event == DFR_EVENT_STOP; });
	const char* const ticks = "tick-500ms { t++; } END { printf(\"%d\", t); }";
	for (const bool goes_on : {false, true}) {
		INFO((goes_on ? "goes on" : "killed"));
		const ScratchFolder folder;
		trace::JoinedSource source(killed(folder, kept, kStart + 9 * kSecond, goes_on));
		const auto [said, verdict] = of_file(source, ticks);
		CHECK(said == "18\n");
		CHECK(verdict.to == kStart + 9 * kSecond - 1);
		const auto [part, whole] = of_file(source, ticks, {.to = replay::parse_when("+2900ms")});
		CHECK(part == "5\n");
		CHECK(whole.complete);
		CHECK(whole.to == kStart - 1000 + 2900 * kMillisecond);
	}
}

TEST_CASE("united: a crafted recording takes no probe from another one", "[replay][several]") {
	App one, two, three;
	Kept a = four(one, kCapture, 1), b = four(two, kCapture, 2), c = four(three, kCapture, 3);
	a.place("a", "alpha", 1, kZero);
	b.place("b", "beta", 2, kZero);
	c.place("c", "gamma", 3, kZero);
	constexpr uint32_t kLast = (1u << 28) - 1; // of an engine's ids
	auto& probes = a.identity().probes;
	trace::Probe crafted{.id = kLast};
	crafted.provider = "crafted";
	probes.emplace(kLast, crafted);
	probes.emplace(UINT32_MAX, trace::Probe{.id = UINT32_MAX});
	const trace::United all({&a, &b, &c});
	std::map<std::string, unsigned> named;
	for (const auto& [id, probe] : all.catalog().probes) {
		CHECK(probe.id == id);
		named[probe.text() + (probe.hosts.empty() ? "" : " of " + probe.hosts.front())]++;
	}
	for (const Kept* const kept : {&a, &b, &c})
		for (const auto& [id, probe] : const_cast<Kept*>(kept)->catalog().probes)
			CHECK(named[probe.text() +
			            (id <= 3 ? ""
			                     : " of " + const_cast<Kept*>(kept)->catalog().machine_text(
			                                    "host"))] == 1);
}

TEST_CASE("replay of a machine with more CPUs than an engine here plays is refused", "[replay][several]") {
	App app;
	Kept kept = four(app, kCapture, 1);
	kept.identity().cpus = 2'000'000'000;
	kept.identity().events.push_back({.event = DFR_EVENT_GO, .value = 1'999'999'999, .time = kStart});
	CHECK_THROWS_WITH(replay_says(kept, "BEGIN { n++; }"),
	                  Catch::Contains("2000000000 CPUs") && Catch::Contains("1024 at most"));
	CHECK_NOTHROW(recorded_says(kept)); // what it printed needs no engine
	kept.identity().cpus = 1024;
	replay::Answer answer;
	CHECK(replay_says(kept, "app::work:entry { @ = count(); }", &answer).find('4') != std::string::npos);
}

// Their records have the times of before the commit, so one behind the mark has records for in front of it.
TEST_CASE("replay: no mark makes a recording with speculations whole", "[replay][verdict]") {
	App app;
	Kept kept =
	    four(app, "app::work:entry { capture(); } app::work:return { commit(speculation()); }", 1);
	const ScratchFolder folder;
	trace::JoinedSource source(killed(folder, kept));
	const trace::United united({&source});
	replay::RecordingTarget target(united);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options = quiet();
	options.wanted.to = replay::parse_when("@" + std::to_string(kStart + 5 * kSecond / 2));
	const auto verdict =
	    replay::replay_program(united, target, compiled("app::work:entry { @ = count(); }", target),
	                           output, symbols, options)
	        .verdict;
	CHECK(output.take() == "\n                3\n");
	CHECK_FALSE(verdict.complete);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0] == "records of speculations that were committed after " +
	                                trace::time_text(source.catalog(), kStart + 3 * kSecond) +
	                                " may be missing");
}

TEST_CASE("united: who is the same host and boot", "[replay][several]") {
	App one, two;
	Kept a = four(one, kCapture, 1), b = four(two, kCapture, 2);
	const auto hosts = [&] { return trace::United({&a, &b}).hosts().size(); };
	const auto boots = [&] { return std::max(trace::United({&a, &b}).members()[1].boot, 1u); };
	CHECK(boots() == 2); // engines in processes: nobody knows what they have in common
	a.place("a", "alpha", 1, kZero);
	b.place("b", "alpha", 2, kZero);
	CHECK(hosts() == 1);
	CHECK(boots() == 2);
	a.identity().machine["machineid"] = "0123456789abcdef";
	CHECK(hosts() == 1); // a harvest of dead memory does not know it
	b.identity().machine["machineid"] = "fedcba9876543210";
	CHECK(hosts() == 2); // two that are both called alpha
	CHECK(trace::United({&a, &b}).host_names() ==
	      std::vector<std::string>{"", "alpha.01234567", "alpha.fedcba98"});
	b.place("b", "(none)", 1, kZero); // the boot before it had a name
	CHECK(hosts() == 1);
	CHECK(boots() == 1);
	CHECK(trace::United({&b, &a}).hosts()[0].name == "alpha");
}

} // namespace replay_several_test
