// SPDX-License-Identifier: GPL-2.0
//
// The .dfr container: what is written comes back; a file cut at any byte opens
// up to the cut; a changed byte is reported and costs at most its segment.
// More than 800 lines, because one sample of a file is cut, changed and read in it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/abi/dof.h"
#include "formats/error.h"
#include "formats/trace/batch.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/crc32c.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "formats/trace/joined.h"
#include "formats/trace/verify.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace trace_file_test {

using namespace dfr;
using test::BlockBytes;
using test::CatalogLog;
using test::ScratchFolder;

namespace {

std::vector<char> read_whole(const std::string& path) {
	std::ifstream in(path, std::ios::binary);
	return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, const std::vector<char>& bytes, size_t size) {
	std::ofstream out(path, std::ios::binary | std::ios::trunc);
	out.write(bytes.data(), static_cast<std::streamsize>(size));
}

trace::Catalog first_catalog(CatalogLog& log) {
	log.state("web", 2, 4096, DFR_BUFPOLICY_SWITCH);
	log.entry(DFR_CAT_MACHINE, test::Bytes().text("release=6.12\n"));
	log.clock(5, 1'000'000'005).probe(1, "dtrace", "", "", "BEGIN", 0);
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1).dof(0, test::kEmptyDof);
	trace::Catalog catalog;
	catalog.parse(log.done());
	catalog.sources[0] = "BEGIN { trace(1); }";
	return catalog;
}

BlockBytes numbered(uint16_t cpu, uint64_t seq, uint8_t value) {
	BlockBytes block(cpu, seq, 100 * seq);
	block.long_head(0, 0, 100 * seq).context(1, 1, 1, "init");
	block.short_head(1, 0, 0).u8(0).u8(value);
	block.counters(0, seq - 1);
	return block;
}

struct Written {
	std::vector<char> bytes;
	std::vector<std::pair<uint64_t, uint64_t>> blocks_at; // (file size, blocks that are in it)
};

// Five chunks, a catalog that grows in between, two snapshots of aggregations, two more by time, and losses.
Written write_sample(const std::string& path) {
	Written result;
	CatalogLog log;
	trace::Catalog catalog = first_catalog(log);
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
	writer.catalog();
	uint64_t blocks = 0;
	result.blocks_at.emplace_back(writer.size(), 0);
	for (uint64_t seq = 1; seq <= 5; seq++) {
		const uint16_t cpu = seq % 2;
		writer.block(numbered(cpu, seq, static_cast<uint8_t>(seq)).sealed());
		writer.flush();
		result.blocks_at.emplace_back(writer.size(), ++blocks);
		if (seq == 3) {
			catalog.probes.emplace(2, trace::Probe{.id = 2, .provider = "late"});
			writer.catalog();
			writer.catalog(); // nothing new: nothing written
			writer.aggregations({{.varid = 1, .kind = 0x0701, .key = {}, .words = {3}}});
			writer.snapshot({17, {{.varid = 1, .kind = 0x0701, .key = {}, .words = {1}}}});
			writer.snapshot(
			    {UINT64_MAX, {{.varid = 1, .kind = 0x0701, .key = {}, .words = {2}}}});
		}
	}
	test::ListSource source;
	source.lost.add({.cause = DFR_LOSS_NMI, .probe = 1, .cpu = 0, .count = 4, .from = 1, .to = 9});
	writer.account(source);
	writer.aggregations({{.varid = 1, .kind = 0x0701, .key = std::vector<std::byte>(8), .words = {5}}});
	writer.finish();
	result.bytes = read_whole(path);
	return result;
}

void write_blocks(const std::string& path, uint8_t boot, uint64_t first, uint64_t last) {
	CatalogLog log;
	trace::Catalog catalog = first_catalog(log);
	catalog.boot_id[0] = boot;
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
	for (uint64_t seq = first; seq <= last; seq++)
		writer.block(numbered(0, seq, static_cast<uint8_t>(seq)).sealed());
	writer.finish();
}

std::vector<uint64_t> values_of(trace::BlockSource& source) {
	std::vector<uint64_t> values;
	trace::Merger merger(source);
	merger.run([&](const trace::Record& record) {
		values.push_back(record.fields[0].number);
		return true;
	});
	return values;
}

uint64_t count_blocks(trace::BlockSource& source) {
	uint64_t blocks = 0;
	while (source.next())
		blocks++;
	return blocks;
}

// The recordings that replay makes of these files.
std::vector<std::unique_ptr<trace::JoinedSource>> recordings(const std::vector<std::string>& paths) {
	std::vector<std::unique_ptr<trace::JoinedSource>> sources;
	for (auto& files : trace::group_by_state(paths))
		sources.push_back(std::make_unique<trace::JoinedSource>(std::move(files)));
	return sources;
}

} // namespace

