// SPDX-License-Identifier: GPL-2.0
//
// A recorder that rotates, on a machine that the test plays: each block is in one
// part and in no other, each part stands alone, a part that is missing is named, and
// no failure around the change of files loses what was called stored.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <set>

#include "analyze/cli/recording.h"
#include "analyze/libdfr/consumer.h"
#include "formats/abi/dof.h"
#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/decode.h"
#include "formats/trace/joined.h"
#include "formats/trace/verify.h"
#include "recorder/drain.h"
#include "recorder/live_symbols.h"
#include "tests/unit/d_target.h"
#include "tests/unit/played_disk.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace recorder_parts_test {

using namespace dfr;

namespace {

constexpr unsigned kRecords = 40; // of a block

// No two records have the same value, zstd makes none of them smaller, and none looks like an address of the kernel,
// whose name the recorder would look for in all of its symbols.
uint64_t value_of(uint32_t cpu, uint64_t seq, unsigned record) {
	return (uint64_t{cpu} << 40 | seq << 8 | record) * 0x9e3779b97f4a7c15ull >> 1;
}

// Gives blocks as they were recorded, and keeps what was given until it hears that it is stored.
class PlayedMachine : public trace::LiveSource {
public:
	explicit PlayedMachine(unsigned probes = 1) {
		test::CatalogLog log;
		log.state("played", 3, 4096, DFR_BUFPOLICY_SWITCH)
		    .dof(0, test::kEmptyDof)
		    .event(DFR_EVENT_GO, 0, now)
		    .layout(1, {test::int_field(8)});
		for (uint32_t probe = 1; probe <= probes; probe++)
			log.probe(probe, "p", "", "function_" + std::to_string(probe), "entry")
			    .ecb(probe, probe, 1);
		catalog_.parse(log.done());
	}
	void record(uint32_t cpu) {
		const uint64_t seq = ++seqs_[cpu];
		now += 100;
		test::BlockBytes block(cpu, seq, now);
		block.long_head(0, 0, now).context(1, 1, 1, "sh");
		for (unsigned i = 0; i < kRecords; i++) {
			block.short_head(1, 0, i != 0).u8(3).u64(value_of(cpu, seq, i));
			values.insert(value_of(cpu, seq, i));
		}
		block.counters(0, (seq - 1) * kRecords).opened(lasts_[cpu], now);
		lasts_[cpu] = now + kRecords - 1;
		closed_.push_back(block.sealed());
	}
	uint32_t enable(std::span<const std::byte>, bool) override { return 0; }
	uint32_t go() override { return 0; }
	uint32_t stop() override { return 0; }
	dfr_ioc_status status() override {
		dfr_ioc_status status{};
		status.activity = activity;
		return status;
	}
	uint64_t flush() override {
		const uint64_t until = now + 50;
		if (on_flush)
			on_flush();
		return until;
	}
	bool flushing() const override { return !closed_.empty(); }
	void wait(std::chrono::nanoseconds, bool, const sigset_t*) override {}
	void clear_aggregation(uint32_t, bool) override {}
	int64_t option(uint32_t) override { return 0; }
	const trace::Catalog& catalog() override { return catalog_; }
	bool storing_is_due() const override { return given_.size() >= 50; }
	void stored() override {
		for (const trace::Block& block : given_)
			for (unsigned i = 0; i < kRecords; i++)
				stored_values.insert(value_of(block.header().cpu, block.header().seq, i));
		given_.clear();
	}
	std::optional<trace::Block> next() override {
		if (storing_is_due() || closed_.empty())
			return std::nullopt;
		given_.push_back(std::move(closed_.front()));
		closed_.pop_front();
		return given_.back();
	}
	// As the kernel does it when whoever claimed the state is gone.
	void give_again() {
		closed_.insert(closed_.begin(), given_.begin(), given_.end());
		given_.clear();
	}
	std::vector<trace::AggEntry> aggregations() override { return {}; }
	trace::Losses losses() override { return {}; }
	std::string name() const override { return "played"; }

