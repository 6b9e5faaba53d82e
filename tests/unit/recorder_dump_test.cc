// SPDX-License-Identifier: GPL-2.0
//
// Dumps that are compressed page by page: the decoders on streams made by hand from
// their descriptions, and images in makedumpfile's forms, whole, cut and damaged.
#include <catch2/catch.hpp>
#include <fstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "formats/error.h"
#include "formats/trace/decode.h"
#include "recorder/kdump_pages.h"
#include "recorder/memory_image.h"
#include "recorder/page_codec.h"
#include "tests/unit/image_builder.h"
#include "tests/unit/scratch_folder.h"

namespace recorder_dump_test {

using namespace dfr;
using test::Memory;

namespace {

using Raw = std::vector<std::byte>;

Raw bytes(std::initializer_list<unsigned> values, std::string_view literals = {}) {
	Raw result;
	for (const unsigned value : values)
		result.push_back(std::byte(value));
	for (const char c : literals)
		result.push_back(std::byte(c));
	return result;
}

Raw operator+(Raw a, const Raw& b) {
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

// What the stream gives, or "?" if it is refused.
std::string unpacked(uint32_t codec, const Raw& packed, size_t size) {
	Raw page(size);
	if (!recorder::unpack_page(codec, packed, page))
		return "?";
	return {reinterpret_cast<const char*>(page.data()), page.size()};
}

// Literals only: what any lzo1x and snappy decoder must take.
Raw pack_lzo(const Memory::Page& page) {
	// The page up to where the rest is one byte again and again, then that byte copied from 1 before.
	size_t end = page.size();
	while (end > 1 && page[end - 1] == page[end - 2])
		end--;
	if (end < 20 || page.size() - end < 600)
		return page;
	Raw packed = bytes({0});
	size_t more = end - 18;
	for (; more > 255; more -= 255)
		packed.push_back(std::byte{0});
	packed.push_back(std::byte(more));
	packed.insert(packed.end(), page.begin(), page.begin() + static_cast<long>(end));
	packed = packed + bytes({32});
	for (more = page.size() - end - 33; more > 255; more -= 255)
		packed.push_back(std::byte{0});
	packed.push_back(std::byte(more));
	return packed + bytes({0, 0, 17, 0, 0});
}
Raw pack_snappy(const Memory::Page& page) {
	Raw packed = bytes({0x80, 0x20}); // 4096
	size_t end = page.size();
	while (end > 1 && page[end - 1] == page[end - 2])
		end--;
	packed = packed + bytes({61 << 2, static_cast<unsigned>((end - 1) & 255),
	                         static_cast<unsigned>((end - 1) >> 8)});
	packed.insert(packed.end(), page.begin(), page.begin() + static_cast<long>(end));
	for (size_t left = page.size() - end; left; left -= std::min<size_t>(left, 64))
		packed =
		    packed + bytes({static_cast<unsigned>((std::min<size_t>(left, 64) - 1) << 2 | 2), 1, 0});
	return packed;
}
Raw pack_zlib(const Memory::Page& page) {
	Raw packed(compressBound(page.size()));
	uLongf size = packed.size();
	REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
	                 reinterpret_cast<const Bytef*>(page.data()), page.size()) == Z_OK);
	packed.resize(size);
	return packed;
}
Raw pack_zstd(const Memory::Page& page) {
	Raw packed(ZSTD_compressBound(page.size()));
	packed.resize(ZSTD_compress(packed.data(), packed.size(), page.data(), page.size(), 1));
	return packed;
}

// One recording: a catalog, and a ring of one CPU with three blocks.
Memory small_memory() {
	Memory memory;
	test::CatalogLog log;
	log.state("small", 1, 4096, DFR_BUFPOLICY_RING).clock(1'000, 1);
	log.probe(1, "syscall", "vmlinux", "write", "entry", 3);
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1);
	log.entry(DFR_CAT_MEMORY, test::Bytes().u32(DFR_ANCHOR_RING).u32(0).u32(0).u32(3));
	log.entry(DFR_CAT_MEMORY, test::Bytes().u32(DFR_ANCHOR_CATALOG).u32(0).u32(0).u32(1));
	memory.put({100}, log.done());
	memory.anchor({.pfn = 50, .kind = DFR_ANCHOR_CATALOG, .unit = 4096, .frames = {100}});
	for (uint8_t seq = 1; seq <= 3; seq++) {
		test::BlockBytes block(0, seq, 1000 * seq);
		block.long_head(0, 0, 1000 * seq).context(1, 1, 1, "sh");
		block.short_head(1, 0, 0).u8(0).u8(seq);
		block.counters(0, seq - 1u).opened(seq > 1 ? 1000 * (seq - 1) : 0, 1000 * seq);
		memory.put({199u + seq}, block.sealed(true).bytes);
	}
	memory.anchor({.pfn = 51, .kind = DFR_ANCHOR_RING, .unit = 4096, .frames = {200, 201, 202}});
	memory.page(300); // of zeros
	return memory;
}

struct Read {
	std::vector<uint64_t> values;
	trace::Verdict verdict;
};

Read read_image(const Raw& file) {
	char path[] = "/tmp/dfr-dump-XXXXXX";
	const int fd = mkstemp(path);
	REQUIRE(fd >= 0);
	close(fd);
	std::ofstream(path, std::ios::binary)
	    .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
	Read result;
	try {
		const auto found = recorder::open_memory_image(path);
		trace::Merger merger(*found.at(0));
		merger.run([&](const trace::Record& record) {
			result.values.push_back(record.fields[0].number);
			return true;
		});
		result.verdict = trace::judge(*found[0], merger);
	} catch (const Error&) {
		result.verdict.complete = false;
	}
	unlink(path);
	return result;
}

} // namespace

