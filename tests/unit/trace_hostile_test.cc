// SPDX-License-Identifier: GPL-2.0
//
// Recordings that somebody made to take a reader's time, memory or stack: what they ask for is bounded by their
// size. Where a bound is of time, a test does not measure it: without the bound it does not end.
#include <catch2/catch.hpp>
#include <deque>
#include <sys/stat.h>

#include "formats/d/canon.h"
#include "formats/dof/image.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/kernel_events.h"
#include "formats/trace/names.h"
#include "formats/trace/recorded_types.h"
#include "formats/trace/schema.h"
#include "formats/trace/verify.h"
#include "tests/unit/harmed_file.h"
#include "tests/unit/peak_memory.h"
#include "tests/unit/trace_builder.h"

namespace trace_hostile_test {

using namespace dfr;
using namespace dfr::test;

namespace {

// A message of 512 KiB (dfr.capnp) whose root has so many pointers, the one at `at` to a list of `count` elements that have
// no bytes, or one each. Words by Cap'n Proto's encoding: the segments' sizes, the pointer to the root, its pointers, the
// list's tag.
std::vector<std::byte> short_elements(uint64_t pointers, uint64_t at, uint64_t count, bool one_each = false) {
	std::vector<uint64_t> words(1 << 16);
	words[0] = (words.size() - 1) << 32;
	words[1] = pointers << 48; // a struct of pointers behind this
	// A list of structs, 0 words, behind the pointers; or of bytes.
	const uint64_t kind = one_each ? count << 3 | 2 : 7;
	words[2 + at] = 1 | (pointers - 1 - at) << 2 | kind << 32;
	words[2 + pointers] = one_each ? 0 : count << 2;
	const auto bytes = std::as_bytes(std::span(words));
	return {bytes.begin(), bytes.end()};
}

// A catalog's message whose list of modules has elements without bytes.
std::vector<std::byte> empty_modules(uint64_t count) {
	return short_elements(11, 9, count);
}

// A catalog's log with one EPID, whose records have these fields.
std::vector<std::byte> log_of(const std::vector<dfr_field>& fields) {
	CatalogLog log;
	log.state("wide", 1, 4096, DFR_BUFPOLICY_RING).probe(11, "app", "m", "work", "entry");
	Bytes layout;
	layout.u32(1).u32(0).u32(0).u32(static_cast<uint32_t>(fields.size()));
	for (const dfr_field& field : fields)
		layout.put(field);
	return log.entry(DFR_CAT_LAYOUT, layout).ecb(1, 11, 1).done();
}

// Writes index and end mark behind what there is.
void end_file(trace::ContainerWriter& writer, const trace::Index& index) {
	trace::EndMark end{};
	end.index = writer.append(trace::SegmentType::kIndex, 0, trace::encode_index(index), false);
	end.size = writer.size() + trace::kEndBytes;
	writer.append(trace::SegmentType::kEnd, 0, std::as_bytes(std::span(&end, 1)), false);
	writer.close();
}

// By this process so far; 0 where the kernel does not count them.
uint64_t bytes_read() {
	std::ifstream file("/proc/self/io");
	std::string word;
	uint64_t bytes = 0;
	file >> word >> bytes; // "rchar:"
	return bytes;
}

std::string chain(size_t depth) {
	std::string text;
	for (size_t i = 0; i < depth; i++)
		text += "(&& pid ";
	return text + "tid" + std::string(depth, ')');
}

} // namespace

TEST_CASE("hostile: a list of elements without bytes is no longer than its message", "[hostile]") {
	trace::Catalog catalog;
	trace::decode_catalog(empty_modules(20'000), catalog);
	CHECK(catalog.modules.size() == 20'000);
	CHECK_THROWS_WITH(trace::decode_catalog(empty_modules(70'000), catalog),
	                  Catch::Contains("cannot be read"));
}

// Of each part less than what every catalog may take.
TEST_CASE("hostile: the parts of a catalog take no more together than one of them may", "[hostile]") {
	constexpr unsigned kParts = 300, kModules = 1000;
	std::vector<std::byte> part = empty_modules(kModules);
	part.resize(8 * (2 + 11 + 1)); // up to the list's tag
	const uint64_t words = part.size() / 8 - 1;
	std::memcpy(part.data() + 4, &words, 4);
	trace::Catalog one;
	trace::decode_catalog(part, one);
	REQUIRE(one.modules.size() == kModules);
	const ScratchFolder folder;
	const std::string path = folder.file("parts.dfr");
	{
		trace::ContainerWriter writer(path, true, trace::local_file());
		for (unsigned i = 0; i < kParts; i++)
			writer.append(trace::SegmentType::kCatalog, 0, part, false);
		writer.close();
	}
	constexpr size_t kMost = ((1 << 20) + 5 * kParts * 8 * 14) / sizeof(trace::Module);
	const auto file = trace::open_file(path);
	CHECK(file->partial());
	CHECK_THAT(file->remarks().front(), Catch::Contains("more than five times the memory"));
	CHECK(file->catalog().modules.size() > kModules);
	CHECK(file->catalog().modules.size() < kMost);
	const trace::Inspection found = trace::verify_file(path);
	CHECK_FALSE(found.sound());
	CHECK(found.catalog.modules.size() < kMost);
}

// Without its bound the catalog has 210 bytes for each 8 of such a message.
TEST_CASE("hostile: a catalog takes no more than five times the memory of its message", "[hostile]") {
	constexpr size_t kProbes = 200'000;
	std::vector<uint64_t> words(2 + 11 + 1 + kProbes);
	words[0] = (words.size() - 1) << 32;
	words[1] =
	    uint64_t{11} << 48; // as in empty_modules(); the list of probes has a word for each, their ids
	words[2 + 5] = 1 | uint64_t{5} << 2 | (uint64_t{kProbes} << 3 | 7) << 32;
	words[2 + 11] = uint64_t{kProbes} << 2 | uint64_t{1} << 32;
	for (uint64_t i = 0; i < kProbes; i++)
		words[2 + 11 + 1 + i] = i + 1;
	const auto bytes = std::as_bytes(std::span(words));
	trace::Catalog catalog;
	CHECK_THROWS_WITH(trace::decode_catalog({bytes.begin(), bytes.end()}, catalog),
	                  Catch::Contains("more than five times the memory"));
	CHECK(catalog.probes.size() > 10'000); // it is read as far as that
	CHECK(catalog.probes.size() < 60'000);
}

// dfr.capnp says what an element takes: of these lists more than twice the message's size in all.
TEST_CASE("hostile: a list's elements are in its message", "[hostile]") {
	struct List {
		const char* what;
		std::function<void(std::span<const std::byte>)> decode;
		uint64_t pointers, at;
	};
	const List lists[] = {
	    {"losses: entries", trace::decode_ledger, 5, 0},
	    {"losses: reaches", trace::decode_ledger, 5, 2},
	    {"losses: parts", trace::decode_ledger, 5, 3},
	    {"index: chunks", trace::decode_index, 2, 0},
	    {"index: others", trace::decode_index, 2, 1},
	    {"names: kernel", trace::decode_names, 6, 1},
	    {"names: files", trace::decode_names, 6, 2},
	    {"names: symbols", trace::decode_names, 6, 3},
	    {"names: mappings", trace::decode_names, 6, 4},
	    {"names: modules", trace::decode_names, 6, 5},
	    {"kernel events", trace::decode_kernel_events, 3, 1},
	    {"types: containers", trace::decode_types, 2, 0},
	    {"types: probes", trace::decode_types, 2, 1},
	    {"aggregations", trace::decode_aggregations, 1, 0},
	};
	const auto more = Catch::Contains("more elements than there is room for");
	for (const List& list : lists) {
		INFO(list.what);
		CHECK_THROWS_WITH(list.decode(short_elements(list.pointers, list.at, 500'000, true)), more);
	}
	CHECK_THROWS_WITH(trace::decode_ledger(short_elements(5, 0, 60'000)), more);
	CHECK_THROWS_WITH(trace::decode_index(short_elements(2, 0, 60'000)), more);
	// Those of an older dfr may be shorter.
	CHECK(trace::decode_index(short_elements(2, 0, 5'000)).chunks.size() == 5'000);
}

TEST_CASE("hostile: ledgers without a mark are unpacked as far as writers pack them", "[hostile]") {
	const ScratchFolder folder;
	const std::string path = folder.file("ledgers.dfr");
	const auto write = [&](const std::vector<std::byte>& last) {
		trace::ContainerWriter writer(path, true, trace::local_file());
		trace::Ledger marked;
		marked.whole_until = 77;
		writer.append(trace::SegmentType::kLosses, 0, trace::encode_ledger(marked), false);
		std::vector<std::byte> large = trace::encode_ledger({});
		large.resize(15 << 20); // zeros behind the message
		for (unsigned i = 0; i < 2; i++)
			writer.append(trace::SegmentType::kLosses, 0, large, true);
		writer.append(trace::SegmentType::kLosses, 0, last, false);
		writer.close();
		return trace::open_file(path);
	};
	const auto file = write(trace::encode_ledger({}));
	CHECK(file->facts().marked_until == 0);
	CHECK(file->partial());
	CHECK_THAT(file->remarks().front(), Catch::Contains("more than any writer packs into so few bytes"));
	trace::Ledger marked;
	marked.whole_until = 99;
	const auto sound = write(trace::encode_ledger(marked));
	CHECK(sound->facts().marked_until == 99);
	CHECK(sound->remarks().size() == 1); // that the file was not ended
}

// Of a chunk there is nothing to unpack if its blocks are empty.
TEST_CASE("hostile: a list of blocks is as long as there are blocks", "[hostile]") {
	const ScratchFolder folder;
	const std::string path = folder.file("empty.dfr");
	std::vector<trace::Block> blocks;
	for (uint64_t seq = 1; seq <= 1000; seq++) {
		dfr_block head = BlockBytes(0, seq, seq).open().header();
		head.size = head.hdr_size = sizeof head;
		head.committed = 0;
		const auto bytes = std::as_bytes(std::span(&head, 1));
		blocks.push_back({.bytes = {bytes.begin(), bytes.end()}});
	}
	{
		trace::ContainerWriter writer(path, true, trace::local_file());
		writer.append(trace::SegmentType::kChunk, 0, trace::encode_chunk(blocks, {}), false);
		for (unsigned i = 0; i < 2000; i++)
			writer.append(trace::SegmentType::kChunk, 0, trace::encode_chunk({}, {}), false);
		writer.close();
	}
	const std::vector<trace::BlockRef> refs = trace::open_file(path)->index();
	CHECK(refs.size() == 1000);
	CHECK(refs.capacity() * sizeof(dfr_block) <= std::filesystem::file_size(path));
}

TEST_CASE("hostile: a record without room for its fields asks for no memory", "[hostile]") {
	trace::Catalog catalog;
	catalog.parse(log_of(std::vector(60'000, int_field(8))));
	const trace::Block block = BlockBytes(0, 1, kStart).long_head(1, 0, kStart).open();
	trace::RecordShapes shapes(catalog);
	std::deque<trace::RecordCursor> cursors; // as a merger has them
	trace::DecodeDamage damage;
	const uint64_t peak = peak_of([&] {
		for (unsigned i = 0; i < 200; i++) {
			REQUIRE(cursors.emplace_back(shapes).open(block, damage, nullptr));
			REQUIRE_FALSE(cursors.back().next());
		}
	});
	CHECK(damage.regions == 200);
	CHECK(peak < 50 << 20); // values for all fields would be ten times as much
}

TEST_CASE("hostile: a layout of very many fields without bytes explains no record", "[hostile]") {
	const trace::Block block = BlockBytes(0, 1, kStart).long_head(1, 0, kStart).sealed();
	for (const size_t more : {0, 1}) {
		std::vector<dfr_field> fields(trace::Catalog::kBytelessMost + more,
		                              plain_field(DFR_FIELD_PROBETEXT, 1));
		fields[0] = plain_field(DFR_FIELD_BYTES, 0);
		trace::Catalog catalog, there, read;
		catalog.parse(log_of(fields));
		CHECK((catalog.layout_of(1) == nullptr) == (more != 0));
		there.add_ecb({.epid = 1, .probe = 11, .layout = 1});
		there.layouts[1] = {.id = 1, .fields = fields};
		trace::CatalogMark mark;
		trace::decode_catalog(trace::encode_catalog(there, mark), read);
		CHECK((read.layout_of(1) == nullptr) == (more != 0));
		trace::BlockDecoder decoder(catalog);
		size_t records = 0;
		decoder.decode(block, [&](const trace::Record& record) {
			CHECK(record.fields.size() == fields.size());
			CHECK(record.fields[1].text() == "m");
			return ++records;
		});
		CHECK(records == 1 - more);
		CHECK(decoder.damage().regions == more);
	}
}

// Of an index that is followed each of them would be read and kept with all that it holds.
TEST_CASE("hostile: segments in one another are not taken from an index", "[hostile]") {
	const ScratchFolder folder;
	const std::string inner = folder.file("inner.dfr"), path = folder.file("outer.dfr");
	const auto block = BlockBytes(0, 1, kStart).open();
	const std::vector<std::byte> chunk = trace::encode_chunk(std::span(&block, 1), {});
	{
		trace::ContainerWriter writer(inner, true, trace::local_file());
		writer.append(trace::SegmentType::kChunk, 0, chunk, false);
		writer.close();
	}
	// The outer one's payload is a segment.
	std::vector<std::byte> payload(std::filesystem::file_size(inner) - sizeof(trace::FileHead));
	REQUIRE(trace::ContainerReader(inner).read(sizeof(trace::FileHead), payload) == payload.size());
	for (const bool in_one_another : {true, false}) {
		trace::Index index;
		{
			trace::ContainerWriter writer(path, true, trace::local_file());
			const uint64_t at =
			    writer.append(trace::SegmentType::kAggregations, 0, payload, false);
			const uint64_t behind = writer.append(trace::SegmentType::kChunk, 0, chunk, false);
			index.others.push_back({.offset = at});
			index.chunks.push_back({.offset = behind});
			if (in_one_another)
				index.chunks.push_back({.offset = at + sizeof(trace::SegmentHead)});
			end_file(writer, index);
		}
		const auto file = trace::open_file(path);
		CHECK(file->facts().finished == !in_one_another);
		CHECK(file->partial() == in_one_another);
		CHECK(file->facts().chunks == 1);
	}
}

TEST_CASE("hostile: a chunk is not unpacked for each of its blocks", "[hostile]") {
	const ScratchFolder folder;
	const std::string path = folder.file("turns.dfr");
	constexpr uint64_t kChunks = 5, kBlocks = 400;
	// Their blocks come in turns; or one chunk alone, of which only the headers are sound.
	for (const bool damaged : {false, true}) {
		{
			trace::ContainerWriter writer(path, true, trace::local_file());
			for (uint64_t chunk = 0; chunk < (damaged ? 1 : kChunks); chunk++) {
				std::vector<trace::Block> blocks;
				for (uint64_t i = 0; i < kBlocks; i++)
					blocks.push_back(
					    BlockBytes(0, 1 + chunk + i * kChunks, kStart).open());
				std::vector<std::byte> payload = trace::encode_chunk(blocks, {});
				if (damaged)
					payload[sizeof(trace::ChunkHead) + kBlocks * sizeof(dfr_block)] ^=
					    std::byte{1};
				writer.append(trace::SegmentType::kChunk, 0, payload, false);
			}
			writer.close();
		}
		const auto file = trace::open_file(path);
		std::vector<trace::BlockRef> refs = file->index();
		REQUIRE(refs.size() == (damaged ? 1 : kChunks) * kBlocks);
		std::sort(refs.begin(), refs.end(), [](const trace::BlockRef& a, const trace::BlockRef& b) {
			return a.head.seq < b.head.seq;
		});
		const uint64_t before = bytes_read();
		for (const trace::BlockRef& ref : refs) {
			const std::optional<trace::Block> block = file->load(ref);
			REQUIRE(block.has_value() == !damaged);
			if (block)
				REQUIRE(block->header().seq == ref.head.seq);
		}
		CHECK(bytes_read() - before < 6 * std::filesystem::file_size(path) + 4096);
		// Who begins anew has each block again.
		for (const trace::BlockRef& ref : file->index())
			REQUIRE(file->load(ref).has_value() == !damaged);
	}
}

TEST_CASE("hostile: a pipe by a recording's name is waited for by nobody", "[hostile]") {
	const ScratchFolder folder;
	const std::string path = folder.file("pipe.dfr");
	REQUIRE(mkfifo(path.c_str(), 0600) == 0);
	CHECK_THROWS_WITH(trace::open_file(path), Catch::Contains("it is not a regular file"));
}

TEST_CASE("a catalog of a hundred thousand of everything is not crafted", "[hostile]") {
	trace::Catalog there, read;
	for (uint32_t i = 1; i <= 100'000; i++) {
		there.probes[i] = {
		    .id = i, .nargs = {}, .provider = "a", .module = "", .function = "f", .name = "e"};
		there.layouts[i] = {.id = i, .dof = 0, .clause = i, .fields = {}};
		if (i % 2)
			there.layouts[i].fields = {int_field(8)};
		there.add_ecb({.epid = i, .probe = i, .layout = i});
		there.aggregations[i] = {.varid = i, .kind = 0, .flags = 0, .arg = 0, .keys = {}};
		there.modules.push_back({.name = "m"});
		there.events.push_back({.event = 1, .value = 1, .time = i, .error = 0, .text = {}});
		there.clocks.push_back({.mono = i});
		there.dofs.emplace_back();
		there.sources.emplace_back();
		there.machine[std::to_string(i)] = "v";
	}
	trace::CatalogMark mark;
	trace::decode_catalog(trace::encode_catalog(there, mark), read);
	CHECK(read.probes.size() == 100'000);
	CHECK(read.events.size() == 100'000);
}

TEST_CASE("hostile: clock entries from the last to the first", "[hostile]") {
	trace::Catalog there, read;
	for (uint64_t i = 0; i < 3'000'000; i++)
		there.clocks.push_back({.mono = 3'000'000 - i, .real = i, .boot = 0});
	trace::CatalogMark mark;
	trace::decode_catalog(trace::encode_catalog(there, mark), read);
	REQUIRE(read.clocks.size() == 3'000'000);
	CHECK(std::is_sorted(read.clocks.begin(), read.clocks.end(),
	                     [](const trace::Clock& a, const trace::Clock& b) { return a.mono < b.mono; }));
	// What comes later of the same time stands behind what was there.
	read.add_clocks({{.mono = 5, .real = 7, .boot = 0}});
	CHECK(read.clocks[4].real != 7);
	CHECK(read.clocks[5].real == 7);
}

// Each of the small parts would move all that the large one has.
TEST_CASE("hostile: what one part of a catalog has is not walked again for each other", "[hostile]") {
	const auto part = [](const trace::Catalog& of) {
		trace::CatalogMark mark;
		return trace::encode_catalog(of, mark);
	};
	trace::Catalog large, small, read;
	for (uint32_t i = 1; i <= 2'000'000; i++)
		large.clocks.push_back({.mono = i, .real = i, .boot = 0});
	for (uint32_t i = 1; i <= 1000; i++)
		large.add_ecb({.epid = i, .probe = i, .layout = i});
	small.clocks.push_back({.mono = 0, .real = 7, .boot = 0});
	small.add_ecb({.epid = 2000, .probe = 1, .layout = 1});
	trace::CatalogReader reader(read);
	reader.part(part(large));
	CHECK(reader.epids().size() == 1000);
	const std::vector<std::byte> more = part(small);
	for (unsigned i = 0; i < 20'000; i++)
		reader.part(more);
	CHECK(reader.epids() == std::vector<uint32_t>{2000});
	reader.end();
	REQUIRE(read.clocks.size() == 2'020'000);
	CHECK(read.clocks[19'999].real == 7);
	CHECK(read.clocks[20'000].mono == 1);
	CHECK(read.known_ecbs == 1001);
}

TEST_CASE("hostile: losses of very many probes are counted, and in bounded lists", "[hostile]") {
	trace::Losses losses;
	constexpr uint32_t kProbes = 2'000'000;
	for (uint32_t probe = kProbes; probe > 0; probe--)
		losses.add(
		    {.cause = probe % 2, .probe = probe, .cpu = 1, .count = 3, .from = probe, .to = probe});
	CHECK(losses.total() == 3ull * kProbes);
	CHECK(losses.entries.size() <= trace::Losses::kEntriesMost + 2);
	CHECK(losses.entries.front().probe == 0);
	CHECK(losses.entries.front().from == 2); // all times are in it
}

TEST_CASE("hostile: very many losses on very many CPUs are not held each against each", "[hostile]") {
	constexpr uint32_t kCpus = 65'536, kEach = 8;
	ListSource source;
	trace::Merger::Account account;
	account.cpus.resize(kCpus);
	for (uint32_t i = 0; i < kEach * kCpus; i++) {
		const auto cpu = static_cast<int32_t>(i % kCpus);
		// Of all CPUs, and of each: one before the window, and one that is missing because it was overwritten.
		source.lost.entries.push_back(
		    {.cause = DFR_LOSS_PRINCIPAL, .probe = i, .cpu = i % 2 ? -1 : cpu, .count = 1});
		account.losses.entries.push_back(
		    {.cause = DFR_LOSS_OVERWRITTEN, .probe = i, .cpu = cpu, .count = 1});
	}
	for (trace::Merger::CpuSpan& span : account.cpus) {
		span.lost_outside = 1;
		span.missing = kEach;
	}
	CHECK(account.losses.by_cpu(DFR_LOSS_OVERWRITTEN).size() == kCpus);
	CHECK(account.losses.by_cpu(DFR_LOSS_OVERWRITTEN)[7] == kEach);
	CHECK(account.losses.by_cpu(DFR_LOSS_PRINCIPAL).empty());
	const trace::Verdict verdict = trace::judge(source, trace::Merger(source, account));
	CHECK(verdict.lost == kEach * kCpus + (kEach - 1) * kCpus);
	CHECK(verdict.reasons.size() == 2);
}

TEST_CASE("hostile: stretches of thinning from the last to the first stay in a bounded list",
          "[hostile][thin]") {
	trace::Losses losses;
	constexpr uint64_t kStretches = 200'000;
	for (uint64_t i = kStretches; i > 0; i--)
		losses.add(trace::Losses::Stretch{
		    .cpu = static_cast<int32_t>(1 + i / 65'000), // those of CPUs 2 and 1 come when it is full
		    .priority = DFR_PRIORITY_LOW,
		    .from = 2 * i,
		    .to = 2 * i + 1,
		    .left_out = 1});
	CHECK(losses.stretches.size() <= trace::Losses::kEntriesMost + 1);
	const trace::Losses::Stretch& front = losses.stretches.front();
	CHECK(front.cpu == -1); // not known
	CHECK(front.from == 2);
	uint64_t left_out = 0;
	for (const auto& stretch : losses.stretches)
		left_out += stretch.left_out;
	CHECK(left_out == kStretches);
}

TEST_CASE("hostile: the texts of very many clauses are not held each against each", "[hostile]") {
	constexpr uint32_t kClauses = 150'000;
	trace::Catalog catalog;
	for (uint32_t i = 0; i < 2 * kClauses; i++) { // two clauses have the same text
		const uint32_t probe = 10 + i % kClauses;
		catalog.probes[probe] = {.id = probe,
		                         .nargs = {},
		                         .provider = "a",
		                         .module = "m",
		                         .function = std::to_string(probe),
		                         .name = "e"};
		catalog.layouts[i] = {.id = i, .dof = 0, .clause = i, .fields = {}};
		catalog.add_ecb({.epid = i + 1, .probe = probe, .layout = i, .priority = DFR_PRIORITY_LOW});
	}
	CHECK(trace::clauses_of(catalog, DFR_PRIORITY_LOW) ==
	      "a:m:10:e, a:m:11:e, a:m:12:e, a:m:13:e, a:m:14:e, a:m:15:e and 149994 more");
}

TEST_CASE("hostile: of very much damage the first hundred places are named", "[hostile]") {
	const ScratchFolder folder;
	const std::string path = folder.file("damaged.dfr");
	{
		trace::ContainerWriter writer(path, true, trace::local_file());
		for (unsigned i = 0; i < 2000; i++)
			writer.append(trace::SegmentType::kLosses, 0, std::vector<std::byte>(8), false);
		writer.close();
	}
	const auto file = trace::open_file(path);
	CHECK(file->partial());
	const std::vector<std::string> remarks = file->remarks();
	CHECK(remarks.size() == 102);
	CHECK_THAT(remarks[100], Catch::Contains("there is more damage"));
	CHECK(remarks[101] == file->facts().cut); // the file was not ended
	CHECK(trace::verify_file(path).findings.size() + trace::verify_file(path).more > 2000);
}

TEST_CASE("hostile: conditions that are very deep end no reader", "[hostile]") {
	CHECK(d::readable(chain(3)) == "pid && pid && pid && tid");
	CHECK(d::readable(chain(1'000'000)).size() < 100'000);
	App app;
	const d::Compiled program = compiled("app::work:entry /pid == 7/ { capture(arg0); }", app);
	load(app, program.image);
	app.fire(app.entry, kStart, 0, 70, "one", 1, 2);
	finish(app);
	Kept kept(app);
	dof::Image image = program.image;
	for (dof::Body& body : image.bodies)
		body.condition = chain(1'000'000);
	const auto dof = dof::write(image);
	const auto bytes = std::as_bytes(std::span(dof));
	kept.identity().dofs = {{bytes.begin(), bytes.end()}};
	replay::Answer answer;
	CHECK(replay_says(kept, "app::work:entry /pid == 7/ { trace(arg0); }", &answer).find('1') !=
	      std::string::npos);
	REQUIRE_FALSE(answer.verdict.complete);
	CHECK(answer.verdict.reasons.front().find("was recorded only where") != std::string::npos);
}

} // namespace trace_hostile_test