	uint64_t now = 1'000'000;
	uint32_t activity = DFR_STOPPED;
	std::function<void()> on_flush; // what fires while the open blocks are asked for
	std::set<uint64_t> values, stored_values;

private:
	trace::Catalog catalog_;
	std::map<uint32_t, uint64_t> seqs_, lasts_;
	std::deque<trace::Block> closed_, given_;
};

// dfrd's passes: CPU 2 records at first only. Throws what the recorder throws.
void record(PlayedMachine& machine, recorder::Drain& drain, unsigned rounds, bool third_cpu = false) {
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < 15; i++)
			for (uint32_t cpu = 0; cpu < 2; cpu++)
				machine.record(cpu);
		if (third_cpu && round == 0)
			machine.record(2);
		drain.pump();
		if (round % 3 == 2)
			drain.checkpoint();
	}
}

constexpr trace::Rotation kSmall{.bytes = 1}; // as small as the catalog lets a part be

// A machine that is recorded into parts.
struct Rotated {
	explicit Rotated(PlayedMachine& played, const std::string& path,
	                 trace::PartsWriter::PartsOptions options)
	    : machine(played),
	      parts(
	          path, [this]() -> const trace::Catalog& { return machine.catalog(); }, std::move(options)) {
	}
	PlayedMachine& machine;
	trace::PartsWriter parts;
	recorder::LiveSymbols symbols;
	recorder::NameCollector names{symbols};
	test::TestTarget target;
	recorder::TypeCollector types{target};
	recorder::Drain drain{machine, parts, names, types};
};

// Of all recordings together, which must be of one state: no record comes twice.
struct Joined {
	explicit Joined(const std::vector<std::string>& paths) {
		auto groups = trace::group_by_state(paths);
		REQUIRE(groups.size() == 1);
		source = std::make_unique<trace::JoinedSource>(std::move(groups.front()));
		merger = std::make_unique<trace::Merger>(*source);
		size_t records = 0, explained = 0;
		merger->run([&](const trace::Record& record) {
			records++;
			if (record.fields.size() == 1) { // else no catalog explains it
				values.emplace_hint(values.end(), record.fields[0].number);
				explained++;
			}
			return true;
		});
		CHECK(explained == records);
		CHECK(values.size() == explained); // none is there twice
		verdict = trace::judge(*source, *merger);
	}
	bool says(const std::string& text) const {
		return std::any_of(
		    verdict.reasons.begin(), verdict.reasons.end(),
		    [&](const std::string& reason) { return reason.find(text) != std::string::npos; });
	}
	std::unique_ptr<trace::JoinedSource> source;
	std::unique_ptr<trace::Merger> merger;
	std::set<uint64_t> values;
	trace::Verdict verdict;
};

struct SegmentBytes {
	uint64_t catalog = 0, chunks = 0;
};
SegmentBytes segment_bytes(const std::string& path) {
	const trace::ContainerReader reader(path);
	SegmentBytes bytes;
	for (uint64_t at = sizeof(trace::FileHead); at < reader.size();) {
		const trace::Segment segment = reader.segment(at).value();
		if (segment.type() == trace::SegmentType::kCatalog)
			bytes.catalog += segment.end() - segment.offset;
		if (segment.type() == trace::SegmentType::kChunk)
			bytes.chunks += segment.end() - segment.offset;
		at = segment.end();
	}
	return bytes;
}

std::vector<std::string> paths_of(const std::string& path) {
	std::vector<std::string> paths;
	for (const auto& [number, name] : trace::parts_of(path))
		paths.push_back(name);
	return paths;
}

} // namespace

TEST_CASE("what --rotate takes", "[recorder][parts]") {
	CHECK(trace::parse_rotation("256k")->bytes == 262144);
	CHECK(trace::parse_rotation("64m")->bytes == 67108864);
	CHECK(trace::parse_rotation("1g")->bytes == 1073741824);
	CHECK(trace::parse_rotation("30s")->time == std::chrono::seconds(30));
	CHECK(trace::parse_rotation("10min")->time == std::chrono::seconds(600));
	CHECK(trace::parse_rotation("1h")->time == std::chrono::seconds(3600));
	CHECK(trace::parse_rotation("2d")->time == std::chrono::seconds(172800));
	for (const char* const wrong :
	     {"", "k", "5", "255k", "0s", "-1s", "1.5m", "64mb", "1w", "99999999999g", "64m "})
		CHECK_FALSE(trace::parse_rotation(wrong));
}

