// SPDX-License-Identifier: GPL-2.0
//
// ElfFile: the sections and segments of a 64-bit little-endian ELF file, every
// offset checked. Not a linker's view: no relocations, no versions. It exists
// beside libelf because its input may be hostile and its start must be free.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/types/blob.h"

namespace dfr::types {

struct ElfSection {
	std::string_view name;
	std::uint32_t type = 0;
	std::uint32_t link = 0;
	std::uint64_t flags = 0;
	std::uint64_t address = 0;
	std::uint64_t offset = 0;
	std::uint64_t size = 0;
	std::uint64_t entry_size = 0;
};

struct ElfSegment {
	std::uint32_t type = 0;
	std::uint64_t offset = 0;
	std::uint64_t address = 0;
	std::uint64_t file_size = 0;
};

struct ElfSymbol {
	std::string_view name;
	std::uint8_t type = 0; // STT_*
	std::uint8_t bind = 0; // STB_*
	std::uint16_t section = 0;
	std::uint64_t value = 0;
	std::uint64_t size = 0;
};

class ElfFile {
public:
	ElfFile(Blob file, std::string name);

	const std::vector<ElfSection>& sections() const { return sections_; }
	const std::vector<ElfSegment>& segments() const { return segments_; }
	const ElfSection* find(std::string_view name) const;
	const ElfSection* find_type(std::uint32_t type) const;
	// Empty for a section that occupies no bytes of the file.
	Blob contents(const ElfSection& section) const;
	// The entries of a symbol table section, the null entry first.
	std::vector<ElfSymbol> symbols(const ElfSection& table) const;
	// Of its note NT_GNU_BUILD_ID, in hexadecimal; empty: it has none.
	std::string build_id() const;

private:
	void read_sections(std::uint64_t at, std::uint32_t count, std::uint32_t names);
	void read_segments(std::uint64_t at, std::uint32_t count);
	[[noreturn]] void damaged(const std::string& what, std::uint64_t offset) const;

	Blob file_;
	std::string name_;
	std::vector<ElfSection> sections_;
	std::vector<ElfSegment> segments_;
};

bool is_elf(std::span<const std::uint8_t> bytes);

} // namespace dfr::types
