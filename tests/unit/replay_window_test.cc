// SPDX-License-Identifier: GPL-2.0
//
// Which records a replay runs over: the window, where every CPU is whole, or what
// was asked for; and which losses belong to it.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>

#include "analyze/replay/replay.h"
#include "formats/trace/cut.h"
#include "tests/unit/replay_app.h"
#include "tests/unit/scratch_folder.h"

namespace replay_window_test {

using namespace dfr;
using namespace dfr::test;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
const char* const kRing = "#pragma D option bufpolicy=ring\n#pragma D option bufsize=256k\n"
                          "app::work:entry { trace(arg0); }";

// CPU 0 is quiet and has all of its 20 records, one each second; CPU 1 has overwritten its oldest ones.
Kept half_overwritten(App& app) {
	load(app, kRing);
	for (unsigned i = 0; i < 20'000; i++) {
		if (i % 1000 == 0)
			app.fire(app.entry, kStart + i * kSecond / 1000, 0, 70, "quiet", 1, 0);
		app.fire(app.entry, kStart + i * kSecond / 1000 + 1, 1, 80, "busy", 2, 0);
	}
	app.own.ev_time = kStart + 20 * kSecond;
	app.stop();
	dfr_user_env = nullptr;
	return Kept(app);
}

uint64_t horizon_of(Kept& kept) {
	kept.rewind();
	trace::Merger merger(kept);
	merger.open();
	return merger.horizon();
}

replay::ReplayOptions asked(const char* from, const char* to, const char* cpus = "") {
	replay::ReplayOptions options = quiet();
	if (*from)
		options.wanted.from = replay::parse_when(from);
	if (*to)
		options.wanted.to = replay::parse_when(to);
	if (*cpus)
		options.wanted.cpus = replay::parse_cpus(cpus).value();
	return options;
}

} // namespace

