// SPDX-License-Identifier: GPL-2.0
//
// Recordings of an engine in this process, from decisions: a program is put together of
// clauses, firings are made up, and its records become files with all that a recorder puts
// beside them: names, types, the kernel's events, snapshots, marks, losses. So is the
// program that is asked of them.
#pragma once

#include <algorithm>
#include <iterator>

#include "analyze/render/programs.h"
#include "formats/d/compile.h"
#include "formats/trace/kernel_events.h"
#include "formats/trace/names.h"
#include "tests/fuzz/trace_entries.h"
#include "tests/unit/app_engine.h"
#include "tests/unit/dead_kernel_builder.h"

namespace dfr::fuzz {

inline std::string some_predicate(Decisions& in) {
	static constexpr const char* kComparisons[] = {"arg0 > 10",
	                                               "arg1 <= 3 && arg0 != 2",
	                                               "execname == \"alpha\"",
	                                               "execname < \"beta\"",
	                                               "pid == 10 || tid & 1",
	                                               "!(arg0 & 4)",
	                                               "self->t",
	                                               "arg0 > 10 ? arg1 > 2 : cpu == 1",
	                                               "1000 / arg0 > 20",
	                                               "probename == \"entry\"",
	                                               "this->x > 2",
	                                               "n % 3 == 0",
	                                               "arg0 == 5",
	                                               "arg0 >= 3 && arg0 < 40",
	                                               "timestamp > 1000000005000",
	                                               "0",
	                                               "\"b\" < \"a\"",
	                                               "strlen(execname) > 4",
	                                               "(int)arg1 < -1",
	                                               "arg2 > 1"};
	std::string text;
	for (unsigned left = in.byte() % 3; left; left--)
		text += (text.empty() ? ""
		         : left & 1   ? " && "
		                      : " || ") +
		        std::string(one_of(in, kComparisons));
	return text.empty() ? text : " /" + text + "/";
}

inline std::string some_clauses(Decisions& in, std::span<const char* const> actions) {
	static constexpr const char* kProbes[] = {"app::work:entry", "app::work:entry", "app::work:return",
	                                          "app::work:",      "BEGIN",           "END",
	                                          "tick-20us",       "app:::e*",        "ERROR",
	                                          "app::work:other", "profile-1ms",     "dtrace:::",
	                                          "alpha@app:::"};
	std::string text;
	for (unsigned left = 1 + in.byte() % 4; left; left--) {
		text += one_of(in, kProbes) + some_predicate(in) + " {";
		for (unsigned more = 1 + in.byte() % 3; more; more--)
			text += " " + std::string(actions[in.byte() % actions.size()]) + ";";
		text += " }\n";
	}
	return text;
}

// Mostly with a clause that records what the questions are about; half of them are programs as people write them.
inline std::string recorded_program(Decisions& in) {
	static constexpr const char* kWhole[] = {
	    "app::work: { capture(arg0, arg1); }",
	    "app::work: { capture(arg0, arg1, stack(2), ustack(3)); }",
	    "app::work:entry { capture(arg0, arg1, cpu, execname); } BEGIN { capture(arg0); }",
	    "app::work:entry /arg0 > 3/ { capture(arg0, arg1); }",
	    "app::work:entry { capture(arg0, (int8_t)arg1, strjoin(execname, \"-x\")); }",
	    "app::work:entry /arg1 > 100/ { capture(arg1); } app::work:return { capture(arg0); }",
	    "app::work:entry { self->s = speculation(); } app::work: /self->s/ { speculate(self->s); "
	    "capture(arg0, arg1); } app::work:return /self->s && arg0 & 1/ { commit(self->s); self->s = 0; } "
	    "app::work:return /self->s/ { discard(self->s); self->s = 0; }",
	    "#pragma D option nspec=4\napp::work:entry { self->s = speculation(); speculate(self->s); "
	    "trace(arg0); capture(arg1, pid); } app::work:entry /self->s/ { commit(self->s); }",
	    "#pragma D priority low\napp::work:entry { capture(arg0, arg1); }\n"
	    "#pragma D priority high\napp::work:return { capture(arg0); }",
	    "app::work:entry { printf(\"%s %d\\n\", execname, arg0); @c[execname] = count(); @q = "
	    "quantize(arg1); trace(arg1); } END { printa(@c); clear(@c); trunc(@q, 1); exit(3); }",
	    "#pragma D option destructive\napp::work:entry { system(\"true %d\", arg0); "
	    "freopen(\"/dev/null\"); "
	    "ftruncate(); setopt(\"quiet\"); tracemem(&arg0, 8); stack(); ustack(); @[arg0] = sum(arg1); }",
	    "app::work: { capture(arg0, 1000 / arg1, copyinstr(arg2)); capture(stack(1)); }"};
	static constexpr const char* kActions[] = {
	    "capture()",
	    "capture(arg0, arg1)",
	    "capture(arg0, pid, strjoin(execname, \"-x\"))",
	    "capture(stack(2), ustack(3))",
	    "capture(arg0 * 2, 1000 / arg0, arg1 & 7)",
	    "self->s = speculation()",
	    "speculate(self->s); trace(arg0); capture(arg1)",
	    "commit(self->s); self->s = 0",
	    "discard(self->s)",
	    "@c[execname] = count()",
	    "@q[arg0 & 3] = quantize(arg1)",
	    "@l = lquantize(arg1, 0, 100, 10); @b = llquantize(arg0, 10, 0, 4, 10)",
	    "@m[cpu] = max(arg1); @n = min(arg0); @a = avg(arg1); @d = stddev(arg0)",
	    "printf(\"%s %d %x\\n\", execname, arg0, arg1)",
	    "trace(probefunc); trace(arg0); stack(); ustack(2)",
	    "self->t = timestamp",
	    "n++; this->x = n & 7",
	    "printa(@c); trunc(@q, 1); clear(@m)",
	    "capture(execname, tid, walltimestamp, strlen(execname))",
	    "exit(3)",
	    "freopen(\"/dev/null\"); printf(\"x\")",
	    "tracemem(&arg0, 8)",
	    "sym(arg0); usym(arg1); umod(arg0); func(arg1)",
	    "normalize(@c, 2); denormalize(@c); setopt(\"quiet\")"};
	static constexpr const char* kOptions[] = {
	    "strsize=16",    "cpu=1",      "bufpolicy=fill\n#pragma D option bufsize=8k",
	    "stackframes=1", "nspec=1",    "aggsize=8k",
	    "dynvarsize=4k", "specsize=8k"};
	const uint8_t what = in.byte();
	if (what & 0x80)
		return one_of(in, kWhole);
	std::string text = what & 1 ? std::string("#pragma D option ") + one_of(in, kOptions) + "\n" : "";
	text += what & 2 ? "app::work:entry { capture(); }\n" : "";
	text += what & 4 ? "app::work: { capture(arg0, arg1, copyinstr(arg2)); }\n" : "";
	return text + some_clauses(in, kActions);
}

// An expression of what was recorded, and of what every record has.
inline std::string some_number(Decisions& in, unsigned depth = 3) {
	static constexpr const char* kLeaves[] = {"arg0", "arg1", "arg0", "arg1",  "timestamp", "pid",
	                                          "tid",  "cpu",  "7",    "0",     "1",         "nspid",
	                                          "id",   "arg2", "-1",   "cgroup"};
	static constexpr const char* kOperators[] = {"+", "-",  "*", "&",  "|",  "^",  "<<", ">>",
	                                             "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
	static constexpr const char* kCasts[] = {"~", "!", "-", "(int8_t)", "(unsigned short)", "(int)"};
	static constexpr const char* kTexts[] = {"execname",  "execname", "probename", "probefunc",
	                                         "\"alpha\"", "\"beta\"", "\"entry\"", "probeprov"};
	const uint8_t choice = in.byte();
	if (!depth || choice < 0x50)
		return one_of(in, kLeaves);
	if (choice < 0x60)
		return std::string("self->") + (choice & 1 ? "t" : "u");
	const std::string first = some_number(in, depth - 1);
	if (choice < 0x70)
		return one_of(in, kCasts) + ("(" + first + ")");
	if (choice < 0x80)
		return "(" + first + (choice & 1 ? " / " : " % ") +
		       std::to_string(in.byte() % 4 * 3 + choice % 4) + ")";
	if (choice < 0x90) {
		const char* const left = one_of(in, kTexts);
		return std::string("(") + left + " " + kOperators[8 + in.byte() % 6] + " " +
		       one_of(in, kTexts) + ")";
	}
	const std::string second = some_number(in, depth - 1);
	if (choice < 0xa0)
		return "(" + first + " ? " + second + " : " + some_number(in, depth - 1) + ")";
	return "(" + first + " " + one_of(in, kOperators) + " " + second + ")";
}

// Clauses that only count, as most questions are; each table is used once.
inline std::string counting_program(Decisions& in, bool with_variables) {
	static constexpr const char* kProbes[] = {"app::work:entry", "app::work:return",
	                                          "app::work:", "app:::"};
	static constexpr const char* kKeys[] = {"execname", "probename", "probefunc", "arg0",
	                                        "pid",      "probemod",  "tid",       "\"text\""};
	static constexpr const char* kFunctions[] = {"sum(",    "min(",      "max(",       "avg(",
	                                             "stddev(", "quantize(", "lquantize(", "llquantize("};
	static constexpr const char* kBounds[] = {"", "", "", "", "", "", ", 0, 100, 10", ", 10, 0, 4, 20"};
	std::string text;
	unsigned table = 0;
	for (unsigned left = 1 + in.byte() % 2; left; left--) {
		text += one_of(in, kProbes);
		if (in.byte() % 2)
			text += " /" + some_number(in) + "/";
		text += " {";
		if (with_variables && in.byte() % 2)
			text += " self->t = " + some_number(in) + "; this->x = arg0;";
		for (unsigned more = 1 + in.byte() % 3; more; more--) {
			text += " @t" + std::to_string(table++) + "[";
			for (unsigned keys = in.byte() % 4; keys; keys--)
				text += (in.byte() % 2 ? one_of(in, kKeys) : some_number(in, 2)) + ", ";
			text += "1] = ";
			const uint8_t function = in.byte();
			if (function >= 0xc0) {
				text += "count();";
				continue;
			}
			const unsigned which = function % std::size(kFunctions);
			text += kFunctions[which] + some_number(in) + kBounds[which];
			text += which >= 5 && in.byte() % 2 ? ", " + some_number(in, 1) + ");" : ");";
		}
		text += " }\n";
	}
	return text;
}

inline std::string asked_program(Decisions& in) {
	static constexpr const char* kWhole[] = {
	    "tick-1ms { @t = count(); n++; } app::work:entry { @[execname] = count(); }",
	    "profile-100us, tick-10ms { printf(\"%d\\n\", timestamp); } tick-10ms { exit(1); }",
	    "app::work:entry { @[stack(5), ustack(5)] = count(); } app::work:return { stack(); ustack(); }",
	    "app::work: { @[1000 / arg0, arg1 % arg0] = count(); }",
	    "app::work: { printf(\"%d\\n\", 1000 / arg0); } ERROR { @e = count(); }",
	    "app::work:entry { trace(1000 / arg0); trace(copyinstr(arg2)); }",
	    "#pragma D option bufsize=1k\n#pragma D option bufpolicy=fill\napp::work: { printf(\"%s %d "
	    "%d\\n\", "
	    "execname, arg0, arg1); stack(); }",
	    "#pragma D option bufsize=1k\napp::work: { printf(\"%s %d %d\\n\", execname, arg0, arg1); }",
	    "alpha@app::work: { @[execname, arg0] = sum(arg1); } beta@app::work:entry { @b[pid] = count(); }",
	    "app:::, dtrace:::BEGIN { @[probename, pid] = count(); } END { printf(\"%d\\n\", timestamp); }",
	    "app::work:entry /strjoin(execname, \"-x\") != \"alpha-x\"/ { @[strjoin(execname, \"-x\")] = "
	    "count(); }",
	    "app::work:entry /arg0 > 3/ { @[arg0] = count(); } app::work:entry /arg1 <= 100/ { @o = "
	    "max(arg1); }"};
	static constexpr const char* kActions[] = {
	    "@[execname] = count()",
	    "@s[cpu, arg0] = sum(arg1)",
	    "@q = quantize(arg1, arg0)",
	    "@n[probeprov, probemod, probefunc, probename] = count()",
	    "@m[pid, tid, id] = max(walltimestamp)",
	    "@g[nspid, cgroup] = min(timestamp)",
	    "@[arg0 > 5 ? execname : \"few\"] = avg(arg1 / (arg0 + 1))",
	    "@d = stddev(arg1 % 7 - 3); @e[arg0 << 1, ~arg1 >> 2] = sum(arg0 * arg1)",
	    "@l = lquantize(arg0 * 2, 0, 100, 10, arg1); @b = llquantize(arg1, 10, 0, 5, 20)",
	    "self->t = timestamp",
	    "@[execname] = quantize(timestamp - self->t); self->t = 0",
	    "printf(\"%s %d\\n\", execname, arg0)",
	    "@k[stack(2)] = count(); @u[ustack(3)] = sum(arg0)",
	    "stack(); ustack(2); trace(arg1)",
	    "@i[1000 / arg0] = count()",
	    "n++; @x = max(n)",
	    "if (arg0 > 3) @big = count(); else @small = count()",
	    "exit(3)",
	    "printa(@); trunc(@, 2); clear(@)",
	    "@[strjoin(execname, \"-x\")] = count()",
	    "@[copyinstr(arg2)] = count()",
	    "this->x = arg0 & 7; @[this->x] = count()",
	    "self->s = speculation(); speculate(self->s); trace(arg0)",
	    "commit(self->s)",
	    "a[tid, execname] = arg0; @ = sum(a[70, \"alpha\"])",
	    "@[arg0 == 5 && execname != \"beta\" || !arg1] = count()",
	    "@[(int8_t)arg1, (unsigned char)arg0, -arg1] = count()",
	    "capture(arg0)",
	    "@[arg2, args[0]] = count()",
	    "@[strlen(execname), basename(execname)] = max(arg0 ^ arg1 | 3)",
	    "trace(execname == \"alpha\" ? arg0 : 1); trace(errno); trace(uid)",
	    "@[((struct list_head *)arg0)->next] = count()",
	    "@[cpu == 1, pid != 10, tid >= 70 && tid < 90] = sum(1)"};
	static constexpr const char* kOptions[] = {
	    "strsize=16",    "cpu=1",    "bufpolicy=fill\n#pragma D option bufsize=4k",
	    "stackframes=1", "nspec=1",  "aggsize=4k",
	    "dynvarsize=1m", "strsize=8"};
	const uint8_t what = in.byte();
	if (what >= 0xe0)
		return one_of(in, kWhole);
	if (what >= 0x60)
		return counting_program(in, what & 1);
	const std::string option =
	    what % 8 == 1 ? std::string("#pragma D option ") + one_of(in, kOptions) + "\n" : "";
	return option + some_clauses(in, kActions);
}

struct EngineRecording {
	test::ListSource kept; // its catalog, blocks in order of time, aggregations and losses
	std::vector<trace::AggSnapshot> snapshots = {};
	trace::KnownNames names = {};
	trace::RecordedTypes types = {};
	trace::KernelEventsBuilder events = {};

	// All that there is; `writer` is ended by whoever wants that.
	void write(Decisions& in, trace::FileWriter& writer) {
		size_t next = 0;
		for (const trace::Block& block : kept.blocks) {
			writer.block(block);
			if (++next % 4 == 0 && in.byte() % 4 == 0)
				writer.flush();
		}
		for (const trace::AggSnapshot& snapshot : snapshots)
			writer.snapshot(snapshot);
		writer.aggregations(kept.aggs);
		writer.names(names.fresh());
		if (!types.empty())
			writer.types(types);
		if (!events.events.events.empty())
			writer.kernel_events(events.events);
		writer.account(kept);
	}
};

// Where the clock of a host was at 0, in ns after the epoch.
inline constexpr uint64_t kHostZero = 1'700'000'000'000'000'000;

// Of most recordings before and behind their end.
inline uint64_t some_time(Decisions& in) {
	return test::kStart + in.half() * 100u;
}

inline void put_marks(Decisions& in, trace::Catalog& catalog) {
	static constexpr const char* kTexts[] = {"", "", "app:::open*", "here it was"};
	for (unsigned left = in.byte() % 4; left; left--)
		catalog.events.push_back(some_mark(
		    in, [&] { return some_time(in); }, kTexts));
}

inline void put_losses(Decisions& in, trace::Losses& losses) {
	for (unsigned left = in.byte() % 3; left; left--)
		losses.add({.cause = in.byte() % uint32_t{DFR_LOSS_MAX},
		            .probe = in.byte() % 6u,
		            .cpu = in.byte() % 4 - 1,
		            .count = in.byte(),
		            .from = test::kStart + in.byte() * 1000u,
		            .to = some_time(in)});
	for (unsigned left = in.byte() % 3; left; left--)
		losses.add(some_stretch(
		    in, [&] { return test::kStart + in.byte() * 1000u; }, [&] { return some_time(in); }));
}

// What a recorder knows besides: of the kernel, of processes, and what both were doing.
inline void put_knowledge(Decisions& in, EngineRecording& made) {
	const uint8_t what = in.byte();
	if (what & 1) {
		made.names.add_kernel(0xffffffff81000000, 64, 0, "vmlinux", "do_it");
		const uint32_t file = made.names.add_file("/opt/bin/server", "aabbccdd");
		for (unsigned left = in.byte() % 4; left; left--) {
			made.names.add_symbol(file, in.byte(), 1u + in.byte() % 16, some_text(in));
			made.names.add_mapping({.pid = 7u + in.byte() % 4,
			                        .file = file,
			                        .start = in.byte() * 4u,
			                        .end = 4096u + in.byte(),
			                        .since = test::kStart + in.byte() * 1000u});
			made.names.add_module(some_text(in), {.start = in.half(), .size = in.byte()});
			made.names.add_kernel(in.half(), in.byte(), in.byte(), some_text(in), some_text(in));
		}
	}
	if (what & 2) {
		made.types.digest = 1 + in.byte() % 2;
		made.types.btf["vmlinux"] = test::small_btf(1 + in.byte() % 2);
		if (in.byte() % 4 == 0)
			made.types.btf["m"] = made.types.btf["vmlinux"];
		auto& probe = made.types.probes["app:m:work:entry"];
		if (in.byte() % 2)
			probe.args.push_back(
			    {.native = "int", .translated = "int", .name = "many", .mapping = 0});
		else
			probe.why_untyped = "nobody knows";
	}
	if (what & 4) {
		for (unsigned left = 1 + in.byte() % 4; left; left--)
			made.events.add(some_time(in), in.byte() % 3, 7u + in.byte() % 4, "initcall_start",
			                some_text(in));
		made.events.events.lost = in.byte() % 2;
		if (in.byte() % 2)
			made.events.events.remarks.emplace_back("a remark on them");
	}
	if (what & 8)
		made.snapshots.push_back({.time = some_time(in), .entries = made.kept.aggs});
	if (what & 16)
		put_marks(in, made.kept.the_catalog);
	if (what & 32)
		put_losses(in, made.kept.lost);
}

inline void record(Decisions& in, test::App& app, trace::Catalog& catalog,
                   std::vector<trace::Block>& blocks) {
	static const char* const kNames[] = {"alpha", "beta", "gamma-delta-eps"};
	const uint8_t what = in.byte();
	if (what & 1) {
		const auto dof = render::error_program();
		app.enable(std::as_bytes(std::span(dof)), false);
	}
	if (what & 2)
		app.another("other");
	std::string program = recorded_program(in);
	d::Diagnostics diagnostics;
	d::Compiled compiled = d::compile(program, {}, app, diagnostics);
	if (diagnostics.failed()) {
		d::Diagnostics none;
		program = "app::work: { capture(arg0, arg1); }";
		compiled = d::compile(program, {}, app, none);
	}
	dfr_user_cpu = 0; // of BEGIN
	test::load(app, compiled.image);
	const auto take = [&] {
		app.flush();
		while (auto block = app.next()) {
			trace::seal_block(*block);
			blocks.push_back(std::move(*block));
		}
	};
	uint64_t time = test::kStart;
	for (unsigned left = 1 + in.byte() % 96; left && in.left(); left--) {
		const uint8_t how = in.byte(), who = in.byte();
		time += how & 0x40 ? in.byte() * 50u : 1000;
		app.fire(how & 1 ? app.exit : app.entry, time, how >> 1 & 1 ? 2 : how >> 2 & 1, 70 + who % 30,
		         kNames[who % 3], who >> 5 ? who >> 4 : in.number(), in.byte());
		if (how >= 0xf0)
			take();
	}
	test::finish(app);
	take();
	catalog = app.catalog();
	if (what & 4)
		catalog.sources = {program};
	std::ranges::stable_sort(blocks, {},
	                         [](const trace::Block& block) { return block.header().first_time; });
}

// As `number`th of several.
inline EngineRecording some_recording(Decisions& in, unsigned number) {
	EngineRecording made;
	test::App app(3);
	record(in, app, made.kept.the_catalog, made.kept.blocks);
	made.kept.aggs = app.aggregations();
	made.kept.lost = app.losses();
	trace::Catalog& catalog = made.kept.the_catalog;
	static constexpr const char* kHosts[] = {"alpha", "beta"};
	const uint8_t what = in.byte();
	if (what & 1) {
		catalog.machine["host"] = one_of(in, kHosts);
		catalog.machine["release"] = what & 2 ? "6.9" : "6.1";
	}
	if (what & 4)
		catalog.machine["engine"] = "process";
	if (what & 8)
		catalog.machine["confined"] = one_of(in, kHosts);
	catalog.boot_id = {static_cast<uint8_t>(1 + (what & 16 ? number : 0))};
	catalog.state_id = 7 + (what & 32 ? number : 0);
	catalog.clocks.clear();
	uint64_t mono = test::kStart, zero = kHostZero;
	for (unsigned left = what & 64 ? in.byte() % 4 : 1; left; left--) {
		catalog.clocks.push_back({.mono = mono, .real = mono + zero, .boot = mono});
		mono += 1 + in.half() * 20u;
		zero += in.byte() % 2 ? in.number() : 0;
	}
	put_knowledge(in, made);
	return made;
}

} // namespace dfr::fuzz
