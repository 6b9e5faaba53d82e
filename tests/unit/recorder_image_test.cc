// SPDX-License-Identifier: GPL-2.0
//
// The memory-image harvester on images built page by page: several files of the
// same memory, scattered frames, damage, stray copies, other boots. More than 800
// lines, because most of it damages the one sample of a memory that is built here.
#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <tuple>
#include <unistd.h>

#include "formats/abi/dof.h"
#include "formats/abi/reserved.h"
#include "formats/abi/spec.h"
#include "formats/abi/tally.h"
#include "formats/error.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "recorder/anchors.h"
#include "recorder/dead_kernel.h"
#include "recorder/found_states.h"
#include "recorder/image_budget.h"
#include "recorder/memory_image.h"
#include "recorder/physical_memory.h"
#include "recorder/ring_blocks.h"
#include "tests/unit/image_builder.h"
#include "tests/unit/peak_memory.h"

namespace recorder_image_test {

using namespace dfr;
using test::BlockBytes;
using test::Bytes;
using test::CatalogLog;
using test::Memory;
using test::peak_of;

namespace {

class ImageFile {
public:
	explicit ImageFile(const std::vector<std::byte>& bytes) {
		char name[] = "/tmp/dfr-image-XXXXXX";
		const int fd = mkstemp(name);
		REQUIRE(fd >= 0);
		close(fd);
		path = name;
		std::ofstream out(path, std::ios::binary);
		out.write(reinterpret_cast<const char*>(bytes.data()),
		          static_cast<std::streamsize>(bytes.size()));
	}
	~ImageFile() { unlink(path.c_str()); }
	ImageFile(const ImageFile&) = delete;
	ImageFile& operator=(const ImageFile&) = delete;
	std::string path;
};

constexpr uint32_t kFresh = DFR_BLOCK_FRESH;

CatalogLog sample_log(uint64_t state_id = 7, uint8_t boot = 0xb0, uint32_t policy = DFR_BUFPOLICY_RING) {
	CatalogLog log(state_id, boot);
	log.state("anonymous", 2, 8192, policy, state_id);
	log.clock(1'000, boot); // the later boot has the later clock
	log.probe(1, "syscall", "vmlinux", "write", "entry", 3);
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1).dof(0, "program");
	// Larger than a page, so that the log needs two.
	log.entry(DFR_CAT_MACHINE, Bytes().text("cmdline=" + std::string(5000, 'x') + "\n"));
	return log;
}

// A block of `size` with one record that has `value`, as it lies in memory.
trace::Block one_record(uint16_t cpu, uint64_t seq, uint8_t value, uint32_t size, bool sealed = true) {
	BlockBytes block(cpu, seq, 1000 * seq, size);
	block.long_head(0, 0, 1000 * seq).context(1, 1, 1, "sh");
	block.short_head(1, 0, 0).u8(0).u8(value);
	block.counters(0, seq - 1).opened(seq > 1 ? 1000 * (seq - 1) : 0, 1000 * seq);
	return sealed ? block.sealed(true) : block.open(true);
}

// The header of the first block of a page's size, in which nothing is.
dfr_block empty_head(uint64_t state_id) {
	dfr_block head{};
	head.magic = DFR_BLOCK_MAGIC;
	head.version = DFR_BLOCK_VERSION;
	head.size = 4096;
	head.seq = 1;
	head.hdr_size = DFR_BLOCK_HDR_SIZE(4096);
	head.state_id = state_id;
	return head;
}

std::vector<std::byte> agg_table(uint32_t cpu, uint32_t half, uint64_t generation, uint64_t count) {
	Bytes table;
	table.u32(DFR_AGGTAB_MAGIC)
	    .u32(1)
	    .u64(7)
	    .u32(cpu)
	    .u32(half)
	    .u64(generation)
	    .u64(4096)
	    .u64(0)
	    .u32(2)
	    .u32(1);
	table.u64(0).u32(0).u32(0); // drops, buckets
	table.u32(0).u32(0).u32(1).u16(DFR_ACT_COUNT).u16(1).u32(8).u32(0).u64(5).u64(count);
	table.patch<uint64_t>(40, table.bytes.size());
	return table.bytes;
}

// The counters' page of a CPU that has lost nothing.
dfr_tally no_losses(uint32_t cpu, uint64_t state_id = 7) {
	dfr_tally tally{.magic = DFR_TALLY_MAGIC, .cpu = cpu, .state_id = state_id, .loss = {}};
	for (uint32_t cause = 0; cause < DFR_TALLY_CAUSES; cause++)
		(cause < DFR_LOSS_MAX ? tally.loss[cause] : tally.unused[cause - DFR_LOSS_MAX]) =
		    DFR_TALLY_MARK;
	for (dfr_tally_thinned& thinned : tally.thinned)
		thinned.now.detached = thinned.over.detached = DFR_TALLY_MARK;
	return tally;
}

// Two CPUs. CPU 0: blocks of two scattered pages, seq 4, 5 and 6 (open); CPU 1: one block, seq 1,
// and one never used. What anchors list stands `far` behind them. An aggregation: base at generation 3 (10), halves at 4 (2), 3 (100: merged
// already) and 4 (5).
Memory sample_memory(uint64_t far = 0) {
	Memory memory;
	memory.put({far + 100, far + 90}, sample_log().done());
	memory.anchor(
	    {.pfn = 50, .kind = DFR_ANCHOR_CATALOG, .generation = 1, .unit = 4096, .frames = {far + 100}});
	memory.anchor({.pfn = 51,
	               .kind = DFR_ANCHOR_CATALOG,
	               .part = 1,
	               .generation = 2,
	               .unit = 4096,
	               .frames = {far + 90}});
	memory.put({far + 200, far + 203}, one_record(0, 5, 55, 8192).bytes);
	memory.put({far + 201, far + 210}, one_record(0, 4, 44, 8192).bytes);
	memory.put({far + 220, far + 221}, one_record(0, 6, 66, 8192, false).bytes);
	memory.anchor({.pfn = 52,
	               .kind = DFR_ANCHOR_RING,
	               .generation = 3,
	               .unit = 8192,
	               .frames = {far + 200, far + 203, far + 201, far + 210, far + 220, far + 221}});
	memory.put({far + 300, far + 301}, one_record(1, 1, 11, 8192).bytes);
	const auto fresh = std::as_bytes(std::span(&kFresh, 1));
	memory.put({far + 302}, fresh);
	memory.page(far + 303);
	memory.anchor({.pfn = 53,
	               .kind = DFR_ANCHOR_RING,
	               .cpu = 1,
	               .generation = 4,
	               .unit = 8192,
	               .frames = {far + 300, far + 301, far + 302, far + 303}});
	const struct {
		uint64_t pfn, at;
		uint32_t cpu, half;
		uint64_t generation, count;
	} tables[] = {{60, 400, DFR_AGGTAB_BASE_CPU, 0, 3, 10},
	              {61, 401, 0, 0, 4, 2},
	              {62, 402, 0, 1, 3, 100},
	              {63, 403, 1, 1, 4, 5}};
	for (const auto& table : tables) {
		memory.put({far + table.at}, agg_table(table.cpu, table.half, table.generation, table.count));
		memory.anchor({.pfn = table.pfn,
		               .kind = DFR_ANCHOR_AGG,
		               .cpu = table.cpu,
		               .half = table.half,
		               .unit = 4096,
		               .frames = {far + table.at}});
	}
	memory.panic(70, 9'999, "bash", "sysrq triggered crash");
	return memory;
}

// Eight blocks of two pages, as they are made for a CPU's first consumer: the ring has no more than that itself.
void put_spares(Memory& memory, uint32_t cpu, uint32_t part) {
	Memory::Anchor anchor{.pfn = 56, .kind = DFR_ANCHOR_RING, .cpu = cpu, .part = part, .unit = 8192};
	for (uint64_t pfn = 320; pfn < 336; pfn++) {
		memory.page(pfn);
		if (pfn % 2 == 0)
			memory.put({pfn}, std::as_bytes(std::span(&kFresh, 1)));
		anchor.frames.push_back(pfn);
	}
	memory.anchor(anchor);
}

std::vector<uint64_t> values_of(trace::BlockSource& source, trace::Verdict* verdict = nullptr) {
	trace::Merger merger(source);
	std::vector<uint64_t> values;
	merger.run([&](const trace::Record& record) {
		values.push_back(record.fields[0].number);
		return true;
	});
	if (verdict)
		*verdict = trace::judge(source, merger);
	return values;
}

bool mentions(const std::vector<std::string>& remarks, const std::string& text) {
	for (const std::string& remark : remarks)
		if (remark.find(text) != std::string::npos)
			return true;
	return false;
}

void check_sample(const std::vector<std::byte>& file) {
	const ImageFile image(file);
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 1);
	recorder::ImageSource& source = *found[0];
	CHECK(source.catalog().state_name == "anonymous");
	CHECK(source.catalog().machine.at("cmdline").size() == 5000);
	CHECK(source.boot() == "b0b1b2b3-b4b5-b6b7-b8b9-babbbcbdbebf");
	REQUIRE(source.panic());
	CHECK(source.panic()->reason == "sysrq triggered crash");
	CHECK(source.panic()->comm == "bash");
	CHECK(source.panic()->tid == 4242);
	CHECK(source.catalog().events.back().event == DFR_EVENT_PANIC);
	CHECK(source.blocks() == 4);
	trace::Verdict verdict;
	CHECK(values_of(source, &verdict) == std::vector<uint64_t>{11, 44, 55, 66});
	CHECK(verdict.complete);
	CHECK(verdict.windowed); // CPU 0 starts at block 4
	CHECK(verdict.to == 9'999);
	CHECK(!source.in_flight());
	CHECK(!source.held());
	CHECK(mentions(source.remarks(), "1 open block"));
	CHECK(!source.partial());
	const auto aggregations = source.aggregations();
	REQUIRE(aggregations.size() == 1);
	CHECK(aggregations[0].words == std::vector<uint64_t>{17}); // 10 + 2 + 5
	std::vector<std::pair<uint64_t, bool>> blocks;
	while (const auto block = source.next())
		blocks.emplace_back(block->header().seq, block->verified);
	CHECK(blocks == std::vector<std::pair<uint64_t, bool>>{{4, true}, {5, true}, {6, false}, {1, true}});
}

} // namespace

TEST_CASE("an ELF core gives everything that was committed", "[recorder][image]") {
	check_sample(sample_memory().elf());
}

TEST_CASE("a raw image gives the same", "[recorder][image]") {
	check_sample(sample_memory().raw());
}

TEST_CASE("a raw image that starts elsewhere finds its displacement", "[recorder][image]") {
	check_sample(sample_memory().raw(37));
}

// As of a machine of several GiB: what is behind the hole below 4 GiB stands in the file where the hole begins.
TEST_CASE("a raw image that leaves a hole out is read on both sides of it", "[recorder][image]") {
	constexpr uint64_t kHole = 1000;
	Memory memory = sample_memory(kHole);
	memory.panic(70, 9'999, "bash", "sysrq triggered crash", 0xb0,
	             {.pfn = kHole + 500, .texts = {"ip=1", "", ""}});
	dfr_tally counters = no_losses(0, 7);
	memory.put({kHole + 510}, std::as_bytes(std::span(&counters, 1)));
	memory.anchor({.pfn = 78, .kind = DFR_ANCHOR_TALLY, .unit = 4096, .frames = {kHole + 510}});
	// The other page of some anchors.
	for (const uint64_t pfn : {kHole + 520, kHole + 521})
		memory.anchor({.pfn = pfn,
		               .kind = DFR_ANCHOR_AGG,
		               .cpu = 1,
		               .half = 1,
		               .unit = 4096,
		               .frames = {kHole + 403}});
	Memory file;
	for (const auto& [pfn, page] : memory.pages)
		file.pages[pfn < kHole ? pfn : pfn - kHole] = page;
	check_sample(file.raw());
	const ImageFile image(file.raw());
	const auto found = recorder::open_memory_image(image.path);
	CHECK(found[0]->panic()->registers == "ip=1");
	for (const std::string& remark : found[0]->remarks())
		CHECK_THAT(remark, !Catch::Contains("anchor") && !Catch::Contains("catalog"));
}

TEST_CASE("blocks smaller than a page share it", "[recorder][image]") {
	Memory memory;
	memory.put({100, 90}, sample_log().done());
	memory.anchor({.pfn = 50, .kind = DFR_ANCHOR_CATALOG, .unit = 8192, .frames = {100, 90}});
	std::vector<std::byte> page;
	for (uint8_t seq = 1; seq <= 5; seq++) {
		const trace::Block block = one_record(0, seq, seq, 512);
		page.insert(page.end(), block.bytes.begin(), block.bytes.end());
	}
	memory.put({200}, page);
	memory.anchor({.pfn = 51, .kind = DFR_ANCHOR_RING, .unit = 512, .frames = {200}});
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 1);
	CHECK(values_of(*found[0]) == std::vector<uint64_t>{1, 2, 3, 4, 5});
	CHECK(!found[0]->panic());
}

TEST_CASE("stray copies and damaged anchors are not believed", "[recorder][image]") {
	Memory memory = sample_memory();
	// A copy of CPU 0's anchor in the page cache.
	memory.anchor({.pfn = 52,
	               .kind = DFR_ANCHOR_RING,
	               .generation = 3,
	               .unit = 8192,
	               .frames = {1, 2},
	               .stands_at = 600});
	memory.anchor(
	    {.pfn = 602, .kind = DFR_ANCHOR_RING, .cpu = 7, .generation = 9, .unit = 8192, .frames = {5, 6}});
	memory.page(602)[2000] ^= std::byte{1};
	check_sample(memory.elf());
	check_sample(memory.raw());
}

// As in a compressed dump whose map has lost a bit: what comes behind it stands a page further on. One alone is a copy.
TEST_CASE("anchors in a displaced part of a dump are missed by name", "[recorder][image]") {
	const auto displaced = [](uint8_t boot, uint64_t count) {
		Memory memory = sample_memory();
		memory.pages.erase(53);
		for (uint64_t i = 0; i < count; i++)
			memory.anchor({.pfn = 53 + 10 * i,
			               .kind = DFR_ANCHOR_RING,
			               .cpu = static_cast<uint32_t>(1 + i),
			               .unit = 8192,
			               .frames = {300, 301, 302, 303},
			               .boot = boot,
			               .stands_at = 54 + 10 * i});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		REQUIRE(found.size() == 1);
		CHECK(mentions(found[0]->remarks(), "2 anchors of its boot at another address") ==
		      found[0]->partial());
		return found[0]->partial();
	};
	CHECK(displaced(0xb0, 2));
	CHECK_FALSE(displaced(0xb0, 1));
	CHECK_FALSE(displaced(0x10, 2)); // of a dump that was read, perhaps
}

TEST_CASE("of two anchors that list different memory for one thing the later counts, and that is told",
          "[recorder][image]") {
	for (const uint64_t generation : {1, 9}) {
		Memory memory = sample_memory();
		memory.anchor({.pfn = 601,
		               .kind = DFR_ANCHOR_RING,
		               .cpu = 1,
		               .generation = generation,
		               .unit = 8192,
		               .frames = {3, 4}});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		REQUIRE(found.size() == 1);
		CHECK(found[0]->blocks() == (generation == 1 ? 4 : 3));
		CHECK(found[0]->partial());
		CHECK(
		    mentions(found[0]->remarks(), "two anchors of the ring of CPU 1 list different memory"));
	}
}

// Any process may read the boot's id and forge the rest, but for the load's number.
TEST_CASE("anchors that a process forged take nothing from a recording, and are told", "[recorder][image]") {
	constexpr uint64_t kForged = 5;
	Memory memory = sample_memory();
	memory.anchor({.pfn = 601,
	               .kind = DFR_ANCHOR_RING,
	               .cpu = 1,
	               .generation = 9,
	               .unit = 8192,
	               .frames = {3, 4},
	               .load = kForged});
	memory.panic(602, 1, "sh", "all is well", 0xb0, {.generation = UINT64_MAX, .load = kForged});
	for (uint32_t cpu = 2; cpu < 4; cpu++) // which stand elsewhere than they say
		memory.anchor({.pfn = 610 + 10 * cpu,
		               .kind = DFR_ANCHOR_RING,
		               .cpu = cpu,
		               .unit = 8192,
		               .frames = {3, 4},
		               .stands_at = 611 + 10 * cpu,
		               .load = kForged + 1});
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 2);
	const auto genuine = std::ranges::find_if(found, [](const auto& one) { return one->blocks() == 4; });
	REQUIRE(genuine != found.end());
	CHECK(values_of(**genuine) == std::vector<uint64_t>{11, 44, 55, 66});
	REQUIRE((*genuine)->panic());
	CHECK((*genuine)->panic()->reason == "sysrq triggered crash");
	CHECK_FALSE(mentions((*genuine)->remarks(), "list different memory"));
	CHECK_FALSE(mentions((*genuine)->remarks(), "another address"));
	for (const auto& one : found) {
		CHECK(one->partial());
		CHECK(mentions(one->remarks(), "1 other load of dfr in its boot"));
	}
}

