// SPDX-License-Identifier: GPL-2.0
//
// LiveSymbols: what is at an address of a process at a time. The processes are children of the
// test; what they have mapped is read from their maps, and a build id is what readelf
// calls so (ELF, note NT_GNU_BUILD_ID).
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "formats/clock.h"
#include "formats/types/elf.h"
#include "recorder/live_symbols.h"
#include "tests/unit/peak_memory.h"
#include "tests/unit/scratch_folder.h"

namespace live_symbols_test {

using namespace dfr;
using recorder::LiveSymbols;

namespace {

// A process that runs `cat`, which waits for its input, under a path of our own.
class Waiting {
public:
	explicit Waiting(const std::string& program) {
		REQUIRE(::pipe(input_) == 0);
		pid_ = ::fork();
		if (pid_ == 0) {
			::dup2(input_[0], 0);
			::close(input_[1]);
			::execl(program.c_str(), program.c_str(), nullptr);
			::_exit(127);
		}
		while (text_start(base_name(program)) == 0)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	~Waiting() {
		::close(input_[0]);
		::close(input_[1]);
		::waitpid(pid_, nullptr, 0);
	}
	Waiting(const Waiting&) = delete;
	Waiting& operator=(const Waiting&) = delete;
	uint32_t pid() const { return static_cast<uint32_t>(pid_); }
	// Where code of a file is mapped; 0: nowhere.
	uint64_t text_start(const std::string& file) const {
		std::istringstream lines(recorder::read_maps(pid_));
		for (std::string line; std::getline(lines, line);)
			if (line.find(" r-xp ") != std::string::npos && line.ends_with("/" + file))
				return std::stoull(line, nullptr, 16);
		return 0;
	}
	static std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

private:
	int input_[2];
	pid_t pid_;
};

std::string copy_of(const std::string& from, const std::string& to) {
	std::ifstream in(from, std::ios::binary);
	std::ofstream(to, std::ios::binary) << in.rdbuf();
	::chmod(to.c_str(), 0755);
	return to;
}

// A copy of a program whose build id is another one: the note's bytes are changed.
std::string changed_copy(const std::string& from, const std::string& to, const std::string& id) {
	std::ifstream in(from, std::ios::binary);
	std::string bytes{std::istreambuf_iterator<char>(in), {}};
	std::string old;
	for (size_t i = 0; i < id.size(); i += 2)
		old += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
	const size_t at = bytes.find(old);
	REQUIRE(at != std::string::npos);
	bytes[at] = static_cast<char>(bytes[at] ^ 1);
	std::ofstream(to, std::ios::binary) << bytes;
	::chmod(to.c_str(), 0755);
	return to;
}

std::string read_build_id(const std::string& path) {
	const std::string command = "readelf -n " + path + " | sed -n 's/.*Build ID: //p'";
	FILE* const pipe = ::popen(command.c_str(), "r");
	char line[256] = {};
	const bool got = std::fgets(line, sizeof line, pipe);
	::pclose(pipe);
	return got ? std::string(line, std::strcspn(line, "\n")) : std::string();
}

} // namespace

TEST_CASE("a file's build id is that of its note", "[types][names]") {
	const std::string id = read_build_id("/bin/cat");
	REQUIRE(id.size() == 40);
	CHECK(types::ElfFile(types::Blob::from_file("/bin/cat"), "cat").build_id() == id);
	// A file without one, and notes that lie about their lengths.
	test::ScratchFolder folder;
	std::ifstream in("/bin/cat", std::ios::binary);
	std::string bytes{std::istreambuf_iterator<char>(in), {}};
	const std::string note{"\4\0\0\0\x14\0\0\0\3\0\0\0GNU", 15};
	const size_t at = bytes.find(note);
	REQUIRE(at != std::string::npos);
	const auto id_with = [&](size_t offset, char value) {
		std::string damaged = bytes;
		for (size_t i = 0; i < 4; i++)
			damaged[at + offset + i] = value;
		return types::ElfFile(types::Blob::from_bytes({damaged.begin(), damaged.end()}), "cat")
		    .build_id();
	};
	CHECK(id_with(4, '\xff').empty()); // length of the contents
	CHECK(id_with(0, '\xff').empty()); // of the name
	CHECK(id_with(8, '\0').empty());   // another type
	CHECK(id_with(12, 'X').empty());   // another one's
}

TEST_CASE("files of one name are told apart", "[names]") {
	test::ScratchFolder one, other;
	const std::string id = read_build_id("/bin/cat");
	const Waiting first(copy_of("/bin/cat", one.file("waits")));
	const Waiting second(changed_copy("/bin/cat", other.file("waits"), id));
	LiveSymbols symbols;
	const auto here = symbols.place(first.pid(), first.text_start("waits"), now_ns());
	REQUIRE(here);
	CHECK(here->file == "waits");
	CHECK(here->identity == id);
	const auto there = symbols.place(second.pid(), second.text_start("waits"), now_ns());
	REQUIRE(there);
	CHECK(there->file == "waits");
	CHECK(there->identity.size() == id.size());
	CHECK(there->identity != id);
}

TEST_CASE("a process has no names from before it began", "[names]") {
	const uint64_t before = now_ns();
	std::this_thread::sleep_for(std::chrono::milliseconds(30)); // its start is known to 10 ms
	test::ScratchFolder folder;
	const Waiting child(copy_of("/bin/cat", folder.file("waits")));
	LiveSymbols symbols;
	const uint64_t address = child.text_start("waits");
	CHECK(symbols.place(child.pid(), address, now_ns()));
	CHECK(symbols.place(child.pid(), address, LiveSymbols::kAnyTime));
	CHECK_FALSE(symbols.place(child.pid(), address, before));
	symbols.at(before);
	CHECK(symbols.user(child.pid(), address).module.empty());
}

// It had another name before it was looked at: it may have been another program, at the same addresses.
TEST_CASE("a process has no names from before it was this program", "[names]") {
	test::ScratchFolder folder;
	const Waiting child(copy_of("/bin/cat", folder.file("waits")));
	const uint64_t then = now_ns(), address = child.text_start("waits");
	std::this_thread::sleep_for(std::chrono::milliseconds(1));
	LiveSymbols symbols;
	const auto known = symbols.place(child.pid(), address, then, "waits");
	REQUIRE(known);
	CHECK(known->present.since <= then);
	CHECK(known->present.seen > then);
	CHECK_FALSE(symbols.place(child.pid(), address, then, "sh"));
	const auto changes = symbols.take_changes(); // what was told is taken back
	REQUIRE(changes.size() == 1);
	CHECK(changes[0].first == child.pid());
	CHECK(changes[0].second.present.since == then + 1);
	CHECK_FALSE(symbols.place(child.pid(), address, then));
	CHECK(symbols.place(child.pid(), address, then + 1, "waits"));
	// What was seen there does not depend on the name.
	CHECK(symbols.place(child.pid(), address, now_ns(), "renamed"));
}

// A process may map many files with long names, and there may be many such processes.
TEST_CASE("the mappings of hostile processes are forgotten before they fill our memory", "[names][hostile]") {
	std::string text;
	const std::string name = "/" + std::string(4000, 'n');
	for (int line = 0; line < 2000; line++) {
		char head[64];
		std::snprintf(head, sizeof head, "%x000-%x000 r--p 00000000 08:01 7 ", 2 * line + 1,
		              2 * line + 2);
		text += head + name + "\n";
	}
	const uint64_t peak = test::peak_of([&] {
		recorder::LiveSymbols symbols;
		for (uint32_t pid = 1u << 23; pid < (1u << 23) + 100; pid++) { // more than any machine has
			symbols.user(pid, 1);
			symbols.remember(pid, text);
		}
	});
	CHECK(text.size() * 100 > 800'000'000);
	CHECK(peak < 500'000'000);
}

TEST_CASE("what is mapped no more names what occurred while it was", "[names]") {
	test::ScratchFolder folder;
	const Waiting child(copy_of("/bin/cat", folder.file("waits")));
	const uint64_t address = child.text_start("waits");
	LiveSymbols symbols;
	REQUIRE(symbols.place(child.pid(), address, now_ns()));
	const uint64_t between = now_ns();
	// As if it had exec()ed: something else is at that address.
	char line[200];
	std::snprintf(line, sizeof line, "%llx-%llx r-xp 00000000 00:01 1 /bin/other\n",
	              static_cast<unsigned long long>(address - 4096),
	              static_cast<unsigned long long>(address + 4096));
	symbols.remember(child.pid(), line);
	const uint64_t after = now_ns();
	const auto changes = symbols.take_changes();
	REQUIRE(changes.size() == 1);
	CHECK(changes[0].second.file == "waits");
	CHECK(changes[0].second.present.until <= after);
	CHECK(symbols.place(child.pid(), address, after)->file == "other");
	CHECK_FALSE(symbols.place(child.pid(), address, between)); // one of the two: nobody knows which
	CHECK(symbols.place(child.pid(), address, LiveSymbols::kAnyTime)->file == "other");
}

} // namespace live_symbols_test
