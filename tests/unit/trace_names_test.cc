// SPDX-License-Identifier: GPL-2.0
//
// Names of addresses in a recording: what is collected comes back from the file and
// answers as the machine would have; of two that an address had, the one of its time;
// what is damaged is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include "analyze/libdfr/recorded_symbols.h"
#include "analyze/render/datum.h"
#include "formats/abi/dof.h"
#include "formats/clock.h"
#include "formats/error.h"
#include "formats/trace/file.h"
#include "formats/trace/joined.h"
#include "recorder/live_symbols.h"
#include "recorder/name_collector.h"
#include "tests/unit/scratch_folder.h"
#include "tests/unit/trace_builder.h"

namespace trace_names_test {

using namespace dfr;
using trace::AddressNames;
using trace::KnownNames;

namespace {

std::string text_of(const std::optional<trace::AddressName>& name) {
	return name ? name->module + "`" + name->name + "+" + std::to_string(name->offset) : "nothing";
}

// Through the bytes of a segment.
KnownNames stored(const AddressNames& names) {
	KnownNames back;
	back.add(trace::decode_names(trace::encode_names(names)));
	return back;
}

__attribute__((noinline)) uint64_t place_in_this_program() {
	return reinterpret_cast<uint64_t>(&place_in_this_program) + 1;
}

// A recording of another boot with one record: a user stack of this process with one frame.
std::string write_recording(const std::string& path, uint64_t address) {
	test::CatalogLog log;
	log.state("names", 1, 4096, DFR_BUFPOLICY_RING).clock(5, 500).probe(1, "p", "", "", "n");
	log.layout(1, {test::plain_field(DFR_FIELD_USTACK, 8), test::int_field(8)}).ecb(1, 1, 1);
	trace::Catalog catalog;
	catalog.parse(log.done());
	std::fill(catalog.boot_id.begin(), catalog.boot_id.end(), uint8_t{0xee});
	const uint64_t now = now_ns();
	test::BlockBytes block(0, 1, now);
	block.long_head(0, 0, now).context(1, 1, 1, "names");
	block.short_head(1, 0, 0).u8(0);
	block.u32(static_cast<uint32_t>(::getpid())).u8(1).u64(address);
	block.u8(7);
	block.counters(0, 0);
	recorder::LiveSymbols live;
	recorder::NameCollector collector(live);
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return catalog; });
	const trace::Block sealed = block.sealed();
	writer.block(sealed);
	collector.block(sealed, catalog);
	writer.names(collector.fresh());
	writer.names(collector.fresh()); // nothing has come: nothing is written
	writer.finish();
	return path;
}

} // namespace

TEST_CASE("names of addresses come back from the file", "[trace][names]") {
	KnownNames known;
	known.add_kernel(0xffffffff81000000, 0x100, 5, "vmlinux", "do_it");
	known.add_kernel(0xffffffffc0000000, 0x10, 5, "ext4", "ext4_read");
	const uint32_t libc = known.add_file("libc.so.6", "cafe");
	known.add_symbol(libc, 0x1000, 0x40, "read");
	known.add_mapping({.pid = 7,
	                   .file = libc,
	                   .start = 0x7f0000000000,
	                   .end = 0x7f0000010000,
	                   .offset = 0x1000,
	                   .since = 5});
	const KnownNames back = stored(known.fresh());
	CHECK(known.fresh().empty());
	CHECK(text_of(back.kernel(0xffffffff810000ff, 9)) == "vmlinux`do_it+255");
	CHECK(text_of(back.kernel(0xffffffff81000100, 9)) == "nothing");
	CHECK(text_of(back.kernel(0xffffffff80ffffff, 9)) == "nothing");
	CHECK(text_of(back.kernel(0xffffffffc0000001, 5)) == "ext4`ext4_read+1");
	CHECK(text_of(back.user(7, 0x7f0000000002, 9)) == "libc.so.6`read+2");
	CHECK(text_of(back.user(7, 0x7f0000000041, 9)) == "libc.so.6`+0"); // mapped, but no symbol is known
	CHECK(text_of(back.user(7, 0x7f0000010000, 9)) == "nothing");
	CHECK(text_of(back.user(8, 0x7f0000000002, 9)) == "nothing");
	CHECK(back.kernel_symbols() == 2);
	CHECK(back.user_symbols() == 1);
	CHECK(back.files() == 1);
}