TEST_CASE("names of parts", "[recorder][parts]") {
	CHECK(trace::part_path("/srv/flight.dfr", 7) == "/srv/flight-0007.dfr");
	CHECK(trace::part_path("flight", 12345) == "flight-12345");
	CHECK(trace::part_path("/a.b/flight", 1) == "/a.b/flight-0001");
	CHECK(trace::part_path("/a.b/.flight", 1) == "/a.b/.flight-0001");
	CHECK(trace::parts_pattern("/srv/flight.dfr") == "/srv/flight-*.dfr");
	const test::ScratchFolder folder;
	for (const char* const name : {"f-0002.dfr", "f-0010.dfr", "f-10000.dfr", "f-00003.dfr", "f-4.dfr",
	                               "f-x.dfr", "f.dfr", "g-0001.dfr", "f-0005.txt", "f-0006"})
		folder.write(name, {1});
	CHECK(paths_of(folder.file("f.dfr")) ==
	      std::vector{folder.file("f-0002.dfr"), folder.file("f-0010.dfr"), folder.file("f-10000.dfr")});
	// However the folder is written, their names begin as they are asked for.
	for (const std::string between : {"//", "/./", "///"})
		CHECK(paths_of(folder.path() + between + "f.dfr") ==
		      std::vector{folder.path() + between + "f-0002.dfr",
		                  folder.path() + between + "f-0010.dfr",
		                  folder.path() + between + "f-10000.dfr"});
}

TEST_CASE("parts: every block is in one of them, and each stands alone", "[recorder][parts]") {
	const test::ScratchFolder folder;
	PlayedMachine machine;
	std::vector<std::string> paths;
	{
		Rotated rotated(machine, folder.file("a.dfr"), {.rotation = kSmall});
		record(machine, rotated.drain, 30, true);
		rotated.drain.finish();
		paths = rotated.parts.paths();
		CHECK(rotated.parts.records() == machine.values.size());
	}
	REQUIRE(paths.size() >= 4);
	CHECK(paths == paths_of(folder.file("a.dfr")));
	CHECK(machine.stored_values == machine.values);
	uint64_t records = 0;
	std::map<uint32_t, uint64_t> last; // by CPU
	for (size_t i = 0; i < paths.size(); i++) {
		INFO(paths[i]);
		const auto file = trace::open_file(paths[i]);
		const bool goes_on = i + 1 < paths.size();
		CHECK(file->facts().finished);
		CHECK(file->facts().goes_on == goes_on);
		CHECK(file->facts().part.number == i + 1);
		for (const trace::BlockRef& ref : file->index())
			CHECK(ref.head.seq == ++last[ref.head.cpu]); // no gap, and none twice
		const SegmentBytes bytes = segment_bytes(paths[i]);
		CHECK((!goes_on || bytes.catalog * 100 <= bytes.chunks));
		const trace::Inspection found = trace::verify_file(paths[i]);
		for (const trace::Finding& finding : found.findings)
			FAIL_CHECK(finding.text());
		const Joined alone({paths[i]});
		records += alone.verdict.records;
		CHECK(alone.verdict.complete);
		CHECK(alone.verdict.windowed == (i > 0));
		CHECK(alone.verdict.goes_on == goes_on);
		if (goes_on) // until then every CPU is whole
			CHECK(alone.verdict.to < file->facts().marked_until);
		CHECK(alone.verdict.reasons.empty());
	}
	CHECK(records == machine.values.size());
	// In any order they are one recording; that CPU 2 was silent since the first part is no loss.
	std::reverse(paths.begin(), paths.end());
	const Joined all(paths);
	CHECK(all.values == machine.values);
	CHECK(all.verdict.complete);
	CHECK_FALSE(all.verdict.windowed);
	CHECK_FALSE(all.verdict.goes_on);
	CHECK(all.verdict.reasons.empty());
}

