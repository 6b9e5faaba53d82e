// SPDX-License-Identifier: GPL-2.0
//
// Crashes that are stored beside others: which go, which files there are, and on what disk.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/wait.h>

#include "analyze/cli/crash_setup.h"
#include "formats/trace/parts.h"
#include "tests/unit/dead_kernel_builder.h"
#include "tests/unit/scratch_folder.h"

namespace crash_store_test {

using namespace dfr;
using namespace dfr::test;
namespace fs = std::filesystem;

namespace {

struct Told {
	int status;
	std::string text;
};

// The command beside this program.
Told dfr_says(const ScratchFolder& folder, const std::string& arguments) {
	const std::string dfr = fs::read_symlink("/proc/self/exe").parent_path() / "dfr",
	                  out = folder.file("told");
	const int status = std::system((dfr + " " + arguments + " >" + out + " 2>&1").c_str());
	std::ostringstream text;
	text << std::ifstream(out).rdbuf();
	return {WEXITSTATUS(status), text.str()};
}

// A state, which has blocks of these numbers on CPU 0, on frames from `first` on; of several a consumer has taken some, and so
// there are spares.
void put_state(Memory& memory, uint64_t first, uint8_t boot, const std::vector<uint64_t>& numbers = {1},
               uint64_t load = Memory::kLoad) {
	CatalogLog log(7, boot);
	log.state("flight", 1, 4096, DFR_BUFPOLICY_RING, 7);
	log.clock(1'000, boot).probe(1, "fbt", "vmlinux", "do_it", "entry", 1);
	log.layout(1, {int_field(8)}).ecb(1, 1, 1).dof(0, "program");
	const size_t spares = numbers.size() > 1 ? 8 : 0;
	log.entry(
	    DFR_CAT_MEMORY,
	    Bytes().u32(DFR_ANCHOR_RING).u32(0).u32(0).u32(static_cast<uint32_t>(numbers.size() + spares)));
	memory.put({first}, log.done());
	memory.anchor({.pfn = first + 1,
	               .kind = DFR_ANCHOR_CATALOG,
	               .unit = 4096,
	               .frames = {first},
	               .boot = boot,
	               .load = load});
	std::vector<uint64_t> frames;
	for (const uint64_t number : numbers) {
		BlockBytes block(0, number, 1000 * number, 4096);
		block.long_head(0, 0, 1000 * number).context(1, 1, 1, "sh");
		block.short_head(1, 0, 0).u8(0).u8(static_cast<uint8_t>(number));
		block.counters(0, number - 1).opened(1000 * (number - 1), 1000 * number);
		frames.push_back(first + 3 + frames.size());
		memory.put({frames.back()}, block.sealed(true).bytes);
	}
	for (size_t i = 0; i < spares; i++) {
		frames.push_back(first + 3 + frames.size());
		memory.put({frames.back()}, Bytes().u32(DFR_BLOCK_FRESH).bytes);
	}
	memory.anchor({.pfn = first + 2,
	               .kind = DFR_ANCHOR_RING,
	               .unit = 4096,
	               .frames = frames,
	               .boot = boot,
	               .load = load});
}

std::string image_of(const ScratchFolder& folder, const Memory& memory) {
	const std::vector<std::byte> bytes = memory.elf();
	const auto* const from = reinterpret_cast<const uint8_t*>(bytes.data());
	return folder.write("memory.elf", {from, from + bytes.size()});
}

std::set<std::string> names_in(const std::string& folder) {
	std::set<std::string> names;
	for (const auto& entry : fs::directory_iterator(folder))
		names.insert(entry.path().filename());
	return names;
}

std::string crash_folder(unsigned number) {
	char name[64];
	std::snprintf(name, sizeof(name), "%04u-20261121-150233", number);
	return name;
}

} // namespace

TEST_CASE("a crash's recordings have half of what the disk has left, as the doctor says", "[crash]") {
	using cli::RingRoom;
	CHECK(cli::ring_room(2000, 1000) == RingRoom::enough);
	CHECK(cli::ring_room(1999, 1000) == RingRoom::if_packed);
	CHECK(cli::ring_room(1200, 1000) == RingRoom::if_packed);
	CHECK(cli::ring_room(1000, 1000) == RingRoom::if_packed);
	CHECK(cli::ring_room(999, 1000) == RingRoom::none);
}

TEST_CASE("crashes without a recording go first and push none out", "[crash-store]") {
	const ScratchFolder folder;
	Memory memory;
	put_state(memory, 100, 0xb0);
	const std::string image = image_of(folder, memory), crashes = folder.file("crash");
	for (unsigned number = 1; number <= 12; number++) {
		fs::create_directories(crashes + "/" + crash_folder(number));
		if (number % 6 != 5) // 5 and 11 were killed
			std::ofstream(crashes + "/" + crash_folder(number) + "/crash.dfr") << "a recording";
	}
	fs::create_directories(crashes + "/mine");
	const Told told = dfr_says(folder, "crash store --folder " + crashes + " " + image);
	INFO(told.text);
	CHECK(told.status == 0);
	const std::set<std::string> left = names_in(crashes);
	CHECK(left.size() == 11); // ten, and the one that nobody numbers
	CHECK(left.contains("mine"));
	for (const unsigned gone : {1, 5, 11})
		CHECK_FALSE(left.contains(crash_folder(gone)));
	CHECK(left.contains(crash_folder(2)));
	CHECK(left.rbegin()->starts_with("mine"));
	CHECK(std::next(left.rbegin())->starts_with("0013-"));
}

TEST_CASE("a boot that panicked before is stored beside the one that died", "[crash-store]") {
	const ScratchFolder folder;
	Memory memory;
	Kernel died;
	died.frame = 0x200;
	died.page = 0x300;
	died.boot = 0xb0;
	died.put(memory);
	put_state(memory, 100, 0xb0);
	put_state(memory, 120, 0x10);
	memory.panic(140, 9'999, "sh", "of the boot before", 0x10);
	put_state(memory, 160, 0x20); // of a boot that ended in order
	const std::string image = image_of(folder, memory), crashes = folder.file("crash");
	const Told told = dfr_says(folder, "crash store --folder " + crashes + " " + image);
	INFO(told.text);
	CHECK(told.status == 0);
	const std::set<std::string> stored = names_in(crashes);
	REQUIRE(stored.size() == 1);
	CHECK(names_in(crashes + "/" + *stored.begin()) ==
	      std::set<std::string>{"crash.dfr", "crash.flight-7-10111213.dfr"});
	const std::string first = crashes + "/" + *stored.begin() + "/crash.dfr";
	CHECK(dfr_says(folder, "info " + first).text.find("of the boot before") == std::string::npos);
}

TEST_CASE("recordings that claim to be of one state have files of their own", "[crash-store]") {
	const ScratchFolder folder;
	Memory memory;
	for (const uint64_t forged : {0, 1, 2})
		put_state(memory, 100 + 20 * forged, 0xb0, {1}, Memory::kLoad + forged);
	const std::string image = image_of(folder, memory), out = folder.file("out.dfr");
	const Told told = dfr_says(folder, "harvest " + image + " -o " + out);
	INFO(told.text);
	CHECK(told.status != 1);
	for (const char* const name : {"out.dfr", "out.flight-7.dfr", "out.flight-7-2.dfr"})
		CHECK(fs::exists(folder.file(name)));
}

TEST_CASE("what a consumer held is stored beside the recording", "[crash-store]") {
	const ScratchFolder folder;
	Memory memory;
	put_state(memory, 100, 0xb0, {1, 2, 8, 9});
	const std::string image = image_of(folder, memory), out = folder.file("out.dfr");
	const Told told = dfr_says(folder, "harvest " + image + " -o " + out);
	INFO(told.text);
	CHECK(told.status == 0); // of the window that begins behind what was given back
	CHECK_THAT(told.text, Catch::Contains("2 older blocks that a consumer had taken and not given back"));
	CHECK(fs::exists(folder.file("out.held.dfr")));
	CHECK_THAT(dfr_says(folder, "verify " + folder.file("out.held.dfr")).text, Catch::Contains("2"));
}

TEST_CASE("what has no room on the disk leaves nothing there", "[crash-store]") {
	const ScratchFolder folder;
	Memory memory;
	put_state(memory, 100, 0xb0);
	const std::string image = image_of(folder, memory), out = folder.file("out.dfr");
	REQUIRE(dfr_says(folder, "harvest " + image + " -o " + out).status == 0);
	const uint64_t size = fs::file_size(out);
	fs::remove(out);
	for (uint64_t room = 0; room < size; room += 1 + size / 16) {
		const Told told =
		    dfr_says(folder, "harvest --room " + std::to_string(room) + " " + image + " -o " + out);
		INFO(told.text);
		CHECK(told.status == 1);
		CHECK_THAT(told.text, Catch::Contains("recordings may take half of what the disk has left"));
		CHECK_FALSE(fs::exists(out));
	}
	CHECK(
	    dfr_says(folder, "harvest --room " + std::to_string(size) + " " + image + " -o " + out).status ==
	    0);
}

TEST_CASE("a harvest replaces no file that it reads, and nothing before the new one is whole",
          "[crash-store]") {
	const ScratchFolder folder;
	Memory memory;
	put_state(memory, 100, 0xb0, {1, 2, 8, 9}); // of which a consumer held some
	const std::string image = image_of(folder, memory), out = folder.file("out.dfr"),
	                  link = folder.file("link.dfr"), held = folder.file("out.held.dfr");
	fs::create_hard_link(image, link);
	const uint64_t size = fs::file_size(image);
	REQUIRE(dfr_says(folder, "harvest " + image + " -o " + out).status == 0);
	const uint64_t recorded = fs::file_size(out);
	for (const std::string& words : {image + " -o " + image, image + " -o " + link,
	                                 "--catalog " + out + " " + image + " -o " + out}) {
		const Told told = dfr_says(folder, "harvest --replace " + words);
		INFO(told.text);
		CHECK(told.status == 1);
		CHECK_THAT(told.text, Catch::Contains("it is a file that is read"));
	}
	CHECK(fs::file_size(image) == size);
	CHECK(fs::file_size(out) == recorded);

	// What stands beside the recording is no source either.
	fs::rename(out, held);
	const Told beside =
	    dfr_says(folder, "harvest --replace --catalog " + held + " " + image + " -o " + out);
	INFO(beside.text);
	CHECK(beside.status == 1);
	CHECK_THAT(beside.text, Catch::Contains(held + ": it is a file that is read"));
	CHECK(fs::file_size(held) == recorded);
	const uint64_t old = fs::file_size(out);

	const std::set<std::string> before = names_in(folder.path());
	const Told full = dfr_says(folder, "harvest --replace --room " + std::to_string(old / 2) + " " +
	                                       image + " -o " + out);
	INFO(full.text);
	CHECK(full.status == 1);
	CHECK(fs::file_size(out) == old);
	CHECK(names_in(folder.path()) == before);

	std::ofstream(out) << "old";
	CHECK(dfr_says(folder, "harvest --replace " + image + " -o " + out).status == 0);
	CHECK(dfr_says(folder, "info " + out).status == 0);
	CHECK(names_in(folder.path()) == before);
}

} // namespace crash_store_test