TEST_CASE("blocks of a state that several loads claim go to none of these", "[recorder][image]") {
	constexpr uint64_t kState = 0xb3b2b1b0ull << 32 | 7; // with the boot's tag
	const dfr_block head = empty_head(kState);
	const auto loose = [&](const std::vector<Memory::Anchor>& anchors) {
		Memory memory;
		memory.put({10'000}, std::as_bytes(std::span(&head, 1)));
		for (const Memory::Anchor& anchor : anchors)
			memory.anchor(anchor);
		const ImageFile image(memory.elf());
		recorder::PhysicalMemory physical(image.path);
		recorder::AnchorScan scan = recorder::scan_anchors(physical);
		std::vector<std::pair<uint64_t, size_t>>
		    result; // by recording: of how many anchors, and blocks
		for (const recorder::FoundState& found : recorder::find_states(physical, scan, {}))
			result.emplace_back(found.group.anchors.size(), found.loose.size());
		return result;
	};
	using Found = std::vector<std::pair<uint64_t, size_t>>;
	const Memory::Anchor one{.pfn = 1, .kind = DFR_ANCHOR_CATALOG, .state_id = kState, .frames = {2}};
	Memory::Anchor forged = one;
	forged.pfn = 3;
	forged.load++;
	CHECK(loose({one}) == Found{{1, 1}});
	CHECK(loose({one, forged}) == Found{{1, 0}, {1, 0}, {0, 1}});
	forged.boot = 0x10; // whose tag is another one
	CHECK(loose({one, forged}) == Found{{1, 0}, {1, 1}});
}

TEST_CASE("recordings of other boots and states stand apart, the last boot first", "[recorder][image]") {
	Memory memory = sample_memory();
	memory.put({500, 501}, sample_log(7, 0x10).done());
	memory.anchor(
	    {.pfn = 502, .kind = DFR_ANCHOR_CATALOG, .unit = 8192, .frames = {500, 501}, .boot = 0x10});
	memory.put({510, 511}, sample_log(8).done());
	memory.anchor(
	    {.pfn = 512, .kind = DFR_ANCHOR_CATALOG, .state_id = 8, .unit = 8192, .frames = {510, 511}});
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 3);
	CHECK(found[0]->blocks() == 4);
	CHECK(found[1]->catalog().state_id == 8);
	CHECK(found[1]->panic());
	CHECK(found[2]->boot().substr(0, 8) == "10111213");
	CHECK(!found[2]->panic());
	CHECK(found[2]->blocks() == 0);
}

// Any process may fill its memory with them.
TEST_CASE("pages that look like blocks of many states make so many recordings and no more",
          "[recorder][image]") {
	Memory memory = sample_memory();
	dfr_block head = empty_head(0);
	uint64_t pfn = 10'000;
	for (uint64_t state = 100; state < 200; state++)
		for (head.seq = 1; head.seq <= (state == 199 ? 3 : 1); head.seq++) {
			head.state_id = state;
			memory.put({pfn++}, std::as_bytes(std::span(&head, 1)));
		}
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 65);
	CHECK(found[0]->blocks() == 4);
	CHECK_THAT(found[0]->remarks().back(),
	           Catch::Contains("blocks of 36 more states without anchors are in the image"));
	// The one of which there is most.
	CHECK(std::ranges::count_if(found, [](const auto& one) { return one->catalog().state_id == 199; }) ==
	      1);
}