TEST_CASE("the window of a part alone begins where the part before it ended", "[recorder][parts]") {
	const test::ScratchFolder folder;
	PlayedMachine machine;
	std::vector<std::string> paths;
	uint64_t last_of_2 = 0;
	{
		Rotated rotated(machine, folder.file("a.dfr"), {.rotation = kSmall});
		while (rotated.parts.paths().size() < 2) {
			for (unsigned i = 0; i < 30; i++)
				machine.record(i % 2);
			machine.record(2);
			last_of_2 = machine.now;
			rotated.drain.pump();
		}
		machine.record(
		    0); // whose block before ended before the last one of CPU 2, which is silent now
		rotated.drain.finish();
		paths = rotated.parts.paths();
	}
	const uint64_t since = trace::open_file(paths[1])->facts().part.since;
	REQUIRE(since > last_of_2);
	const Joined alone({paths[1]});
	CHECK(alone.merger->horizon() == since);
	CHECK(alone.verdict.complete);
	CHECK(alone.verdict.windowed);
	CHECK(alone.verdict.from == since);
	CHECK(trace::verify_file(paths[1]).whole.front().from == since);
	CHECK(Joined(paths).merger->horizon() == 0);
}

TEST_CASE("a recorder that leaves a state that records on says until when its file is whole", "[recorder]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	PlayedMachine machine;
	// CPU 0 has given its open block when CPU 1 records, and what CPU 0 records then is in no block of the file.
	machine.on_flush = [&machine] {
		machine.now += 100;
		machine.record(1);
	};
	uint64_t until = 0;
	SECTION("dfrd") {
		Rotated rotated(machine, path, {});
		SECTION("that records on") {
			machine.activity = DFR_ACTIVE;
			until = machine.now + 100 + 50;
		}
		SECTION("that has ended") {}
		machine.record(0);
		rotated.drain.finish();
	}
	SECTION("dfr record") {
		const auto leave = [&] {
			recorder::LiveSymbols symbols;
			test::TestTarget target;
			cli::Recording recording(path, {}, machine, symbols, target);
			render::Output output(-1);
			render::NoSymbols no_symbols;
			lib::Consumer consumer(
			    machine, output, no_symbols,
			    {.message = [](const std::string&) {},
			     .block = [&](const trace::Block& block) { recording.block(block); },
			     .record = {},
			     .kernel_types = {}});
			machine.record(0);
			const bool goes_on = consumer.leave();
			recording.finish(consumer.flushed(), goes_on, consumer.renderer());
		};
		SECTION("of a state that records on") {
			machine.activity = DFR_ACTIVE;
			until = machine.now + 100 + 50;
			leave();
		}
		SECTION("of a state that has ended") {
			leave();
		}
	}
	const Joined all({path});
	CHECK(all.verdict.complete);
	CHECK(all.source->files().front()->facts().finished);
	CHECK(all.verdict.goes_on == (until != 0));
	const uint64_t end = until ? until - 1 : machine.now + kRecords - 1;
	CHECK(all.verdict.to == end);
	CHECK(trace::verify_file(path).whole.back().to == end);
}

TEST_CASE("whether a part had to be larger than was asked is known", "[recorder][parts]") {
	const test::ScratchFolder folder;
	{ // one byte is less than the catalog takes
		PlayedMachine machine(20);
		Rotated rotated(machine, folder.file("a.dfr"), {.rotation = kSmall});
		record(machine, rotated.drain, 4); // a checkpoint writes what there is
		CHECK(rotated.parts.paths().size() == 1);
		const uint64_t least = rotated.parts.least_chunks();
		CHECK(least > rotated.parts.file().chunk_bytes());
		while (rotated.parts.paths().size() < 2)
			record(machine, rotated.drain, 1);
		rotated.drain.finish();
		CHECK(segment_bytes(rotated.parts.paths()[0]).chunks >= least);
	}
	for (const trace::Rotation& rotation : {trace::Rotation{}, trace::Rotation{.bytes = 64 << 20},
	                                        trace::Rotation{.time = std::chrono::hours(1)}}) {
		PlayedMachine machine(20);
		Rotated rotated(machine, folder.file("b.dfr"),
		                {.rotation = rotation, .old = trace::PartsWriter::OldParts::kReplace});
		record(machine, rotated.drain, 4);
		rotated.drain.finish();
		CHECK(rotated.parts.least_chunks() == 0);
	}
}