TEST_CASE("blocks can be loaded in any order, and again", "[trace]") {
	const ScratchFolder folder;
	const std::string path = folder.file("loaded.dfr");
	write_blocks(path, 1, 1, 6); // one chunk
	const auto file = trace::open_file(path);
	const auto refs = file->index();
	REQUIRE(refs.size() == 6);
	for (const size_t i : {5, 0, 3, 3, 5, 1, 2, 4, 0}) {
		const auto block = file->load(refs[i]);
		REQUIRE(block);
		CHECK(block->header().seq == i + 1);
		CHECK(trace::block_is_verified(block->bytes));
	}
}

TEST_CASE("a chunk that is not wanted by its headers is not read", "[trace]") {
	const ScratchFolder folder;
	const std::string path = folder.file("unwanted.dfr");
	write_blocks(path, 1, 1, 6);
	const auto file = trace::open_file(path);
	size_t asked = 0;
	CHECK(!file->columns(file->index()[2], [&](std::span<const dfr_block> headers) {
		asked = headers.size();
		return false;
	}));
	CHECK(asked == 6);
}

// chunk.h: a chunk of each CPU is in memory, so all of them together are bounded.
TEST_CASE("of many CPUs chunks are smaller", "[trace]") {
	CHECK(trace::chunk_target(1) == trace::kChunkBytes);
	CHECK(trace::chunk_target(16) == trace::kChunkBytes);
	for (const size_t cpus : {32, 64, 128})
		CHECK(cpus * trace::chunk_target(cpus) == trace::kOpenChunksBytes);
	CHECK(trace::chunk_target(1024) == trace::kChunkBytesLeast);
}

