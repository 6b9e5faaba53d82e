// SPDX-License-Identifier: GPL-2.0
//
// Names by the tables of a dead kernel, built here as its linker lays them out.
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <unistd.h>

#include "recorder/dead_kernel.h"
#include "recorder/memory_image.h"
#include "tests/unit/image_builder.h"

using namespace dfr;
using namespace dfr::test;
using recorder::DeadKernel;

namespace {

constexpr uint64_t kImage = 0xffffffff80000000;
constexpr uint64_t kText = 0xffffffff81000000;
constexpr const char* kRelease = "6.1.0-test";

struct Written {
	std::string path = "/tmp/dfr-unit-XXXXXX";
	explicit Written(const std::vector<std::byte>& bytes) {
		const int fd = mkstemp(path.data());
		REQUIRE(fd >= 0);
		REQUIRE(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
		close(fd);
	}
	~Written() { unlink(path.c_str()); }
	Written(const Written&) = delete;
	Written& operator=(const Written&) = delete;
};

struct Kernel {
	struct Symbol {
		uint64_t address;
		std::string name; // with its letter
	};
	std::vector<Symbol> symbols = {{0x1000, "Aper_cpu_number"},
	                               {kText, "T_stext"},
	                               {kText, "t_text"},
	                               {kText + 0x100, "Dtable"},
	                               {kText + 0x100, "tdo_alias"},
	                               {kText + 0x100, "Tdo_it"},
	                               {kText + 0x200, "T" + std::string(300, 'x')},
	                               {kText + 0x400, "tlast"},
	                               {kText + 0x500, "B_end"},
	                               {kText + 0x500, "b__brk_base"}};
	bool per_cpu = true;    // as before 6.15
	uint64_t stext = kText; // as VMCOREINFO says
	uint64_t virtual_at = kImage + 0x2000000;
	uint64_t frame = 0x100, page = 0x90; // of the tables, and of VMCOREINFO
	uint32_t more_symbols = 0;           // than there are
	std::string release = kRelease;

	void put(Memory& memory) const {
		Bytes names, tokens, index, offsets;
		for (const Symbol& one : symbols) {
			std::vector<uint8_t> coded;
			for (size_t i = 0; i < one.name.size(); i++) {
				const bool word = one.name.compare(i, 3, "do_") == 0;
				coded.push_back(word ? 1 : static_cast<uint8_t>(one.name[i]));
				i += word ? 2 : 0;
			}
			if (coded.size() > 127)
				names.u8(static_cast<uint8_t>(0x80 | (coded.size() & 0x7f)));
			names.u8(static_cast<uint8_t>(coded.size() > 127 ? coded.size() >> 7 : coded.size()));
			for (const uint8_t code : coded)
				names.u8(code);
			const uint64_t base = per_cpu ? kText : 0;
			if (per_cpu)
				offsets.u32(one.address < kImage
				                ? static_cast<uint32_t>(one.address)
				                : static_cast<uint32_t>(base - 1 - one.address));
			else
				offsets.u32(static_cast<uint32_t>(one.address - kImage));
		}
		for (int code = 0; code < 256; code++) {
			index.u16(static_cast<uint16_t>(tokens.bytes.size()));
			tokens.text(code == 1 ? "do_" : std::string(1, static_cast<char>(code)));
			tokens.u8(0);
		}
		Bytes number, base;
		number.u32(static_cast<uint32_t>(symbols.size()) + more_symbols);
		base.u64(per_cpu ? kText : kImage);
		std::string info = "OSRELEASE=" + release + "\nBUILD-ID=00\nPAGESIZE=4096\n";
		info += "NUMBER(phys_base)=" +
		        std::to_string(static_cast<int64_t>(frame * Memory::kPageSize) -
		                       static_cast<int64_t>(virtual_at - kImage)) +
		        "\n";
		uint64_t at = 0;
		const auto place = [&](const char* name, const Bytes& bytes) {
			char line[100];
			std::snprintf(line, sizeof(line), "SYMBOL(%s)=%lx\n", name,
			              virtual_at + at * Memory::kPageSize);
			info += line;
			memory.put({frame + at}, bytes.bytes);
			at++;
		};
		place("kallsyms_names", names);
		place("kallsyms_num_syms", number);
		place("kallsyms_token_table", tokens);
		place("kallsyms_token_index", index);
		place("kallsyms_offsets", offsets);
		place("kallsyms_relative_base", base);
		char line[100];
		std::snprintf(line, sizeof(line), "SYMBOL(_stext)=%lx\nSYMBOL(swapper_pg_dir)=1\n", stext);
		info += line;
		memory.put({page}, std::as_bytes(std::span(info)));
	}
};

// The name at an address, by the tables in this memory.
class Asked {
public:
	explicit Asked(const Memory& memory, uint64_t raw_from = UINT64_MAX)
	    : file_(raw_from == UINT64_MAX ? memory.elf() : memory.raw(raw_from)), memory_(file_.path) {
		const int64_t displacement =
		    raw_from == UINT64_MAX ? 0 : static_cast<int64_t>(raw_from * Memory::kPageSize);
		std::vector<uint64_t> pages;
		for (const auto& [pfn, page] : memory.pages)
			if (std::memcmp(page.data(), "OSRELEASE=", 10) == 0)
				pages.push_back(pfn * Memory::kPageSize -
				                static_cast<uint64_t>(displacement));
		kernel_ = DeadKernel::find(memory_, pages, std::array{displacement}, kRelease);
	}
	bool found() const { return kernel_ != nullptr; }
	std::string at(uint64_t address) {
		const auto place = kernel_->kernel_place(address, 5);
		if (!place)
			return "nothing";
		return std::string(place->symbol.module) + "`" + std::string(place->symbol.name) + "+" +
		       std::to_string(place->symbol.offset) + " of " + std::to_string(place->symbol.size);
	}

private:
	Written file_;
	recorder::PhysicalMemory memory_;
	std::unique_ptr<DeadKernel> kernel_;
};

Memory memory_of(const Kernel& kernel) {
	Memory memory;
	kernel.put(memory);
	return memory;
}

bool found(const std::function<void(Kernel&)>& change) {
	Kernel kernel;
	change(kernel);
	return Asked(memory_of(kernel)).found();
}

void check_names(Asked asked) {
	REQUIRE(asked.found());
	CHECK(asked.at(kText) == "vmlinux`_stext+0 of 256");
	CHECK(asked.at(kText + 0xff) == "vmlinux`_stext+255 of 256");
	// Functions before data and global before local, as on a machine that lives.
	CHECK(asked.at(kText + 0x180) == "vmlinux`do_it+128 of 256");
	CHECK(asked.at(kText + 0x200) == "vmlinux`" + std::string(300, 'x') + "+0 of 512");
	CHECK(asked.at(kText + 0x4ff) == "vmlinux`last+255 of 256");
	CHECK(asked.at(kText + 0x500) == "nothing");
	CHECK(asked.at(kText - 1) == "nothing");
	CHECK(asked.at(0x1000) == "nothing");
	CHECK(asked.at(UINT64_MAX) == "nothing");
}

} // namespace

TEST_CASE("a dead kernel's tables name its addresses", "[recorder][image][dead-kernel]") {
	Kernel kernel;
	check_names(Asked(memory_of(kernel)));
	check_names(Asked(memory_of(kernel), 0x80)); // raw, from that frame on
	kernel.per_cpu = false;
	kernel.symbols.erase(kernel.symbols.begin());
	check_names(Asked(memory_of(kernel)));
}

TEST_CASE("tables of a dead kernel that cannot be believed name nothing", "[recorder][image][dead-kernel]") {
	CHECK(found([](Kernel&) {}));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.release = "6.1.0-other"; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.stext += 0x10; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.more_symbols = 1; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.more_symbols = UINT32_MAX / 2; }));
	CHECK_FALSE(found([](Kernel& kernel) { std::swap(kernel.symbols[1], kernel.symbols[8]); }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.symbols[3].name = "D"; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.symbols[3].name = "Dline\nline"; }));
	CHECK_FALSE(found([](Kernel& kernel) { kernel.symbols[3].name = std::string(2000, 'x'); }));
	// Any page of the tables may be missing.
	for (uint64_t gone = 0; gone < 6; gone++) {
		Memory memory = memory_of(Kernel());
		memory.pages.erase(Kernel().frame + gone);
		CHECK_FALSE(Asked(memory).found());
	}
}