TEST_CASE("a missing part is named, with its CPUs and its time", "[recorder][parts]") {
	const test::ScratchFolder folder;
	PlayedMachine machine;
	std::vector<std::string> paths;
	std::optional<Rotated> rotated(std::in_place, machine, folder.file("a.dfr"),
	                               trace::PartsWriter::PartsOptions{.rotation = kSmall});
	// CPU 2 records in the second part only.
	record(machine, rotated->drain, 1);
	while (rotated->parts.paths().size() < 2)
		record(machine, rotated->drain, 1);
	record(machine, rotated->drain, 1, true);
	while (rotated->parts.paths().size() < 5)
		record(machine, rotated->drain, 1);
	rotated->drain.finish();
	paths = rotated->parts.paths();
	rotated.reset();
	const auto first = trace::open_file(paths[0])->facts(), third = trace::open_file(paths[2])->facts();
	const trace::Catalog catalog = trace::open_file(paths[0])->catalog();

	const Joined without({paths[0], paths[2], paths[3], paths[4]});
	CHECK_FALSE(without.verdict.complete);
	CHECK(without.says("part 2 is not here, with what was recorded from " +
	                   trace::time_text(catalog, first.marked_until) + " to " +
	                   trace::time_text(catalog, third.part.since) + " (between " + paths[0] + " and " +
	                   paths[2] + ")"));
	for (const char* const cpu : {"CPU 0", "CPU 1"})
		CHECK(without.says(std::string("records missing on ") + cpu));
	CHECK(without.says("40 records missing on CPU 2 (its last blocks are not there)"));
	CHECK(without.verdict.records + without.verdict.lost == machine.values.size());
	CHECK(Joined({paths[0], paths[3], paths[4]}).says("parts 2 to 3 are not here"));
	// What is not here at the ends is no loss: the answer is of a window, and says so.
	const Joined middle({paths[1], paths[2]});
	CHECK(middle.verdict.complete);
	CHECK(middle.verdict.windowed);
	CHECK(middle.verdict.goes_on);
}

TEST_CASE("a recorder that was killed goes on in parts of the same recording", "[recorder][parts]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	PlayedMachine machine;
	const trace::PartsWriter::PartsOptions options{.rotation = kSmall,
	                                               .old = trace::PartsWriter::OldParts::kKeep};
	size_t killed_at = 0;
	{
		Rotated rotated(machine, path, options);
		while (rotated.parts.paths().size() < 3)
			record(machine, rotated.drain, 1);
		for (uint32_t cpu = 0; cpu < 3; cpu++)
			machine.record(cpu);
		rotated.drain.pump(); // these are in memory, and lost with it
		killed_at = rotated.parts.paths().size();
	}
	machine.give_again();
	// One more was killed when it had created its file, before anything was written.
	{
		std::vector<uint8_t> head(sizeof(trace::FileHead));
		FILE* const stream = std::fopen(trace::part_path(path, 1).c_str(), "rb");
		REQUIRE(stream);
		CHECK(std::fread(head.data(), 1, head.size(), stream) == head.size());
		std::fclose(stream);
		folder.write("a-0004.dfr", head);
	}
	{
		Rotated rotated(machine, path, options);
		CHECK(rotated.parts.paths().front() == trace::part_path(path, 5));
		record(machine, rotated.drain, 20, true);
		rotated.drain.finish();
	}
	REQUIRE(killed_at == 3);
	const auto killed = trace::open_file(trace::part_path(path, 3))->facts();
	const auto next = trace::open_file(trace::part_path(path, 5))->facts();
	CHECK_FALSE(killed.finished);
	CHECK(killed.part.number == 3);
	CHECK(next.part.series == killed.part.series);
	CHECK(next.part.number == 4);
	CHECK(next.part.since == killed.whole_until);
	const Joined all(paths_of(path));
	CHECK(all.values == machine.values);
	CHECK(all.verdict.complete);
	REQUIRE(all.source->notes().size() == 1);
	CHECK(all.source->notes()[0] == folder.file("a-0004.dfr") + ": nothing was recorded in it");
	// Only that file: it is empty, and says so.
	const Joined empty({folder.file("a-0004.dfr")});
	CHECK_FALSE(empty.verdict.complete);
	CHECK(empty.verdict.records == 0);
}