TEST_CASE("lzo1x streams as the kernel's documents describe them", "[recorder][dump]") {
	using recorder::kLzo;
	const Raw end = bytes({17, 0, 0});
	// 17 + 5: five literals; then 1LLDDDSS: length 5 + 0, distance 0 + 4 + 1; no literals.
	CHECK(unpacked(kLzo, bytes({22}, "hello") + bytes({0x90, 0}) + end, 10) == "hellohello");
	// 01LDDDSS: length 3 + 1, distance 5, then two literals.
	CHECK(unpacked(kLzo, bytes({22}, "hello") + bytes({0x72, 0}, "!?") + end, 11) == "hellohell!?");
	// 001LLLLL: length 2 + 3, a distance of 14 bits and one literal.
	CHECK(unpacked(kLzo, bytes({22}, "hello") + bytes({0x23, 4 << 2 | 1, 0}, "w") + end, 11) ==
	      "hellohellow");
	// Three literals first, then two bytes from 3 before: 0000DDSS, distance (0 << 2) + 2 + 1.
	CHECK(unpacked(kLzo, bytes({20}, "abc") + bytes({8, 0}) + end, 5) == "abcab");
	// A long run: 3 + 15 + 2 literals.
	CHECK(unpacked(kLzo, bytes({0, 2}, "abcdefghijklmnopqrst") + end, 20) == "abcdefghijklmnopqrst");
	for (const Raw& wrong : {bytes({22}, "hell"), bytes({22}, "hello") + bytes({0x98, 0}) + end,
	                         bytes({22}, "hello") + bytes({0x20, 0, 0}), Raw{}, bytes({0x10, 0})})
		CHECK(unpacked(kLzo, wrong, 10) == "?");
	CHECK(unpacked(kLzo, bytes({22}, "hello") + bytes({0x90, 0}) + end, 9) == "?");
}

