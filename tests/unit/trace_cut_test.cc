// SPDX-License-Identifier: GPL-2.0
//
// dfr cut: the new file has the records that were wanted, each as it was, no others, and never claims to be
// the whole recording.
#include <catch2/catch.hpp>

#include <tuple>

#include "formats/trace/chunk.h"
#include "formats/trace/cut.h"
#include "formats/trace/remake.h"
#include "tests/unit/harmed_file.h"

using namespace dfr;
using namespace dfr::test;

namespace {

// All that a record says.
using Plain = std::tuple<uint64_t, uint32_t, uint32_t, uint8_t, uint32_t, uint32_t, uint32_t, std::string,
                         uint32_t, std::vector<std::pair<uint64_t, std::string>>>;

Plain plain(const trace::Record& record) {
	std::vector<std::pair<uint64_t, std::string>> fields;
	for (const trace::Value& value : record.fields)
		fields.emplace_back(value.number + value.fault, std::string(value.text()));
	return {record.time,         record.cpu,
	        record.epid,         record.level,
	        record.context.task, record.context.pid,
	        record.context.tid,  std::string(record.context.execname),
	        record.speculation,  fields};
}

std::vector<Plain> records_of(const std::string& path,
                              const std::function<bool(const trace::Record&)>& wanted) {
	std::vector<Plain> all;
	const auto file = trace::open_file(path);
	trace::Merger merger(*file);
	merger.run([&](const trace::Record& record) {
		if (wanted(record))
			all.push_back(plain(record));
		return true;
	});
	return all;
}

bool anything(const trace::Record&) {
	return true;
}

struct Rig {
	explicit Rig(const char* program =
	                 "#pragma D option bufsize=256k\n"
	                 "app::work:entry { capture(arg0, arg1, stack()); @[arg0] = count(); }"
	                 "app::work:return /arg0 % 3 == 0/ { printf(\"%d %s\", tid, execname); }")
	    : whole(folder.file("whole.dfr")), part(folder.file("part.dfr")) {
		load(app, program);
		for (unsigned i = 0; i < 6000; i++) {
			const auto cpu = i * 7 % 4;
			app.fire(app.entry, kStart + i * 1000, cpu, 100 + i % 30, i % 3 ? "alpha" : "beta",
			         i % 11, i * 1'000'003ull);
			app.fire(app.exit, kStart + i * 1000 + 500, cpu, 100 + i % 30,
			         i % 3 ? "alpha" : "beta", i % 7, 0);
		}
		finish(app);
		Kept kept(app);
		trace::FileWriter writer(whole, true,
		                         [&]() -> const trace::Catalog& { return kept.catalog(); });
		trace::copy_to_file(kept, writer);
		writer.finish();
	}
	App app;
	ScratchFolder folder;
	std::string whole, part;
};

trace::Verdict verdict_of(const std::string& path) {
	const auto file = trace::open_file(path);
	trace::Merger merger(*file);
	merger.run(anything);
	return trace::judge(*file, merger);
}

// Cuts, and checks what is true of every cut.
trace::Verdict check_cut(Rig& rig, const trace::Cut& cut) {
	const auto file = trace::open_file(rig.whole);
	const trace::CutResult result = trace::cut_file(rig.whole, rig.part, cut);
	const auto expected = records_of(
	    rig.whole, [&](const trace::Record& record) { return cut.wants(record, file->catalog()); });
	const auto there = records_of(rig.part, anything);
	CHECK(result.records == expected.size());
	CHECK(there.size() == expected.size());
	CHECK(there == expected);
	const trace::Verdict verdict = verdict_of(rig.part);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == 0);
	CHECK(std::find(verdict.reasons.begin(), verdict.reasons.end(),
	                "only " + cut.text + " is here (cut)") != verdict.reasons.end());
	const trace::Inspection found = trace::verify_file(rig.part);
	for (const trace::Finding& finding : found.findings)
		FAIL_CHECK(finding.text());
	return verdict;
}

} // namespace