TEST_CASE("a recorder that was killed before it marked anything lacks nothing beside the next",
          "[recorder][parts]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	PlayedMachine machine;
	const trace::PartsWriter::PartsOptions options{.rotation = kSmall,
	                                               .old = trace::PartsWriter::OldParts::kKeep};
	const std::string first = trace::part_path(path, 1);
	{
		Rotated rotated(machine, path, options);
		record(machine, rotated.drain, 3);
	}
	uint64_t mark = 0;
	trace::ContainerReader(first).each_segment([&mark](const trace::Segment& segment) {
		if (segment.type() == trace::SegmentType::kLosses && !mark)
			mark = segment.offset;
	});
	REQUIRE(mark);
	std::filesystem::resize_file(first, mark + GENERATE(0, 40)); // in the middle of it, or before it
	const Joined alone({first});
	CHECK(!alone.values.empty());
	CHECK_FALSE(alone.verdict.complete);
	CHECK(alone.says("cut at byte"));
	machine.give_again();
	{
		Rotated rotated(machine, path, options);
		record(machine, rotated.drain, 20, true);
		rotated.drain.finish();
	}
	const Joined all(paths_of(path));
	CHECK(all.values == machine.values);
	CHECK(all.verdict.complete);
	// Where another file is damaged, this one is not said to lack anything.
	std::filesystem::resize_file(trace::part_path(path, 2),
	                             std::filesystem::file_size(trace::part_path(path, 2)) - 1);
	const Joined two({first, trace::part_path(path, 2)});
	CHECK_FALSE(two.verdict.complete);
	CHECK_FALSE(two.says(first));
}

TEST_CASE("parts of before: refused, replaced, or of another state", "[recorder][parts]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	using OldParts = trace::PartsWriter::OldParts;
	PlayedMachine machine;
	{
		Rotated rotated(machine, path, {.rotation = kSmall});
		record(machine, rotated.drain, 20);
		rotated.drain.finish();
		REQUIRE(rotated.parts.paths().size() >= 2);
	}
	CHECK_THROWS_WITH(Rotated(machine, path, {.rotation = kSmall}),
	                  "cannot write parts of " + path + ": " + trace::part_path(path, 1) + " exists");
	{
		PlayedMachine other(2);
		Rotated rotated(other, path, {.rotation = kSmall, .old = OldParts::kReplace});
		rotated.drain.finish();
		CHECK(paths_of(path) == std::vector{trace::part_path(path, 1)});
	}
	const auto before = trace::open_file(trace::part_path(path, 1))->facts();
	PlayedMachine later;
	const_cast<trace::Catalog&>(later.catalog()).state_id++;
	Rotated rotated(later, path, {.rotation = kSmall, .old = OldParts::kKeep});
	rotated.drain.finish();
	const auto facts = trace::open_file(trace::part_path(path, 2))->facts();
	CHECK(facts.part.number == 1);
	CHECK(facts.part.series != before.part.series);
	CHECK(facts.part.before.empty());
}

TEST_CASE("a recording that was not rotated is no part of before, whatever its name", "[recorder][parts]") {
	const uint64_t number = GENERATE(2, 2025); // the second part would meet it, or none
	const test::ScratchFolder folder;
	const std::string path = folder.file("a.dfr"), other = trace::part_path(path, number);
	using OldParts = trace::PartsWriter::OldParts;
	{
		PlayedMachine machine;
		Rotated rotated(machine, other, {});
		record(machine, rotated.drain, 1);
		rotated.drain.finish();
	}
	for (const OldParts old : {OldParts::kRefuse, OldParts::kReplace}) {
		PlayedMachine machine;
		Rotated rotated(machine, path, {.rotation = kSmall, .old = old});
		record(machine, rotated.drain, 20);
		rotated.drain.finish();
		CHECK(rotated.parts.paths().front() == trace::part_path(path, number + 1));
		CHECK(rotated.parts.paths().size() > 2);
	}
	CHECK(Joined({other}).verdict.complete);
	PlayedMachine machine;
	CHECK_THROWS_WITH(Rotated(machine, path, {.rotation = kSmall}),
	                  Catch::Contains(trace::part_path(path, number + 1) + " exists"));
}