TEST_CASE("replay: times after the start and before the end may have fractions", "[replay][window]") {
	const std::pair<const char*, int64_t> spans[] = {
	    {"+5s", 5'000'000'000}, {"+0.5s", 500'000'000},    {"-1.25s", 1'250'000'000},
	    {"+1.5ms", 1'500'000},  {"+0.5m", 30'000'000'000}, {"+0.123456789s", 123'456'789},
	    {"-10ms", 10'000'000},
	};
	for (const auto& [text, ns] : spans) {
		INFO(text);
		const auto when = replay::parse_when(text);
		REQUIRE(when);
		CHECK(when->ns == ns);
		CHECK(when->base == (*text == '+' ? replay::When::TimeBase::kAfterStart
		                                  : replay::When::TimeBase::kBeforeEnd));
	}
	for (const char* const wrong : {"+", "+5", "+0.5", "+.5s", "+1.s", "+1..5s", "+1.5", "+1.5x",
	                                "+0.5hz", "+1.1234567890s", "+9999999999999.5s", "+-1.5s"})
		CHECK_FALSE(replay::parse_when(wrong));
}

TEST_CASE("replay: who ends it before its end gets a partial answer", "[replay][window]") {
	App app;
	load(app, "#pragma D option bufsize=4m\napp::work:entry { capture(arg0); }");
	for (unsigned i = 0; i < 30'000; i++)
		app.fire(app.entry, kStart + i, i % 2, 70, "one", i, 0);
	finish(app);
	Kept kept(app);
	const auto ended = [&](const std::string& program, unsigned after, replay::Way way) {
		replay::ReplayOptions options = quiet();
		unsigned asked = 0;
		options.interrupted = [&] { return asked++ >= after; };
		options.way = way;
		render::Output output(-1);
		render::NoSymbols symbols;
		kept.rewind();
		if (program.empty())
			return replay::render_recording(kept, output, symbols, options);
		const trace::United united({&kept});
		replay::RecordingTarget target(united);
		return replay::replay_program(united, target, compiled(program, target), output, symbols,
		                              options);
	};
	for (const unsigned after : {0u, 1u, 1000u})
		for (const replay::Way way : {replay::Way::kAny, replay::Way::kColumns, replay::Way::kRows})
			for (const char* program : {"app::work:entry { @ = count(); }", ""}) {
				INFO(program << " after " << after);
				const trace::Verdict verdict = ended(program, after, way).verdict;
				CHECK(verdict.complete == (after == 1000));
				CHECK(verdict.reasons.size() == (after != 1000));
			}
}

TEST_CASE("replay: a clock at its end ends the timers", "[replay][window]") {
	App app;
	load(app, "app::work:entry { capture(arg0); }");
	for (unsigned i = 0; i < 3; i++)
		app.fire(app.entry, UINT64_MAX - 3'000'000'000 + i * 900'000'000ull, 0, 70, "one", i, 0);
	dfr_user_env = nullptr;
	Kept kept(app);
	// The next one would be behind the clock's end.
	const std::string said = replay_says(kept, "tick-100000000s { @ = count(); }");
	CHECK(said.find(" 184\n") != std::string::npos);
}

// A file whose catalog is damaged has no clock, no records that anything explains, and a ledger with a mark.
TEST_CASE("replay: where nothing tells when the recording began, no timer fires", "[replay][window]") {
	class Marked final : public trace::BlockSource {
	public:
		const trace::Catalog& catalog() override { return catalog_; }
		std::optional<trace::Block> next() override { return std::nullopt; }
		std::vector<trace::AggEntry> aggregations() override { return {}; }
		trace::Losses losses() override { return {}; }
		std::string name() const override { return "marked"; }
		std::optional<SourceCut> cut() override { return SourceCut{kStart, "it was cut", false}; }

	private:
		trace::Catalog catalog_;
	} source;
	const trace::United united({&source});
	replay::RecordingTarget target(united);
	const d::Compiled program =
	    compiled("tick-10s { printf(\"tick \"); } END { printf(\"end\"); }", target);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::replay_program(united, target, program, output, symbols, quiet());
	CHECK(output.take() == "end\n");
}

TEST_CASE("replay: where a ring has overwritten records, BEGIN and ticks start with the window",
          "[replay][window]") {
	App app;
	load(app, kRing);
	for (unsigned i = 0; i < 20'000; i++)
		app.fire(app.entry, kStart + i * kSecond / 1000, 1, 80, "busy", 2, 0);
	app.own.ev_time = kStart + 20 * kSecond;
	app.stop();
	dfr_user_env = nullptr;
	Kept kept(app);
	const uint64_t horizon = horizon_of(kept);
	REQUIRE(horizon > kStart + 2 * kSecond);
	REQUIRE(horizon < kStart + 19 * kSecond);
	replay::Answer answer;
	CHECK(replay_says(kept,
	                  "BEGIN { printf(\"%d\", timestamp); } tick-1s { t++; } END { printf(\" %d\", t); }",
	                  &answer) == std::to_string(horizon) + " " +
	                                  std::to_string((kStart + 20 * kSecond - horizon) / kSecond) + "\n");
	CHECK(answer.verdict.windowed);
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.from == horizon);
}

TEST_CASE("replay: a program runs over the window, or over all that there is", "[replay][window]") {
	App app;
	Kept kept = half_overwritten(app);
	const uint64_t horizon = horizon_of(kept);
	const char* const count = "app::work:entry { @[cpu] = count(); }";
	// CPU 0 fires each whole second, CPU 1 each millisecond, 1 ns later, and has lost its oldest.
	const uint64_t quiet_left = (kStart + 20 * kSecond - horizon) / kSecond;
	const uint64_t busy_left = (kStart + 20 * kSecond - horizon) / (kSecond / 1000);
	replay::Answer answer;
	std::string said = replay_says(kept, count, &answer);
	CHECK(said.find(" " + std::to_string(quiet_left) + "\n") != std::string::npos);
	CHECK(said.find(" " + std::to_string(busy_left) + "\n") != std::string::npos);
	CHECK(answer.verdict.complete);
	CHECK(answer.verdict.windowed);
	CHECK(answer.verdict.records == quiet_left + busy_left);
	REQUIRE(answer.verdict.reasons.size() == 1);
	CHECK_THAT(answer.verdict.reasons[0], Catch::Contains("records from outside of the window left out"));
	// So does the verdict of the whole file, which dfr record and dfr info print.
	CHECK(trace::judge_whole(kept).records == quiet_left + busy_left);
	replay::ReplayOptions all = quiet();
	all.wanted.all = true;
	said = replay_says(kept, count, &answer, all);
	CHECK(said.find(" 20\n") != std::string::npos);
	CHECK_FALSE(answer.verdict.complete);
}

TEST_CASE("replay: a span and CPUs may be asked for", "[replay][window]") {
	App app;
	Kept kept = half_overwritten(app);
	const char* const count =
	    "app::work:entry { n++; } tick-1s { t++; } END { printf(\"%d %d\", n, t); }";
	replay::Answer answer;
	// The end is at the stop, 20 s after the start; the records of the last second but one.
	CHECK(replay_says(kept, count, &answer, asked("-2s", "-1000000001ns")) == "1001 0\n");
	CHECK(answer.verdict.complete);
	CHECK_FALSE(answer.verdict.windowed);
	CHECK(answer.verdict.from == kStart + 18 * kSecond);
	CHECK(answer.verdict.to == kStart + 19 * kSecond - 1);
	CHECK(answer.verdict.records == 1001);
	// CPU 0 alone is whole.
	CHECK(replay_says(kept, count, &answer, asked("", "", "0")) == "20 20\n");
	CHECK(answer.verdict.complete);
	CHECK_FALSE(answer.verdict.windowed);
	CHECK(answer.verdict.cpus == 1);
	CHECK(replay_says(kept, count, &answer, asked("@1001000000000", "@1002500000000", "0")) == "2 1\n");
	// Before the window: answered, but not as complete.
	CHECK(replay_says(kept, count, &answer, asked("@1001000000000", "@1002500000000")) == "2 1\n");
	CHECK_FALSE(answer.verdict.complete);
	CHECK_THROWS_WITH(replay_says(kept, count, &answer, asked("", "", "3")),
	                  Catch::Contains("nothing of CPU 3"));
	CHECK_THROWS_WITH(replay_says(kept, count, &answer, asked("+50s", "")),
	                  Catch::Contains("nothing was recorded in this span"));
}

// REPLAY.md section 5: BEGIN fires at the span's start, and both of its ends belong to it; section 4: timers fire through
// stretches without records too.
TEST_CASE("replay: a span without records is as long as was asked for", "[replay][window]") {
	App app;
	load(app, "app::work:entry { capture(arg0); }");
	app.fire(app.entry, kStart + kSecond / 2, 0, 70, "one", 1, 0);
	app.fire(app.entry, kStart + 9 * kSecond, 1, 70, "one", 1, 0);
	finish(app);
	const char* const program =
	    "BEGIN { printf(\"%d \", timestamp); } tick-100ms { t++; } END { printf(\"%d\", t); }";
	Kept kept(app);
	replay::Answer answer;
	CHECK(replay_says(kept, program, &answer, asked("@1002000000000", "@1002550000000")) ==
	      "1002000000000 5\n");
	CHECK(answer.verdict.complete);
	CHECK(replay_says(kept, program, &answer, asked("@1002000000000", "@1002500000000")) ==
	      "1002000000000 5\n");
	CHECK(replay_says(kept, program, &answer, asked("@1002000000000", "@1002499999999")) ==
	      "1002000000000 4\n");
	CHECK(replay_says(kept, program, &answer, asked("@1000000000000", "@1000500000000")) ==
	      "1000000000000 5\n");
	CHECK(replay_says(kept, "app::work:entry { @ = count(); } BEGIN { printf(\"%d\", timestamp); }",
	                  &answer, asked("@1002000000000", "@1002500000000")) == "1002000000000\n");
	CHECK(answer.by_columns);

	ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), part = folder.file("part.dfr");
	kept.rewind();
	trace::FileWriter writer(whole, true, [&]() -> const trace::Catalog& { return kept.catalog(); });
	trace::copy_to_file(kept, writer);
	writer.finish();
	const auto cut_says = [&](uint64_t from, uint64_t to) {
		trace::cut_file(whole, part, {.span = {.from = from, .to = to}, .text = "this"});
		const auto file = trace::open_file(part);
		const trace::United united({file.get()});
		replay::RecordingTarget target(united);
		render::Output output(-1);
		render::NoSymbols symbols;
		answer = replay::replay_program(united, target, compiled(program, target), output, symbols,
		                                quiet());
		CHECK_FALSE(answer.verdict.complete);
		for (const trace::Finding& finding : trace::verify_file(part).findings)
			FAIL_CHECK(finding.text());
		return output.take();
	};
	CHECK(cut_says(kStart + 2 * kSecond, kStart + 2 * kSecond + kSecond / 2) == "1002000000000 5\n");
	CHECK(answer.verdict.from == kStart + 2 * kSecond);
	CHECK(answer.verdict.to == kStart + 2 * kSecond + kSecond / 2);
	CHECK(cut_says(kStart + 2 * kSecond, UINT64_MAX) == "1002000000000 80\n");
	CHECK(cut_says(0, kStart + kSecond) == "999999999000 10\n");
}

// A recording has a CPU's times once each, and an engine moves a second firing of one time on by a nanosecond.
TEST_CASE("replay: BEGIN does not move the first record", "[replay][window]") {
	App app;
	Kept kept = half_overwritten(app);
	const char* const least = "app::work:entry { @ = min(timestamp); }";
	replay::Answer answer;
	replay::ReplayOptions all = quiet();
	all.wanted.all = true;
	CHECK_THAT(replay_says(kept, least, &answer, all), Catch::Contains(" 1000000000000\n"));
	CHECK(answer.by_columns);
	CHECK_THAT(
	    replay_says(kept, "app::work:entry { @ = min(timestamp); } tick-1s { t++; }", nullptr, all),
	    Catch::Contains(" 1000000000000\n"));
	CHECK_THAT(replay_says(kept, "app::work:entry { @ = min(timestamp); } tick-1s { t++; }", nullptr,
	                       asked("@1005000000000", "", "0")),
	           Catch::Contains(" 1005000000000\n"));
}

TEST_CASE("replay: a time of day is one of the recording's day", "[replay][window]") {
	setenv("TZ", "UTC", 1);
	tzset();
	App app;
	Kept kept = half_overwritten(app);
	const auto counted = [&kept](const char* from, const char* to) {
		replay::Answer answer;
		const std::string said =
		    replay_says(kept, "app::work:entry { n++; } END { printf(\"%d\", n); }", &answer,
		                asked(from, to, "0"));
		CHECK(answer.verdict.complete);
		return said.substr(0, said.find('\n'));
	};
	const auto place = [&kept](uint64_t start) { kept.place("a.dfr", "host", 1, start - kStart); };
	const auto nothing = Catch::Contains("nothing was recorded in this span");
	place(1'700'000'000 * kSecond); // 22:13:20 to 22:13:40
	CHECK(counted("22:13:25", "22:13:30") == "6");
	CHECK(counted("22:13:25", "") == "15");
	CHECK(counted("", "22:13:30") == "11");
	CHECK(counted("22:13:25", "22:13:59") == "15");
	CHECK(counted("22:13:25", "23:59:59") == "15");
	CHECK(counted("01:00:00", "23:59:59") == "20");
	CHECK(counted("", "22:13:59") == "20");
	CHECK(counted("22:00:00", "") == "20");
	CHECK(counted("22:13:25", "00:10:00") == "15"); // of the next day
	CHECK_THROWS_WITH(counted("22:13:59", ""), nothing);
	CHECK_THROWS_WITH(counted("23:59:59", ""), nothing);
	CHECK_THROWS_WITH(counted("", "22:13:19"), nothing);
	CHECK_THROWS_WITH(counted("", "01:00:00"), nothing);
	CHECK_THROWS_WITH(counted("22:13:30", "22:13:25"), Catch::Contains("is later than --to 22:13:25"));
	CHECK_THROWS_WITH(counted("+8s", "+5s"), Catch::Contains("--from +8s is later than --to +5s"));
	place(1'700'006'390 * kSecond); // 23:59:50 to 00:00:10
	CHECK(counted("23:59:55", "00:00:05") == "11");
	CHECK(counted("23:59:00", "00:01:00") == "20");
	CHECK(counted("", "00:00:05") == "16");
	CHECK(counted("00:00:05", "") == "5");
	CHECK(counted("23:00:00", "") == "20");
	CHECK(counted("", "01:00:00") == "20");
	CHECK_THROWS_WITH(counted("01:00:00", ""), nothing);
}

// From 22:13:30 to 22:13:50, so that its clock has nothing of that time.
TEST_CASE("replay: a time of day at which the machine slept is when it woke, or fell asleep",
          "[replay][window]") {
	setenv("TZ", "UTC", 1);
	tzset();
	App app;
	Kept kept = half_overwritten(app);
	constexpr uint64_t start = 1'700'000'000 * kSecond;
	kept.place("a.dfr", "host", 1, start - kStart);
	kept.identity().clocks.push_back({.mono = kStart + 10'500'000'000, .real = start + 30'500'000'000});
	const auto counted = [&kept](const char* from, const char* to) {
		const std::string said =
		    replay_says(kept, "app::work:entry { n++; } END { printf(\"%d\", n); }", nullptr,
		                asked(from, to, "0"));
		return said.substr(0, said.find('\n'));
	};
	CHECK(counted("22:13:20", "22:13:59") == "20");
	CHECK(counted("22:13:35", "") == "9");
	CHECK(counted("", "22:13:45") == "11");
	CHECK(counted("22:13:29", "22:13:35") == "2");
	CHECK(counted("22:13:51", "22:13:52") == "2");
	CHECK_THROWS_WITH(counted("22:13:35", "22:13:45"),
	                  Catch::Contains("nothing was recorded in this span"));
}

TEST_CASE("replay: a date before or behind all dates is one before or behind the recording",
          "[replay][window]") {
	App app;
	Kept kept = half_overwritten(app);
	kept.place("a.dfr", "host", 1, 1'700'000'000 * kSecond - kStart);
	const char* const count = "app::work:entry { n++; } END { printf(\"%d\", n); }";
	CHECK(replay_says(kept, count, nullptr, asked("1600-01-01 00:00:00", "2300-01-01 00:00:00", "0")) ==
	      "20\n");
	CHECK_THROWS_WITH(replay_says(kept, count, nullptr, asked("2300-01-01 00:00:00", "", "0")),
	                  Catch::Contains("nothing was recorded in this span"));
	CHECK_THROWS_WITH(replay_says(kept, count, nullptr, asked("", "1600-01-01 00:00:00", "0")),
	                  Catch::Contains("nothing was recorded in this span"));
}

TEST_CASE("replay: a recording that does not say what time it was has no times of day", "[replay][window]") {
	App app;
	Kept kept = half_overwritten(app);
	kept.forget_clocks();
	replay::Answer answer;
	for (const char* const time : {"22:13:25", "2023-11-14 22:13:25"})
		CHECK_THROWS_WITH(
		    replay_says(kept, "app::work:entry { n++; }", &answer, asked(time, "", "0")),
		    Catch::Contains("does not say what time it was"));
}

TEST_CASE("times and CPUs as people write them", "[window]") {
	setenv("TZ", "UTC", 1);
	tzset();
	using TimeBase = replay::When::TimeBase;
	const auto when = [](const char* text) { return replay::parse_when(text).value(); };
	CHECK(when("+5s").base == TimeBase::kAfterStart);
	CHECK(when("+5s").ns == 5'000'000'000);
	CHECK(when("-100ms").base == TimeBase::kBeforeEnd);
	CHECK(when("-100ms").ns == 100'000'000);
	CHECK(when("01:00:02.5").base == TimeBase::kTimeOfDay);
	CHECK(when("01:00:02.5").ns == 3'602'500'000'000);
	CHECK(when("2023-11-14 22:13:20").ns == 1'700'000'000'000'000'000);
	CHECK(when("2023-11-14T22:13:20.000000001").ns == 1'700'000'000'000'000'001);
	CHECK(when("@17").ns == 17);
	// ns since 1970 have 64 bits: the first and the last time stand for what is farther.
	CHECK(when("2300-01-01 00:00:00").ns == INT64_MAX);
	CHECK(when("1600-01-01 00:00:00").ns == INT64_MIN);
	CHECK(when("2024-02-29 00:00:00").ns == 1'709'164'800'000'000'000);
	for (const char* const wrong :
	     {"", "5", "+5", "-", "+s", "14:03", "25:00:00", "14:03:02.", "@-1", "@x", "2023-11-14",
	      "2026-02-31 10:00:00", "2023-02-29T00:00:00", "2023-04-31 10:00:00", "14:03:02x",
	      "14:03:02.1234567890", "+99999999999h"})
		CHECK_FALSE(replay::parse_when(wrong));
	CHECK(replay::parse_cpus("0,2-3").value() == std::vector<bool>{true, false, true, true});
	for (const char* const wrong : {"", ",", "1,", "2-1", "x", "1-", "-1", "99999999", "0-70000"})
		CHECK_FALSE(replay::parse_cpus(wrong));
}

} // namespace replay_window_test