TEST_CASE("an address is called what it was called at its time", "[trace][names]") {
	KnownNames known;
	const uint32_t shell = known.add_file("sh", ""), list = known.add_file("ls", "");
	known.add_mapping({.pid = 7, .file = shell, .start = 0x400000, .end = 0x500000, .since = 10});
	known.add_mapping({.pid = 7, .file = list, .start = 0x480000, .end = 0x490000, .since = 20});
	CHECK_FALSE(known.user(7, 0x480001, 9)); // what came later says nothing of it
	CHECK(known.user(7, 0x480001, 19)->module == "sh");
	CHECK(known.user(7, 0x480001, 20)->module == "ls");
	CHECK(known.user(7, 0x470000, 30)->module == "sh");
	known.add_kernel(0xffffffffc0000000, 0x100, 10, "old", "f");
	known.add_kernel(0xffffffffc0000080, 0x100, 20, "new", "g");
	CHECK(text_of(known.kernel(0xffffffffc0000090, 9)) == "nothing");
	CHECK(text_of(known.kernel(0xffffffffc0000090, 15)) == "old`f+144");
	CHECK(text_of(known.kernel(0xffffffffc0000090, 25)) == "new`g+16");
}

TEST_CASE("what has gone names nothing any more", "[trace][names]") {
	KnownNames known;
	AddressNames::MappedRange range{.pid = 7,
	                                .file = known.add_file("sh", ""),
	                                .start = 0x400000,
	                                .end = 0x500000,
	                                .since = 10,
	                                .seen = 15};
	CHECK(known.add_mapping(range));
	known.fresh();
	range.until = 30;
	CHECK(known.add_mapping(range)); // said later, and again in the file
	range.since = 12;
	CHECK(known.add_mapping(range));
	CHECK_FALSE(known.add_mapping(range));
	const KnownNames back = stored(known.fresh());
	CHECK_FALSE(back.user(7, 0x400001, 11));
	CHECK(back.user(7, 0x400001, 12)->module == "sh");
	CHECK(back.user(7, 0x400001, 29)->module == "sh");
	CHECK_FALSE(back.user(7, 0x400001, 30));
	CHECK(back.user(7, 0x400001, KnownNames::kAnyTime)->module == "sh");
}

TEST_CASE("a module's symbols have names while it is loaded", "[trace][names]") {
	constexpr uint64_t kPlace = 0xffffffffc0000000, kOther = 0xffffffffc0100000;
	KnownNames known;
	known.add_kernel(kPlace, 0x10, 0, "ext4", "ext4_read");
	known.add_kernel(kOther, 0x10, 0, "ext4", "ext4_read");         // loaded again, elsewhere
	known.add_kernel(kOther + 0x100000, 8, 0, "ext4", "ext4_data"); // outside of what is listed
	known.add_kernel(0xffffffff81000000, 0x10, 0, "vmlinux", "do_it");
	known.add_module("ext4", {.start = kPlace, .size = 0x1000, .since = 10, .until = 20});
	known.add_module("ext4", {.start = kOther, .size = 0x1000, .since = 30});
	const KnownNames back = stored(known.fresh());
	CHECK_FALSE(back.kernel(kPlace, 9));
	CHECK(text_of(back.kernel(kPlace + 1, 10)) == "ext4`ext4_read+1");
	CHECK_FALSE(back.kernel(kPlace, 20));
	CHECK_FALSE(back.kernel(kOther, 20));
	CHECK_FALSE(back.kernel(kPlace, 30)); // it is loaded, but not here
	CHECK(back.kernel(kOther, 30));
	CHECK(back.kernel(kOther + 0x100000, 15));
	CHECK_FALSE(back.kernel(kOther + 0x100000, 25));
	CHECK(back.kernel(0xffffffff81000000, 0));
	CHECK(back.kernel(kPlace, KnownNames::kAnyTime));
}

