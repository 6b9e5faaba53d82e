// SPDX-License-Identifier: GPL-2.0
//
// dfr redact: the new file has what was allowed and nothing else, answers what can be answered of that as the old
// one does, and names what is missing; and the proof finds whatever was not allowed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <set>

#include "analyze/render/programs.h"
#include "analyze/replay/redaction.h"
#include "formats/trace/container.h"
#include "formats/trace/cut.h"
#include "formats/trace/remake.h"
#include "formats/trace/schema.h"
#include "formats/trace/text_search.h"
#include "tests/unit/harmed_file.h"

namespace redact_test {

using namespace dfr;
using namespace dfr::test;

namespace {

using Words = std::vector<std::string>;

// Everything that a recording can have: inputs of all kinds, names, a ledger with a remark, what a machine says of itself.
struct Rig {
	explicit Rig(
	    const char* program =
	        "app::work:entry { capture(arg0, arg1, strjoin(execname, \"-customer-secret\"), stack()); "
	        "printf(\"printed-in-private %s\\n\", execname); @counted[execname] = count(); }"
	        "app::work:return /arg0 % 3 == 0/ { capture(arg0, pid); }",
	    bool tells_faults = false, const char* confined_to = nullptr)
	    : whole(folder.file("whole.dfr")), part(folder.file("part.dfr")) {
		if (tells_faults) {
			const auto dof = render::error_program();
			app.enable(std::as_bytes(std::span(dof)), false);
		}
		load(app, std::string("#pragma D option bufsize=256k\n") + program);
		for (unsigned i = 0; i < 3000; i++) {
			const auto* const name = i % 3 ? "alpha-process" : "beta-process";
			app.fire(app.entry, kStart + i * 1000, i % 4, 100 + i % 30, name, i % 11,
			         i * 1'000'003ull);
			app.fire(app.exit, kStart + i * 1000 + 500, i % 4, 100 + i % 30, name, i % 7, 0);
		}
		finish(app);
		Kept kept(app);
		trace::Catalog& catalog = kept.identity();
		catalog.machine = {{"engine", "process"},
		                   {"host", "web1.customer.example"},
		                   {"release", "6.1.0-customer-build"},
		                   {"cmdline", "root=/dev/private-disk"}};
		if (confined_to)
			catalog.machine["confined"] = confined_to;
		catalog.clocks = {{.mono = kStart, .real = kStart + 5, .boot = kStart}};
		catalog.boot_id = {7, 7, 7};
		catalog.state_name = "state-of-the-customer";
		catalog.sources = {"app::work:entry { /* a remark of the author */ }"};
		trace::FileWriter writer(whole, true,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		while (const auto block = kept.next())
			writer.block(*block);
		writer.aggregations(kept.aggregations());
		trace::KnownNames names;
		names.add_kernel(0xffffffff81000000, 64, 0, "vmlinux", "function_of_the_kernel");
		const uint32_t file = names.add_file("/opt/customer/bin/server", "aabbccdd");
		names.add_mapping({.pid = 10, .file = file, .start = 4096, .end = 8192});
		writer.names(names.fresh());
		trace::KernelEventsBuilder events;
		events.add(1'000, 0, 1, "initcall_start", "func=initcall_of_the_customer+0x0/0x1");
		events.add(2'000, 1, 1, "initcall_finish", "func=initcall_of_the_customer+0x0/0x1 ret=0");
		events.events.lost = 3;
		events.events.remarks = {"a remark on the events of the customer"};
		writer.kernel_events(events.events);
		writer.account(kept);
		writer.finish();
	}
	trace::Redaction redaction(const Words& keep) {
		const auto source = trace::open_file(whole);
		replay::RecordingTarget target(source->catalog(), whole);
		return replay::make_redaction(*source, target, keep);
	}
	// Writes `part` and proves it.
	trace::RedactResult redact(const Words& keep) {
		const trace::Redaction allowed = redaction(keep);
		const trace::RedactResult result = trace::redact_file(whole, part, allowed);
		const trace::RedactProof proof = trace::prove_redacted(whole, part, allowed);
		for (const std::string& wrong : proof.wrong)
			FAIL_CHECK(wrong);
		CHECK(proof.texts > 0);
		CHECK_FALSE(proof.more_texts);
		const trace::Inspection found = trace::verify_file(part);
		for (const trace::Finding& finding : found.findings)
			FAIL_CHECK(finding.text());
		return result;
	}
	App app;
	ScratchFolder folder;
	std::string whole, part;
};

struct Asked {
	std::string text;
	trace::Verdict verdict;
	std::string reasons() const {
		std::string all;
		for (const std::string& reason : verdict.reasons)
			all += reason + "\n";
		return all;
	}
};

Asked ask(const std::string& path, const std::string& program) {
	trace::JoinedSource source(std::move(trace::group_by_state({path}).at(0)));
	replay::RecordingTarget target(source.catalog(), "redacted.dfr");
	const d::Compiled made = compiled(program, target);
	Asked results[2];
	for (const bool rows : {false, true}) {
		trace::JoinedSource again(std::move(trace::group_by_state({path}).at(0)));
		const trace::United united({&again});
		render::Output output(-1);
		render::NoSymbols symbols;
		replay::ReplayOptions options = quiet();
		options.way = rows ? replay::Way::kRows : replay::Way::kAny;
		results[rows].verdict =
		    replay::replay_program(united, target, made, output, symbols, options).verdict;
		results[rows].text = output.take();
	}
	CHECK(results[0].text == results[1].text);
	CHECK(results[0].verdict == results[1].verdict);
	return results[0];
}

// In which of a file's segments, unpacked, a text stands; the blocks of chunks are made first.
bool has_text(const std::string& path, const std::string& text) {
	const auto in = [&text](std::span<const std::byte> bytes) {
		const auto* const from = reinterpret_cast<const char*>(bytes.data());
		return std::string_view(from, bytes.size()).find(text) != std::string_view::npos;
	};
	const trace::ContainerReader reader(path);
	for (uint64_t at = sizeof(trace::FileHead); at < reader.size();) {
		const auto segment = reader.segment(at);
		REQUIRE(segment);
		const auto payload = reader.payload(*segment);
		REQUIRE(payload);
		if (in(*payload))
			return true;
		std::vector<trace::Block> blocks;
		if (segment->type() == trace::SegmentType::kChunk)
			blocks = trace::decode_chunk(*payload).value();
		for (const trace::Block& block : blocks)
			if (in(block.bytes))
				return true;
		at = segment->end();
	}
	return false;
}

const Words kSecrets = {
    "customer-secret",        "printed-in-private", "alpha-process", "customer.example",
    "6.1.0-customer-build",   "private-disk",       "state-of-the",  "remark of the author",
    "function_of_the_kernel", "/opt/customer",      "strjoin",       "initcall_of_the_c",
    "events of the c"};

} // namespace

TEST_CASE("a recording of which nothing is kept has none of its texts", "[redact]") {
	Rig rig;
	for (const std::string& secret : kSecrets) {
		INFO(secret);
		CHECK(has_text(rig.whole, secret));
	}
	const trace::RedactResult result = rig.redact({});
	CHECK(result.records == trace::verify_file(rig.whole).records);
	CHECK(result.segments_left_out == 3); // names, aggregations, the kernel's own events
	for (const std::string& secret : kSecrets) {
		INFO(secret);
		CHECK_FALSE(has_text(rig.part, secret));
	}
	const Asked whole = ask(rig.whole, "app::work:entry { @[cpu, probename] = count(); }");
	const Asked part = ask(rig.part, "app::work:entry { @[cpu, probename] = count(); }");
	CHECK(part.text == whole.text);
	CHECK(part.verdict.complete);
	CHECK(part.verdict.from == whole.verdict.from);
	CHECK(part.verdict.to == whole.verdict.to);
}

TEST_CASE("what is kept answers as before, what is not is named and never a value", "[redact]") {
	Rig rig;
	rig.redact({"execname", "arg0"});
	for (const char* program :
	     {"app::work:entry { @[execname, arg0] = count(); }",
	      "app::work:entry /execname == \"beta-process\"/ { @ = sum(arg0); }",
	      "app::work:entry /arg0 == 5/ { printf(\"%d %s\\n\", timestamp, execname); }"}) {
		INFO(program);
		const Asked part = ask(rig.part, program);
		CHECK(part.text == ask(rig.whole, program).text);
		INFO(part.reasons());
		CHECK(part.verdict.complete);
	}
	const std::pair<const char*, const char*> asked[] = {
	    {"app::work:entry { @[arg1] = count(); }", "arg1"},
	    {"app::work:entry { @[pid] = count(); }", "pid"},
	    {"app::work:entry /tid == 101/ { @ = count(); }", "tid"},
	    {"app::work:entry { printf(\"%d\\n\", nspid); }", "nspid"},
	    {"app::work:entry { @[cgroup] = count(); }", "cgroup"},
	    {"app::work:entry { @ = max(walltimestamp); }", "walltimestamp"},
	    {"app::work:entry { @[stack()] = count(); }", "stack()"},
	    {"app::work:entry { @[strjoin(stringof(arg1), \"x\")] = count(); }", "str(arg1)"},
	    {"app::work:entry { this->x = arg1; printf(\"%d\\n\", this->x); }", "arg1"},
	    {"app::work:entry /pid != 0 || 1/ { @ = count(); }", "pid"},
	    {"app::work:entry { @[pid ? 1 : 1] = count(); }", "pid"},
	};
	for (const auto& [program, input] : asked) {
		INFO(program);
		const Asked part = ask(rig.part, program);
		CHECK(part.text.find_first_not_of(" \n") == std::string::npos);
		CHECK_FALSE(part.verdict.complete);
		INFO(part.reasons());
		CHECK(part.reasons().find(std::string(input) + " was taken out of the recording") !=
		      std::string::npos);
	}
	// BEGIN has the process that started the recording, which is not here either.
	const Asked begin = ask(rig.part, "BEGIN { printf(\"%d\\n\", pid); } END { printf(\"end\\n\"); }");
	CHECK(begin.text.find("0\n") == std::string::npos);
	CHECK(begin.text.find("end\n") != std::string::npos);
	CHECK_FALSE(begin.verdict.complete);
	// What is kept by thread cannot be.
	const auto file = trace::open_file(rig.part);
	replay::RecordingTarget target(file->catalog(), "part");
	d::Diagnostics diagnostics;
	d::compile("app::work:entry { self->x = arg0; } app::work:return { @ = sum(self->x); }", {}, target,
	           diagnostics);
	CHECK(diagnostics.failed());
	CHECK(diagnostics.render(false).find("self->x") != std::string::npos);
}

TEST_CASE("a cut that is redacted lacks no record that was not cut", "[redact][cut]") {
	for (const trace::Cut& cut : {trace::Cut{.span = {.to = kStart + 1'234'567}, .text = "the start"},
	                              trace::Cut{.pids = {10}, .text = "pid 10"}}) {
		INFO(cut.text);
		Rig rig;
		const std::string file = rig.folder.file("cut.dfr");
		CHECK(trace::cut_file(rig.whole, file, cut).left_out > 0);
		std::filesystem::rename(file, rig.whole);
		rig.redact({"arg0"}); // which verifies
		const Asked part = ask(rig.part, "app::work:entry { @ = count(); }");
		CHECK(part.text == ask(rig.whole, "app::work:entry { @ = count(); }").text);
		CHECK(part.verdict.lost == 0);
		CHECK(part.reasons().find("missing on CPU") == std::string::npos);
	}
}

// As if its last chunk and the index that had it were those of another attempt: only the ledger tells of them.
TEST_CASE("last blocks that are not there are missed in a redacted recording too", "[redact]") {
	Rig rig;
	const std::string shorter = rig.folder.file("shorter.dfr");
	{
		const trace::ContainerReader reader(rig.whole);
		std::vector<trace::Segment> segments;
		reader.each_segment([&](const trace::Segment& segment) { segments.push_back(segment); });
		const auto last = std::find_if(segments.rbegin(), segments.rend(), [](const auto& segment) {
			return segment.type() == trace::SegmentType::kChunk;
		});
		trace::ContainerWriter writer(shorter, true, trace::local_file());
		trace::Index index;
		for (const trace::Segment& segment : segments) {
			const trace::SegmentType type = segment.type();
			if (type == trace::SegmentType::kIndex || type == trace::SegmentType::kEnd ||
			    segment.offset == last->offset)
				continue;
			const uint64_t at = writer.append(type, segment.head.flags & trace::kSegmentWhole,
			                                  reader.payload(segment).value(), false);
			if (type == trace::SegmentType::kChunk)
				index.chunks.push_back({.offset = at});
			else
				index.others.push_back({at, segment.head.type});
		}
		trace::EndMark end{
		    .index = writer.append(trace::SegmentType::kIndex, 0, trace::encode_index(index), false),
		    .size = 0};
		end.size = writer.size() + trace::kEndBytes;
		writer.append(trace::SegmentType::kEnd, 0, std::as_bytes(std::span(&end, 1)), false);
		writer.close();
	}
	std::filesystem::rename(shorter, rig.whole);
	const trace::Redaction allowed = rig.redaction({"arg0"});
	trace::redact_file(rig.whole, rig.part, allowed);
	CHECK(trace::prove_redacted(rig.whole, rig.part, allowed).wrong.empty());
	const char* const program = "app::work:entry { @ = count(); }";
	const Asked whole = ask(rig.whole, program), part = ask(rig.part, program);
	REQUIRE(whole.verdict.lost > 0);
	CHECK(whole.reasons().find("(its last blocks are not there)") != std::string::npos);
	CHECK(part.reasons() == whole.reasons());
	CHECK(part.verdict.lost == whole.verdict.lost);
}

TEST_CASE("what was recorded under a predicate is still known to be a part", "[redact]") {
	Rig rig;
	rig.redact({"arg0"});
	const Asked part = ask(rig.part, "app::work:return { @[arg0] = count(); }");
	CHECK(part.text == ask(rig.whole, "app::work:return { @[arg0] = count(); }").text);
	CHECK_FALSE(part.verdict.complete);
	CHECK(part.reasons().find("was recorded only where") != std::string::npos);
}

// REPLAY.md, section 3: whatever kept firings out of the recording kept them out of the redacted one.
TEST_CASE("why the answers are partial is the same in a redacted recording", "[redact][verdict]") {
	const char* const faults = "app::work:entry { trace(10 / (arg0 % 3)); }";
	const std::tuple<const char*, bool, const char*> programs[] = {
	    {faults, true, "left no record, because a clause faulted there"},
	    {faults, false, "was recorded only where its clause did not fault"},
	    {"app::work:entry /10 / (arg0 % 3)/ { capture(arg0); }", false,
	     "the recording's own predicate held, and its clause did not fault"},
	    {"app::work:entry { self->s = speculation(); } "
	     "app::work:entry { speculate(self->s); capture(arg0); } "
	     "app::work:return /arg0 % 2/ { commit(self->s); self->s = 0; } "
	     "app::work:return /arg0 % 2 == 0/ { discard(self->s); self->s = 0; }",
	     true, "was recorded only where the speculation was committed"},
	    {"#pragma D option cpu=1\napp::work:entry { capture(arg0); }", false,
	     "only CPU 1 was recorded (-x cpu=)"}};
	for (const auto& [program, tells_faults, why] : programs) {
		INFO(program);
		Rig rig(program, tells_faults);
		rig.redact({"pid"});
		const char* const count = "app::work:entry { @ = count(); }";
		const Asked whole = ask(rig.whole, count), part = ask(rig.part, count);
		CHECK(part.text == whole.text);
		CHECK_FALSE(whole.verdict.complete);
		CHECK_FALSE(part.verdict.complete);
		CHECK_THAT(part.reasons(), Catch::Contains(why));
		CHECK(part.verdict.reasons.size() == whole.verdict.reasons.size());
	}
}

TEST_CASE("that a user without privilege recorded stays, who he is with pid", "[redact][verdict]") {
	Rig rig("app::work:entry { capture(arg0); }", false, "4711");
	const char* const count = "app::work:entry { @ = count(); }";
	const auto only = [](const std::string& user) {
		return "only tasks of user " + user + " were recorded (without privilege)\n";
	};
	CHECK(ask(rig.whole, count).reasons() == only("4711"));
	rig.redact({"pid"});
	CHECK(ask(rig.part, count).reasons() == only("4711"));
	rig.redact({"execname"});
	CHECK(ask(rig.part, count).reasons() == only("unknown"));
	CHECK_FALSE(has_text(rig.part, "4711"));
}

TEST_CASE("each word keeps what it says", "[redact]") {
	Rig rig;
	const std::pair<const char*, const char*> texts[] = {{"execname", "alpha-process"},
	                                                     {"host", "web1.customer.example"},
	                                                     {"kernel", "6.1.0-customer-build"},
	                                                     {"names", "function_of_the_kernel"},
	                                                     {"program", "remark of the author"}};
	for (const auto& [word, text] : texts) {
		INFO(word);
		rig.redact({word});
		for (const auto& [other, secret] : texts)
			CHECK(has_text(rig.part, secret) == (other == std::string(word)));
		CHECK_FALSE(has_text(rig.part, "/opt/customer"));
	}
	rig.redact({"pid", "names"});
	CHECK(has_text(rig.part, "/opt/customer"));
	CHECK_THROWS_WITH(rig.redaction({"events"}), Catch::Contains("they hold the processes' numbers"));
	rig.redact({"pid"});
	CHECK(trace::open_file(rig.part)->kernel_events().empty());
	rig.redact({"pid", "events"});
	CHECK_FALSE(has_text(rig.part, "events of the customer"));
	const trace::KernelEvents kept = trace::open_file(rig.part)->kernel_events();
	REQUIRE(kept.events.size() == 2);
	CHECK(kept.texts[kept.events[1].text] == "func=initcall_of_the_customer+0x0/0x1 ret=0");
	CHECK(kept.events[1].pid == 1);
	CHECK(kept.lost == 3);
	CHECK(kept.remarks == Words{"1 remark on the recording were left out (redact)"});
	rig.redact({"pid", "execname", "cgroup", "walltime", "host", "*"});
	const char* const all =
	    "app::work:entry { @[pid, tid, nspid, cgroup, execname, walltimestamp % 1000, arg0, "
	    "arg1, strjoin(execname, \"-customer-secret\")] = count(); } BEGIN { trace(pid); }";
	const Asked part = ask(rig.part, all);
	CHECK(part.text == ask(rig.whole, all).text);
	INFO(part.reasons());
	CHECK(part.verdict.complete);
}

TEST_CASE("inputs are named by probe and input, and what is not there is refused", "[redact]") {
	Rig rig;
	rig.redact({"app::work:return/arg0"});
	CHECK_FALSE(ask(rig.part, "app::work:entry { @[arg0] = count(); }").verdict.complete);
	CHECK(ask(rig.part, "app::work:entry { @[arg0] = count(); }").text.find_first_not_of(" \n") ==
	      std::string::npos);
	CHECK(ask(rig.part, "app::work:return { @[arg0] = count(); }").text ==
	      ask(rig.whole, "app::work:return { @[arg0] = count(); }").text);
	for (const char* word : {"arg7", "nosuch::probe:entry/arg0", "execnames"})
		CHECK_THROWS_WITH(rig.redaction({word}), Catch::Contains("nothing in the recording is"));
	CHECK_THROWS_WITH(rig.redaction({"a:b:c:d:e/arg0"}), Catch::Contains("too many colons"));
	CHECK(replay::split_words("pid, copyinstr(arg0, 10),args[0,1],\"a,b\"") ==
	      Words{"pid", "copyinstr(arg0, 10)", "args[0,1]", "\"a,b\""});
}

TEST_CASE("the proof finds what was not allowed", "[redact]") {
	Rig rig;
	for (const char* word :
	     {"pid", "execname", "cgroup", "walltime", "host", "kernel", "names", "program", "arg1"}) {
		INFO(word);
		trace::redact_file(rig.whole, rig.part, rig.redaction({word}));
		CHECK_FALSE(
		    trace::prove_redacted(rig.whole, rig.part, rig.redaction({"arg0"})).wrong.empty());
	}
	trace::redact_file(rig.whole, rig.part, rig.redaction({"pid", "events"}));
	const Words more = trace::prove_redacted(rig.whole, rig.part, rig.redaction({"pid"})).wrong;
	CHECK(std::count(more.begin(), more.end(), "the kernel's own events are there") == 1);
	// Events that are allowed, and one of them is not the old file's, or a text is in none of them.
	const trace::Redaction events = rig.redaction({"pid", "events"});
	for (const bool other : {false, true}) {
		trace::KernelEvents changed = trace::open_file(rig.whole)->kernel_events();
		changed.remarks.clear();
		if (other)
			changed.events[1].time++;
		else
			changed.texts.emplace_back("smuggled");
		trace::FileWriter writer(rig.part, true,
		                         [&]() -> const trace::Catalog& { return events.catalog; });
		writer.kernel_events(changed);
		writer.finish();
		CHECK(trace::prove_redacted(rig.whole, rig.part, events).wrong ==
		      Words{other ? "other events of the kernel's own are there"
		                  : "a text is there that no event of the kernel's own has"});
	}
	// Only the bytes tell: one field stays, as was allowed, but it is another one.
	const Words secret = {"strjoin(execname, \"-customer-secret\")"};
	trace::Redaction allowed = rig.redaction(secret);
	trace::redact_file(rig.whole, rig.part, allowed);
	CHECK(trace::prove_redacted(rig.whole, rig.part, allowed).wrong.empty());
	for (auto& [epid, fields] : allowed.fields)
		fields = {0};
	allowed.text = "arg0";
	const trace::RedactProof proof = trace::prove_redacted(rig.whole, rig.part, allowed);
	REQUIRE_FALSE(proof.wrong.empty());
	CHECK(std::any_of(proof.wrong.begin(), proof.wrong.end(), [](const std::string& wrong) {
		return wrong.find("-process-customer-secret") != std::string::npos;
	}));
	// The whole file as if it were a redacted one.
	CHECK(trace::prove_redacted(rig.whole, rig.whole, rig.redaction({"arg0"})).wrong.size() > 5);
}

// Whether the proof has found this.
bool finds(const trace::RedactProof& proof, const std::string& what) {
	return std::ranges::any_of(
	    proof.wrong, [&what](const std::string& wrong) { return wrong.find(what) != std::string::npos; });
}

TEST_CASE("nothing of the boot's id stays without host, in catalog and blocks", "[redact]") {
	Rig rig;
	const uint64_t old = trace::open_file(rig.whole)->catalog().state_id;
	for (const bool host : {false, true}) {
		rig.redact(host ? Words{"host"} : Words{});
		const auto part = trace::open_file(rig.part);
		const trace::Catalog& catalog = part->catalog();
		uint32_t boot;
		std::memcpy(&boot, catalog.boot_id.data(), sizeof boot);
		CHECK((catalog.boot_id == std::array<uint8_t, 16>{7, 7, 7}) == host);
		if (host)
			CHECK(catalog.state_id == old);
		else // as the engine makes it, of the boot that is written (block.h)
			CHECK(catalog.state_id == (uint64_t{boot} << 32 | static_cast<uint32_t>(old)));
		const auto refs = part->index();
		REQUIRE_FALSE(refs.empty());
		for (const trace::BlockRef& ref : refs)
			CHECK(ref.head.state_id == catalog.state_id);
	}
	// As dfr wrote it once: only the boot id was another.
	trace::Redaction allowed = rig.redaction({});
	allowed.catalog.state_id = 0x0070707ull << 32 | 1;
	trace::redact_file(rig.whole, rig.part, allowed);
	CHECK(finds(trace::prove_redacted(rig.whole, rig.part, allowed), "a part of the boot's id"));
	CHECK(finds(trace::prove_redacted(rig.whole, rig.part, rig.redaction({})),
	            "the number of the state, or the boot, is there"));
}

TEST_CASE("neither where a kept input faulted stays, nor what a program exited with", "[redact]") {
	Rig rig("app::work:entry { capture(copyinstr(arg0)); } app::work:return /arg0 == 6/ { exit(42); }");
	const auto seen = [](const std::string& path) {
		std::pair<uint64_t, std::set<uint64_t>> faults; // their number, and addresses
		const auto file = trace::open_file(path);
		trace::Merger(*file).run([&](const trace::Record& record) {
			for (const trace::Value& value : record.fields)
				if (value.fault) {
					faults.first++;
					faults.second.insert(value.fault_value);
				}
			return true;
		});
		return faults;
	};
	const auto exits = [](const std::string& path) {
		std::vector<int32_t> values;
		const auto file = trace::open_file(path);
		for (const trace::EventMark& mark : file->catalog().events)
			if (mark.event == DFR_EVENT_EXIT)
				values.push_back(mark.value);
		return values;
	};
	const Words keep = {"copyinstr(arg0)"};
	REQUIRE(seen(rig.whole).second.count(5)); // arg0 of the sixth firing
	REQUIRE(exits(rig.whole) == std::vector{42});
	rig.redact(keep);
	CHECK(seen(rig.part).first == seen(rig.whole).first);
	CHECK(seen(rig.part).second == std::set<uint64_t>{0});
	CHECK(exits(rig.part) == std::vector{0});
	trace::Redaction allowed = rig.redaction(keep);
	const std::string told = rig.folder.file("told.dfr");
	trace::RecordShapes shapes(allowed.catalog);
	std::vector<trace::Value> values;
	const auto tell = [&](const trace::Record& record) -> std::optional<trace::RemadeRecord> {
		values.assign(record.fields.begin(), record.fields.end());
		for (trace::Value& value : values)
			value.fault_value = value.fault ? 5 : 0;
		return trace::RemadeRecord{.epid = record.epid,
		                           .context = record.context,
		                           .layout = allowed.catalog.layout_of(record.epid)->fields,
		                           .fields = values};
	};
	copy_segments(rig.part, told, [&](auto type, std::vector<std::byte> payload) {
		if (type != trace::SegmentType::kChunk)
			return payload;
		std::vector<trace::Block> blocks = trace::decode_chunk(payload).value();
		for (trace::Block& block : blocks)
			block = trace::remake_block(block, shapes, tell).block;
		return trace::encode_chunk(blocks, allowed.catalog);
	});
	CHECK(finds(trace::prove_redacted(rig.whole, told, allowed), "where an input faulted is there"));
	for (trace::EventMark& mark : allowed.catalog.events)
		if (mark.event == DFR_EVENT_EXIT)
			mark.value = 42;
	trace::redact_file(rig.whole, rig.part, allowed);
	CHECK(finds(trace::prove_redacted(rig.whole, rig.part, allowed), "what the program exited with"));
	CHECK(finds(trace::prove_redacted(rig.whole, rig.part, rig.redaction(keep)),
	            "the catalog has more than was allowed"));
}

TEST_CASE("the proof finds what this dfr does not know in catalog and ledger", "[redact]") {
	Rig rig;
	const std::string newer = rig.folder.file("newer.dfr");
	const trace::Redaction allowed = rig.redaction({"arg0", "host", "names"});
	trace::redact_file(rig.whole, rig.part, allowed);
	CHECK(trace::prove_redacted(rig.whole, rig.part, allowed).wrong.empty());
	for (const auto& [type, what] :
	     {std::pair(trace::SegmentType::kCatalog, "the catalog has more than was allowed"),
	      std::pair(trace::SegmentType::kLosses, "there is what this dfr does not know"),
	      std::pair(trace::SegmentType::kNames, "there is what this dfr does not know")}) {
		copy_segments(rig.part, newer, [type = type](auto of, const std::vector<std::byte>& payload) {
			return of == type ? with_another_word(payload) : payload;
		});
		CHECK(finds(trace::prove_redacted(rig.whole, newer, allowed), what));
	}
}

TEST_CASE("records of committed speculations stay in order without their program", "[redact]") {
	Rig rig("#pragma D option nspec=8\n"
	        "app::work:entry { self->s = speculation(); speculate(self->s); capture(arg0); }"
	        "app::work:return /self->s && arg0 % 2/ { commit(self->s); self->s = 0; }"
	        "app::work:return /self->s/ { discard(self->s); self->s = 0; }");
	rig.redact({"arg0"});
	const char* const program = "app::work:entry { printf(\"%d %d\\n\", timestamp, arg0); }";
	const Asked part = ask(rig.part, program);
	CHECK(part.text == ask(rig.whole, program).text);
	CHECK(std::count(part.text.begin(), part.text.end(), '\n') > 100);
}

TEST_CASE("what was thinned is not complete in a redacted or cut recording either", "[redact][cut][thin]") {
	App app;
	load(app, "#pragma D option bufsize=4m\n#pragma D option cpubudget=1\n"
	          "#pragma D priority low\napp::work:return { capture(arg0); }\n"
	          "#pragma D priority high\napp::work:entry { capture(arg0); }");
	dfr_engine_govern(app.engine(), 5000); // half of the CPU
	for (unsigned i = 0; i < 5000; i++) {
		app.fire(app.entry, kStart + i * 20'000, 0, 100, "alpha", i, 0);
		app.fire(app.exit, kStart + i * 20'000 + 10'000, 0, 100, "alpha", i, 0);
	}
	finish(app);
	Kept kept(app);
	const ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), part = folder.file("part.dfr"),
	                  cut = folder.file("cut.dfr");
	write_file(whole, kept, [](const dfr_block&) { return true; });
	const auto source = trace::open_file(whole);
	replay::RecordingTarget target(source->catalog(), whole);
	const trace::Redaction allowed = replay::make_redaction(*source, target, {"arg0"});
	trace::redact_file(whole, part, allowed);
	CHECK(trace::prove_redacted(whole, part, allowed).wrong.empty());
	const trace::CutResult result =
	    trace::cut_file(whole, cut, {.span = {.to = kStart + 99'000'000}, .text = "the start"});
	CHECK(result.left_out > 0);
	for (const std::string& path : {whole, part, cut}) {
		INFO(path);
		const Asked low = ask(path, "app::work:return { @ = count(); }");
		CHECK_FALSE(low.verdict.complete);
		CHECK(low.reasons().find("clauses of low priority") != std::string::npos);
		const Asked high = ask(path, "app::work:entry { @ = count(); }");
		INFO(high.reasons());
		CHECK(high.reasons().find("clauses of low priority") == std::string::npos);
		CHECK((path == cut || high.verdict.complete));
	}
}

// The clauses of CPU 0 go off, and it records nothing more; CPU 1 goes on.
TEST_CASE("a cut tells of a stretch that began before its span on a CPU without records in it",
          "[redact][cut][thin]") {
	App app;
	load(app, "#pragma D option bufsize=4m\n#pragma D option cpubudget=1\n"
	          "#pragma D priority low\napp::work:return { capture(arg0); }\n"
	          "#pragma D priority high\napp::work:entry { capture(arg0); }");
	dfr_engine_govern(app.engine(), 5000); // half of the CPU
	app.fire(app.entry, kStart, 0, 100, "alpha", 0, 0);
	for (unsigned i = 0; i < 8000; i++)
		app.fire(app.exit, kStart + i * 10'000, 0, 100, "alpha", i, 0);
	for (unsigned i = 0; i < 100; i++)
		app.fire(app.entry, kStart + i * 1'000'000, 1, 100, "alpha", i, 0);
	Kept kept(app); // before it ends, which would tell when the stretch was over
	const ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), cut = folder.file("cut.dfr");
	write_file(whole, kept, [](const dfr_block&) { return true; });
	trace::cut_file(whole, cut, {.span = {.from = kStart + 90'000'000}, .text = "the end"});
	CHECK(ask(cut, "app::work:entry { @ = count(); }").reasons().find("clauses of low priority") ==
	      std::string::npos);
	CHECK(ask(cut, "app::work:return { @ = count(); }").reasons().find("clauses of low priority") !=
	      std::string::npos);
}

TEST_CASE("a redacted recording of several is no part of another one", "[redact]") {
	Rig rig;
	rig.redact({"arg0"});
	const std::string other = rig.folder.file("other.dfr");
	trace::redact_file(rig.whole, other, rig.redaction({"arg0"}));
	CHECK(trace::group_by_state({rig.part, other}).size() == 2);
}

namespace {

// The texts that stand in `in`.
Words found_by(trace::TextSearch& search, std::string_view in) {
	Words all;
	search.find(std::as_bytes(std::span(in)), [&](const std::string& text) {
		all.push_back(text);
		return true;
	});
	return all;
}

} // namespace

TEST_CASE("texts are searched for in bytes, and those that stand in what stays are not", "[redact]") {
	trace::TextSearch search;
	for (const char* text : {"short", "a longer text", "a longer text", "longer than that"})
		search.add(text);
	CHECK(search.size() == 2);
	CHECK(found_by(search, "xx a longer text and longer than that") ==
	      Words{"a longer text", "longer than that"});
	CHECK(found_by(search, "xx a longer tex").empty());
	search.remove("this has a longer text in it");
	CHECK(found_by(search, "xx a longer text and longer than that") == Words{"longer than that"});
	search.add("a longer text"); // what stays, stays
	CHECK(search.size() == 1);
}

TEST_CASE("texts that begin alike are found as fast as others, each where it is", "[redact]") {
	trace::TextSearch search;
	const std::string base = "/usr/share/";
	for (unsigned i = 0; i < 200'000; i++) // in a list they would be held against 20,000 million others
		search.add(base + std::to_string(i));
	CHECK(search.size() == 200'000);
	// Each start of a longer one is a text of its own, which ends at any place.
	CHECK(found_by(search, "in /usr/share/12345/x") ==
	      Words{base + "12345", base + "1234", base + "123", base + "12", base + "1"});
	CHECK(found_by(search, "/usr/share/0123") == Words{base + "0"});
	CHECK(found_by(search, "/usr/share/x").empty());
	search.remove("kept: /usr/share/123");
	CHECK(search.size() == 200'000 - 3);
	CHECK(found_by(search, "/usr/share/1234x") == Words{base + "1234"});
}

TEST_CASE("a long text is searched for in pieces, of which each has to stay elsewhere", "[redact]") {
	trace::TextSearch search;
	std::string text;
	for (unsigned i = 1000; text.size() < 1000; i++)
		text += std::to_string(i);
	search.add(text);
	CHECK(found_by(search, "xx " + text).size() == 4);
	search.remove("kept: " + text.substr(0, 900)); // but not its end
	CHECK(found_by(search, text.substr(0, 900)).empty());
	CHECK(found_by(search, "xx " + text) == Words{text.substr(1000 - trace::TextSearch::kPiece)});
	search.remove(text);
	CHECK(search.size() == 0);
}

// Without pieces each place would be compared up to the end.
TEST_CASE("a text that is alike everywhere is compared no further than a piece at each place", "[redact]") {
	constexpr size_t kLong = 1 << 20;
	trace::TextSearch search;
	search.add(std::string(kLong, 'A') + "B");
	search.remove(std::string(kLong, 'A') + "C");
	CHECK(found_by(search, std::string(kLong, 'A')).empty());
	const std::string end = std::string(trace::TextSearch::kPiece - 1, 'A') + "B";
	CHECK(found_by(search, "xx " + end) == Words{end});
}

// Which a crafted recording may have: each place of the long text begins like hundreds of them.
TEST_CASE("texts that go on otherwise after hundreds of places alike cost a place no more than one",
          "[redact]") {
	constexpr size_t kLongest = trace::TextSearch::kPiece;
	trace::TextSearch search;
	for (size_t size = 8; size < kLongest; size++) {
		search.add(std::string(size, 'b') + "A");
		search.add(std::string(size, 'c'));
	}
	const size_t all = search.size();
	CHECK(all == 2 * (kLongest - 8));
	search.remove(std::string(20 * kLongest, 'b'));
	CHECK(search.size() == all);
	CHECK(found_by(search, "x" + std::string(10, 'b') + "A") ==
	      Words{std::string(10, 'b') + "A", std::string(9, 'b') + "A", std::string(8, 'b') + "A"});
	for (int i = 0; i < 10; i++)
		search.remove(std::string(kLongest, 'c'));
	CHECK(search.size() == all / 2);
	CHECK(found_by(search, std::string(kLongest, 'c')).empty());
}

TEST_CASE("a recording that was replaced since it was looked at is not redacted", "[redact]") {
	Rig rig;
	const trace::Redaction allowed = rig.redaction({"arg1"});
	Rig other("app::work:entry { capture(execname); } app::work:return { capture(); }");
	std::filesystem::rename(other.whole, rig.whole);
	CHECK_THROWS_WITH(trace::redact_file(rig.whole, rig.part, allowed), Catch::Contains("a moment ago"));
}

} // namespace redact_test
