// SPDX-License-Identifier: GPL-2.0
//
// Symbols: addresses to names and back, for the kernel (the text of
// /proc/kallsyms, live or saved) and for user programs (ELF symbol tables).
// Not types: see btf.h. The kernel's text is read and parsed when first asked
// for (some 150 instructions a line), names are indexed at the first search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/types/blob.h"

namespace dfr::types {

struct Symbol {
	std::string_view name;
	std::string_view module; // "vmlinux" for the kernel proper; a file's name
	std::uint64_t address = 0;
	std::uint64_t size = 0;   // up to the next symbol where no table says; 0: not known
	std::uint64_t offset = 0; // of the address that was asked for
	char type = 0;            // kallsyms' letter ('t', 'T', 'd', ...); ELF: the same letters
};

class Symbols {
public:
	static Symbols from_kallsyms(std::string path = "/proc/kallsyms");
	static Symbols from_kallsyms_text(Blob text);

	// The symbol that holds `address`: the greatest start not above it. Where
	// several names share an address, functions before data and global before
	// local. Nothing below the first symbol, beyond the kernel proper's _end,
	// or more than kMostTail beyond the last symbol of a module.
	std::optional<Symbol> find(std::uint64_t address) const;
	// By name, in the module `only`; if that is empty: the kernel proper first, then any.
	std::optional<Symbol> find(std::string_view wanted, std::string_view only = {}) const;

	// All of them, by address.
	void each(const std::function<void(const Symbol&)>& visit) const;

	// False where every address reads 0 (kptr_restrict, no privilege).
	bool has_addresses() const;
	std::size_t count() const;

	static constexpr std::uint64_t kMostTail = 1 << 14;

private:
	struct SymbolEntry {
		std::uint64_t address;
		std::uint32_t name_at; // in the text
		std::uint16_t name_length;
		std::uint16_t module_length; // 0: vmlinux; it starts two bytes after the name
		char type;
	};

	void load() const;
	void sort() const;
	void index_names() const;
	std::string_view name(const SymbolEntry& entry) const;
	std::string_view module(const SymbolEntry& entry) const;
	Symbol symbol(const SymbolEntry& entry) const;

	std::string path_;
	mutable std::optional<Blob> text_;
	mutable bool loaded_ = false;
	mutable std::vector<SymbolEntry> entries_; // by address, the preferred one of equals last
	mutable std::uint64_t end_ = 0;            // of the kernel proper; 0: not known
	// A hash table of chains: index + 1 into entries_, or 0.
	mutable std::vector<std::uint32_t> buckets_;
	mutable std::vector<std::uint32_t> chain_;
};

// The symbols of one ELF file, by the addresses the file itself uses. A
// process's address X becomes one so: where a line of /proc/PID/maps maps file
// offset O at address A, it is address_of_offset(X - A + O). (Not of O: a page
// that ends one segment and begins the next is in the file once.)
class ElfSymbols {
public:
	static ElfSymbols open(const std::string& path);
	static ElfSymbols from_blob(std::string name, const Blob& file);

	std::optional<Symbol> find(std::uint64_t file_address) const;
	std::optional<Symbol> find(std::string_view name) const;
	// By address. From .symtab if there is one, else from .dynsym.
	const std::vector<Symbol>& all() const { return symbols_; }

	std::optional<std::uint64_t> address_of_offset(std::uint64_t file_offset) const;
	const std::string& build_id() const { return build_id_; } // empty: it has none

private:
	struct LoadSegment {
		std::uint64_t offset, address, file_size;
	};
	std::shared_ptr<const std::string> name_, names_; // symbols refer to them; movable
	std::string build_id_;
	std::vector<Symbol> symbols_; // by address, the preferred one of equals last
	std::vector<LoadSegment> segments_;
};

} // namespace dfr::types