TEST_CASE("two files of one name have each their symbols", "[trace][names]") {
	KnownNames known;
	const uint32_t one = known.add_file("libc.so.6", "aa"), other = known.add_file("libc.so.6", "bb");
	known.add_symbol(one, 0x10, 0x10, "read");
	known.add_symbol(other, 0x10, 0x10, "write");
	known.add_mapping({.pid = 1, .file = one, .start = 0x1000, .end = 0x2000});
	known.add_mapping({.pid = 2, .file = other, .start = 0x1000, .end = 0x2000});
	const KnownNames back = stored(known.fresh());
	CHECK(text_of(back.user(1, 0x1011, 5)) == "libc.so.6`read+1");
	CHECK(text_of(back.user(2, 0x1011, 5)) == "libc.so.6`write+1");
	CHECK(back.files() == 2);
}

TEST_CASE("symbols inside of symbols, and ones that grow", "[trace][names]") {
	KnownNames known;
	const uint32_t file = known.add_file("a", "");
	known.add_mapping({.pid = 1, .file = file, .start = 0x1000, .end = 0x2000});
	known.add_symbol(file, 0x10, 0x100, "outer");
	known.add_symbol(file, 0x40, 0x10, "inner");
	CHECK(known.user(1, 0x1045, 0)->name == "inner");
	CHECK(known.user(1, 0x1060, 0)->name == "outer");
	CHECK(known.add_kernel(0xffff, 3, 0, "m", "last"));
	CHECK_FALSE(known.add_kernel(0xffff, 2, 0, "m", "last"));
	CHECK(known.add_kernel(0xffff, 9, 0, "m", "last"));
	CHECK(known.kernel(0xffff + 8, 0)->offset == 8);
}

TEST_CASE("another boot prints the names that the file holds", "[trace][names]") {
	test::ScratchFolder folder;
	const uint64_t address = place_in_this_program();
	const std::string path = write_recording(folder.file("a.dfr"), address);
	std::vector<std::unique_ptr<trace::FileSource>> files;
	files.push_back(trace::open_file(path));
	trace::JoinedSource source(std::move(files));
	bool asked_in_vain = false;
	lib::RecordedSymbols symbols({&source}, [&] { asked_in_vain = true; });
	const auto name = symbols.user(static_cast<uint32_t>(::getpid()), address);
	CHECK(name.module == "dfr_unit");
	CHECK(name.name.find("place_in_this_program") != std::string::npos);
	CHECK(name.offset == 1);
	CHECK_FALSE(asked_in_vain);
	CHECK(symbols.user(1, address).module.empty());
	CHECK(asked_in_vain);
	CHECK(symbols.kernel(address).name.empty());

	// A copy has them, too.
	trace::FileWriter copy(folder.file("b.dfr"), false,
	                       [&]() -> const trace::Catalog& { return source.catalog(); });
	const auto again = trace::open_file(path);
	trace::copy_to_file(*again, copy);
	copy.finish();
	KnownNames known;
	trace::open_file(folder.file("b.dfr"))->names(known);
	CHECK(known.user(static_cast<uint32_t>(::getpid()), address, now_ns())->offset == 1);
	CHECK_FALSE(known.user(static_cast<uint32_t>(::getpid()), address, 1)); // before this process
}

namespace {

// As of a harvest that found no kernel: a catalog and no names.
class Nameless : public trace::BlockSource {
public:
	const trace::Catalog& catalog() override { return catalog_; }
	std::string name() const override { return {}; }
	std::vector<trace::AggEntry> aggregations() override { return {}; }
	trace::Losses losses() override { return {}; }
	std::vector<std::string> remarks() override { return {}; }
	bool partial() override { return false; }
	std::optional<trace::Block> next() override { return std::nullopt; }
	std::vector<trace::BlockRef> index() override { return {}; }
	std::optional<trace::Block> load(const trace::BlockRef&) override { return std::nullopt; }
	trace::Catalog catalog_;
};

} // namespace

TEST_CASE("an address without a name is called by the module that the catalog has there", "[trace][names]") {
	Nameless source;
	source.catalog_.modules = {{.name = "ext4", .time = 0, .base = 0xffffffffc0001000, .bytes = 0x2000}};
	bool asked_in_vain = false;
	lib::RecordedSymbols symbols({&source}, [&] { asked_in_vain = true; });
	const auto text = [&symbols](uint64_t address, bool with_offset) {
		return render::address_text(symbols.kernel(address), address, with_offset);
	};
	CHECK(text(0xffffffffc0001010, true) == "ext4+0x10");
	CHECK(text(0xffffffffc0001010, false) == "ext4+0x10"); // as sym() has it: no function is known
	CHECK(symbols.kernel(0xffffffffc0001010).module == "ext4");
	CHECK_FALSE(asked_in_vain);
	CHECK(text(0xffffffffc0003000, true) == "0xffffffffc0003000");
	CHECK(asked_in_vain);
}