TEST_CASE("a cut has the records that were wanted, as they were", "[cut]") {
	Rig rig;
	REQUIRE(verdict_of(rig.whole).complete);
	check_cut(rig, {.pids = {10}, .text = "pid 10"});
	check_cut(rig, {.probes = {rig.app.exit->pb_id}, .text = "probe return"});
	check_cut(rig, {.span = {.cpus = {false, true}}, .text = "CPU 1"});
	check_cut(rig, {.span = {.cpus = {true, true}}, .pids = {11, 12}, .text = "CPU 0-1, pid 11,12"});
	check_cut(rig, {.pids = {4711}, .text = "pid 4711"}); // nothing remains
}

TEST_CASE("a cut of a time has a window of that time", "[cut]") {
	Rig rig;
	const uint64_t from = kStart + 2'000'250, to = kStart + 3'000'250;
	const trace::Verdict verdict = check_cut(rig, {.span = {.from = from, .to = to}, .text = "a second"});
	CHECK(verdict.windowed);
	CHECK(verdict.from >= from - 1000);
	CHECK(verdict.from <= from + 1000);
	CHECK(verdict.to <= to);
	check_cut(rig, {.span = {.to = to}, .text = "the beginning"});
	check_cut(rig, {.span = {.from = from}, .text = "the end"});
	check_cut(rig, {.span = {.from = from, .to = to}, .pids = {12}, .text = "both"});
}

TEST_CASE("aggregations are left out of a cut, and it says so", "[cut]") {
	Rig rig;
	REQUIRE_FALSE(trace::open_file(rig.whole)->aggregations().empty());
	CHECK(trace::cut_file(rig.whole, rig.part, {.pids = {10}, .text = "pid 10"}).aggregations_left_out);
	const auto file = trace::open_file(rig.part);
	CHECK(file->aggregations().empty());
	const auto remarks = file->remarks();
	CHECK(std::any_of(remarks.begin(), remarks.end(), [](const std::string& remark) {
		return remark.find("aggregations were left out") != std::string::npos;
	}));
}

TEST_CASE("a cut of committed speculations, faults and strings is as it was", "[cut]") {
	Rig rig("#pragma D option nspec=8\n"
	        "app::work:entry { self->s = speculation(); speculate(self->s); capture(arg0, "
	        "stringof(execname)); }"
	        "app::work:return /self->s && arg0 % 2/ { commit(self->s); self->s = 0; }"
	        "app::work:return /self->s/ { discard(self->s); self->s = 0; }"
	        "app::work:return { capture(arg1, *(int *)arg0); }");
	check_cut(rig, {.pids = {10}, .text = "pid 10"});
	check_cut(rig, {.probes = {rig.app.entry->pb_id}, .text = "probe entry"});
	check_cut(rig, {.span = {.from = kStart + 1'000'000, .to = kStart + 2'000'000}, .text = "a time"});
}

TEST_CASE("a block that is made again of all of its records is as long and says the same", "[cut]") {
	Rig rig;
	const auto file = trace::open_file(rig.whole);
	trace::RecordShapes shapes(file->catalog());
	unsigned blocks = 0;
	while (const auto block = file->next()) {
		const trace::Remade made =
		    trace::remake_block(*block, shapes, [&](const trace::Record& record) {
			    const trace::RecordShape* const shape = shapes.find(record.epid);
			    return trace::RemadeRecord{
			        record.epid, record.context, {shape->fields, shape->count}, record.fields};
		    });
		CHECK(made.left_out == 0);
		CHECK(made.block.verified);
		CHECK(made.block.header().flags == (DFR_BLOCK_CLOSED | DFR_BLOCK_SEALED));
		CHECK(made.block.header().records == block->header().records);
		CHECK(made.block.header().committed == block->header().committed);
		blocks++;
	}
	CHECK(blocks > 3);
}

TEST_CASE("a cut that is stopped, or cannot know what it must, makes no file of use", "[cut]") {
	Rig rig;
	const trace::Cut cut{.pids = {10}, .text = "pid 10"};
	CHECK(trace::cut_file(rig.whole, rig.part, cut, [](uint64_t, uint64_t) { return false; }).stopped);
	CHECK_FALSE(std::filesystem::exists(rig.part)); // there was nothing in it yet
}