TEST_CASE("snappy streams as their description has them", "[recorder][dump]") {
	using recorder::kSnappy;
	CHECK(unpacked(kSnappy, bytes({5, 4 << 2}, "hello"), 5) == "hello");
	// A copy of 4 + 1 bytes from 5 before; then one of 3 with 16 bits of distance, and with 32.
	CHECK(unpacked(kSnappy, bytes({10, 4 << 2}, "hello") + bytes({1 << 2 | 1, 5}), 10) == "hellohello");
	CHECK(unpacked(kSnappy, bytes({8, 4 << 2}, "hello") + bytes({2 << 2 | 2, 5, 0}), 8) == "hellohel");
	CHECK(unpacked(kSnappy, bytes({8, 4 << 2}, "hello") + bytes({2 << 2 | 3, 5, 0, 0, 0}), 8) ==
	      "hellohel");
	CHECK(unpacked(kSnappy, bytes({5, 60 << 2, 4}, "hello"), 5) == "hello");
	for (const Raw& wrong :
	     {bytes({6, 4 << 2}, "hello"), bytes({5, 4 << 2}, "hell"),
	      bytes({8, 4 << 2}, "hello") + bytes({2 << 2 | 2, 6, 0}), bytes({0x80, 0x80}), Raw{}})
		CHECK(unpacked(kSnappy, wrong, wrong.size() > 8 ? 8 : 5) == "?");
}

