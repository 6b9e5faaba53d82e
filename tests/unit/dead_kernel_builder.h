// SPDX-License-Identifier: GPL-2.0
//
// The tables of a dead kernel's symbols, as its linker lays them out, and VMCOREINFO,
// which says where they are. Shares no code with their reader.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tests/unit/image_builder.h"

namespace dfr::test {

struct Kernel {
	static constexpr uint64_t kImage = 0xffffffff80000000, kText = 0xffffffff81000000;
	static constexpr const char* kRelease = "6.1.0-test";
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

} // namespace dfr::test