// A process that fills its memory with pages that look like ours takes no memory from who harvests, perhaps in a crash
// kernel that has little: a tenth of theirs at most.
TEST_CASE("pages of a process that look like ours take a harvest little memory", "[recorder][image]") {
	constexpr uint64_t kPages = 8000;
	const auto peak = [](const std::function<void(Memory&, uint64_t)>& put) {
		Memory memory = sample_memory();
		for (uint64_t i = 0; i < kPages; i++)
			put(memory, 10'000 + i);
		const ImageFile image(memory.elf());
		memory.pages.clear();
		return peak_of([&] { CHECK(recorder::open_memory_image(image.path)[0]->blocks() == 4); });
	};
	Memory forged; // sound but for its place
	forged.anchor({.pfn = 1,
	               .kind = DFR_ANCHOR_RING,
	               .unit = 4096,
	               .frames = std::vector<uint64_t>(DFR_ANCHOR_RUNS_MAX, 5)});
	dfr_block head = empty_head(0);
	const uint64_t without = peak([](Memory& memory, uint64_t pfn) { memory.page(pfn); });
	const uint64_t anchors =
	    peak([&](Memory& memory, uint64_t pfn) { memory.put({pfn}, forged.page(1)); });
	const uint64_t blocks = peak([&](Memory& memory, uint64_t pfn) {
		head.state_id = pfn;
		memory.put({pfn}, std::as_bytes(std::span(&head, 1)));
	});
	CHECK(anchors < without + kPages * recorder::kPage / 10);
	CHECK(blocks < without + kPages * recorder::kPage / 10);
}

TEST_CASE("of pages that begin like VMCOREINFO no more are kept than are believed", "[recorder][image]") {
	Memory memory;
	for (uint64_t pfn = 1; pfn <= 1500; pfn++)
		memory.put({pfn}, std::as_bytes(std::span("OSRELEASE=5")));
	const ImageFile image(memory.elf());
	recorder::PhysicalMemory file(image.path);
	const recorder::AnchorScan scan = recorder::scan_anchors(file);
	CHECK(scan.vmcoreinfo.size() == recorder::kVmcoreinfoMost + 1);
	CHECK(scan.displacements == std::vector<int64_t>{0}); // also without anchors: the file has addresses
}

TEST_CASE("segments that name a file's bytes again and again are refused", "[recorder][image]") {
	constexpr size_t kSegments = 1000;
	Elf64_Ehdr head{};
	std::memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_type = ET_CORE;
	head.e_phoff = sizeof(head);
	head.e_phentsize = sizeof(Elf64_Phdr);
	head.e_phnum = kSegments;
	Bytes file;
	file.put(head);
	for (uint64_t i = 0; i < kSegments; i++) {
		Elf64_Phdr segment{};
		segment.p_type = PT_LOAD;
		segment.p_paddr = i << 20;
		segment.p_filesz = segment.p_memsz = 1 << 20;
		file.put(segment);
	}
	file.bytes.resize(1 << 20);
	const ImageFile image(file.bytes);
	CHECK_THROWS_WITH(recorder::PhysicalMemory(image.path),
	                  Catch::Contains("its segments name more bytes than the file has"));
}

TEST_CASE("many recordings of one memory are read as far as the image is large", "[recorder][image]") {
	Memory memory = sample_memory();
	std::vector<uint64_t> frames(200); // that hold no catalog, of all of them
	for (size_t i = 0; i < frames.size(); i++)
		memory.page(frames[i] = 5000 + i);
	for (uint64_t i = 0; i < 400; i++)
		memory.anchor({.pfn = 6000 + i,
		               .kind = DFR_ANCHOR_CATALOG,
		               .state_id = 1000 + i,
		               .unit = 4096,
		               .frames = frames});
	const ImageFile image(memory.elf());
	const uint64_t bytes = memory.pages.size() * recorder::kPage;
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 256);
	CHECK(mentions(found[0]->remarks(), "145 more recordings with fewer anchors"));
	const auto refused = std::ranges::count_if(found, [](const auto& one) {
		return mentions(one->remarks(), "a copy of its catalog is not read");
	});
	CHECK(refused >=
	      255 - static_cast<long>((4 * bytes + (8 << 20)) / (frames.size() * recorder::kPage)));
	CHECK(refused < 255);
	// The genuine one has the most anchors.
	CHECK(std::ranges::any_of(found, [](const auto& one) {
		return one->blocks() == 4 && !mentions(one->remarks(), "is not read");
	}));
}

TEST_CASE("anchors that list frames without end are left out by name", "[recorder][image]") {
	Memory memory = sample_memory();
	constexpr uint64_t kAnchors = 400, kRuns = 4;
	for (uint64_t i = 0; i < kAnchors; i++)
		memory.anchor({.pfn = 6000 + i,
		               .kind = DFR_ANCHOR_RING,
		               .cpu = static_cast<uint32_t>(100 + i),
		               .unit = 4096,
		               .frames = std::vector<uint64_t>(kRuns, 1 << 24)});
	// Each run of theirs has a million pages.
	for (uint64_t i = 0; i < kAnchors; i++) {
		memory.set_run_pages(6000 + i, 1 << 20);
	}
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 1);
	CHECK(mentions(found[0]->remarks(), "400 anchors left out"));
	CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 44, 55, 66});
}

TEST_CASE("what a forged load lists takes no room from another", "[recorder][image]") {
	Memory memory = sample_memory();
	constexpr uint64_t kAnchors = 40; // more than the genuine ones, of a load whose number is lower
	for (uint64_t i = 0; i < kAnchors; i++) {
		memory.anchor({.pfn = 6000 + i,
		               .kind = i % 2 ? uint32_t{DFR_ANCHOR_RING} : 77u,
		               .cpu = static_cast<uint32_t>(100 + i),
		               .unit = 4096,
		               .frames = {1 << 24},
		               .load = 1});
		memory.set_run_pages(6000 + i, 1 << 14);
	}
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 2);
	const auto genuine = std::ranges::find_if(found, [](const auto& one) { return one->blocks() == 4; });
	REQUIRE(genuine != found.end());
	CHECK_FALSE(mentions((*genuine)->remarks(), "left out"));
	CHECK(values_of(**genuine) == std::vector<uint64_t>{11, 44, 55, 66});
}

// In a crash kernel that has little memory, pages of a process that look like blocks may not take all of it.
TEST_CASE("blocks that no anchor lists are read as far as there is memory", "[recorder][image]") {
	constexpr uint64_t kPages = 500;
	Memory memory;
	std::vector<uint64_t> loose;
	for (uint64_t pfn = 100; pfn < 100 + kPages; pfn++) {
		memory.put({pfn}, one_record(0, pfn, 1, 4096).bytes);
		loose.push_back(pfn * recorder::kPage);
	}
	const ImageFile image(memory.elf());
	const auto physical = std::make_shared<recorder::PhysicalMemory>(image.path);
	trace::Catalog catalog;
	catalog.state_id = 7;
	for (const uint64_t heap : {uint64_t{1} << 30, uint64_t{50'000}}) {
		recorder::ImageBudget budget(*physical, heap);
		recorder::RingBlocks blocks(physical);
		blocks.find({}, catalog, true, loose, 0, budget);
		const bool all = heap > 1'000'000;
		CHECK((blocks.refs().size() == kPages) == all);
		CHECK(blocks.refs().size() > 50);
		CHECK(mentions(blocks.losses(), "left out: there are more than who reads them") == !all);
	}
}

TEST_CASE("displacements of forged anchors do not crowd out that of a raw image", "[recorder][image]") {
	Memory memory = sample_memory();
	for (uint64_t group = 0; group < 70; group++) // each with more anchors than the recording has
		for (uint64_t i = 0; i < 20; i++) {
			const uint64_t stands = 20'000 + 20 * group + i;
			memory.anchor({.pfn = stands + 5000 * (group + 1),
			               .kind = DFR_ANCHOR_RING,
			               .cpu = static_cast<uint32_t>(i),
			               .unit = 4096,
			               .frames = {1},
			               .stands_at = stands,
			               .load = 5});
		}
	const ImageFile image(memory.raw(10));
	const auto found = recorder::open_memory_image(image.path);
	const auto genuine = std::ranges::find_if(found, [](const auto& one) { return one->blocks() == 4; });
	REQUIRE(genuine != found.end());
	CHECK(values_of(**genuine) == std::vector<uint64_t>{11, 44, 55, 66});
}

TEST_CASE("what anchors of another boot list takes no room from the boot that died", "[recorder][image]") {
	Memory memory = sample_memory(); // of which there is a panic
	for (uint64_t i = 0; i < 400; i++) {
		memory.anchor({.pfn = 6000 + i,
		               .kind = DFR_ANCHOR_RING,
		               .cpu = static_cast<uint32_t>(i),
		               .unit = 4096,
		               .frames = std::vector<uint64_t>(4, 1 << 24),
		               .boot = 0x10});
		// Until not even four pages are left.
		memory.set_run_pages(6000 + i, i < 150 ? 640 : i < 200 ? 64 : 1);
	}
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 2);
	CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 44, 55, 66});
	CHECK_FALSE(mentions(found[0]->remarks(), "left out: the image's anchors list"));
	CHECK(mentions(found[1]->remarks(), "left out: the image's anchors list"));
}

TEST_CASE("a page that two segments of an ELF core share is scanned", "[recorder][image]") {
	const Memory memory = sample_memory();
	const auto whole = memory.elf();
	// Each segment becomes two, which meet in the middle of its first page.
	Elf64_Ehdr head;
	std::memcpy(&head, whole.data(), sizeof(head));
	std::vector<Elf64_Phdr> segments(head.e_phnum);
	std::memcpy(segments.data(), whole.data() + head.e_phoff, segments.size() * sizeof(Elf64_Phdr));
	Bytes file;
	Elf64_Ehdr halves = head;
	halves.e_phnum = static_cast<Elf64_Half>(2 * head.e_phnum);
	file.put(halves);
	const uint64_t moved = segments.size() * sizeof(Elf64_Phdr); // the table is twice as long
	for (const Elf64_Phdr& one : segments) {
		Elf64_Phdr first = one, rest = one;
		first.p_offset += moved;
		first.p_filesz = first.p_memsz = 100;
		rest.p_offset += moved + 100;
		rest.p_paddr += 100;
		rest.p_filesz = rest.p_memsz = one.p_filesz - 100;
		file.put(first).put(rest);
	}
	file.bytes.insert(file.bytes.end(), whole.begin() + static_cast<long>(sizeof(head) + moved),
	                  whole.end());
	const ImageFile image(file.bytes);
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 1);
	CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 44, 55, 66});
}

TEST_CASE("displacements of a raw image are a few", "[recorder][image]") {
	Memory memory;
	for (uint64_t i = 0; i < 200; i++)
		for (uint64_t pfn : {1000 + 2 * i, 1001 + 2 * i})
			memory.anchor(
			    {.pfn = pfn + 5 * i, .kind = DFR_ANCHOR_RING, .unit = 4096, .stands_at = pfn});
	const ImageFile image(memory.raw());
	recorder::PhysicalMemory file(image.path);
	const recorder::AnchorScan scan = recorder::scan_anchors(file);
	CHECK(scan.displacements.size() == 64);
	CHECK(scan.misplaced == 2 * (200 - 64));
}

