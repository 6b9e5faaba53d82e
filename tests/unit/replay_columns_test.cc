// SPDX-License-Identifier: GPL-2.0
//
// Programs answered by columns print the same bytes, verdict and status as by a firing for each record.
// replay_says() runs each program by both ways and compares; here is which programs go by columns at all.
#include <catch2/catch.hpp>

#include "formats/error.h"
#include "tests/unit/replay_app.h"

namespace replay_columns_test {

using namespace dfr;
using namespace dfr::test;

namespace {

// 20,000 firings of four programs on four CPUs, in some chunks; arguments of all signs and sizes.
Kept recorded(App& app, const std::string& program = "app::work: { capture(); }") {
	static const char* const kNames[] = {"alpha", "beta", "a-name-of-15-ch", "gamma"};
	load(app, "#pragma D option bufsize=256k\n" + program);
	uint64_t noise = 1;
	for (unsigned i = 0; i < 20'000; i++) {
		noise = noise * 6364136223846793005u + 1442695040888963407u;
		const unsigned who = i % 13 % 4;
		app.fire(i % 5 ? app.entry : app.exit, kStart + i * 1000, noise >> 62, 100 + who, kNames[who],
		         i % 3 ? i % 11 : 0 - uint64_t{i}, noise >> (noise >> 58));
	}
	finish(app);
	return Kept(app);
}

bool goes_by_columns(Kept& kept, const std::string& program) {
	replay::Answer answer;
	const std::string said = replay_says(kept, program, &answer);
	CHECK(said.find_first_not_of('\n') != std::string::npos);
	return answer.by_columns;
}

} // namespace

TEST_CASE("by columns: functions, keys and predicates", "[replay][columns]") {
	App app;
	Kept kept = recorded(app);
	for (
	    const char* program : {
	        "app::work:entry { @ = count(); }",
	        "app::work: { @[probename] = count(); @n[probefunc, probemod, probeprov] = count(); }",
	        "app::work:entry { @[execname] = count(); @p[pid, tid, cpu] = count(); }",
	        "BEGIN { printf(\"%d %d\\n\", nspid, cgroup); } app::work:entry { @[nspid, cgroup] = "
	        "count(); }",
	        "app::work:entry { @a = sum(arg0); @b = min(arg0); @c = max(arg0); @d = avg(arg0); @e = "
	        "stddev(arg0); }",
	        "app::work:entry { @a = sum(arg1); @b = min(arg1); @c = max(arg1); @d = avg(arg1); @e = "
	        "stddev(arg1); }",
	        "app::work:entry { @a[execname] = quantize(arg1); @b[cpu] = lquantize(arg0, -100, 100, 7); "
	        "@c = llquantize(arg1, 10, 0, 8, 20); }",
	        "app::work:entry { @a = quantize(arg1, arg0 & 7); @b = lquantize(arg0, 0, 10, 1, 3); }",
	        "app::work:entry { @[arg0] = count(); } app::work:return { @[arg1] = count(); }",
	        "app::work:entry /arg0 == 3/ { @e = count(); } app::work:return /arg0 < 0/ { @r[cpu] = "
	        "count(); }",
	        "app::work: /arg0 > 2 && (execname == \"beta\" || !(pid != 10)) && tid >= 101/ { @[execname, "
	        "arg0] = sum(arg1); }",
	        "app::work: /execname < \"b\" ^^ probename == \"entry\"/ { @[execname, probename] = count(); "
	        "}",
	        "app::work: /arg0 <= 2 || arg1 > 1000000 || cpu == 2/ { @[cpu] = max(timestamp); }",
	        "app::work:entry { @[(int)arg1, (char)arg0, (unsigned short)arg1] = count(); }",
	        "app::work:entry { @[arg0 > 5 ? arg0 * 2 + 1 : -1, arg1 % 7, arg1 / 1000, arg1 >> 60, ~arg0, "
	        "arg0 << 3] = count(); }",
	        "app::work:entry { @[(long)arg0 / 3, (long)arg0 % 3, (long)arg0 >> 2] = count(); }",
	        "app::work: { @[\"text\", execname] = count(); @w = max(walltimestamp); @i[id] = count(); }",
	        "app::work:entry { @a = count(); } app::work:entry /arg0 == 1/ { @a = count(); @b = "
	        "sum(arg1); }",
	        "BEGIN { @a[\"begin\"] = sum(5); x = 4; } app::work:entry { @a[execname] = sum(arg0); } END "
	        "{ "
	        "@a[\"beta\"] = sum(x); printa(\"%s %@d\\n\", @a); printf(\"%d\\n\", timestamp); }",
	        "app::work:entry { @a[execname] = sum(arg1); } END { trunc(@a, 2); normalize(@a, 1000); }",
	        "app::work:entry { @a[execname] = count(); @b = count(); } END { clear(@a); printa(@a); "
	        "trunc(@b); exit(3); }",
	        "app::work:entry { @[arg2] = count(); } BEGIN { printf(\"%s %d\\n\", "
	        "execname, pid); }",
	    }) {
		INFO(program);
		CHECK(goes_by_columns(kept, std::string("#pragma D option zdefs\n") + program));
	}
}

TEST_CASE("by columns: what has an order, or can fault, is left to the engine", "[replay][columns]") {
	App app;
	Kept kept = recorded(app);
	for (const char* program : {
	         "app::work:entry { @ = count(); printf(\"x\"); }",
	         "app::work:entry { @ = count(); n++; } END { printf(\"%d\", n); }",
	         "app::work:entry { @ = count(); } app::work:return /arg0 == 4/ { printa(@); clear(@); }",
	         "app::work:entry { @ = count(); } tick-1s { printa(@); }",
	         "app::work:entry /n++ < 5/ { @ = count(); }",
	         "app::work:entry { @ = count(); } app::work:return /cpu == 2 && tid == 101/ { exit(0); }",
	         "app::work:entry { if (arg0) @ = count(); else @b = count(); }",
	         "app::work:entry { @[strlen(execname)] = count(); }",
	         "app::work:entry { @[arg0 ? \"yes\" : \"no\"] = count(); }",
	         "app::work:entry { @[strjoin(execname, \"x\")] = count(); }",
	         "#pragma D option strsize=8\napp::work:entry { @[execname] = count(); }",
	         "#pragma D option cpu=1\napp::work:entry { @ = count(); }",
	     }) {
		INFO(program);
		CHECK_FALSE(goes_by_columns(kept, program));
	}
	auto options = quiet();
	options.way = replay::Way::kColumns;
	CHECK_THROWS_AS(replay_says(kept, "app::work:entry { trace(arg0); }", nullptr, options), Error);
}

TEST_CASE("by columns: a division by 0 is a fault of the engine", "[replay][columns]") {
	App app;
	Kept kept = recorded(app);
	CHECK(goes_by_columns(kept, "app::work:entry { @[arg0 / 7, arg0 % 5] = count(); }"));
	// Also where the quotient decides nothing.
	for (const char* program :
	     {"app::work:entry /arg0 / arg1 || 1/ { @ = count(); }",
	      "app::work:entry { @[arg0 / arg1 ? 1 : 1] = count(); }",
	      "app::work:entry /!((arg0 / arg1) && 0)/ { @ = count(); }",
	      "app::work:entry /((arg0 / arg1 == 3) & (cpu == 99)) == 0/ { @ = count(); }"})
		CHECK_FALSE(goes_by_columns(kept, program));
	auto options = quiet();
	unsigned faults = 0;
	options.message = [&](const std::string& text) {
		faults += text.find("divide-by-zero") != std::string::npos;
	};
	replay::Answer answer;
	replay_says(kept, "app::work:entry /arg0 == 0 || arg0 == 4/ { @[execname] = sum(1000 / arg0); }",
	            &answer, options);
	CHECK_FALSE(answer.by_columns);
	CHECK(faults > 100);
}

TEST_CASE("by columns: a predicate of many conditions is bound in no time", "[replay][columns]") {
	App app;
	Kept kept = recorded(app);
	std::string program = "app::work:entry /arg0 == 1";
	for (unsigned i = 0; i < 100; i++)
		program += " || arg1 == " + std::to_string(i) + " && arg0 != " + std::to_string(i);
	CHECK(goes_by_columns(kept, program + "/ { @ = count(); }"));
}

TEST_CASE("by columns: records of one time and probe are one firing", "[replay][columns]") {
	App app;
	load(app, "app::work: { capture(); }");
	for (unsigned i = 0; i < 100; i++) {
		const uint64_t at = kStart + i / 3 * 1000;
		app.fire(i % 10 == 9 ? app.exit : app.entry, at, 0, 70 + i % 3, i % 2 ? "one" : "two", i, i);
	}
	finish(app);
	Kept kept(app);
	CHECK(goes_by_columns(kept,
	                      "app::work: { @[execname, tid, arg0] = count(); @t[timestamp] = sum(arg1); }"));
}

TEST_CASE("by columns: two clauses that recorded a probe are put together by the engine",
          "[replay][columns]") {
	App app;
	Kept kept = recorded(app, "app::work:entry { capture(arg0); } app::work:entry { capture(arg1); } "
	                          "app::work:return { capture(arg0); }");
	CHECK_FALSE(goes_by_columns(kept, "app::work:entry { @[arg0] = sum(arg1); }"));
	CHECK(goes_by_columns(kept, "app::work:return { @[arg0] = count(); }"));
}

TEST_CASE("by columns: captured texts, and inputs whose recording faulted", "[replay][columns]") {
	static const char* const kTexts[] = {"/etc/passwd", "", "a", "/a/rather/long/path/to/some/file"};
	App app;
	load(app, "app::work: { capture(copyinstr(arg0), arg1); }");
	for (unsigned i = 0; i < 3000; i++) {
		const auto text = reinterpret_cast<uint64_t>(kTexts[i % 7 % 4]);
		for (dfr_probe* probe : {app.entry, app.exit}) {
			dfr_env env{};
			env.ev_flags = DFR_ENV_LIVE; // so that copyinstr() may read this process
			env.ev_time = kStart + i * 1000 + (probe == app.exit);
			const u64 arguments[3] = {probe == app.exit && i == 2500 ? 8 : text, i, 0};
			dfr_user_cpu = i % 4;
			dfr_fire_env(probe, arguments, 3, nullptr, &env);
		}
	}
	finish(app);
	Kept kept(app);
	CHECK(goes_by_columns(kept, "app::work:entry { @[copyinstr(arg0), arg1 & 1] = sum(arg1); }"));
	CHECK(goes_by_columns(kept, "app::work:entry /copyinstr(arg0) == \"a\" || copyinstr(arg0) > "
	                            "\"/b\" || \"\" == copyinstr(arg0)/ { @[arg1 & 3] = count(); }"));
	// Two texts: the engine compares them up to strsize.
	CHECK_FALSE(
	    goes_by_columns(kept, "app::work:entry /execname < copyinstr(arg0)/ { @[arg1 & 3] = count(); }"));
	CHECK(goes_by_columns(kept, "app::work: { @[probename] = sum(arg1); }"));
	auto options = quiet();
	options.message = [](const std::string&) {};
	replay::Answer answer;
	replay_says(kept, "app::work:return { @[copyinstr(arg0)] = count(); }", &answer, options);
	CHECK_FALSE(answer.by_columns);
}

TEST_CASE("by columns: windows and chosen CPUs", "[replay][columns]") {
	App app;
	Kept kept = recorded(app);
	for (const auto& [from, to] :
	     {std::pair("+1ms", "+3ms"), std::pair("+7ms", "-1ms"), std::pair("-500us", "-0s")}) {
		auto options = quiet();
		options.wanted.from = replay::parse_when(from);
		options.wanted.to = replay::parse_when(to);
		replay::Answer answer;
		replay_says(
		    kept,
		    "app::work:entry { @[cpu, execname] = sum(arg1); } BEGIN, END { trace(timestamp); }",
		    &answer, options);
		CHECK(answer.by_columns);
		options.wanted.cpus = {false, true, false, true};
		replay_says(kept, "app::work: { @[cpu, execname] = count(); }", &answer, options);
		CHECK(answer.by_columns);
	}
}

} // namespace replay_columns_test