TEST_CASE("of a quiet CPU a chunk has half a minute", "[trace][file]") {
	const ScratchFolder folder;
	CatalogLog log;
	trace::Catalog catalog = first_catalog(log);
	// Blocks of some 24 KiB: three are worth a chunk.
	const auto chunks_of = [&](uint64_t apart) {
		const std::string path = folder.path() + "/" + std::to_string(apart) + ".dfr";
		trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
		for (uint64_t seq = 1; seq <= 12; seq++) {
			BlockBytes block(0, seq, seq * apart, 32768);
			block.long_head(0, 0, seq * apart).context(1, 1, 1, "init");
			for (int i = 0; i < 4000; i++)
				block.short_head(1, 0, 0).u8(0).u8(1);
			block.counters(0, 4000 * (seq - 1));
			writer.block(block.sealed());
		}
		writer.finish();
		return trace::open_file(path)->facts().chunks;
	};
	CHECK(chunks_of(1'000'000) == 1);
	CHECK(chunks_of(10'000'000'000) == 3); // of four blocks, which span 30 s
	CHECK(chunks_of(60'000'000'000) == 4); // of three: two are not worth one
}

TEST_CASE("a .dfr gives back what was written", "[trace][file]") {
	ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	write_sample(path);
	struct stat status;
	REQUIRE(stat(path.c_str(), &status) == 0);
	CHECK((status.st_mode & 07777) == 0600);

	const auto file = trace::open_file(path);
	CHECK(file->remarks().empty());
	CHECK(!file->partial());
	CHECK(file->facts().finished);
	CHECK(file->facts().chunks == 5);
	CHECK(file->name() == path);
	const trace::Catalog& catalog = file->catalog();
	CHECK(catalog.state_id == 7);
	CHECK(catalog.boot_id[1] == 0xb1);
	CHECK(catalog.state_name == "web");
	CHECK(catalog.machine.at("release") == "6.12");
	CHECK(catalog.sources.at(0) == "BEGIN { trace(1); }");
	CHECK(catalog.dofs.at(0).size() == test::kEmptyDof.size());
	CHECK(catalog.probes.at(2).provider == "late");
	CHECK(catalog.probes.at(1).nargs == 0u);
	CHECK(catalog.clocks.size() == 1);
	CHECK(catalog.ecbs.size() == 1);

	unsigned block = 0;
	while (const auto next = file->next()) {
		block++;
		CHECK(next->bytes == numbered(block % 2, block, static_cast<uint8_t>(block)).sealed().bytes);
		CHECK(next->verified);
	}
	CHECK(block == 5);
	const auto aggregations = file->aggregations();
	REQUIRE(aggregations.size() == 1);
	CHECK(aggregations[0].words == std::vector<uint64_t>{5});
	CHECK(aggregations[0].key.size() == 8);
	const auto early = file->next_snapshot(), late = file->next_snapshot();
	REQUIRE((early && late && !file->next_snapshot()));
	CHECK(early->time == 17);
	CHECK(early->entries.at(0).words == std::vector<uint64_t>{1});
	CHECK(late->time == UINT64_MAX);
	CHECK(late->entries.at(0).words == std::vector<uint64_t>{2});
	const trace::Losses losses = file->losses();
	REQUIRE(losses.entries.size() == 1);
	CHECK(losses.entries[0].count == 4);
	CHECK(losses.entries[0].to == 9);
}

TEST_CASE("the merger reads a .dfr by its index", "[trace][file]") {
	ScratchFolder folder;
	write_sample(folder.file("a.dfr"));
	const auto file = trace::open_file(folder.file("a.dfr"));
	trace::Merger merger(*file);
	std::vector<uint64_t> values;
	merger.run([&](const trace::Record& record) {
		values.push_back(record.fields[0].number);
		return true;
	});
	CHECK(values == std::vector<uint64_t>{1, 2, 3, 4, 5});
	CHECK(merger.cpus()[1].blocks == 3);
	CHECK(merger.damage().blocks == 0);
}

TEST_CASE("files of one state are one recording, whatever their order", "[trace][file]") {
	const ScratchFolder folder;
	const std::string a = folder.file("a.dfr"), b = folder.file("b.dfr"), c = folder.file("c.dfr");
	write_blocks(a, 1, 1, 4);
	write_blocks(b, 1, 3, 6);
	write_blocks(c, 1, 9, 9);
	for (const std::vector<std::string>& paths :
	     {std::vector{a, b}, std::vector{b, a}, std::vector{a, b, a}}) {
		const auto both = recordings(paths);
		REQUIRE(both.size() == 1);
		trace::Merger merger(*both[0]);
		std::vector<uint64_t> values;
		merger.run([&](const trace::Record& record) {
			values.push_back(record.fields[0].number);
			return true;
		});
		CHECK(values == std::vector<uint64_t>{1, 2, 3, 4, 5, 6});
		CHECK(trace::judge(*both[0], merger).complete);
		CHECK(both[0]->notes() ==
		      std::vector{(paths.size() == 2 ? "2" : "4") +
		                  std::string(" blocks are in several files and counted once")});
	}
	// What is missing between two files is a gap.
	const auto gap = recordings({c, b, a});
	REQUIRE(gap.size() == 1);
	trace::Merger merger(*gap[0]);
	merger.run([](const trace::Record&) { return true; });
	const trace::Verdict verdict = trace::judge(*gap[0], merger);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.records == 7);
	REQUIRE(verdict.reasons.size() == 1);
	CHECK(verdict.reasons[0] == "2 records missing on CPU 0 (2 blocks not there)");
}

// A recorder that was killed, and the next one to which a CPU had nothing to give.
TEST_CASE("what a cut file may lack is told by a later one, also of a CPU that never recorded",
          "[trace][file]") {
	class Session final : public trace::BlockSource {
	public:
		Session(const trace::Catalog& catalog, bool asked) : catalog_(catalog), asked_(asked) {}
		const trace::Catalog& catalog() override { return catalog_; }
		std::optional<trace::Block> next() override { return std::nullopt; }
		std::vector<trace::AggEntry> aggregations() override { return {}; }
		trace::Losses losses() override { return {}; }
		std::string name() const override { return "session"; }
		std::map<uint32_t, trace::Reach> reaches() override {
			return asked_ ? std::map<uint32_t, trace::Reach>{{1, {}}}
			              : std::map<uint32_t, trace::Reach>();
		}

	private:
		const trace::Catalog& catalog_;
		bool asked_;
	};
	const bool asked = GENERATE(false, true);
	const ScratchFolder folder;
	CatalogLog log;
	const trace::Catalog catalog = first_catalog(log);
	const auto now = [&]() -> const trace::Catalog& { return catalog; };
	const std::string killed = folder.path() + "/a.dfr", later = folder.path() + "/b.dfr";
	{
		trace::FileWriter writer(killed, true, now);
		writer.block(numbered(0, 1, 1).sealed());
		writer.flush();
	}
	trace::FileWriter writer(later, true, now);
	writer.block(numbered(0, 2, 2).sealed());
	Session session(catalog, asked);
	writer.account(session);
	writer.finish();
	auto groups = trace::group_by_state({killed, later});
	REQUIRE(groups.size() == 1);
	trace::JoinedSource joined(std::move(groups[0]));
	CHECK(joined.partial() == !asked);
	CHECK(trace::verify_file(later).sound());
}

TEST_CASE("files of different states are recordings of their own", "[trace][file]") {
	const ScratchFolder folder;
	const std::string a = folder.file("a.dfr"), b = folder.file("b.dfr"), c = folder.file("c.dfr");
	write_blocks(a, 1, 1, 2);
	write_blocks(b, 2, 1, 2); // of another boot
	write_blocks(c, 1, 3, 3);
	const auto three = recordings({a, b, c});
	REQUIRE(three.size() == 2);
	CHECK(three[0]->name() == a + ", " + c);
	CHECK(values_of(*three[0]) == std::vector<uint64_t>{1, 2, 3});
	CHECK(three[1]->name() == b);
	CHECK(values_of(*three[1]) == std::vector<uint64_t>{1, 2});
	CHECK(three[1]->notes().empty());
}

// A snapshot's catalog has an event that no part has (DFR_EVENT_SNAPSHOT).
TEST_CASE("a snapshot is not newer than parts that have later records", "[trace][file]") {
	const ScratchFolder folder;
	const std::string first = folder.file("a-0001.dfr"), killed = folder.file("a-0002.dfr"),
	                  snapshot = folder.file("snap.dfr");
	// Blocks from a number to a number, each at a hundred times it.
	const auto write = [](const std::string& path, uint64_t from, uint64_t to, uint64_t until,
	                      uint32_t part, bool goes_on) {
		CatalogLog log;
		trace::Catalog catalog = first_catalog(log);
		if (!part)
			catalog.events.push_back({.event = DFR_EVENT_SNAPSHOT, .time = until, .text = "why"});
		trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; },
		                         trace::local_file(), {.series = part ? 9u : 0u, .number = part});
		for (uint64_t seq = from; seq <= to; seq++)
			writer.block(numbered(0, seq, static_cast<uint8_t>(seq)).sealed());
		writer.aggregations({{.varid = 1, .kind = 0x0701, .key = {}, .words = {to}}});
		test::ListSource none;
		writer.account(none, until);
		if (goes_on)
			writer.finish(true);
	};
	write(first, 1, 2, 250, 1, true);
	write(killed, 3, 6, 450, 2, false);
	// Of a time before the killed part's mark, and of one behind it.
	for (const uint64_t last : {3, 5}) {
		write(snapshot, 1, last, 100 * last + 50, 0, true);
		for (const auto& paths : {std::vector{first, killed, snapshot}, {snapshot, killed, first}}) {
			const auto all = recordings(paths);
			REQUIRE(all.size() == 1);
			CHECK(values_of(*all[0]) == std::vector<uint64_t>{1, 2, 3, 4, 5, 6});
			CHECK(all[0]->aggregations().at(0).words == std::vector<uint64_t>{6});
			REQUIRE(all[0]->cut());
			CHECK(all[0]->cut()->whole_until == (last == 3 ? 450 : 550));
			CHECK(all[0]->cut()->goes_on == (last == 5));
		}
	}
}

// A program that only counts leaves no blocks by which the later file could be known.
TEST_CASE("of files without records the aggregations of the latest count", "[trace][file]") {
	const ScratchFolder folder;
	const std::string one = folder.file("one.dfr"), two = folder.file("two.dfr");
	const auto write = [](const std::string& path, uint64_t count, uint64_t until, bool goes_on) {
		CatalogLog log;
		const trace::Catalog catalog = first_catalog(log);
		trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
		writer.aggregations({{.varid = 1, .kind = 0x0701, .key = {}, .words = {count}}});
		test::ListSource none;
		writer.account(none, until);
		writer.finish(goes_on);
	};
	write(one, 1, 250, true);
	// A snapshot, or what was found in the memory of the machine that died.
	const bool snapshot = GENERATE(false, true);
	write(two, 2, snapshot ? 450 : 0, snapshot);
	for (const auto& paths : {std::vector{one, two}, {two, one}}) {
		const auto all = recordings(paths);
		REQUIRE(all.size() == 1);
		CHECK(all[0]->aggregations().at(0).words == std::vector<uint64_t>{2});
	}
}

// A snapshot has the block of a silent CPU as it was then, the next part says up to where the parts before it had it.
TEST_CASE("records of a block that only a missing file has whole are missing", "[trace][file]") {
	const ScratchFolder folder;
	const std::string snapshot = folder.file("snap.dfr"), part = folder.file("a-0002.dfr");
	CatalogLog log;
	const trace::Catalog catalog = first_catalog(log);
	const auto now = [&]() -> const trace::Catalog& { return catalog; };
	{
		trace::FileWriter writer(snapshot, true, now);
		writer.block(numbered(0, 1, 1).sealed());
		test::ListSource none;
		writer.account(none, 150);
		writer.finish(true);
	}
	{
		trace::FileWriter writer(part, true, now, trace::local_file(),
		                         {.series = 9, .number = 2, .since = 300, .before = {{0, {1, 5}}}});
		writer.block(numbered(1, 4, 4).sealed());
		test::ListSource none;
		writer.account(none, 450);
		writer.finish(true);
	}
	const auto all = recordings({snapshot, part});
	REQUIRE(all.size() == 1);
	trace::Merger merger(*all[0]);
	merger.run([](const trace::Record&) { return true; });
	const trace::Verdict verdict = trace::judge(*all[0], merger);
	CHECK_FALSE(verdict.complete);
	CHECK(verdict.lost == 4);
}

// CPU 1 has nothing in the first file, and the file between, which has its first blocks, is not here.
TEST_CASE("what a silent CPU recorded between two files is missing there, and not at the start",
          "[trace][file]") {
	const ScratchFolder folder;
	const std::string first = folder.file("a.dfr"), third = folder.file("c.dfr");
	CatalogLog log;
	const trace::Catalog catalog = first_catalog(log);
	const auto now = [&]() -> const trace::Catalog& { return catalog; };
	const uint64_t before = GENERATE(150, 250, 350); // when CPU 1 had its last record that is not here
	test::ListSource none;
	{
		trace::FileWriter writer(first, true, now);
		for (const uint8_t seq : {1, 2})
			writer.block(numbered(0, seq, seq).sealed());
		writer.account(none, 250);
		writer.finish(true);
	}
	{
		trace::FileWriter writer(third, true, now);
		writer.block(numbered(0, 4, 4).opened(390, 390).sealed());
		writer.block(numbered(1, 5, 9).opened(before, 400).sealed());
		writer.account(none, 650);
		writer.finish(true);
	}
	for (const auto& paths : {std::vector{first, third}, {third, first}}) {
		const auto all = recordings(paths);
		REQUIRE(all.size() == 1);
		trace::Merger merger(*all[0]);
		merger.open();
		CHECK(merger.horizon() == (before < 250 ? 151 : 0));
		merger.run([](const trace::Record&) { return true; });
		const trace::Verdict verdict = trace::judge(*all[0], merger);
		CHECK_FALSE(verdict.complete);
		CHECK(verdict.windowed == (before < 250));
		CHECK(verdict.lost == (before < 250 ? 1 : 5));
		CHECK(verdict.reasons.size() == (before < 250 ? 1 : 2));
		CHECK(verdict.reasons.back() == (before < 250
		                                     ? "1 record missing on CPU 0 (1 block not there)"
		                                     : "4 records missing on CPU 1 (4 blocks not there)"));
		// Of the time behind the gap nothing is missing.
		trace::Merger later(*all[0]);
		later.open();
		later.select({.from = 400, .to = UINT64_MAX, .cpus = {}});
		later.run([](const trace::Record&) { return true; });
		CHECK(trace::judge(*all[0], later).complete);
	}
	// Alone, it says that something is missing in front of it.
	const auto alone = recordings({third});
	CHECK(trace::judge_whole(*alone[0]).windowed);
}

// A claim is no part, so nothing counts what its state recorded before it: CPU 1 may have recorded then, too.
TEST_CASE("a file that begins in the middle of its state is no proof of what was before it",
          "[trace][file]") {
	const ScratchFolder folder;
	const std::string second = folder.file("b.dfr"), fourth = folder.file("d.dfr");
	CatalogLog log;
	const trace::Catalog catalog = first_catalog(log);
	const auto now = [&]() -> const trace::Catalog& { return catalog; };
	test::ListSource none;
	{
		trace::FileWriter writer(second, true, now);
		for (const uint8_t seq : {3, 4})
			writer.block(numbered(0, seq, seq).sealed());
		writer.account(none, 450);
		writer.finish(true);
	}
	{
		trace::FileWriter writer(fourth, true, now);
		writer.block(numbered(0, 6, 6).opened(590, 590).sealed());
		writer.block(numbered(1, 5, 9).opened(550, 600).sealed());
		writer.account(none, 850);
		writer.finish(true);
	}
	const auto all = recordings({second, fourth});
	REQUIRE(all.size() == 1);
	trace::Merger merger(*all[0]);
	merger.open();
	CHECK(merger.horizon() > 440);
	merger.select({.from = 300, .to = 440, .cpus = {}});
	merger.run([](const trace::Record&) { return true; });
	CHECK_FALSE(trace::judge(*all[0], merger).complete);
}

TEST_CASE("a stretch of thinning that a later file does not tell of any more is over", "[trace][file]") {
	const ScratchFolder folder;
	CatalogLog log;
	trace::Catalog catalog = first_catalog(log);
	catalog.ecbs[0].priority = DFR_PRIORITY_LOW;
	std::vector<std::string> paths;
	// The blocks of CPU 0 from a number to a number; CPU 1 is silent, and what it records low is off since 150.
	const auto write = [&](uint64_t from, uint64_t to, uint64_t until, bool off) {
		test::ListSource source;
		if (off)
			source.lost.add(trace::Losses::Stretch{
			    .cpu = 1, .priority = DFR_PRIORITY_LOW, .from = 150, .left_out = 3});
		paths.push_back(folder.file("a" + std::to_string(from) + ".dfr"));
		trace::FileWriter writer(paths.back(), true,
		                         [&]() -> const trace::Catalog& { return catalog; });
		for (uint64_t seq = from; seq <= to; seq++)
			writer.block(numbered(0, seq, static_cast<uint8_t>(seq)).sealed());
		writer.account(source, until);
		writer.finish(true);
	};
	const auto complete = [&](uint64_t from) {
		const auto all = recordings(paths);
		trace::Merger merger(*all.at(0));
		merger.open();
		merger.select({.from = from, .to = UINT64_MAX, .cpus = {}});
		merger.run([](const trace::Record&) { return true; });
		return trace::judge(*all[0], merger).complete;
	};
	write(1, 2, 250, true);
	write(3, 4, 450, true);
	CHECK_FALSE(complete(420)); // it goes on
	write(5, 6, 650, false);
	for (const uint64_t from : {0, 300, 420, 600})
		CHECK_FALSE(complete(from)); // it may have ended just before the third file did
	write(7, 8, 850, false);
	CHECK(complete(700));
	CHECK_FALSE(complete(600));
}

// What a consumer had taken is not in the dead machine's memory. Its file is not here.
TEST_CASE("a time between a file and a harvest that neither has is told", "[trace][file]") {
	const ScratchFolder folder;
	const std::string first = folder.file("a.dfr"), harvest = folder.file("harvest.dfr");
	CatalogLog log;
	const trace::Catalog catalog = first_catalog(log);
	const auto now = [&]() -> const trace::Catalog& { return catalog; };
	const auto write = [&](const std::string& path, uint64_t last, uint64_t until) {
		trace::FileWriter writer(path, true, now);
		for (uint64_t seq = 1; seq <= last; seq++)
			writer.block(numbered(0, seq, static_cast<uint8_t>(seq)).sealed());
		test::ListSource none;
		writer.account(none, until);
		writer.finish(until != 0);
	};
	{
		trace::FileWriter writer(harvest, true, now, trace::local_file(), {.since = 401});
		test::ListSource none;
		writer.account(none);
		writer.finish();
	}
	const auto complete = [&] {
		const auto all = recordings({first, harvest});
		trace::Merger merger(*all[0]);
		merger.run([](const trace::Record&) { return true; });
		return trace::judge(*all[0], merger).complete;
	};
	write(first, 2, 250);
	CHECK_FALSE(complete());
	write(first, 4, 450); // it has what was taken
	CHECK(complete());
	write(first, 4, 350); // and here behind its last mark
	CHECK(complete());
}

TEST_CASE("of a block that grew the longer copy counts, and the other if that one is damaged",
          "[trace][file]") {
	const ScratchFolder folder;
	const std::string a = folder.file("a.dfr"), b = folder.file("b.dfr");
	const auto write = [](const std::string& path, unsigned records) {
		CatalogLog log;
		trace::Catalog catalog = first_catalog(log);
		trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
		BlockBytes block(0, 1, 100);
		block.long_head(0, 0, 100).context(1, 1, 1, "init");
		for (unsigned i = 0; i < records; i++)
			block.short_head(1, 0, i).u8(0).u8(static_cast<uint8_t>(i));
		writer.block(block.sealed());
		writer.finish();
	};
	write(a, 2);
	write(b, 3);
	CHECK(values_of(*recordings({a, b})[0]) == std::vector<uint64_t>{0, 1, 2});
	CHECK(values_of(*recordings({b, a})[0]) == std::vector<uint64_t>{0, 1, 2});
	// The first chunk's payload begins behind the file's head, the catalog and the chunk's head.
	std::vector<char> bytes = read_whole(b);
	const std::string block_magic = "FBLK";
	const auto at = std::search(bytes.begin(), bytes.end(), block_magic.begin(), block_magic.end());
	REQUIRE(at != bytes.end());
	*(at + sizeof(dfr_block) + 4) ^= 1; // in the bodies, behind the header
	write_whole(b, bytes, bytes.size());
	CHECK(values_of(*recordings({a, b})[0]) == std::vector<uint64_t>{0, 1});
}

namespace {

// A file with one block of this CPU, of the state of this number.
std::vector<char> one_block_file(const ScratchFolder& folder, uint64_t state, uint16_t cpu) {
	const std::string path = folder.path() + "/one.dfr";
	CatalogLog log(state);
	log.state("web", 2, 4096, DFR_BUFPOLICY_SWITCH, state).clock(5, 1'000'000'005);
	log.probe(1, "dtrace", "", "", "BEGIN", 0).layout(1, {test::int_field(8)}).ecb(1, 1, 1);
	trace::Catalog catalog;
	catalog.parse(log.done());
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
	writer.block(numbered(cpu, 1, static_cast<uint8_t>(10 * state + cpu)).sealed());
	writer.finish();
	return read_whole(path);
}

void write_together(const std::string& path, std::initializer_list<std::vector<char>> parts) {
	std::vector<char> all;
	for (const std::vector<char>& part : parts)
		all.insert(all.end(), part.begin(), part.end());
	write_whole(path, all, all.size());
}

std::vector<uint64_t> values_in(trace::BlockSource& source) {
	std::vector<uint64_t> values;
	trace::Merger merger(source);
	merger.run([&](const trace::Record& record) {
		values.push_back(record.fields[0].number);
		return true;
	});
	return values;
}

} // namespace

TEST_CASE("a file may hold several recordings, one behind the other", "[trace][file]") {
	const ScratchFolder folder;
	const std::string both = folder.path() + "/both.dfr";
	const auto first = one_block_file(folder, 1, 0), second = one_block_file(folder, 2, 1);
	write_together(both, {first, second});
	CHECK(trace::recordings_of(both) == std::vector<std::string>{both + "#1", both + "#2"});
	CHECK(trace::file_of(both + "#2") == both);
	for (const char* const name : {"#1", "/tmp/#1"}) // of no file
		CHECK(trace::file_of(name) == name);
	const auto groups = trace::group_by_state({both});
	REQUIRE(groups.size() == 2);
	CHECK(values_in(*groups[0][0]) == std::vector<uint64_t>{10});
	CHECK(values_in(*groups[1][0]) == std::vector<uint64_t>{21});
	for (const auto& group : groups)
		CHECK_FALSE(group[0]->partial());
	CHECK(trace::open_file(both + "#2")->facts().size == second.size());
	CHECK_THROWS_WITH(trace::open_file(both), Catch::Contains("holds 2 recordings, and one is wanted"));
	CHECK_THROWS_WITH(trace::open_file(both + "#3"), Catch::Contains("no number 3"));
	CHECK_THROWS_WITH(trace::open_file(folder.path() + "/none#1"), Catch::Contains("cannot open"));
	// One of a state is read with the others of it.
	write_together(both, {first, first});
	CHECK(trace::group_by_state({both}).size() == 1);
	// A file that is called so is meant first.
	write_together(both + "#2", {first});
	CHECK(trace::recordings_of(both + "#2") == std::vector<std::string>{both + "#2"});
	CHECK(trace::open_file(both + "#2")->facts().size == first.size());
}

TEST_CASE("of recordings in one file a cut one costs no other", "[trace][file]") {
	const ScratchFolder folder;
	const std::string path = folder.path() + "/cut.dfr";
	const auto first = one_block_file(folder, 1, 0), second = one_block_file(folder, 2, 1);
	for (size_t size = 0; size < first.size(); size++) {
		CAPTURE(size);
		write_together(path, {{first.begin(), first.begin() + static_cast<long>(size)}, second});
		const auto names = trace::recordings_of(path);
		REQUIRE(names.size() == (size ? 2 : 1));
		const auto whole = trace::open_file(names.back());
		CHECK(values_in(*whole) == std::vector<uint64_t>{21});
		CHECK_FALSE(whole->partial());
		// What was cut is never whole, and has nothing of the other one.
		const auto cut = size >= 8 && names.size() > 1 ? trace::open_file(names[0]) : nullptr;
		if (cut) {
			CHECK(cut->partial());
			CHECK(cut->facts().size == size);
		}
		// The other way round; the rest of 8 bytes may be no recording.
		write_together(path, {second, {first.begin(), first.begin() + static_cast<long>(size)}});
		const auto others = trace::recordings_of(path);
		REQUIRE(others.size() == (size >= sizeof(trace::FileHead) ? 2 : 1));
		const auto before = trace::open_file(others[0]);
		CHECK(values_in(*before) == std::vector<uint64_t>{21});
		CHECK(before->partial() == (others.size() == 1 && size != 0));
	}
}

// Neither was ended, so neither tells where it begins.
TEST_CASE("of recordings in one file that were all cut none is lost", "[trace][file]") {
	const ScratchFolder folder;
	const std::string path = folder.path() + "/cut.dfr";
	const auto first = one_block_file(folder, 1, 0), second = one_block_file(folder, 2, 1);
	const std::vector<char> unended(second.begin(), second.end() - 8);
	for (size_t size = 1; size < first.size(); size++) {
		CAPTURE(size);
		const std::vector<char> part(first.begin(), first.begin() + static_cast<long>(size));
		write_together(path, {part, unended});
		const auto names = trace::recordings_of(path);
		REQUIRE(names.size() == 2);
		CHECK(values_in(*trace::open_file(names[1])) == std::vector<uint64_t>{21});
		write_together(path, {part, second, unended});
		CHECK(trace::recordings_of(path).size() == 3);
	}
}

TEST_CASE("a file has so many recordings and no more", "[trace][file]") {
	const ScratchFolder folder;
	const std::string path = folder.path() + "/many.dfr";
	const auto one = one_block_file(folder, 1, 0);
	const std::vector<char> head(one.begin(), one.begin() + sizeof(trace::FileHead));
	for (const std::vector<char>& part : {one, head}) {
		std::vector<char> all;
		for (size_t i = 0; i < trace::kRecordingsMost; i++)
			all.insert(all.end(), part.begin(), part.end());
		write_whole(path, all, all.size());
		CHECK(trace::recordings_of(path).size() == trace::kRecordingsMost);
		all.insert(all.end(), part.begin(), part.end());
		write_whole(path, all, all.size());
		CHECK_THROWS_WITH(trace::recordings_of(path), Catch::Contains("more than 256 recordings"));
	}
}

TEST_CASE("a .dfr cut at any byte opens up to the cut", "[trace][file]") {
	ScratchFolder folder;
	const Written whole = write_sample(folder.file("a.dfr"));
	const std::string path = folder.file("b.dfr");
	for (size_t size = 0; size < whole.bytes.size(); size++) {
		write_whole(path, whole.bytes, size);
		uint64_t expected = 0;
		for (const auto& [at, blocks] : whole.blocks_at)
			if (at <= size)
				expected = blocks;
		const auto file = trace::open_file(path);
		INFO("cut at " << size);
		CHECK(count_blocks(*file) == expected);
		CHECK(!file->remarks().empty());
		CHECK(file->partial());
		CHECK(!file->facts().finished);
		if (expected)
			CHECK(file->catalog().layout_of(1) != nullptr);
	}
}

TEST_CASE("a changed byte anywhere is reported and costs at most its segment", "[trace][file]") {
	ScratchFolder folder;
	const Written whole = write_sample(folder.file("a.dfr"));
	const std::string path = folder.file("b.dfr");
	for (size_t at = 0; at < whole.bytes.size(); at++) {
		for (const char flip : {'\x01', '\xff'}) {
			std::vector<char> bad = whole.bytes;
			bad[at] ^= flip;
			write_whole(path, bad, bad.size());
			INFO("byte " << at);
			std::unique_ptr<trace::FileSource> file;
			try {
				file = trace::open_file(path);
			} catch (const Error& error) {
				// Only the version, in the head: and that is checked by the head's checksum.
				FAIL(error.what());
			}
			const uint64_t blocks = count_blocks(*file);
			const size_t aggregations = file->aggregations().size();
			const size_t losses = file->losses().entries.size();
			CHECK(!file->remarks().empty());
			CHECK(blocks >= 4);
			CHECK((blocks == 5 || (aggregations == 1 && losses == 1)));
			CHECK(aggregations == 1); // the snapshot before, at worst
			CHECK(file->catalog().layout_of(1) != nullptr);
		}
	}
}

TEST_CASE("a small segment cannot ask for much memory", "[trace][file]") {
	constexpr auto kCatalog = static_cast<uint16_t>(trace::SegmentType::kCatalog);
	constexpr auto kChunk = static_cast<uint16_t>(trace::SegmentType::kChunk);
	CHECK(trace::raw_most(kChunk, 0) == 16 << 20);
	CHECK(trace::raw_most(kChunk, 1 << 20) == 256 << 20);
	CHECK(trace::raw_most(kCatalog, 1 << 20) == 64 << 20);
	CHECK(trace::raw_most(kChunk, UINT64_MAX) == trace::kMaxRaw);
	CHECK(trace::raw_most(kCatalog, UINT64_MAX) == trace::kMaxRaw);
	const test::ScratchFolder folder;
	const std::string path = folder.file("zeros.dfr");
	const std::vector<std::byte> zeros(32 << 20), few(4096);
	uint64_t first = 0, second = 0;
	{
		trace::ContainerWriter writer(path, false, trace::local_file());
		first = writer.append(trace::SegmentType::kAggregations, 0, zeros, true);
		second = writer.append(trace::SegmentType::kAggregations, 0, few, true);
		writer.close();
	}
	// 32 MiB of zeros would be packed too small to be believed, so they are stored as they are.
	const trace::ContainerReader reader(path);
	const auto large = reader.segment(first), small = reader.segment(second);
	REQUIRE(large);
	CHECK(large->head.stored == zeros.size());
	CHECK(reader.payload(*large) == zeros);
	REQUIRE(small);
	CHECK(reader.payload(*small) == few);
	// The small one says that it unpacks to 2 GiB.
	trace::SegmentHead head = small->head;
	head.raw = trace::kMaxRaw;
	const auto bytes = std::as_bytes(std::span(&head, 1));
	head.checksum = trace::crc32c(bytes.first(offsetof(trace::SegmentHead, checksum)));
	std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
	file.seekp(static_cast<std::streamoff>(second));
	file.write(reinterpret_cast<const char*>(&head), sizeof head);
	file.close();
	CHECK_FALSE(trace::ContainerReader(path).segment(second));
}

TEST_CASE("creating a .dfr never overwrites by accident", "[trace][file]") {
	ScratchFolder folder;
	const std::string path = folder.file("a.dfr");
	write_sample(path);
	CHECK_THROWS_AS(trace::FileWriter(path, false, nullptr), Error);
	CHECK(read_whole(path).size() > 100);
	CHECK_THROWS_AS(trace::open_file("/proc/self/status/no"), Error);
	write_whole(path, {'E', 'L', 'F', '?'}, 4);
	CHECK_THROWS_AS(trace::open_file(path), Error);
}

TEST_CASE("a file of another version is refused by name", "[trace][file]") {
	const auto [version, advice] = GENERATE(std::pair{1u, "the dfr that recorded it"},
	                                        std::pair{trace::kFileVersion + 1, "a newer dfr"});
	const test::ScratchFolder folder;
	const std::string path = folder.file("other.dfr");
	std::vector<char> bytes = write_sample(path).bytes;
	std::memcpy(bytes.data() + offsetof(trace::FileHead, version), &version, sizeof(version));
	const uint32_t sum =
	    test::slow_crc32c(std::as_bytes(std::span(bytes)).first(offsetof(trace::FileHead, checksum)));
	std::memcpy(bytes.data() + offsetof(trace::FileHead, checksum), &sum, sizeof(sum));
	write_whole(path, bytes, bytes.size());
	try {
		trace::open_file(path);
		FAIL("it was opened");
	} catch (const Error& error) {
		CHECK(std::string(error.what()).find("version " + std::to_string(version)) !=
		      std::string::npos);
		CHECK(error.hint().find(advice) != std::string::npos);
	}
}

TEST_CASE("blocks that make no sense are counted, not written", "[trace][file]") {
	ScratchFolder folder;
	const trace::Catalog catalog;
	trace::FileWriter writer(folder.file("a.dfr"), true,
	                         [&]() -> const trace::Catalog& { return catalog; });
	writer.block({.bytes = std::vector<std::byte>(10), .verified = true});
	CHECK(writer.unusable() == 1);
	writer.finish();
	CHECK(count_blocks(*trace::open_file(folder.file("a.dfr"))) == 0);
}

} // namespace trace_file_test