TEST_CASE("kdump-compressed dumps, flattened or not, give what the memory has", "[recorder][dump]") {
	const Memory memory = small_memory();
	const std::pair<uint32_t, Memory::Pack> codecs[] = {
	    {recorder::kPlain, [](const Memory::Page& p) { return p; }},
	    {recorder::kZlib, pack_zlib},
	    {recorder::kLzo, pack_lzo},
	    {recorder::kSnappy, pack_snappy},
	    {recorder::kZstd, pack_zstd}};
	for (const auto& [codec, pack] : codecs) {
		INFO(codec);
		const Raw file = memory.kdump(codec, pack);
		CHECK((codec == recorder::kPlain || file.size() < memory.kdump(0, codecs[0].second).size()));
		for (const Raw& form :
		     {file, Memory::flattened(file, 10'000), Memory::flattened(file, 999)}) {
			const Read read = read_image(form);
			CHECK(read.values == std::vector<uint64_t>{1, 2, 3});
			CHECK(read.verdict.complete);
		}
	}
}

TEST_CASE("a kdump-compressed dump that is cut is read up to the cut and says so", "[recorder][dump]") {
	const Raw whole = small_memory().kdump(recorder::kZlib, pack_zlib);
	for (const Raw& form : {whole, Memory::flattened(whole, 700)})
		for (size_t size = 0; size + 8 < form.size(); size += 97) {
			INFO(size);
			const Read read = read_image({form.begin(), form.begin() + static_cast<long>(size)});
			CHECK_FALSE(read.verdict.complete);
		}
}

// A piece of a flattened file: its head and what of it is there.
void add_piece(Raw& flat, uint64_t offset, uint64_t size, std::span<const std::byte> there) {
	for (const uint64_t number : {offset, size})
		for (int shift = 56; shift >= 0; shift -= 8)
			flat.push_back(static_cast<std::byte>(number >> shift));
	flat.insert(flat.end(), there.begin(), there.end());
}

std::string write(const test::ScratchFolder& scratch, const Raw& file) {
	const auto* const first = reinterpret_cast<const uint8_t*>(file.data());
	return scratch.write("dump", {first, first + file.size()});
}

TEST_CASE("a flattened dump whose pieces lie far apart is refused before memory is taken for it",
          "[recorder][dump]") {
	const Raw file = small_memory().kdump(recorder::kZlib, pack_zlib);
	Raw flat = Memory::flattened(file, 10'000);
	flat.resize(flat.size() - 16); // its end
	add_piece(flat, uint64_t{1} << 45, 1, bytes({7}));
	const test::ScratchFolder scratch;
	CHECK_THROWS_WITH(recorder::open_memory_image(write(scratch, flat)),
	                  Catch::Contains("too far apart"));
}

TEST_CASE("pages of a dump whose map is lost are not taken for zeros", "[recorder][dump]") {
	const Raw file = small_memory().kdump(recorder::kZlib, pack_zlib);
	constexpr size_t kPage = Memory::kPageSize, kMemoryMap = 2 * kPage, kDumpedMap = 3 * kPage;
	// The map comes last, and only its first byte is there.
	Raw flat = Memory::flattened(std::span(file).first(1), kPage);
	flat.resize(kPage);
	for (size_t at = 0; at < file.size(); at += kPage)
		if (at != kDumpedMap)
			add_piece(flat, at, std::min(kPage, file.size() - at),
			          std::span(file).subspan(at, std::min(kPage, file.size() - at)));
	add_piece(flat, kDumpedMap, kPage, std::span(file).subspan(kDumpedMap, 1));
	const test::ScratchFolder scratch;
	const recorder::KdumpPages pages(std::make_shared<recorder::DumpFile>(write(scratch, flat)));
	std::vector<std::byte> page(kPage);
	size_t frames = 0;
	for (size_t frame = 0; frame < 8 * kPage; frame++)
		if ((file[kMemoryMap + frame / 8] >> (frame % 8) & std::byte{1}) != std::byte{0}) {
			frames++;
			CHECK_FALSE(pages.read(frame, page));
		}
	CHECK(frames > 3);
	CHECK(pages.remarks().size() == 2);
}

TEST_CASE("a dump's map claims no more pages than the file can have", "[recorder][dump]") {
	// A map of ones, and none of the pages.
	Raw file = small_memory().kdump(recorder::kZlib, pack_zlib);
	constexpr size_t kPage = Memory::kPageSize, kMaps = 2 * kPage, kMapPages = 64;
	file.resize(kMaps);
	const uint32_t blocks = 2 * kMapPages;
	std::memcpy(file.data() + 436, &blocks, sizeof(blocks));
	file.resize(kMaps + blocks * kPage, std::byte{0xff});
	file.resize(file.size() + 24 * 10); // ten descriptors
	const test::ScratchFolder scratch;
	const recorder::KdumpPages pages(std::make_shared<recorder::DumpFile>(write(scratch, file)));
	CHECK(pages.frames() == 8 * kMapPages * kPage);
	CHECK(pages.pages() == 10);
	CHECK_FALSE(read_image(file).verdict.complete);
}

TEST_CASE("a pipe by a dump's name is waited for by nobody", "[recorder][dump]") {
	const test::ScratchFolder folder;
	const std::string path = folder.file("pipe");
	REQUIRE(mkfifo(path.c_str(), 0600) == 0);
	CHECK_THROWS_WITH(recorder::DumpFile(path), "cannot read " + path + ": it is a pipe");
}

TEST_CASE("a page of a dump that does not unpack costs that page", "[recorder][dump]") {
	Raw file = small_memory().kdump(recorder::kZlib, pack_zlib);
	// The last page that is stored is the third block; its checksum stands at the end.
	file.back() ^= std::byte{1};
	const Read read = read_image(file);
	CHECK(read.values == std::vector<uint64_t>{1, 2});
	CHECK_FALSE(read.verdict.complete);
}

TEST_CASE("a dump that gives one page the bytes of another one is never called complete",
          "[recorder][dump]") {
	const Raw whole = small_memory().kdump(recorder::kZlib, pack_zlib);
	constexpr size_t kDescriptors = 4 * Memory::kPageSize, kSize = 24, kPages = 6;
	for (size_t to = 0; to < kPages; to++)
		for (size_t from = 0; from < kPages; from++) {
			INFO(to << " has " << from);
			Raw file = whole;
			const auto at = [](size_t page) {
				return static_cast<long>(kDescriptors + page * kSize);
			};
			std::copy_n(whole.begin() + at(from), kSize, file.begin() + at(to));
			const Read read = read_image(file);
			CHECK(read.verdict.complete == (from == to));
		}
}

} // namespace recorder_dump_test