TEST_CASE("two pages that tell of different tables name nothing", "[recorder][image][dead-kernel]") {
	Memory memory = memory_of(Kernel());
	memory.put({0x91}, memory.page(0x90));
	CHECK(Asked(memory).found()); // the same twice
	Kernel forged;
	forged.frame = 0x200;
	forged.page = 0x92;
	forged.symbols[5].name = "Tforged";
	forged.put(memory);
	CHECK_FALSE(Asked(memory).found());
}

TEST_CASE("what is harvested has the names of its addresses", "[recorder][image][dead-kernel]") {
	Memory memory;
	Kernel().put(memory);
	CatalogLog log(7, 0xb0);
	log.state("anonymous", 1, 4096, DFR_BUFPOLICY_RING, 7);
	log.clock(1'000, 0xb0).probe(1, "syscall", "vmlinux", "write", "entry", 3);
	log.layout(1, {test::int_field(8)}).ecb(1, 1, 1).dof(0, "program");
	log.entry(DFR_CAT_MACHINE, Bytes().text(std::string("release=") + kRelease + "\n"));
	memory.put({100}, log.done());
	memory.anchor({.pfn = 50, .kind = DFR_ANCHOR_CATALOG, .unit = 4096, .frames = {100}});
	BlockBytes block(0, 1, 1000, 4096);
	block.long_head(0, 0, 1000).context(1, 1, 1, "sh");
	block.short_head(1, 0, 0).u8(0b11).u64(kText + 0x123);
	block.counters(0, 0).opened(0, 1000);
	memory.put({101}, block.sealed(true).bytes);
	memory.anchor({.pfn = 51, .kind = DFR_ANCHOR_RING, .unit = 4096, .frames = {101}});

	const Written file(memory.elf());
	const auto sources = recorder::open_memory_image(file.path);
	REQUIRE(sources.size() == 1);
	trace::KnownNames names;
	sources[0]->names(names);
	const auto name = names.kernel(kText + 0x123, 1000);
	REQUIRE(name);
	CHECK(name->name == "do_it");
	CHECK(name->offset == 0x23);
	CHECK(names.kernel_symbols() == 1); // no more than occur
}