TEST_CASE("damaged names are told, and cost nothing else", "[trace][names]") {
	test::ScratchFolder folder;
	const std::string path = write_recording(folder.file("a.dfr"), place_in_this_program());
	std::ifstream in(path, std::ios::binary);
	std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
	const std::string head{'D', 'S', 'E', 'G', 8, 0}; // a segment of type 8: container.h
	const auto at = std::search(bytes.begin(), bytes.end(), head.begin(), head.end());
	REQUIRE(at != bytes.end());
	at[32] ^= 1;
	std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
	const auto file = trace::open_file(path);
	KnownNames known;
	file->names(known);
	CHECK(known.size() == 0);
	CHECK(file->partial());
	REQUIRE(file->remarks().size() == 1);
	CHECK(file->remarks().front().find("(names of addresses) are damaged") != std::string::npos);
	CHECK(file->next());
}

TEST_CASE("names that name nothing are refused", "[trace][names]") {
	AddressNames names;
	names.texts = {"a"};
	names.files = {{.name = 0, .build_id = 1}};
	CHECK_THROWS_AS(trace::decode_names(trace::encode_names(names)), Error);
	names.files = {{.name = 0, .build_id = 0}};
	names.symbols = {{.file = 1, .name = 0}};
	CHECK_THROWS_AS(trace::decode_names(trace::encode_names(names)), Error);
	names.symbols.clear();
	names.mappings = {{.pid = 1, .file = 1}};
	CHECK_THROWS_AS(trace::decode_names(trace::encode_names(names)), Error);
	names.mappings.clear();
	names.kernel = {{.start = 1, .size = 1, .module = 0, .name = 7}};
	CHECK_THROWS_AS(trace::decode_names(trace::encode_names(names)), Error);
	CHECK_THROWS_AS(trace::decode_names({}), Error);
}

// Which addresses are looked for: NameCollector's header.
TEST_CASE("addresses of processes in keys and profile probes are collected", "[trace][names]") {
	test::CatalogLog log;
	log.state("names", 1, 4096, DFR_BUFPOLICY_RING).probe(1, "profile", "", "", "profile-97", 2);
	dfr_field argument = test::int_field(8);
	argument.argument = 1;
	log.layout(1, {argument}).ecb(1, 1, 1);
	trace::Catalog catalog;
	catalog.parse(log.done());
	catalog.aggregations[1].keys = {test::plain_field(DFR_FIELD_STRING, 16),
	                                test::plain_field(DFR_FIELD_USYM, 16)};
	recorder::LiveSymbols live;
	const uint64_t address = place_in_this_program();
	const auto pid = static_cast<uint32_t>(::getpid());

	recorder::NameCollector of_records(live);
	trace::Record record;
	record.epid = 1;
	record.context.pid = pid;
	record.time = now_ns();
	trace::Value value{.number = address};
	record.fields = {&value, 1};
	of_records.record(record, catalog);
	CHECK(stored(of_records.fresh()).user(pid, address, record.time)->offset == 1);
	record.time = 1; // when this process was not there: its number was another one's
	recorder::NameCollector of_others(live);
	of_others.record(record, catalog);
	CHECK(of_others.fresh().empty());

	recorder::NameCollector of_keys(live);
	test::Bytes key;
	key.text("key").pad(8).u64(pid).u64(address);
	of_keys.aggregations({{.varid = 1, .kind = DFR_ACT_COUNT, .key = key.bytes, .words = {1}}}, catalog);
	CHECK(stored(of_keys.fresh()).user(pid, address, now_ns())->offset == 1);
	key.bytes.resize(20); // cut
	of_keys.aggregations({{.varid = 1, .kind = DFR_ACT_COUNT, .key = key.bytes, .words = {1}}}, catalog);
	CHECK(of_keys.fresh().empty());
}

} // namespace trace_names_test
