// SPDX-License-Identifier: GPL-2.0
//
// dfr cut: the new file has the records that were wanted, each as it was, no others, and never claims to be
// the whole recording.
#include <catch2/catch.hpp>

#include <algorithm>
#include <tuple>

#include "formats/trace/batch.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/cut.h"
#include "formats/trace/remake.h"
#include "tests/unit/harmed_file.h"
#include "tests/unit/trace_builder.h"

namespace trace_cut_test {

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

std::string remarks_of(const std::string& path) {
	std::string all;
	for (const std::string& remark : trace::open_file(path)->remarks())
		all += remark + "\n";
	return all;
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
	trace::Verdict verdict = verdict_of(rig.part);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == 0);
	CHECK(std::find(verdict.reasons.begin(), verdict.reasons.end(),
	                "only " + cut.text + " is here (cut)") != verdict.reasons.end());
	const trace::Inspection found = trace::verify_file(rig.part);
	for (const trace::Finding& finding : found.findings)
		FAIL_CHECK(finding.text());
	// Each CPU recorded what it had recorded; what is not here was cut.
	for (const trace::CpuSum& whole : trace::verify_file(rig.whole).cpus) {
		const auto sum =
		    std::find_if(found.cpus.begin(), found.cpus.end(),
		                 [&whole](const trace::CpuSum& one) { return one.cpu == whole.cpu; });
		REQUIRE(sum != found.cpus.end());
		CHECK(sum->committed == whole.committed);
		CHECK(sum->overwritten == whole.overwritten);
		CHECK(sum->cut == whole.in_file - sum->in_file);
		CHECK(sum->missing == 0);
	}
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

TEST_CASE("a cut to before the panic says nothing of it", "[cut][crash]") {
	App app;
	load(app, "app::work:entry { capture(arg0); }");
	for (unsigned i = 0; i < 6; i++)
		app.fire(app.entry, kStart + i * 1'000'000, 0, 100, "sh", i, 0);
	finish(app);
	Kept kept(app);
	kept.identity().events.push_back({.event = DFR_EVENT_PANIC, .value = 1, .time = kStart + 4'000'000});
	for (const char* const key : trace::kPanicKeys)
		kept.identity().machine[key] = "of the panic";
	kept.identity().machine["panic_timeout"] = "0"; // is of the machine
	ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), only = folder.file("part.dfr");
	trace::FileWriter writer(whole, true, [&]() -> const trace::Catalog& { return kept.catalog(); });
	trace::copy_to_file(kept, writer);
	writer.finish();
	for (const uint64_t to : {uint64_t{3'000'000}, uint64_t{5'000'000}}) {
		trace::Cut cut;
		cut.span.to = kStart + to;
		cut.text = "a part";
		trace::cut_file(whole, only, cut);
		const auto part = trace::open_file(only);
		const bool there = to > 4'000'000;
		CHECK(std::any_of(part->catalog().events.begin(), part->catalog().events.end(),
		                  [](const trace::EventMark& mark) {
			                  return mark.event == DFR_EVENT_PANIC;
		                  }) == there);
		for (const char* const key : trace::kPanicKeys)
			CHECK(part->catalog().machine.contains(key) == there);
		CHECK(part->catalog().machine.contains("panic_timeout"));
	}
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

TEST_CASE("a part of a part counts what the whole recording had", "[cut]") {
	Rig rig;
	check_cut(rig, {.span = {.from = kStart + 2'000'000}, .text = "the end"});
	const trace::Inspection whole = trace::verify_file(rig.whole);
	std::filesystem::rename(rig.part, rig.folder.file("first.dfr"));
	trace::cut_file(rig.folder.file("first.dfr"), rig.part, {.pids = {10}, .text = "pid 10"});
	const trace::Inspection part = trace::verify_file(rig.part);
	CHECK(part.sound());
	REQUIRE(part.cpus.size() == whole.cpus.size());
	for (size_t i = 0; i < part.cpus.size(); i++) {
		CHECK(part.cpus[i].committed == whole.cpus[i].committed);
		CHECK(part.cpus[i].committed == part.cpus[i].in_file + part.cpus[i].cut);
	}
}

namespace {

// What cuts of the recording have together, by records and by columns: each record of them once.
void check_together(Rig& rig, const std::vector<trace::Cut>& cuts) {
	std::vector<std::string> paths;
	for (const trace::Cut& cut : cuts) {
		paths.push_back(rig.folder.file(std::to_string(paths.size()) + ".dfr"));
		trace::cut_file(rig.whole, paths.back(), cut);
	}
	auto groups = trace::group_by_state(paths);
	REQUIRE(groups.size() == 1);
	trace::JoinedSource source(std::move(groups.front()));
	const auto expected = records_of(rig.whole, [&](const trace::Record& record) {
		return std::any_of(cuts.begin(), cuts.end(), [&](const trace::Cut& cut) {
			return cut.wants(record, source.catalog());
		});
	});
	trace::Merger merger(source);
	std::vector<Plain> there;
	merger.run([&](const trace::Record& record) {
		there.push_back(plain(record));
		return true;
	});
	CHECK(there.size() == expected.size());
	CHECK(there == expected);
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == 0);
	trace::Merger again(source);
	uint64_t records = 0;
	if (again.scan([&](trace::RecordBatch& batch, uint32_t) {
		    records += batch.records().size();
		    return true;
	    }))
		CHECK(records == expected.size());
}

uint32_t probe_of(Rig& rig, const dfr_probe* probe) {
	const auto file = trace::open_file(rig.whole);
	CHECK(file->catalog().probes.contains(probe->pb_id));
	return probe->pb_id;
}

} // namespace