namespace {

// That this process has read from files so far.
uint64_t bytes_read() {
	std::ifstream io("/proc/self/io");
	std::string name;
	uint64_t bytes = 0;
	while (io >> name >> bytes)
		if (name == "rchar:")
			return bytes;
	FAIL("/proc/self/io has no rchar");
	return 0;
}

} // namespace

// A recorder asks this of all parts when it starts, and there may be thousands.
TEST_CASE("whether a file is a part is known without its catalog", "[recorder][parts]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("a-0001.dfr");
	test::CatalogLog log;
	for (uint32_t id = 1; id <= 20'000; id++)
		log.probe(id, "p", "m", std::to_string(value_of(id, id, id)), "n");
	trace::Catalog catalog;
	catalog.parse(log.done());
	{
		trace::FileWriter writer(path, false, [&]() -> const trace::Catalog& { return catalog; },
		                         trace::local_file(), {.series = 7, .number = 1});
		test::ListSource none;
		writer.account(none, 2);
		writer.finish();
		REQUIRE(writer.catalog_bytes() > 200'000);
	}
	const uint64_t before = bytes_read();
	CHECK(trace::may_be_part(path));
	CHECK(bytes_read() - before < 50'000);
}

TEST_CASE("before a part of before is removed all of them must be replaceable", "[recorder][parts]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	folder.write("a-0001.dfr", {1});
	std::filesystem::create_directories(trace::part_path(path, 2) + "/sub");
	PlayedMachine machine;
	CHECK_THROWS_WITH(
	    Rotated(machine, path, {.rotation = kSmall, .old = trace::PartsWriter::OldParts::kReplace}),
	    "cannot write " + trace::part_path(path, 2) + ": it exists and is no regular file");
	CHECK(std::filesystem::exists(trace::part_path(path, 1)));
}

// What each file costs is bounded: of so large a catalog a part is as large as a hundred of it.
TEST_CASE("a part repeats at most a hundredth of its chunks", "[recorder][parts]") {
	const test::ScratchFolder folder;
	PlayedMachine machine(300);
	Rotated rotated(machine, folder.file("a.dfr"), {.rotation = kSmall});
	while (rotated.parts.paths().size() < 3)
		record(machine, rotated.drain, 10);
	rotated.drain.finish();
	for (size_t i = 0; i < 2; i++) {
		const SegmentBytes bytes = segment_bytes(rotated.parts.paths()[i]);
		INFO(bytes.catalog << " of " << bytes.chunks);
		CHECK(bytes.catalog > 2000);
		CHECK(bytes.catalog * 100 <= bytes.chunks);
	}
}

namespace {

struct RotatedOutcome {
	std::set<uint64_t> all,
	    stored; // values that were recorded; of which the recorder said that they are on the disk
	bool failed = false, ended = false;
	size_t files = 0;
};

// A recording into parts, each on a disk of its own.
RotatedOutcome rotate_to(std::deque<test::Disk>& disks) {
	RotatedOutcome outcome;
	PlayedMachine machine;
	const auto next_disk = [&] {
		if (outcome.files == disks.size())
			disks.emplace_back();
		return std::make_unique<test::PlayedFile>(disks[outcome.files++]);
	};
	try {
		Rotated rotated(machine, "/nonexistent/played", {.rotation = kSmall, .output = next_disk});
		try {
			record(machine, rotated.drain, 24);
			rotated.drain.finish();
			outcome.ended = true;
		} catch (const Error& error) {
			outcome.failed = true;
			rotated.drain.give_up(error.what());
			outcome.ended = true;
		}
	} catch (const Error&) {
		outcome.failed = true;
	} catch (const test::PowerCut&) {
	}
	outcome.all = machine.values;
	outcome.stored = machine.stored_values;
	return outcome;
}

// What the files with these bytes hold together.
void check_files(const std::vector<std::vector<std::byte>>& files, const RotatedOutcome& outcome) {
	const test::ScratchFolder folder;
	std::vector<std::string> paths;
	for (const auto& bytes : files) {
		if (bytes.empty())
			continue; // removed, or its name is not on the disk
		const auto* const at = reinterpret_cast<const uint8_t*>(bytes.data());
		paths.push_back(folder.write(std::to_string(paths.size()) + ".dfr", {at, at + bytes.size()}));
	}
	if (paths.empty()) {
		CHECK(outcome.stored.empty());
		return;
	}
	const Joined joined(paths); // no record is there twice
	const auto holds = [](const std::set<uint64_t>& values, const std::set<uint64_t>& expected) {
		return std::includes(values.begin(), values.end(), expected.begin(), expected.end());
	};
	CHECK(holds(joined.values, outcome.stored));
	CHECK(holds(outcome.all, joined.values)); // none is invented
	CHECK(joined.source->notes().size() <= 1);
}

// Each file's first and last calls but the very last ones of the recording: how many there are in between
// depends a little on the series' number, which is made up. All calls of one file: recorder_drain_test.cc.
std::vector<std::pair<size_t, uint64_t>> calls_around_rotations(const std::deque<test::Disk>& whole) {
	constexpr uint64_t kNear = 8;
	std::vector<std::pair<size_t, uint64_t>> calls;
	for (size_t file = 0; file < whole.size(); file++) {
		for (uint64_t call = 1; call <= kNear; call++)
			calls.emplace_back(file, call);
		for (uint64_t call = whole[file].calls - kNear;
		     file + 1 < whole.size() && call <= whole[file].calls; call++)
			calls.emplace_back(file, call);
	}
	return calls;
}

std::vector<std::vector<std::byte>> written(const std::deque<test::Disk>& disks) {
	std::vector<std::vector<std::byte>> files;
	for (const test::Disk& disk : disks)
		files.push_back(disk.written);
	return files;
}

std::vector<std::vector<std::byte>> synced(const std::deque<test::Disk>& disks) {
	std::vector<std::vector<std::byte>> files;
	for (const test::Disk& disk : disks)
		files.push_back(disk.synced);
	return files;
}

} // namespace

TEST_CASE("around a rotation each call to the file system fails once: what was called stored is there",
          "[recorder][parts][storage]") {
	std::deque<test::Disk> whole;
	const RotatedOutcome complete = rotate_to(whole);
	REQUIRE(complete.files >= 3);
	REQUIRE(complete.stored == complete.all);
	check_files(written(whole), complete);
	for (const auto& [file, call] : calls_around_rotations(whole))
		for (const int manner : {0, 1, 2, 3}) {
			const int error = call % 2 ? ENOSPC : EIO;
			std::deque<test::Disk> disks(whole.size());
			disks[file] = {.fails_at = call, .error = error};
			disks[file].half = manner & 1;
			disks[file].fails_on = manner & 2;
			for (size_t later = file + 1; later < disks.size() && (manner & 2); later++)
				disks[later] = {.fails_at = 1, .error = error, .fails_on = true};
			const RotatedOutcome outcome = rotate_to(disks);
			INFO("file " << file << " call " << call << " errno " << error << " manner "
			             << manner);
			const bool reached = disks[file].calls >= call;
			CHECK((outcome.failed || !reached || (disks[file].half && !disks[file].fails_on)));
			check_files(written(disks), outcome);
			check_files(synced(disks), outcome);
		}
}

TEST_CASE("around a rotation the power goes at any call: what was called stored is on the disk",
          "[recorder][parts][storage]") {
	std::deque<test::Disk> whole;
	rotate_to(whole);
	for (const auto& [file, call] : calls_around_rotations(whole)) {
		std::deque<test::Disk> disks(whole.size());
		disks[file].cut_at = call;
		const RotatedOutcome outcome = rotate_to(disks);
		INFO("file " << file << " call " << call);
		CHECK((!outcome.ended || disks[file].calls < call));
		// Of what was not synced, any part may have reached the disk; of files before this one, all had to.
		for (unsigned thirds = 0; thirds <= 3; thirds++) {
			auto files = synced(disks);
			const auto& bytes = disks[file].written;
			const size_t from = std::min(files[file].size(), bytes.size());
			const size_t to = from + (bytes.size() - from) * thirds / 3;
			files[file].resize(from);
			files[file].insert(files[file].end(), bytes.begin() + static_cast<long>(from),
			                   bytes.begin() + static_cast<long>(to));
			check_files(files, outcome);
		}
	}
}

} // namespace recorder_parts_test
