// SPDX-License-Identifier: GPL-2.0
//
// Builds ELF files for the fuzzers: one payload section, a symbol table, its
// strings, a segment; mostly right, with what the decisions get wrong.
#pragma once

#include <cstring>
#include <elf.h>
#include <string>

#include "tests/fuzz/types_exercise.h"
#include "tests/unit/types_btf_builder.h"

namespace dfr::fuzz {

template <typename T> void append(test::RawBytes& out, const T& value) {
	const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
	out.insert(out.end(), raw, raw + sizeof value);
}

// Up to seven symbols, and the texts that their names are in.
inline test::RawBytes build_symbols(Cursor& in, std::string& texts) {
	test::RawBytes symbols;
	append(symbols, Elf64_Sym{});
	for (unsigned i = in.byte() % 8; i != 0; i--) {
		Elf64_Sym symbol{};
		symbol.st_name = static_cast<Elf64_Word>(in.byte() % 16 ? texts.size() : in.byte());
		symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(in.byte() % 3, in.byte() % 4));
		symbol.st_shndx = static_cast<Elf64_Half>(in.byte() % 8   ? 1
		                                          : in.byte() % 2 ? SHN_UNDEF
		                                                          : SHN_ABS);
		symbol.st_value = in.value();
		symbol.st_size = in.byte();
		append(symbols, symbol);
		texts += in.byte() % 16 ? in.name() : "_START_";
		texts += '\0';
	}
	return symbols;
}

inline Elf64_Ehdr build_header(Cursor& in) {
	Elf64_Ehdr header{};
	std::memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = in.byte() % 16 ? 5 : 0;
	header.e_shstrndx = in.byte() % 16 ? 4 : SHN_XINDEX;
	header.e_phentsize = sizeof(Elf64_Phdr);
	header.e_phnum = 1;
	header.e_phoff = sizeof header;
	return header;
}

inline test::RawBytes build_elf(Cursor& in, const test::RawBytes& payload) {
	static constexpr char kNames[] = "\0.ctf\0.symtab\0.strtab";
	const bool dynamic = in.byte() & 1;
	std::string texts(1, '\0');
	const test::RawBytes symbols = build_symbols(in, texts);
	Elf64_Ehdr header = build_header(in);

	const std::uint64_t payload_at = sizeof header + sizeof(Elf64_Phdr);
	const std::uint64_t symbols_at = payload_at + payload.size();
	const std::uint64_t texts_at = symbols_at + symbols.size();
	const std::uint64_t names_at = texts_at + texts.size();
	header.e_shoff = names_at + sizeof kNames;
	test::RawBytes out;
	append(out, header);
	append(out, Elf64_Phdr{.p_type = PT_LOAD,
	                       .p_offset = in.value() << 4,
	                       .p_vaddr = in.value(),
	                       .p_filesz = in.half()});
	out.insert(out.end(), payload.begin(), payload.end());
	out.insert(out.end(), symbols.begin(), symbols.end());
	out.insert(out.end(), texts.begin(), texts.end());
	out.insert(out.end(), kNames, kNames + sizeof kNames);
	append(out, Elf64_Shdr{.sh_size = 5, .sh_link = 4});
	append(out, Elf64_Shdr{.sh_name = 1,
	                       .sh_type = SHT_PROGBITS,
	                       .sh_offset = payload_at,
	                       .sh_size = payload.size()});
	append(out, Elf64_Shdr{.sh_name = 6,
	                       .sh_type = dynamic ? Elf64_Word(SHT_DYNSYM) : Elf64_Word(SHT_SYMTAB),
	                       .sh_offset = symbols_at,
	                       .sh_size = symbols.size(),
	                       .sh_link = 3,
	                       .sh_entsize = sizeof(Elf64_Sym)});
	append(
	    out,
	    Elf64_Shdr{.sh_name = 14, .sh_type = SHT_STRTAB, .sh_offset = texts_at, .sh_size = texts.size()});
	append(out,
	       Elf64_Shdr{
	           .sh_name = 14, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof kNames});
	for (unsigned flips = in.byte() % 4; flips > 1; flips--)
		out[out.size() - 1 - in.half() % std::min<std::size_t>(out.size(), 400)] ^=
		    static_cast<std::uint8_t>(in.byte());
	return out;
}

} // namespace dfr::fuzz