TEST_CASE("a clock that runs backwards is refused", "[recorder][image]") {
	trace::Catalog catalog;
	for (uint64_t i = 0; i < 1000; i++)
		catalog.add_clock({.mono = 10'000 + i, .real = i, .boot = i});
	for (uint64_t i = 0; i < 30; i++)
		catalog.add_clock({.mono = 11'000 - i, .real = i, .boot = i});
	CHECK_THROWS_AS(catalog.add_clock({.mono = 1, .real = 1, .boot = 1}), Error);
	CHECK(catalog.clocks.size() == 1030);
}

namespace {

// In the place of CPU 1's block: 600 records of 6 bytes, with the values 0 to 99; of its intervals the offsets, and how many
// records are before each.
std::pair<trace::Block, std::vector<std::pair<uint32_t, unsigned>>> many_records() {
	BlockBytes block(1, 1, 1000, 8192);
	block.long_head(0, 0, 1000).context(1, 1, 1, "sh");
	uint32_t due = block.here() / DFR_RESTART_BYTES;
	std::vector<std::pair<uint32_t, unsigned>> intervals;
	for (unsigned i = 0; i < 600; i++) {
		if (block.here() >= due * DFR_RESTART_BYTES) {
			block.restart(due++);
			intervals.emplace_back(block.here(), i);
		}
		block.short_head(1, 0, 1).u8(0).u8(static_cast<uint8_t>(i % 100));
	}
	return {block.sealed(true), intervals};
}

} // namespace

TEST_CASE("a line that a dead memory has lost costs one interval of a sealed block, which is named",
          "[recorder][image]") {
	Memory memory = sample_memory();
	const auto [block, intervals] = many_records();
	REQUIRE(intervals.size() >= 3);
	memory.put({300, 301}, block.bytes);
	const auto [from, before] = intervals[1];
	const auto [to, until] = intervals[2];
	std::fill_n(memory.page((from + 512) / 4096 ? 301 : 300).begin() + (from + 512) % 4096, 64,
	            std::byte{0});
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	trace::Verdict verdict;
	const std::vector<uint64_t> values = values_of(*found[0], &verdict);
	CHECK(values.size() == 600 - (until - before) + 3); // and the three blocks of CPU 0
	CHECK(verdict.lost == until - before);
	CHECK_FALSE(verdict.complete);
	CHECK(mentions(found[0]->remarks(),
	               "CPU 1, block 1: bytes " + std::to_string(from) + " to " + std::to_string(to) +
	                   " are damaged: " + std::to_string(until - before) + " records after"));
}

// Of one that is lost to 0 nothing tells whether the block was given back.
TEST_CASE("one wrong bit in the header of a sealed block costs nothing", "[recorder][image]") {
	const Memory memory = sample_memory();
	for (size_t bit = 0; bit < 8 * sizeof(dfr_block); bit++) {
		Memory harmed = memory;
		harmed.page(200)[bit / 8] ^= std::byte(1u << bit % 8);
		const ImageFile image(harmed.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		INFO(bit);
		CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 55, 66});
		CHECK(verdict.complete);
		CHECK(mentions(found[0]->remarks(), "1 block whose header was damaged and is mended"));
	}
}

TEST_CASE("what a header has lost beside the number costs the last interval at most", "[recorder][image]") {
	Memory memory = sample_memory();
	const auto [block, intervals] = many_records();
	memory.put({300, 301}, block.bytes);
	const auto judged = [&memory](size_t& values) {
		const ImageFile image(memory.elf());
		trace::Verdict verdict;
		values = values_of(*recorder::open_memory_image(image.path)[0], &verdict).size();
		return verdict;
	};
	size_t values = 0;
	CHECK(judged(values).complete);
	CHECK(values == 600 + 3);
	REQUIRE(intervals.size() >= 4);
	// Its second line: the counters, the checksum, the flags, how much was committed, and what two entries of the table say.
	std::fill_n(memory.page(300).begin() + 64, 64, std::byte{0});
	CHECK_FALSE(judged(values).complete);
	CHECK(values == intervals.back().second - intervals[2].second + 3);
	// Fewer bytes than there are, by two bits.
	memory.put({300, 301}, block.bytes);
	const uint32_t committed = block.header().committed & ~uint32_t{0xc00};
	REQUIRE(std::popcount(committed ^ block.header().committed) == 2);
	std::memcpy(memory.page(300).data() + offsetof(dfr_block, committed), &committed, sizeof(committed));
	CHECK_FALSE(judged(values).complete);
	CHECK(values == intervals.back().second + 3);
}

// The checksums of intervals do not depend on the CPU.
TEST_CASE("a header that names another CPU, and is damaged beside that, costs no interval",
          "[recorder][image]") {
	Memory memory = sample_memory();
	memory.put({300, 301}, many_records().first.bytes);
	memory.page(300)[offsetof(dfr_block, cpu)] ^= std::byte{4};
	memory.page(300)[offsetof(dfr_block, lost)] ^= std::byte{3};
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	CHECK(values_of(*found[0]).size() == 600 + 3);
	CHECK(mentions(found[0]->remarks(), "1 block whose header was damaged and is mended"));
}

TEST_CASE("a damaged block and absent memory are told, the rest is given", "[recorder][image]") {
	Memory memory = sample_memory();
	SECTION("a damaged header") {
		std::fill_n(memory.page(201).begin(), sizeof(dfr_block), std::byte{0xff});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 55, 66});
		CHECK(found[0]->partial());
		CHECK(mentions(found[0]->remarks(), "1 damaged block"));
	}
	SECTION("a block of an older version") {
		memory.put({201, 210}, one_record(0, 4, 44, 8192, false).bytes);
		memory.page(201)[offsetof(dfr_block, version)] = std::byte{1};
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 55, 66});
		CHECK(found[0]->partial());
		CHECK(mentions(found[0]->remarks(), "1 block of version 1, which this dfr does not read"));
	}
	SECTION("damaged records") {
		// The value of block 5's record: header 96 + 8 * 24, then context and record.
		memory.page(200)[DFR_BLOCK_HDR_SIZE(8192) + 3] ^= std::byte{0xff};
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 66});
		CHECK(!verdict.complete);
		CHECK(verdict.lost == 1);
		CHECK(mentions(found[0]->remarks(), "block 5: bytes 0 to"));
		CHECK(mentions(found[0]->remarks(), "1 record after"));
	}
	SECTION("a page that the dump left out") {
		memory.pages.erase(203);
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		// What is committed lies in the first page: the block is whole all the same.
		CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 55, 66});
		memory.pages.erase(200);
		const ImageFile less(memory.elf());
		const auto fewer = recorder::open_memory_image(less.path);
		CHECK(values_of(*fewer[0], &verdict) == std::vector<uint64_t>{11, 44, 66});
		CHECK(!verdict.complete);
		CHECK(mentions(fewer[0]->remarks(), "1 block of CPU 0 not in the image"));
		CHECK(mentions(fewer[0]->remarks(), "CPU 0: block 5 is gone: 1 record between"));
	}
	SECTION("a header that was wiped: by the blocks beside it") {
		memory.put({310, 311}, one_record(0, 8, 88, 8192).bytes);
		memory.anchor({.pfn = 54,
		               .kind = DFR_ANCHOR_RING,
		               .part = 1,
		               .generation = 1,
		               .unit = 8192,
		               .frames = {310, 311}});
		memory.put({220, 221}, one_record(0, 6, 66, 8192).bytes);
		const auto remarks_with = [&memory](uint64_t wiped) {
			Memory harmed = memory;
			harmed.put({wiped}, std::vector<std::byte>(recorder::kPage));
			const ImageFile image(harmed.elf());
			return recorder::open_memory_image(image.path)[0]->remarks();
		};
		// Block 7 was never there; without one that is damaged, those before it count as taken by a consumer.
		CHECK(!mentions(remarks_with(203), "gone"));
		CHECK(mentions(remarks_with(200), "CPU 0: block 5 is gone: 1 record between"));
		CHECK(mentions(remarks_with(220), "CPU 0: blocks 6 to 7 are gone: 2 records between"));
	}
	SECTION("of two blocks with one number, the closed one is given") {
		memory.put({302, 303}, one_record(1, 2, 22, 8192, false).bytes);
		memory.put({310, 311}, one_record(1, 2, 23, 8192).bytes);
		memory.anchor({.pfn = 54,
		               .kind = DFR_ANCHOR_RING,
		               .cpu = 1,
		               .part = 1,
		               .unit = 8192,
		               .frames = {310, 311}});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 23, 44, 55, 66});
	}
	SECTION("blocks that a consumer had taken and not given back are given by themselves") {
		memory.put({302, 303}, one_record(1, 9, 99, 8192).bytes);
		put_spares(memory, 1, 1);
		// Its log says what anchors list, so a gap does not come from one that is missing.
		CatalogLog log = sample_log();
		log.entry(DFR_CAT_MEMORY, Bytes().u32(DFR_ANCHOR_RING).u32(1).u32(0).u32(20));
		memory.put({100, 90}, log.done());
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{44, 55, 66, 99});
		CHECK(verdict.complete);
		CHECK(verdict.windowed);
		CHECK(mentions(found[0]->remarks(), "1 older block that a consumer had taken and not given"));
		const auto held = found[0]->held();
		REQUIRE(held);
		CHECK(values_of(*held, &verdict) == std::vector<uint64_t>{11});
		CHECK_FALSE(verdict.complete);
	}
	SECTION("where a consumer has given all blocks of a CPU back, the window begins behind them") {
		trace::Block given_back = one_record(1, 6, 11, 8192);
		dfr_block head = given_back.header();
		head.seq = 0;
		std::memcpy(given_back.bytes.data(), &head, sizeof(head));
		memory.put({300, 301}, given_back.bytes);
		const ImageFile image(memory.elf()), saved({});
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{44, 55, 66});
		CHECK(verdict.windowed);
		CHECK(verdict.from == head.last_time + 1);
		// So does that of the file which is made of it.
		trace::FileWriter writer(saved.path, true,
		                         [&]() -> const trace::Catalog& { return found[0]->catalog(); },
		                         trace::local_file(), {.since = found[0]->since()});
		trace::copy_to_file(*found[0], writer);
		writer.finish();
		trace::Verdict of_file;
		values_of(*trace::open_file(saved.path), &of_file);
		CHECK(of_file.from == head.last_time + 1);
	}
}