TEST_CASE("cuts of one recording have together what each of them has", "[cut]") {
	const char* const programs[] = {
	    "#pragma D option bufsize=256k\n"
	    "app::work:entry { capture(arg0, arg1); capture(stack()); }"
	    "app::work:return /arg0 % 3 == 0/ { printf(\"%d %s\", tid, execname); }",
	    "#pragma D option bufsize=256k\n#pragma D option specsize=8k\n"
	    "app::work:entry { self->s = speculation(); speculate(self->s); trace(arg0); }"
	    "app::work:entry { printf(\"%d\", tid); }"
	    "app::work:return /arg0 % 2/ { commit(self->s); } app::work:return { discard(self->s); }"};
	for (const char* const program : programs) {
		INFO(program);
		Rig rig(program);
		const uint32_t entry = probe_of(rig, rig.app.entry), exit = probe_of(rig, rig.app.exit);
		const trace::Cut start{.span = {.to = kStart + 2'345'678}, .text = "the start"},
		    end{.span = {.from = kStart + 2'345'679}, .text = "the end"},
		    later{.span = {.from = kStart + 1'234'567}, .text = "later"},
		    entries{.probes = {entry}, .text = "entry"}, exits{.probes = {exit}, .text = "return"},
		    ten{.pids = {10}, .text = "pid 10"}, eleven{.pids = {11, 12}, .text = "pid 11"};
		check_together(rig, {start, end});
		check_together(rig, {start, later});
		check_together(rig, {entries, exits});
		check_together(rig, {exits, ten});
		check_together(rig, {ten, eleven, entries});
		check_together(rig, {ten, ten});
	}
}

