// SPDX-License-Identifier: GPL-2.0
//
// Symbols of the kernel from text in kallsyms' form, and of this very program
// from its ELF file.
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/types/symbols.h"
#include "tests/unit/scratch_folder.h"

namespace types_symbols_test {

using namespace dfr::types;
using Catch::Contains;

namespace {

Symbols from_text(std::string_view text) {
	return Symbols::from_kallsyms_text(Blob::from_bytes({text.begin(), text.end()}));
}

constexpr std::string_view kText = "0000000000000000 A fixed_percpu_data\n"
                                   "ffffffff81000000 t local_start\n"
                                   "ffffffff81000000 T _text\n"
                                   "ffffffff81000000 D data_start\n"
                                   "ffffffff81000100 T vfs_read\n"
                                   "ffffffff81000180 t helper\n"
                                   "ffffffff81000200 D jiffies\n"
                                   "not a line of symbols\n"
                                   "ffffffff82000000 B _end\n"
                                   "ffffffffc0000000 t helper\t[nfs]\n"
                                   "ffffffffc0000040 t nfs_open\t[nfs]\n"
                                   "ffffffffc0008000 t start\t[xfs]";

std::string where(const Symbols& symbols, std::uint64_t address) {
	const auto found = symbols.find(address);
	return found ? std::string(found->module) + "`" + std::string(found->name) + "+" +
	                   std::to_string(found->offset) + "/" + std::to_string(found->size)
	             : "none";
}

} // namespace

TEST_CASE("kernel symbols: by address") {
	const Symbols symbols = from_text(kText);
	CHECK(symbols.count() == 11);
	CHECK(symbols.has_addresses());
	CHECK(where(symbols, 0xffffffff81000000) == "vmlinux`_text+0/256");
	CHECK(where(symbols, 0xffffffff81000104) == "vmlinux`vfs_read+4/128");
	CHECK(where(symbols, 0xffffffff810001ff) == "vmlinux`helper+127/128");
	CHECK(where(symbols, 0xffffffff82000000) == "none");
	CHECK(where(symbols, 0xffffffffb0000000) == "none");
	CHECK(where(symbols, 0xffffffffc0000000) == "nfs`helper+0/64");
	CHECK(where(symbols, 0xffffffffc0000050) == "nfs`nfs_open+16/0");
	CHECK(where(symbols, 0xffffffffc0008001) == "xfs`start+1/0");
	CHECK(where(symbols, 0xffffffffc0008000 + Symbols::kMostTail) == "none");
	CHECK(where(symbols, 0xffffffffffffffff) == "none");
}

TEST_CASE("kernel symbols: by name") {
	const Symbols symbols = from_text(kText);
	CHECK(symbols.find("jiffies")->address == 0xffffffff81000200);
	CHECK(symbols.find("helper")->module == "vmlinux");
	CHECK(symbols.find("helper", "nfs")->address == 0xffffffffc0000000);
	CHECK(symbols.find("start")->module == "xfs");
	CHECK_FALSE(symbols.find("start", "nfs"));
	CHECK_FALSE(symbols.find("jiff"));
	CHECK_FALSE(symbols.find("iffies"));
	CHECK_FALSE(symbols.find("nfs"));
	CHECK_FALSE(symbols.find(""));
}

TEST_CASE("kernel symbols: addresses of every form") {
	const auto address = [](std::string_view digits) {
		const auto found = from_text(std::string(digits) + " T x\n").find("x");
		return found ? found->address : 42;
	};
	CHECK(address("0123456789abcdef") == 0x0123456789abcdef);
	CHECK(address("fedcba9876543210") == 0xfedcba9876543210);
	CHECK(address("FEDCBA9876543210") == 0xfedcba9876543210);
	CHECK(address("c0100000") == 0xc0100000);
	CHECK(address("0") == 0);
	// Characters just outside the digits' ranges, in every place.
	for (const char wrong : std::string_view("/:`g@G\x80\xff")) {
		for (unsigned place = 0; place < 16; place++) {
			std::string digits = "ffffffff81000000";
			digits[place] = wrong;
			CHECK(address(digits) == 42);
		}
	}
}

TEST_CASE("kernel symbols: hidden addresses, empty and missing text") {
	CHECK_FALSE(from_text("0000000000000000 T a\n0000000000000000 t b\t[m]\n").has_addresses());
	const Symbols empty = from_text("");
	CHECK(empty.count() == 0);
	CHECK_FALSE(empty.find(std::uint64_t(5)));
	CHECK_FALSE(empty.find("a"));
	CHECK_THROWS_WITH(Symbols::from_kallsyms("/nonexistent/kallsyms").find("a"),
	                  Contains("cannot open /nonexistent/kallsyms"));
	CHECK(from_text("1 T\n 1 T x\n1 T x\t[m\nzz T x\n1 T \n").count() == 0);
}

extern "C" __attribute__((noinline, used)) int dfr_test_landmark(int x) {
	return x * 3 + 1;
}

TEST_CASE("user symbols: this program's own") {
	const ElfSymbols symbols = ElfSymbols::open("/proc/self/exe");
	const auto found = symbols.find("dfr_test_landmark");
	REQUIRE(found);
	CHECK(found->size > 0);

	// The address in the file, as a reader of /proc/PID/maps computes it.
	std::FILE* maps = std::fopen("/proc/self/maps", "r");
	REQUIRE(maps);
	const auto wanted = reinterpret_cast<std::uint64_t>(&dfr_test_landmark);
	std::optional<Symbol> at;
	char line[4096];
	while (std::fgets(line, sizeof line, maps)) {
		unsigned long start, end, offset;
		if (std::sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3)
			continue;
		if (wanted < start || wanted >= end)
			continue;
		// Of the address itself: two segments may share the page that a mapping starts with.
		const auto in_file = symbols.address_of_offset(wanted - start + offset);
		REQUIRE(in_file);
		at = symbols.find(*in_file + 2);
	}
	std::fclose(maps);
	REQUIRE(at);
	CHECK(at->name == "dfr_test_landmark");
	CHECK(at->offset == 2);
	CHECK(at->address == found->address);
	CHECK_FALSE(symbols.find("no_such_function_here"));
	CHECK_FALSE(symbols.find(std::uint64_t(1)));
}

TEST_CASE("user symbols: damaged files are refused") {
	Blob file = Blob::from_file("/proc/self/exe");
	std::vector<std::uint8_t> bytes(file.bytes().begin(), file.bytes().begin() + 4096);
	CHECK_THROWS_WITH(ElfSymbols::from_blob("cut", Blob::from_bytes(bytes)),
	                  Contains("lies outside the file"));
	bytes[EI_CLASS] = ELFCLASS32;
	CHECK_THROWS_WITH(ElfSymbols::from_blob("narrow", Blob::from_bytes(bytes)), Contains("64-bit"));
	bytes[0] = 0;
	CHECK_THROWS_WITH(ElfSymbols::from_blob("text", Blob::from_bytes(bytes)),
	                  Contains("not an ELF file"));

	// A header alone: no sections, no symbols, no fault.
	Elf64_Ehdr header{};
	std::memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	const auto* raw = reinterpret_cast<const std::uint8_t*>(&header);
	const ElfSymbols none = ElfSymbols::from_blob("header", Blob::from_bytes({raw, raw + sizeof header}));
	CHECK(none.all().empty());
}

// A process may map a file, and give its name to a pipe.
TEST_CASE("a pipe by a file's name is waited for by nobody", "[hostile]") {
	const dfr::test::ScratchFolder folder;
	const std::string path = folder.file("pipe");
	REQUIRE(mkfifo(path.c_str(), 0600) == 0);
	CHECK_THROWS_WITH(Blob::from_file(path), Contains("is not a regular file"));
}

// Who is traced may change the file that his code comes from, while names are looked for in it or later.
TEST_CASE("a mapped file that becomes shorter is an error, and names outlive it", "[hostile]") {
	const dfr::test::ScratchFolder folder;
	const std::string path = folder.file("program");
	std::filesystem::copy_file("/proc/self/exe", path);
	const Blob mapped = Blob::from_file(path);
	const ElfSymbols symbols = ElfSymbols::from_blob("program", mapped);
	REQUIRE(truncate(path.c_str(), 4096) == 0);
	CHECK_THROWS_WITH(mapped.copy(), Contains("became shorter"));
	CHECK_THROWS_WITH(ElfSymbols::from_blob("program", mapped), Contains("became shorter"));
	const auto found = symbols.find("dfr_test_landmark");
	REQUIRE(found);
	CHECK(found->name == "dfr_test_landmark");
	CHECK(found->module == "program");
}

TEST_CASE("a file that says that it is larger than memory is refused", "[hostile]") {
	const int file = memfd_create("large", MFD_CLOEXEC);
	REQUIRE(file >= 0);
	REQUIRE(ftruncate(file, INT64_MAX) == 0);
	CHECK_THROWS_WITH(Blob::from_file("/proc/self/fd/" + std::to_string(file)),
	                  Contains("is larger than"));
	close(file);
}

TEST_CASE("symbols whose names are all the same long text are refused", "[hostile]") {
	constexpr size_t kName = 1 << 20, kSymbols = 100;
	struct {
		Elf64_Ehdr header{};
		Elf64_Shdr sections[3] = {};
		Elf64_Sym symbols[kSymbols] = {};
	} file;
	std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_shoff = sizeof file.header;
	file.header.e_shentsize = sizeof file.sections[0];
	file.header.e_shnum = 3;
	file.header.e_shstrndx = 2;
	file.sections[1].sh_type = SHT_SYMTAB;
	file.sections[1].sh_offset = offsetof(decltype(file), symbols);
	file.sections[1].sh_size = sizeof file.symbols;
	file.sections[1].sh_entsize = sizeof file.symbols[0];
	file.sections[1].sh_link = 2;
	file.sections[2].sh_type = SHT_STRTAB;
	file.sections[2].sh_offset = sizeof file;
	file.sections[2].sh_size = kName;
	for (Elf64_Sym& symbol : file.symbols) {
		symbol.st_name = 1;
		symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		symbol.st_shndx = 1;
	}
	const auto* const raw = reinterpret_cast<const std::uint8_t*>(&file);
	std::vector<std::uint8_t> bytes(raw, raw + sizeof file);
	bytes.resize(sizeof file + kName, 'a');
	bytes.back() = 0;
	CHECK_THROWS_WITH(ElfSymbols::from_blob("long", Blob::from_bytes(bytes)),
	                  Contains("longer than their table"));
}

TEST_CASE("sections whose names are all the same long text are refused", "[hostile]") {
	constexpr size_t kName = 1 << 20, kSections = 100;
	struct {
		Elf64_Ehdr header{};
		Elf64_Shdr sections[kSections] = {};
	} file;
	std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_shoff = sizeof file.header;
	file.header.e_shentsize = sizeof file.sections[0];
	file.header.e_shnum = kSections;
	file.header.e_shstrndx = 1;
	file.sections[1].sh_type = SHT_STRTAB;
	file.sections[1].sh_offset = sizeof file;
	file.sections[1].sh_size = kName;
	const auto* const raw = reinterpret_cast<const std::uint8_t*>(&file);
	std::vector<std::uint8_t> bytes(raw, raw + sizeof file);
	bytes.resize(sizeof file + kName, 'a');
	bytes.back() = 0;
	CHECK_THROWS_WITH(ElfSymbols::from_blob("long", Blob::from_bytes(bytes)),
	                  Contains("names of the sections are longer than their table"));
}

} // namespace types_symbols_test