// It has no checksum that could be tried without its number, and its last time decides where the window begins.
TEST_CASE("a wrong last time of a block that was given back is told, and empties no window",
          "[recorder][image]") {
	const auto judged = [](uint32_t cpu, bool panicked, uint64_t opened, uint64_t last) {
		Memory memory = sample_memory();
		if (!panicked)
			memory.pages.erase(70);
		dfr_block head = one_record(static_cast<uint16_t>(cpu), 2, 11, 8192).header();
		head.seq = 0;
		head.open_time = opened;
		head.last_time = last;
		// CPU 1 has no other block, CPU 0 has 4, before which its last record was at 3'000.
		const uint64_t frame = cpu ? 300 : 310;
		memory.put({frame, frame + 1}, std::as_bytes(std::span(&head, 1)));
		if (!cpu)
			memory.anchor({.pfn = 54,
			               .kind = DFR_ANCHOR_RING,
			               .part = 1,
			               .unit = 8192,
			               .frames = {310, 311}});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		const size_t records = values_of(*found[0], &verdict).size();
		CHECK(records == (cpu ? 3 : 4));
		const bool told = mentions(found[0]->remarks(), "a block that was given back is damaged");
		CHECK(told != verdict.complete);
		CHECK((told || verdict.from == std::min(std::max<uint64_t>(last, 3'000) + 1, verdict.to)));
		return told;
	};
	constexpr uint64_t kWrong = uint64_t{1} << 60;
	for (const bool panicked : {true, false}) {
		CHECK_FALSE(judged(1, panicked, 2'000, 4'500));
		CHECK(judged(1, panicked, 2'000, kWrong | 4'500));
		CHECK(judged(1, panicked, 2'000, 1'000));
		CHECK_FALSE(judged(0, panicked, 2'000, 3'000));
		CHECK(judged(0, panicked, 2'000, 3'001));
	}
	CHECK_FALSE(judged(1, false, 2'000, 60'000'000'000)); // the clocks allow it
	CHECK(judged(1, true, 2'000, 10'000));                // the panic was at 9'999
}

TEST_CASE("a wrong number in the header of an open block is told, and costs no other block",
          "[recorder][image]") {
	for (const uint64_t number : {uint64_t{6} | 1 << 20, uint64_t{4}}) {
		Memory memory = sample_memory();
		std::memcpy(memory.page(220).data() + offsetof(dfr_block, seq), &number, sizeof(number));
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		REQUIRE(found.size() == 1);
		trace::Verdict verdict;
		const std::vector<uint64_t> values = values_of(*found[0], &verdict);
		INFO(number);
		CHECK(std::count(values.begin(), values.end(), 44) == 1);
		CHECK(std::count(values.begin(), values.end(), 55) == 1);
		CHECK(found[0]->partial());
		CHECK_FALSE(verdict.complete);
		CHECK(mentions(found[0]->remarks(), number == 4 ? "two blocks say that they are block 4"
		                                                : "contradict each other"));
	}
}

// As after a reset: the lines of a block's header did not come to the memory, which says what was there before.
TEST_CASE("a block of which memory has no more than what was there before is missed, if no consumer took it",
          "[recorder][image]") {
	for (const bool fresh : {true, false}) {
		Memory memory = sample_memory();
		CatalogLog log = sample_log();
		log.entry(DFR_CAT_MEMORY, Bytes().u32(DFR_ANCHOR_RING).u32(0).u32(0).u32(6));
		memory.put({100, 90}, log.done());
		// In the place of block 5: none yet, or its earlier use.
		memory.put({200}, std::as_bytes(std::span(&kFresh, 1)));
		if (!fresh)
			memory.put({200, 203}, one_record(0, 2, 22, 8192).bytes);
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		const std::vector<uint64_t> values = values_of(*found[0], &verdict);
		CHECK(values ==
		      (fresh ? std::vector<uint64_t>{11, 44, 66} : std::vector<uint64_t>{11, 22, 44, 66}));
		CHECK_FALSE(verdict.complete);
		CHECK(!found[0]->held());
		CHECK(mentions(found[0]->remarks(), "CPU 0: block 5 is gone: 1 record between"));
	}
}

TEST_CASE("a crafted image lists pages again and again, and misses programs without end",
          "[recorder][image]") {
	Memory memory = sample_memory();
	CatalogLog log = sample_log();
	for (uint32_t i = 1; i < 100; i++)
		log.dof(i * 1000, "");
	const std::vector<std::byte> bytes = log.done();
	const size_t pages = (bytes.size() + 4095) / 4096;
	std::vector<uint64_t> frames;
	for (size_t i = 0; i < pages; i++)
		frames.push_back(500 + i);
	memory.put(frames, bytes);
	memory.anchor(
	    {.pfn = 54, .kind = DFR_ANCHOR_CATALOG, .generation = 9, .unit = 4096, .frames = frames});
	memory.anchor({.pfn = 55,
	               .kind = DFR_ANCHOR_CATALOG,
	               .part = 1,
	               .generation = 10,
	               .unit = 4096,
	               .frames = {600}});
	memory.page(600);
	for (uint32_t part = 1; part < 50; part++)
		memory.anchor({.pfn = 700 + part,
		               .kind = DFR_ANCHOR_RING,
		               .part = part,
		               .generation = 3,
		               .unit = 8192,
		               .frames = {200, 203, 201, 210, 220, 221}});
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 1);
	CHECK(found[0]->catalog().dofs.size() < 3000);
	CHECK(found[0]->blocks() == 4);
	CHECK(mentions(found[0]->remarks(), "147 damaged blocks of CPU 0"));
	CHECK(values_of(*found[0]) == std::vector<uint64_t>{11, 44, 55, 66});
}

TEST_CASE("an ELF core cut at any page is read up to the cut", "[recorder][image]") {
	const std::vector<std::byte> whole = sample_memory().elf();
	for (size_t size = 0; size < whole.size(); size += 1021) {
		const ImageFile image({whole.begin(), whole.begin() + size});
		try {
			const auto found = recorder::open_memory_image(image.path);
			CHECK(!found.empty());
			for (const auto& source : found) {
				values_of(*source);
				CHECK(source->partial());
			}
		} catch (const Error& error) {
			CHECK(std::string(error.what()).size() > 10);
		}
	}
}

TEST_CASE("segments of an ELF core that lie within each other are one memory", "[recorder][image]") {
	using recorder::kPage;
	constexpr uint64_t kMagic = 0x123456789abcdef0;
	struct Segment {
		uint64_t first, in_file, in_memory; // pages
	};
	// As in /proc/vmcore: the kernel's own image, and the memory that it is in. Two that share a page, two in a
	// stretch of zeros, of which one goes beyond it.
	const std::vector<Segment> segments = {{5, 2, 2},   {1, 9, 9},  {9, 3, 3},
	                                       {20, 2, 10}, {23, 2, 2}, {29, 2, 2}};
	Elf64_Ehdr head{};
	std::memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_type = ET_CORE;
	head.e_phoff = sizeof(head);
	head.e_phentsize = sizeof(Elf64_Phdr);
	head.e_phnum = segments.size();
	Bytes file, pages;
	file.put(head);
	for (const auto& [first, in_file, in_memory] : segments) {
		Elf64_Phdr segment{};
		segment.p_type = PT_LOAD;
		segment.p_offset = sizeof(head) + segments.size() * sizeof(segment) + pages.bytes.size();
		segment.p_paddr = first * kPage;
		segment.p_filesz = in_file * kPage;
		segment.p_memsz = in_memory * kPage;
		file.put(segment);
		for (uint64_t i = 0; i < in_file; i++) {
			pages.put(kMagic);
			pages.put(first + i);
			pages.bytes.resize(pages.bytes.size() + kPage - 16);
		}
	}
	file.bytes.insert(file.bytes.end(), pages.bytes.begin(), pages.bytes.end());
	const ImageFile image(file.bytes);
	recorder::PhysicalMemory memory(image.path);

	std::vector<uint64_t> scanned;
	memory.scan({.eight = {kMagic, kMagic}}, [&](uint64_t address, std::span<const std::byte>) {
		scanned.push_back(address / kPage);
	});
	std::sort(scanned.begin(), scanned.end());
	const std::vector<uint64_t> stored = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 21, 23, 24, 29, 30};
	CHECK(scanned == stored);
	for (uint64_t n = 0; n < 40; n++) {
		CAPTURE(n);
		const bool is_stored = std::binary_search(stored.begin(), stored.end(), n);
		uint64_t words[2] = {1, 1};
		CHECK(memory.read(n * kPage, std::as_writable_bytes(std::span(words))) ==
		      (is_stored || (n >= 20 && n < 31)));
		if (is_stored) {
			CHECK(words[0] == kMagic);
			CHECK(words[1] == n);
		} else if (n >= 20 && n < 31) {
			CHECK(words[0] == 0);
		}
	}
	std::vector<std::byte> all(11 * kPage); // over all that meet
	CHECK(memory.read(1 * kPage, all));
	CHECK(memory.read(20 * kPage, all));
	CHECK(!memory.read(21 * kPage, all));
}

TEST_CASE("the threads of a scan find every page once, and tell in the order of addresses",
          "[recorder][image]") {
	// 40 MiB, in which each 16 pages a block of the state begins that no anchor lists.
	std::vector<std::byte> raw(40 << 20);
	const std::vector<std::byte> sample = sample_memory().raw();
	REQUIRE(sample.size() <= 512 * recorder::kPage);
	std::copy(sample.begin(), sample.end(), raw.begin());
	dfr_block head = empty_head(7);
	std::vector<uint64_t> places;
	for (uint64_t at = 512 * recorder::kPage; at < raw.size(); at += 16 * recorder::kPage) {
		std::memcpy(raw.data() + at, &head, sizeof(head));
		places.push_back(at);
	}
	const ImageFile image(raw);
	recorder::PhysicalMemory memory(image.path);
	uint64_t told = 0, all = 0;
	const recorder::AnchorScan scan = recorder::scan_anchors(memory, [&](uint64_t done, uint64_t of) {
		CHECK(done >= told);
		told = done;
		all = of;
	});
	std::vector<uint64_t> found;
	for (const recorder::LooseBlock& block : scan.blocks)
		if (block.address >= 512 * recorder::kPage)
			found.push_back(block.address);
	CHECK(found == places);
	CHECK(scan.recordings.size() == 1);
	CHECK(memory.remarks().empty());
	CHECK(all == raw.size());
}

TEST_CASE("memory that cannot be read is told, and costs no other page", "[recorder][image]") {
	const ImageFile image(sample_memory().raw());
	recorder::PhysicalMemory memory(image.path);
	CHECK(memory.remarks().empty());
	// The last 304 of 404 pages go while the file is open; all anchors are before them.
	REQUIRE(truncate(image.path.c_str(), 100 * recorder::kPage) == 0);
	const recorder::AnchorScan scan = recorder::scan_anchors(memory);
	REQUIRE(scan.recordings.size() == 1);
	CHECK(scan.recordings.begin()->second.anchors.size() == 8);
	CHECK(scan.panics.size() == 1);
	CHECK(mentions(memory.remarks(), std::to_string(304 * recorder::kPage) + " bytes"));
}

namespace {

// One record of EPID 1: long context head, then the record 5 ns later.
Bytes spec_records(uint64_t time, uint8_t value) {
	Bytes records;
	records.u32(0x7ff).u32(0).u64(time).context_body(9, 9, 9, "spec");
	return records.u32(1 | 5 << 13).u8(0).u8(value);
}

// A chunk with that.
std::vector<std::byte> spec_chunk(uint32_t id, uint32_t cpu, uint64_t time, uint8_t value, uint64_t commit) {
	const Bytes records = spec_records(time, value);
	Bytes chunk;
	chunk.u32(DFR_SPEC_MAGIC).u32(256).u64(7).u32(id).u32(cpu).u32(0).u32(records.bytes.size());
	chunk.u32(1).u32(commit ? DFR_SPEC_CHUNK_COMMITTING : 0).u64(time).u64(time + 5).u64(commit).u64(0);
	chunk.bytes.insert(chunk.bytes.end(), records.bytes.begin(), records.bytes.end());
	chunk.bytes.resize(256);
	return chunk.bytes;
}

// Speculation 3 of CPU 0 is committing, at 7000; and the page of CPU 1's chunks.
Memory committing(const std::vector<std::byte>& of_cpu_1) {
	Memory memory = sample_memory();
	memory.put({700}, spec_chunk(3, 0, 4'500, 33, 7'000));
	memory.put({701}, of_cpu_1);
	memory.anchor({.pfn = 710, .kind = DFR_ANCHOR_SPEC, .cpu = 0, .unit = 256, .frames = {700}});
	memory.anchor({.pfn = 711, .kind = DFR_ANCHOR_SPEC, .cpu = 1, .unit = 256, .frames = {701}});
	return memory;
}

} // namespace

TEST_CASE("commits that a crash interrupted are finished, others stay in flight", "[recorder][image]") {
	// CPU 1: its other part, and speculation 3's namesake of a later use, and number 4, which nobody committed.
	std::vector<std::byte> page = spec_chunk(3, 1, 6'000, 34, 0);
	for (const auto& more : {spec_chunk(3, 1, 8'000, 35, 0), spec_chunk(4, 1, 1'500, 36, 0)})
		page.insert(page.end(), more.begin(), more.end());
	Memory memory = committing(page);
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	trace::Verdict verdict;
	// By their own times: 11 at 1000, 44 at 4000, 33 at 4505, 55 at 5000, 66 at 6000, 34 at 6005.
	CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 33, 55, 66, 34});
	CHECK(verdict.complete);
	CHECK(mentions(found[0]->remarks(), "2 chunks of speculations whose commit the crash interrupted"));
	CHECK(mentions(found[0]->remarks(), "2 speculations in flight (2 records"));
	CHECK(!found[0]->partial());
	// Those in flight, by themselves: 36 at 1505, 35 at 8005.
	const auto in_flight = found[0]->in_flight();
	REQUIRE(in_flight);
	CHECK(values_of(*in_flight, &verdict) == std::vector<uint64_t>{36, 35});
	CHECK(!verdict.complete);
	// Chunks that are not in the image may have had records.
	memory.pages.erase(701);
	const ImageFile less(memory.elf());
	const auto fewer = recorder::open_memory_image(less.path);
	CHECK(fewer[0]->partial());
	CHECK(mentions(fewer[0]->remarks(), "16 chunks of speculations of CPU 1 not in the image"));
}

// A firing that had begun on another CPU when commit() took its time: 7'003 is behind it, and belongs to it.
TEST_CASE("a commit has what its speculation recorded on another CPU meanwhile", "[recorder][image]") {
	const ImageFile image(committing(spec_chunk(3, 1, 6'998, 34, 0)).elf());
	const auto found = recorder::open_memory_image(image.path);
	trace::Verdict verdict;
	CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 33, 55, 66, 34});
	CHECK(verdict.complete);
	CHECK_FALSE(found[0]->in_flight());
}

// As the module before listed them, where a part of the list ended within a chunk.
TEST_CASE("half a chunk of speculations at an anchor's end is missed", "[recorder][image]") {
	Memory memory = sample_memory();
	memory.put({700}, std::vector<std::byte>(Memory::kPageSize));
	memory.put({701}, std::vector<std::byte>(Memory::kPageSize));
	memory.put({702}, std::vector<std::byte>(Memory::kPageSize));
	memory.anchor({.pfn = 710, .kind = DFR_ANCHOR_SPEC, .cpu = 0, .unit = 8192, .frames = {700, 701}});
	CHECK_FALSE(recorder::open_memory_image(ImageFile(memory.elf()).path)[0]->partial());
	memory.anchor(
	    {.pfn = 710, .kind = DFR_ANCHOR_SPEC, .cpu = 0, .unit = 8192, .frames = {700, 701, 702}});
	const auto found = recorder::open_memory_image(ImageFile(memory.elf()).path);
	CHECK(found[0]->partial());
	CHECK(mentions(found[0]->remarks(), "1 chunk of speculations of CPU 0 not in the image"));
}

// The engine frees the chunks of a commit when they stand in the ring.
TEST_CASE("chunks that the ring has already are committed once", "[recorder][image]") {
	Memory memory = sample_memory();
	const Bytes copied = spec_records(4'500, 33);
	BlockBytes block(0, 6, 4'500, 8192);
	block.long_head(0, 0, 6'000).context(1, 1, 1, "sh");
	block.short_head(1, 0, 0).u8(0).u8(66);
	block.short_head(0, 0, 1'000).u8(DFR_CONTROL_GROUP).u32(3);
	block.u32(static_cast<uint32_t>(copied.bytes.size())).u64(7'000);
	block.splice(copied, 1).counters(0, 5).opened(5'000, 6'000);
	memory.put({220, 221}, block.open(true).bytes);
	std::vector<std::byte> page = spec_chunk(3, 0, 4'500, 33, 7'000);
	// Not copied yet; and another speculation's, of the same firing.
	for (const auto& more : {spec_chunk(3, 0, 4'600, 37, 0), spec_chunk(4, 0, 4'500, 38, 0)})
		page.insert(page.end(), more.begin(), more.end());
	memory.put({700}, page);
	memory.anchor({.pfn = 710, .kind = DFR_ANCHOR_SPEC, .cpu = 0, .unit = 256, .frames = {700}});
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	trace::Verdict verdict;
	CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 33, 37, 55, 66});
	CHECK(verdict.complete);
	CHECK(mentions(found[0]->remarks(), "1 chunk of speculations whose commit the crash interrupted"));
	CHECK(mentions(found[0]->remarks(), "1 speculation in flight (1 record"));
}

// Both halves of a CPU's table are later than the base table while the engine merges one of them, entry by entry.
TEST_CASE("aggregations that were being merged may count twice, and that is told", "[recorder][image]") {
	Memory memory = sample_memory();
	memory.put({402}, agg_table(0, 1, 5, 100));
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	CHECK(found[0]->partial());
	CHECK(mentions(found[0]->remarks(),
	               "the aggregation tables of CPU 0 were being merged when the machine died"));
	CHECK_FALSE(mentions(found[0]->remarks(), "aggregation tables of CPU 1"));
}

// The list of keys is not gone through again for each table.
TEST_CASE("a table of each of very many CPUs is added to very many keys", "[recorder][image]") {
	constexpr uint32_t kKeys = 50'000, kCpus = 2000;
	Memory memory = sample_memory();
	Bytes base;
	base.u32(DFR_AGGTAB_MAGIC).u32(1).u64(7).u32(DFR_AGGTAB_BASE_CPU).u32(0).u64(3);
	base.u64(0).u64(0).u32(2).u32(kKeys).u64(0).u32(0).u32(0);
	for (uint64_t key = 0; key < kKeys; key++)
		base.u32(0).u32(0).u32(1).u16(DFR_ACT_COUNT).u16(1).u32(8).u32(0).u64(key).u64(10);
	base.patch<uint64_t>(40, base.bytes.size());
	std::vector<uint64_t> frames;
	for (uint64_t i = 0; i * Memory::kPageSize < base.bytes.size(); i++)
		frames.push_back(20'000 + i);
	memory.put(frames, base.bytes);
	for (uint32_t part = 0; frames.size() > part * 200; part++)
		memory.anchor({.pfn = part ? 1000 + part : 60,
		               .kind = DFR_ANCHOR_AGG,
		               .cpu = DFR_AGGTAB_BASE_CPU,
		               .part = part,
		               .unit = 4096,
		               .frames = {frames.begin() + part * 200,
		                          frames.begin() + std::min<long>(part * 200 + 200, frames.size())}});
	for (uint32_t cpu = 2; cpu < kCpus; cpu++) {
		memory.put({40'000 + cpu}, agg_table(cpu, 0, 4, 1));
		memory.anchor({.pfn = 30'000 + cpu,
		               .kind = DFR_ANCHOR_AGG,
		               .cpu = cpu,
		               .unit = 4096,
		               .frames = {40'000 + cpu}});
	}
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	REQUIRE(found.size() == 1);
	const auto aggregations = found[0]->aggregations();
	REQUIRE(aggregations.size() == kKeys);
	CHECK(aggregations[4].words == std::vector<uint64_t>{10});
	CHECK(aggregations[5].words == std::vector<uint64_t>{10 + 2 + 5 + kCpus - 2});
}

// An entry of 32 bytes becomes hundreds.
TEST_CASE("a table that many states list takes no more memory than the image is worth", "[recorder][image]") {
	constexpr uint64_t kPages = 1000, kStates = 40;
	Memory memory = sample_memory();
	Bytes entries;
	for (uint32_t varid = 1; entries.bytes.size() < kPages * Memory::kPageSize; varid++)
		entries.u32(0).u32(0).u32(varid).u16(DFR_ACT_COUNT).u16(1).u32(0).u32(0).u64(1);
	std::vector<uint64_t> frames(kPages);
	std::iota(frames.begin(), frames.end(), 1000);
	memory.put(frames, entries.bytes);
	for (uint64_t i = 0; i < kStates; i++) {
		Bytes head;
		head.u32(DFR_AGGTAB_MAGIC).u32(1).u64(100 + i).u32(DFR_AGGTAB_BASE_CPU).u32(0).u64(1);
		head.u64(0).u64((1 + kPages) * Memory::kPageSize).u32(1).u32(0).u64(0).u32(0);
		// One entry without a variable up to the page's end.
		const auto rest = static_cast<uint32_t>(Memory::kPageSize - head.bytes.size() - 4 - 24 - 8);
		head.u32(0).u32(0).u32(0).u32(0).u16(DFR_ACT_COUNT).u16(1).u32(rest).u32(0);
		memory.put({3000 + i}, head.bytes);
		const Memory::Anchor anchor{.pfn = 4000 + 2 * i,
		                            .kind = DFR_ANCHOR_AGG,
		                            .cpu = DFR_AGGTAB_BASE_CPU,
		                            .state_id = 100 + i,
		                            .unit = 4096,
		                            .frames = {3000 + i}};
		memory.anchor(anchor);
		Memory::Anchor more = anchor;
		more.pfn++;
		more.part = 1;
		more.frames = {frames[0]};
		memory.anchor(more);
		memory.set_run_pages(more.pfn, kPages);
	}
	const ImageFile image(memory.elf());
	const uint64_t bytes = memory.pages.size() * Memory::kPageSize;
	memory.pages.clear();
	uint64_t told = 0;
	const uint64_t peak = peak_of([&] {
		const auto found = recorder::open_memory_image(image.path);
		REQUIRE(found.size() == 1 + kStates);
		for (const auto& one : found) {
			told += mentions(one->remarks(),
			                 "the base table of the aggregations is not read: the image's");
			if (one->blocks() == 4)
				CHECK(one->aggregations().at(0).words == std::vector<uint64_t>{17});
		}
	});
	CHECK(told > 0);
	CHECK(peak < 16 * bytes);
}

TEST_CASE("what no record has told of losses is in their counters", "[recorder][image]") {
	Memory memory = sample_memory();
	const auto tally = [](uint32_t cpu, uint32_t cause, uint64_t count) {
		dfr_tally counters = no_losses(cpu, 7);
		counters.loss[cause] += count;
		const auto bytes = std::as_bytes(std::span(&counters, 1));
		return std::vector<std::byte>(bytes.begin(), bytes.end());
	};
	memory.put({450}, tally(0, DFR_LOSS_THROTTLE, 3));
	memory.put({451}, tally(1, DFR_LOSS_AGGREGATION, 5));
	memory.anchor({.pfn = 64, .kind = DFR_ANCHOR_TALLY, .cpu = 0, .unit = 4096, .frames = {450}});
	memory.anchor({.pfn = 65, .kind = DFR_ANCHOR_TALLY, .cpu = 1, .unit = 4096, .frames = {451}});
	// Of a share that got no ring, and then of one that did.
	memory.put({452}, tally(0, DFR_LOSS_THROTTLE, 4));
	memory.anchor(
	    {.pfn = 66, .kind = DFR_ANCHOR_TALLY, .cpu = 0, .part = 1, .unit = 4096, .frames = {452}});
	const auto judged = [&memory](std::vector<std::string>& remarks) {
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		values_of(*found[0], &verdict);
		remarks = found[0]->remarks();
		return verdict;
	};
	std::vector<std::string> remarks;
	trace::Verdict verdict = judged(remarks);
	CHECK(verdict.lost == 12);
	CHECK(!verdict.complete);
	CHECK(mentions(verdict.reasons, "7 firings lost on CPU 0"));
	CHECK(mentions(verdict.reasons, "5 records lost on CPU 1"));
	// Of a cause that a newer module has.
	dfr_tally newer = no_losses(0, 7);
	newer.unused[0] += 6;
	memory.put({450}, std::as_bytes(std::span(&newer, 1)));
	CHECK(judged(remarks).lost == 4 + 5 + 6);
	// Of another CPU, and not in the image.
	memory.put({450}, tally(1, DFR_LOSS_THROTTLE, 3));
	memory.pages.erase(451);
	dfr_tally ringless = no_losses(DFR_TALLY_NO_CPU, 8);
	memory.put({453}, std::as_bytes(std::span(&ringless, 1)));
	memory.anchor(
	    {.pfn = 67, .kind = DFR_ANCHOR_TALLY, .cpu = DFR_TALLY_NO_CPU, .unit = 4096, .frames = {453}});
	verdict = judged(remarks);
	CHECK(verdict.lost == 4);
	CHECK(!verdict.complete);
	CHECK(mentions(remarks, "the counters of losses on CPUs without a ring are damaged"));
	CHECK(mentions(remarks, "the counters of losses of CPU 0 are damaged"));
	CHECK(mentions(remarks, "the counters of losses of CPU 1 are not in the image"));
}

// A line of a cache that did not come to the memory says 0, which no counter says.
TEST_CASE("a line that the counters of losses have lost is told, and costs no other", "[recorder][image]") {
	const auto judged = [](dfr_tally counters, size_t line) {
		Memory memory = sample_memory();
		memory.put({450}, std::as_bytes(std::span(&counters, 1)));
		if (line < Memory::kPageSize / 64)
			std::fill_n(memory.page(450).begin() + static_cast<long>(64 * line), 64,
			            std::byte{0});
		memory.anchor({.pfn = 64, .kind = DFR_ANCHOR_TALLY, .unit = 4096, .frames = {450}});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		values_of(*found[0], &verdict);
		return std::pair(verdict, found[0]->remarks());
	};
	constexpr size_t kNone = SIZE_MAX, kLines = (sizeof(dfr_tally) + 63) / 64;
	CHECK(judged(no_losses(0), kNone).first.complete);
	CHECK(judged(no_losses(0), kLines).first.complete);
	for (size_t line = 0; line < kLines; line++) {
		CAPTURE(line);
		const auto [verdict, remarks] = judged(no_losses(0), line);
		CHECK_FALSE(verdict.complete);
		CHECK(mentions(remarks, line ? "a part of the counters of losses of CPU 0 is lost"
		                             : "the counters of losses of CPU 0 are damaged"));
	}
	dfr_tally lossy = no_losses(0);
	lossy.loss[DFR_LOSS_THROTTLE] += 3; // in line 1
	lossy.loss[DFR_LOSS_MISSED] += 4;   // in line 2
	CHECK(judged(lossy, kNone).first.lost == 7);
	CHECK(judged(lossy, 1).first.lost == 4);
	// A module of before wrote no marks.
	const dfr_tally plain{.magic = DFR_TALLY_MAGIC_PLAIN, .cpu = 0, .state_id = 7, .loss = {}};
	CHECK(judged(plain, 1).first.complete);
}

TEST_CASE("what no CPU has told: stretches of thinning, and firings where there is no ring",
          "[recorder][image]") {
	Memory memory = sample_memory();
	const auto put = [&memory](uint64_t anchor, uint64_t frame, const dfr_tally& counters) {
		const auto bytes = std::as_bytes(std::span(&counters, 1));
		memory.put({frame}, std::vector<std::byte>(bytes.begin(), bytes.end()));
		memory.anchor({.pfn = anchor,
		               .kind = DFR_ANCHOR_TALLY,
		               .cpu = counters.cpu,
		               .unit = 4096,
		               .frames = {frame}});
	};
	dfr_tally state = no_losses(DFR_TALLY_NO_CPU, 7);
	state.loss[DFR_LOSS_HOTPLUG] += 6;
	dfr_tally first = no_losses(0, 7);
	first.thinned[DFR_PRIORITY_LOW].over = {
	    .from = 100, .to = 200, .left = 2, .detached = DFR_TALLY_MARK};
	first.thinned[DFR_PRIORITY_LOW].now = {
	    .from = 300, .to = 0, .left = 4, .detached = DFR_TALLY_MARK | 1};
	put(64, 450, state);
	put(65, 451, first);
	const ImageFile image(memory.elf());
	const auto found = recorder::open_memory_image(image.path);
	trace::Verdict verdict;
	values_of(*found[0], &verdict);
	CHECK(verdict.lost == 6);
	CHECK(mentions(verdict.reasons, "6 firings lost (no ring for a CPU that came)"));
	const trace::Losses losses = found[0]->losses();
	REQUIRE(losses.stretches.size() == 2);
	CHECK(losses.stretches[0].from == 100);
	CHECK(losses.stretches[0].to == 200);
	CHECK(losses.stretches[0].left_out == 2);
	CHECK(losses.stretches[1].cpu == 0);
	CHECK(losses.stretches[1].priority == DFR_PRIORITY_LOW);
	CHECK(losses.stretches[1].from == 300);
	CHECK(losses.stretches[1].to == 0);
	CHECK(losses.stretches[1].left_out == 4);
	CHECK(losses.stretches[1].detached);
}

TEST_CASE("a harvest that was saved says what the image said", "[recorder][image]") {
	Memory memory = sample_memory();
	std::fill_n(memory.page(201).begin(), sizeof(dfr_block), std::byte{0xff});
	const ImageFile image(memory.elf()), saved({});
	const auto found = recorder::open_memory_image(image.path);
	trace::FileWriter writer(saved.path, true,
	                         [&]() -> const trace::Catalog& { return found[0]->catalog(); });
	CHECK(trace::copy_to_file(*found[0], writer) == 3);
	writer.finish();
	const auto file = trace::open_file(saved.path);
	CHECK(file->remarks() == found[0]->remarks());
	CHECK(file->partial());
	CHECK(file->catalog().machine.at("panic") == "sysrq triggered crash");
	CHECK(file->aggregations().at(0).words == std::vector<uint64_t>{17});
	CHECK(values_of(*file) == std::vector<uint64_t>{11, 55, 66});
}

// formats/abi/anchor.h, enum dfr_panic_text.
// kmod/linux/DECISIONS.md: after an oops inside a firing no answer is whole. The machine may die before the catalog says so.
TEST_CASE("an oops inside a firing is in the panic's record", "[recorder][image]") {
	const auto judged = [](uint64_t broken, uint32_t ended) {
		Memory memory = sample_memory();
		memory.panic(70, 9'999, "bash", "Oops", 0xb0, {.broken = broken});
		CatalogLog log = sample_log();
		if (ended)
			log.event(ended, 0, 5'000);
		memory.put({100, 90}, log.done());
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		values_of(*found[0], &verdict);
		return verdict;
	};
	const char* const told = "ended by an oops of the kernel inside a probe's firing";
	CHECK(judged(0, 0).reasons.empty());
	CHECK(mentions(judged(5'500, 0).reasons, told));
	CHECK_FALSE(judged(5'500, 0).complete);
	CHECK(judged(5'500, DFR_EVENT_STOP).reasons.empty());
}

TEST_CASE("a ring that was full, of which the catalog has not been told yet, ends the window",
          "[recorder][image]") {
	const auto judged = [](uint32_t policy, uint64_t full, uint64_t told) {
		Memory memory = sample_memory();
		memory.panic(70, 9'999, "bash", "Oops", 0xb0);
		CatalogLog log = sample_log(7, 0xb0, policy);
		if (told)
			log.event(DFR_EVENT_FULL, 1, told);
		memory.put({100, 90}, log.done());
		dfr_tally counters = no_losses(1, 7);
		counters.over = full;
		memory.put({450}, std::as_bytes(std::span(&counters, 1)));
		memory.anchor({.pfn = 64, .kind = DFR_ANCHOR_TALLY, .cpu = 1, .unit = 4096, .frames = {450}});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		values_of(*found[0], &verdict);
		CHECK(std::ranges::count(found[0]->catalog().events, DFR_EVENT_FULL,
		                         &trace::EventMark::event) ==
		      mentions(verdict.reasons, "ring of CPU 1"));
		return verdict;
	};
	CHECK(judged(DFR_BUFPOLICY_FILL, 5'500, 0).to == 5'500);
	CHECK(mentions(judged(DFR_BUFPOLICY_FILL, 5'500, 0).reasons, "the ring of CPU 1"));
	CHECK(judged(DFR_BUFPOLICY_FILL, 5'500, 4'000).to == 4'000);
	CHECK(judged(DFR_BUFPOLICY_FILL, 0, 0).complete);
	// What cannot be.
	for (const auto& [policy, full] :
	     {std::pair(DFR_BUFPOLICY_RING, 5'500), std::pair(DFR_BUFPOLICY_FILL, 10'000)}) {
		const trace::Verdict verdict = judged(policy, full, 0);
		CHECK(verdict.to == 9'999);
		CHECK(mentions(verdict.reasons, "the counters of losses of CPU 1 are damaged"));
	}
}

// formats/abi/tally.h; kmod/engine/DECISIONS.md: the end that comes in probe context is told by who asks.
TEST_CASE("a kill by the deadman is in the state's counters", "[recorder][image]") {
	const auto judged = [](uint64_t over, uint64_t killed, uint32_t ended, uint64_t broken) {
		Memory memory = sample_memory();
		memory.panic(70, 9'999, "bash", "Oops", 0xb0, {.broken = broken});
		CatalogLog log = sample_log();
		if (ended)
			log.event(ended, 0, 5'000);
		memory.put({100, 90}, log.done());
		dfr_tally state = no_losses(DFR_TALLY_NO_CPU, 7);
		state.over = over;
		state.killed = killed;
		memory.put({450}, std::as_bytes(std::span(&state, 1)));
		memory.anchor({.pfn = 64,
		               .kind = DFR_ANCHOR_TALLY,
		               .cpu = DFR_TALLY_NO_CPU,
		               .unit = 4096,
		               .frames = {450}});
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		values_of(*found[0], &verdict);
		const auto& events = found[0]->catalog().events;
		const auto mark = std::ranges::find(events, DFR_EVENT_KILLED, &trace::EventMark::event);
		return std::tuple(verdict, mark == events.end() ? 0 : mark->value,
		                  mark == events.end() ? 0 : mark->time);
	};
	const auto [killed, why, when] = judged(5'500, 1, 0, 0);
	CHECK_FALSE(killed.complete);
	CHECK(mentions(killed.reasons, "nine tenths of a CPU"));
	CHECK(why == DFR_KILLED_COST);
	CHECK(when == 5'500);
	CHECK(std::get<0>(judged(0, 0, 0, 0)).complete);
	CHECK(std::get<0>(judged(5'500, 0, 0, 0)).complete);              // exit() has a record of its own
	CHECK(std::get<0>(judged(5'500, 1, DFR_EVENT_STOP, 0)).complete); // the catalog says more
	const auto [both, first, from] = judged(5'500, 1, 0, 6'000);
	CHECK(first == DFR_KILLED_OOPS);
	CHECK(from == 5'500);
}

TEST_CASE("a panic's texts come with its record, and a damaged one costs itself", "[recorder][image]") {
	const std::string registers = "mode=kernel ip=ffffffff81000010 sp=0",
	                  stack = "ffffffff81000010 panic+0x10/0x20\n", log(5000, 'x');
	const auto harvest = [](const Memory& memory) {
		const ImageFile image(memory.elf()), saved({});
		const auto found = recorder::open_memory_image(image.path);
		trace::FileWriter writer(saved.path, true,
		                         [&]() -> const trace::Catalog& { return found[0]->catalog(); });
		trace::copy_to_file(*found[0], writer);
		writer.finish();
		const auto file = trace::open_file(saved.path);
		return std::pair(file->catalog().machine, file->remarks());
	};
	Memory memory = sample_memory();
	memory.panic(70, 9'999, "bash", "Fatal exception (Oops)", 0xb0,
	             {.pfn = 800, .texts = {registers, stack, log}});
	// The oops was noted before, on a page that the panic has not reached.
	memory.panic(71, 9'999, "bash", "Oops", 0xb0,
	             {.pfn = 810, .generation = 98, .texts = {"", "", "old"}});
	auto [machine, remarks] = harvest(memory);
	CHECK(machine.at("panic") == "Fatal exception (Oops)");
	CHECK(machine.at("panic_registers") == registers);
	CHECK(machine.at("panic_stack") == stack);
	CHECK(machine.at("panic_log") == log);
	CHECK(!mentions(remarks, "could not be read"));

	memory.page(800)[1030] ^= std::byte{1}; // in the stack
	std::tie(machine, remarks) = harvest(memory);
	CHECK(machine.at("panic_registers") == registers);
	CHECK(!machine.contains("panic_stack"));
	CHECK(machine.at("panic_log") == log);
	CHECK(mentions(remarks, "the stack of the panic could not be read"));

	memory.pages.erase(801); // the log begins on the page before
	std::tie(machine, remarks) = harvest(memory);
	CHECK(!machine.contains("panic_log"));
	CHECK(mentions(remarks, "the end of the kernel's log of the panic could not be read"));

	// Places that the record's checksum vouches for and that lie nowhere.
	for (const uint64_t says : {uint64_t{0}, uint64_t{5000}, UINT64_MAX, UINT64_MAX / 4096}) {
		memory.panic(70, 9'999, "bash", "reason", 0xb0,
		             {.pfn = 800,
		              .generation = 100,
		              .texts = {registers, stack, log},
		              .beyond = says ? 0u : UINT32_MAX - 1000,
		              .says = says});
		std::tie(machine, remarks) = harvest(memory);
		CHECK(machine.at("panic") == "reason");
		CHECK(!machine.contains("panic_registers"));
		CHECK(mentions(remarks, "the registers of the panic could not be read"));
	}
}

// formats/abi/reserved.h: by neither a panic nor a restart, what stood in caches only is gone.
TEST_CASE("an area of reserved memory that was not written back is partial", "[recorder][image][reserved]") {
	const auto judged = [](uint32_t written_back, bool panicked, unsigned damaged = 0) {
		Memory memory = sample_memory();
		if (!panicked)
			memory.pages.erase(70);
		// One segment, as /dev/dfr-reserved has it.
		for (uint64_t pfn = 40; pfn < 500; pfn++)
			memory.page(pfn);
		Bytes head;
		head.u64(DFR_RESERVED_MAGIC)
		    .u32(DFR_RESERVED_VERSION)
		    .u32(0)
		    .u64(40 << 12)
		    .u64(2 * 460 << 12);
		head.u64(1).u64(0xb0).u64(0xb1).u32(written_back).u32(0);
		head.patch<uint32_t>(60, test::slow_crc32c(head.bytes));
		memory.put({40}, head.bytes);
		memory.put({499}, head.bytes);
		if (damaged)
			memory.page(damaged)[3] ^= std::byte{1};
		const ImageFile image(memory.elf());
		const auto found = recorder::open_memory_image(image.path);
		trace::Verdict verdict;
		CHECK(values_of(*found[0], &verdict) == std::vector<uint64_t>{11, 44, 55, 66});
		CHECK(verdict.complete != mentions(found[0]->remarks(), "not written back before the reset"));
		return verdict.complete;
	};
	CHECK(judged(1, true));
	CHECK(judged(1, false));
	CHECK(judged(0, true)); // of a module of before
	CHECK_FALSE(judged(0, false));
	// A crash kernel starts before anything is written back, and the panic's record is there.
	CHECK_FALSE(judged(2, true));
	CHECK_FALSE(judged(2, false));
	for (const unsigned head : {40, 499}) {
		CHECK(judged(1, false, head));
		CHECK_FALSE(judged(0, false, head));
		CHECK_FALSE(judged(2, true, head));
	}
}

TEST_CASE("what is no memory is refused with the way out", "[recorder][image]") {
	const auto message = [](std::string_view content) {
		std::vector<std::byte> bytes;
		for (char c : content)
			bytes.push_back(std::byte(c));
		bytes.resize(8192);
		const ImageFile image(bytes);
		try {
			recorder::open_memory_image(image.path);
			return std::string("opened");
		} catch (const Error& error) {
			return std::string(error.what()) + "; " + error.hint();
		}
	};
	CHECK(message("DISKDUMP").find("makedumpfile -E") != std::string::npos);
	CHECK(message("\x89"
	              "dfr")
	          .find("dfr replay") != std::string::npos);
	CHECK(message("nothing").find("no recording") != std::string::npos);
	CHECK_THROWS_AS(recorder::open_memory_image("/nonexistent/core"), Error);
	CHECK_THROWS_WITH(recorder::open_memory_image("/dev/null"),
	                  Catch::Contains("it is empty, or a device"));
}

TEST_CASE("a panic of a machine on which nothing recorded is told", "[recorder][image]") {
	Memory memory;
	memory.panic(70, 9'999, "bash", "sysrq triggered crash");
	const ImageFile image(memory.elf());
	CHECK_THROWS_WITH(recorder::open_memory_image(image.path),
	                  Catch::Contains("dfr.ko was loaded, and no state recorded") &&
	                      Catch::Contains("boot b0b1b2b3-b4b5-b6b7-b8b9-babbbcbdbebf panicked on CPU 1 "
	                                      "in bash (4242): sysrq triggered crash"));
}

} // namespace recorder_image_test
