// SPDX-License-Identifier: GPL-2.0
//
// The tables of a dead kernel's symbols and its types, as its linker lays them out, and
// VMCOREINFO, which says where they are. Shares no code with their reader.
#pragma once

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/unit/image_builder.h"

namespace dfr::test {

// BTF of `int do_it(struct thing *the)`, where `struct thing { int flags; }`, and of a list of modules: a
// module's memory is one range, as before 6.4, or two.
inline std::vector<std::byte> small_btf(uint32_t ranges = 1) {
	enum Kind : uint32_t { kInt = 1, kPointer, kArray, kStruct, kFunction = 12, kPrototype };
	Bytes strings, types;
	uint32_t last = 0;
	const auto text = [&strings](const char* word) {
		const auto at = static_cast<uint32_t>(strings.bytes.size());
		strings.text(word).u8(0);
		return at;
	};
	const auto type = [&](uint32_t name, Kind kind, uint32_t parts, uint32_t value) {
		types.u32(name).u32(kind << 24 | parts).u32(value);
		return ++last;
	};
	const auto array = [&](uint32_t of, uint32_t count) {
		const uint32_t id = type(0, kArray, 0, 0);
		types.u32(of).u32(1).u32(count);
		return id;
	};
	struct Member {
		const char* name;
		uint32_t type, at;
	};
	const auto structure = [&](const char* name, uint32_t size, std::initializer_list<Member> members) {
		const uint32_t id = type(text(name), kStruct, static_cast<uint32_t>(members.size()), size);
		for (const Member& member : members)
			types.u32(text(member.name)).u32(member.type).u32(8 * member.at);
		return id;
	};
	text("");
	const uint32_t number = type(text("int"), kInt, 0, 4);
	types.u32(1u << 24 | 32);
	const uint32_t pointer = type(0, kPointer, 0, structure("thing", 4, {{"flags", number, 0}}));
	const uint32_t prototype = type(0, kPrototype, 1, number);
	types.u32(text("the")).u32(pointer);
	type(text("do_it"), kFunction, 0, prototype);
	const uint32_t letter = type(text("char"), kInt, 0, 1);
	types.u32(8);
	const uint32_t list = structure("list_head", 16, {{"next", pointer, 0}, {"prev", pointer, 8}});
	const uint32_t range = structure("range", 16, {{"base", pointer, 0}, {"size", number, 8}});
	structure("module", 128,
	          {{"state", number, 0},
	           {"list", list, 8},
	           {"name", array(letter, 56), 24},
	           {"kallsyms", pointer, 80},
	           {ranges == 1 ? "core_layout" : "mem", ranges == 1 ? range : array(range, ranges), 88}});
	structure("mod_kallsyms", 32,
	          {{"symtab", pointer, 0},
	           {"num_symtab", number, 8},
	           {"strtab", pointer, 16},
	           {"typetab", pointer, 24}});
	Bytes btf;
	btf.u16(0xeb9f).u8(1).u8(0).u32(24).u32(0).u32(static_cast<uint32_t>(types.bytes.size()));
	btf.u32(static_cast<uint32_t>(types.bytes.size())).u32(static_cast<uint32_t>(strings.bytes.size()));
	btf.bytes.insert(btf.bytes.end(), types.bytes.begin(), types.bytes.end());
	btf.bytes.insert(btf.bytes.end(), strings.bytes.begin(), strings.bytes.end());
	return btf.bytes;
}

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
	uint8_t boot = 0;           // the first byte of its boot id, as that of an anchor; 0: it has none
	std::vector<std::byte> btf; // it has pages of its own behind the tables
	static constexpr uint64_t kTables = 6, kBootId = 0x20; // pages from `frame` on