TEST_CASE("of a block that was cut, one file's damaged part is not taken for all of it", "[cut]") {
	Rig rig;
	const std::string one = rig.folder.file("1.dfr"), two = rig.folder.file("2.dfr");
	trace::cut_file(rig.whole, one, {.pids = {10}, .text = "pid 10"});
	trace::cut_file(rig.whole, two, {.pids = {11}, .text = "pid 11"});
	{
		const trace::ContainerReader reader(two);
		uint64_t at = sizeof(trace::FileHead);
		while (reader.segment(at)->type() != trace::SegmentType::kChunk)
			at = reader.segment(at)->end();
		const auto middle = static_cast<std::streamoff>((at + reader.segment(at)->end()) / 2);
		std::fstream file(two, std::ios::in | std::ios::out | std::ios::binary);
		file.seekp(middle);
		file.write("damage", 6);
	}
	trace::JoinedSource source(std::move(trace::group_by_state({one, two}).at(0)));
	trace::Merger merger(source);
	merger.run(anything);
	const trace::Verdict verdict = trace::judge(source, merger);
	CHECK(std::any_of(verdict.reasons.begin(), verdict.reasons.end(), [](const std::string& reason) {
		return reason.find("damaged") != std::string::npos;
	}));
}

TEST_CASE("what a ring had overwritten is not called cut", "[cut]") {
	Rig rig;
	const std::string all = rig.folder.file("all.dfr");
	std::filesystem::rename(rig.whole, all);
	{ // without the first three blocks of CPU 1
		const auto source = trace::open_file(all);
		trace::Catalog catalog = source->catalog();
		catalog.policy = DFR_BUFPOLICY_RING;
		trace::FileWriter writer(rig.whole, true, [&]() -> const trace::Catalog& { return catalog; });
		while (const auto block = source->next())
			if (block->header().cpu != 1 || block->header().seq > 3)
				writer.block(*block);
		writer.account(*source);
		writer.finish();
	}
	CHECK(trace::verify_file(rig.whole).cpus.at(1).overwritten > 0);
	check_cut(rig, {.span = {.from = kStart + 4'000'000}, .text = "the end"});
	check_cut(rig, {.pids = {10}, .text = "pid 10"});
	check_cut(rig, {.span = {.cpus = {true}}, .text = "CPU 0"});
}

// Where records are left out, those behind them need long heads, and the block that is made again is larger than the old one.
TEST_CASE("what is cut in front counts once in a block that becomes larger", "[cut]") {
	constexpr uint64_t kApart = 400'000;
	CatalogLog log;
	log.state("small", 1, 512, DFR_BUFPOLICY_RING).clock(5, 500);
	log.probe(11, "app", "m", "work", "entry").probe(12, "app", "m", "work", "return");
	log.layout(1, {int_field(8)}).ecb(1, 11, 1).ecb(2, 12, 1);
	trace::Catalog catalog;
	catalog.parse(log.done());
	BlockBytes block(0, 1, kStart, 512);
	block.long_head(0, 0, kStart).context(1, 1, 1, "sh");
	for (unsigned i = 0; i < 60; i++)
		block.short_head(1 + i % 2, 0, kApart).u8(0).u8(static_cast<uint8_t>(i));
	ScratchFolder folder;
	const std::string whole = folder.file("whole.dfr"), part = folder.file("part.dfr");
	trace::FileWriter writer(whole, true, [&]() -> const trace::Catalog& { return catalog; });
	writer.block(block.sealed());
	writer.finish();
	trace::cut_file(
	    whole, part,
	    {.span = {.from = kStart + 4 * kApart + 1}, .probes = {11}, .text = "the end of entry"});
	const auto refs = trace::open_file(part)->index();
	REQUIRE(refs.size() == 1);
	CHECK(refs[0].head.size > 512);
	CHECK(refs[0].head.records == 28);
	CHECK(refs[0].head.record_base == 4);
}

