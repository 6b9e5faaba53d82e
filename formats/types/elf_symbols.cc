// SPDX-License-Identifier: GPL-2.0
//
// The symbols of a user program's ELF file. Read whole when the file is opened:
// a program's table is small beside the kernel's, and stripped files have only
// the dynamic one.
#include <algorithm>
#include <elf.h>
#include <numeric>

#include "formats/error.h"
#include "formats/types/elf.h"
#include "formats/types/symbols.h"

namespace dfr::types {
namespace {

// How far to look back for a function that encloses an address when the nearest
// symbol before it has ended: local labels and aliases stand inside functions.
constexpr unsigned kLookBack = 32;

bool is_function(const ElfSymbol& symbol) {
	return symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC;
}

// kallsyms' letters: t or d, a capital for what other files can see.
char letter(const ElfSymbol& symbol) {
	const char local = is_function(symbol) || symbol.type == STT_NOTYPE ? 't' : 'd';
	return symbol.bind == STB_LOCAL ? local : static_cast<char>(local - 0x20);
}

bool is_wanted(const ElfSymbol& symbol) {
	if (symbol.name.empty() || symbol.section == SHN_UNDEF || symbol.section == SHN_ABS)
		return false;
	return is_function(symbol) || symbol.type == STT_OBJECT || symbol.type == STT_NOTYPE;
}

int preference(const Symbol& symbol) {
	return (symbol.type == 't' || symbol.type == 'T' ? 2 : 0) + (symbol.type < 'a' ? 1 : 0) +
	       (symbol.size ? 4 : 0);
}

} // namespace

ElfSymbols ElfSymbols::open(const std::string& path) {
	return from_blob(path, Blob::from_file(path));
}

// Of the file itself nothing is kept: whoever runs it may change it.
ElfSymbols ElfSymbols::from_blob(std::string name, const Blob& file) {
	ElfSymbols result;
	result.name_ = std::make_shared<const std::string>(std::move(name));
	const ElfFile elf(file.copy(), *result.name_);
	for (const ElfSegment& segment : elf.segments()) {
		if (segment.type == PT_LOAD)
			result.segments_.push_back({segment.offset, segment.address, segment.file_size});
	}
	result.build_id_ = elf.build_id();
	const ElfSection* table = elf.find_type(SHT_SYMTAB);
	if (!table)
		table = elf.find_type(SHT_DYNSYM);
	if (!table)
		return result;
	std::vector<ElfSymbol> symbols = elf.symbols(*table);
	std::erase_if(symbols, [](const ElfSymbol& symbol) { return !is_wanted(symbol); });
	auto names = std::make_shared<std::string>();
	names->reserve(
	    std::accumulate(symbols.begin(), symbols.end(), std::size_t(0),
	                    [](std::size_t sum, const ElfSymbol& one) { return sum + one.name.size(); }));
	for (const ElfSymbol& symbol : symbols) {
		const std::size_t at = names->size();
		*names += symbol.name;
		result.symbols_.push_back({.name = std::string_view(*names).substr(at),
		                           .module = *result.name_,
		                           .address = symbol.value,
		                           .size = symbol.size,
		                           .type = letter(symbol)});
	}
	result.names_ = std::move(names);
	std::stable_sort(
	    result.symbols_.begin(), result.symbols_.end(), [](const Symbol& a, const Symbol& b) {
		    return a.address != b.address ? a.address < b.address : preference(a) < preference(b);
	    });
	return result;
}

std::optional<Symbol> ElfSymbols::find(std::uint64_t file_address) const {
	auto next = std::upper_bound(
	    symbols_.begin(), symbols_.end(), file_address,
	    [](std::uint64_t value, const Symbol& symbol) { return value < symbol.address; });
	for (unsigned back = 0; next != symbols_.begin() && back < kLookBack; back++) {
		Symbol symbol = *--next;
		symbol.offset = file_address - symbol.address;
		// Without a size (assembler), it reaches to the next symbol.
		const bool inside = symbol.size ? symbol.offset < symbol.size : back == 0;
		if (inside)
			return symbol;
	}
	return std::nullopt;
}

std::optional<Symbol> ElfSymbols::find(std::string_view name) const {
	const Symbol* best = nullptr;
	for (const Symbol& symbol : symbols_) {
		if (symbol.name == name && (!best || preference(symbol) > preference(*best)))
			best = &symbol;
	}
	return best ? std::optional(*best) : std::nullopt;
}

std::optional<std::uint64_t> ElfSymbols::address_of_offset(std::uint64_t file_offset) const {
	for (const LoadSegment& segment : segments_) {
		if (file_offset >= segment.offset && file_offset - segment.offset < segment.file_size)
			return segment.address + (file_offset - segment.offset);
	}
	// A mapping starts at a page, the segment perhaps a little behind it.
	constexpr std::uint64_t kPage = 4096;
	for (const LoadSegment& segment : segments_) {
		if (file_offset < segment.offset && segment.offset - file_offset < kPage)
			return segment.address - (segment.offset - file_offset);
	}
	return std::nullopt;
}

} // namespace dfr::types