	// Each module has kModuleSize from kModules on: itself, its tables, and a page of code.
	struct Module {
		std::string name;
		std::vector<Symbol> symbols; // from kCode on
	};
	static constexpr uint64_t kModules = 0xffffffffc0000000, kModuleSize = 0x8000, kCode = 0x5000;
	static constexpr uint64_t code(size_t module, uint64_t first = kModules) {
		return first + module * kModuleSize + kCode;
	}
	uint64_t first_module = kModules; // behind the kernel's image
	uint64_t encrypted = 0;           // the bit of its page tables' entries
	std::vector<Module> modules;
	uint32_t ranges = 1;                     // that a module's memory has
	bool five_levels = false, large = false; // of the page tables; a page for all modules
	uint64_t module_frame = 0x400;
	uint64_t mapping = 0x380; // the kernel's list of modules, and behind it the page tables, by frame

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
		if (boot) {
			all.push_back({virtual_at + kBootId * Memory::kPageSize, "bsysctl_bootid"});
			Bytes id;
			for (int i = 0; i < 16; i++)
				id.u8(static_cast<uint8_t>(boot + i));
			memory.put({frame + kBootId}, id.bytes);
		}
		std::string more_info;
		if (!modules.empty())
			put_modules(memory, all, more_info);
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
			std::vector<uint64_t> frames{frame + at};
			while (frames.size() * Memory::kPageSize < bytes.bytes.size())
				frames.push_back(frames.back() + 1);
			memory.put(frames, bytes.bytes);
			at += frames.size();
		};
		place("kallsyms_names", names);
		place("kallsyms_num_syms", number);
		place("kallsyms_token_table", tokens);
		place("kallsyms_token_index", index);
		place("kallsyms_offsets", offsets);
		place("kallsyms_relative_base", base);
		char line[100];
		std::snprintf(line, sizeof(line), "SYMBOL(_stext)=%lx\n", stext);
		info += line + more_info;
		memory.put({page}, std::as_bytes(std::span(info)));
	}

private:
	void put_modules(Memory& memory, std::vector<Symbol>& all, std::string& info) const {
		const uint64_t head = virtual_at + (mapping - frame) * Memory::kPageSize;
		const auto at = [this](size_t module) { return first_module + module * kModuleSize; };
		// In a list, the members point to members: struct list_head stands at 8 in struct module.
		const auto link = [&](size_t i) { return i < modules.size() ? at(i) + 8 : head; };
		memory.put({mapping}, Bytes().u64(link(0)).u64(link(modules.size() - 1)).bytes);
		all.push_back({head, "dmodules"});
		for (size_t i = 0; i < modules.size(); i++) {
			Bytes self, tables, entries, names, letters;
			self.u64(0).u64(link(i + 1)).u64(0).text(modules[i].name);
			self.bytes.resize(80);
			self.u64(at(i) + 0x1000);
			for (uint32_t range = 1; range < ranges; range++)
				self.u64(at(i)).u32(0x5000).u32(0);
			self.u64(code(i, first_module)).u32(0x1000).u32(0);
			entries.bytes.resize(24); // the first one is none
			names.u8(0);
			letters.u8(0);
			for (const Symbol& one : modules[i].symbols) {
				entries.u32(static_cast<uint32_t>(names.bytes.size())).u32(1);
				entries.u64(one.address).u64(0);
				letters.u8(static_cast<uint8_t>(one.name[0]));
				names.text(one.name.substr(1)).u8(0);
			}
			tables.u64(at(i) + 0x2000).u32(static_cast<uint32_t>(letters.bytes.size())).u32(0);
			tables.u64(at(i) + 0x3000).u64(at(i) + 0x4000);
			const uint64_t first = module_frame + i * kModuleSize / Memory::kPageSize;
			uint64_t next = first;
			for (const Bytes* part : {&self, &tables, &entries, &names, &letters})
				memory.put({next++}, part->bytes);
		}
		// Tables from the one that stands in VMCOREINFO down to the one of 2 MiB.
		uint64_t table = mapping + 1;
		info = "SYMBOL(swapper_pg_dir)=";
		char number[20];
		std::snprintf(number, sizeof(number), "%lx",
		              virtual_at + (table - frame) * Memory::kPageSize);
		info +=
		    std::string(number) + "\nNUMBER(pgtable_l5_enabled)=" + (five_levels ? "1" : "0") + "\n";
		if (first_module != kModules)
			info += "NUMBER(KERNEL_IMAGE_SIZE)=" + std::to_string(first_module - kImage) + "\n";
		if (encrypted)
			info += "NUMBER(sme_mask)=" + std::to_string(static_cast<int64_t>(encrypted)) + "\n";
		const auto entry = [&memory, this](uint64_t in, uint64_t index, uint64_t value) {
			value |= encrypted;
			std::memcpy(memory.page(in).data() + 8 * index, &value, 8);
		};
		for (unsigned bits = five_levels ? 48 : 39; bits > 21; bits -= 9, table++)
			entry(table, first_module >> bits & 511, (table + 1) * Memory::kPageSize | 0x63);
		if (large)
			return entry(table, first_module >> 21 & 511,
			             module_frame * Memory::kPageSize | 0xe3);
		entry(table, first_module >> 21 & 511, (table + 1) * Memory::kPageSize | 0x63);
		for (uint64_t i = 0; i < modules.size() * kModuleSize / Memory::kPageSize; i++)
			entry(table + 1, i, (module_frame + i) * Memory::kPageSize | 0x8000000000000163);
	}
};

} // namespace dfr::test