TEST_CASE("damage in a block of which a part is cut stays named", "[cut]") {
	Rig rig;
	const std::string harmed = rig.folder.file("harmed.dfr");
	{
		const auto source = trace::open_file(rig.whole);
		trace::FileWriter writer(harmed, true,
		                         [&]() -> const trace::Catalog& { return source->catalog(); });
		while (auto block = source->next()) {
			if (block->header().cpu == 2 && block->header().seq == 2) {
				block->bytes[block->bytes.size() / 2] ^= std::byte{1};
				block->verified = false;
			}
			writer.block(*block);
		}
		writer.account(*source);
		writer.finish();
	}
	trace::cut_file(harmed, rig.part, {.pids = {10}, .text = "pid 10"});
	CHECK(remarks_of(rig.part).find("of blocks of which a part was wanted (cut)") != std::string::npos);
	const trace::Inspection found = trace::verify_file(rig.part);
	CHECK(found.sound()); // what is here is; what was damaged is missing
	CHECK(found.cpus.at(2).missing > 0);
	CHECK(found.cpus.at(2).missing + found.cpus.at(2).in_file + found.cpus.at(2).cut ==
	      found.cpus.at(2).committed);
}

TEST_CASE("names that are damaged are not in a cut, and it says so", "[cut]") {
	Rig rig;
	const std::string named = rig.folder.file("named.dfr");
	{
		const auto source = trace::open_file(rig.whole);
		trace::FileWriter writer(named, true,
		                         [&]() -> const trace::Catalog& { return source->catalog(); });
		while (const auto block = source->next())
			writer.block(*block);
		trace::KnownNames names;
		names.add_kernel(0xffffffff81000000, 64, 0, "vmlinux", "a_function_of_the_kernel");
		writer.names(names.fresh());
		writer.account(*source);
		writer.finish();
	}
	const trace::Cut cut{.pids = {10}, .text = "pid 10"};
	trace::cut_file(named, rig.part, cut);
	CHECK(remarks_of(rig.part).find("names") == std::string::npos);
	FileBytes bytes = read_file(named);
	const trace::ContainerReader reader(named);
	for (const size_t start : segments(bytes)) {
		const auto segment = reader.segment(start);
		if (segment && segment->type() == trace::SegmentType::kNames)
			bytes[segment->payload() + 3] ^= 1;
	}
	write_file(named, bytes);
	trace::cut_file(named, rig.part, cut);
	CHECK(remarks_of(rig.part).find("(names) are damaged and were left out (cut)") != std::string::npos);
}

TEST_CASE("only a regular file is replaced", "[cut][file]") {
	const ScratchFolder folder;
	const std::string link = folder.file("link"), target = folder.file("target");
	folder.write("target", {1, 2, 3});
	std::filesystem::create_symlink("target", link);
	const trace::Catalog catalog;
	const auto write = [&](const std::string& path) {
		trace::FileWriter(path, true, [&]() -> const trace::Catalog& { return catalog; }).finish();
	};
	for (const std::string& path : {link, folder.path(), std::string("/dev/null")})
		CHECK_THROWS_WITH(write(path), Catch::Contains("is no regular file"));
	CHECK(std::filesystem::file_size(target) == 3);
	write(target);
	CHECK(std::filesystem::file_size(target) > 3);
}

TEST_CASE("what a newer dfr says in catalog or ledger is left out by a cut, and that is said", "[cut]") {
	Rig rig;
	const std::string newer = rig.folder.file("newer.dfr");
	const trace::Cut wanted{.span = {.cpus = {true}}, .text = "CPU 0"};
	for (const auto& [type, name] : {std::pair(trace::SegmentType::kCatalog, "the catalog is a newer"),
	                                 std::pair(trace::SegmentType::kLosses, "the ledger is a newer")}) {
		copy_segments(rig.whole, newer,
		              [type = type](auto of, const std::vector<std::byte>& payload) {
			              return of == type ? with_another_word(payload) : payload;
		              });
		for (const auto& [path, more] : {std::pair(rig.whole, 0), std::pair(newer, 1)}) {
			trace::cut_file(path, rig.part, wanted);
			const auto remarks = trace::open_file(rig.part)->remarks();
			CHECK(std::ranges::count_if(remarks, [name = name](const std::string& remark) {
				      return remark.find(name) != std::string::npos;
			      }) == more);
		}
	}
}

} // namespace trace_cut_test
