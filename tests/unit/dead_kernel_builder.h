// SPDX-License-Identifier: GPL-2.0
//
// The tables of a dead kernel's symbols and its types, as its linker lays them out, and
// VMCOREINFO, which says where they are. Shares no code with their reader.
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
	std::vector<std::byte> btf; // it has pages of its own behind the tables
	static constexpr uint64_t kTables = 6;

	void put(Memory& memory) const {
		Bytes names, tokens, index, offsets;
		std::vector<Symbol> all = symbols;
		if (!btf.empty()) {
			const uint64_t start = virtual_at + kTables * Memory::kPageSize;
			all.push_back({start, "R__start_BTF"});
			all.push_back({start + btf.size(), "R__stop_BTF"});
			std::vector<uint64_t> frames;
			for (uint64_t i = 0; i * Memory::kPageSize < btf.size(); i++)
				frames.push_back(frame + kTables + i);
			memory.put(frames, btf);
		}
		for (const Symbol& one : all) {
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
		number.u32(static_cast<uint32_t>(all.size()) + more_symbols);
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

// BTF of `int do_it(struct thing *the)`, where `struct thing { int flags; }`.
inline std::vector<std::byte> small_btf() {
	constexpr uint32_t kInt = 1, kPointer = 2, kStruct = 4, kFunction = 12, kPrototype = 13;
	Bytes strings, types;
	const auto text = [&strings](const char* word) {
		const auto at = static_cast<uint32_t>(strings.bytes.size());
		strings.text(word).u8(0);
		return at;
	};
	const auto type = [&types](uint32_t name, uint32_t kind, uint32_t parts, uint32_t value) {
		types.u32(name).u32(kind << 24 | parts).u32(value);
	};
	text("");
	type(text("int"), kInt, 0, 4);
	types.u32(1u << 24 | 32);
	type(text("thing"), kStruct, 1, 4);
	types.u32(text("flags")).u32(1).u32(0);
	type(0, kPointer, 0, 2);
	type(0, kPrototype, 1, 1);
	types.u32(text("the")).u32(3);
	type(text("do_it"), kFunction, 0, 4);
	Bytes btf;
	btf.u16(0xeb9f).u8(1).u8(0).u32(24).u32(0).u32(static_cast<uint32_t>(types.bytes.size()));
	btf.u32(static_cast<uint32_t>(types.bytes.size())).u32(static_cast<uint32_t>(strings.bytes.size()));
	btf.bytes.insert(btf.bytes.end(), types.bytes.begin(), types.bytes.end());
	btf.bytes.insert(btf.bytes.end(), strings.bytes.begin(), strings.bytes.end());
	return btf.bytes;
}

} // namespace dfr::test
