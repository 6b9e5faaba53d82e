// SPDX-License-Identifier: GPL-2.0
//
// Symbols: addresses to names and back, for the kernel (the text of
// /proc/kallsyms, live or saved) and for user programs (ELF symbol tables).
// Not types: see btf.h. Both read their source when first asked.
#pragma once

#include <cstdint>
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
	std::uint64_t size = 0; // 0: not known
	std::uint64_t offset = 0; // of the address that was asked for
	char type = 0; // kallsyms' letter ('t', 'T', 'd', ...); ELF: 't' or 'd'
};

class Symbols {
public:
	static Symbols from_kallsyms(std::string path = "/proc/kallsyms");
	static Symbols from_kallsyms_text(Blob text);

	// The symbol that holds `address`: the greatest start not above it. Where
	// several names share an address, functions before data and global before
	// local. Nothing below the first symbol, nor past the end of a module's
	// last one as far as that is known.
	std::optional<Symbol> find(std::uint64_t address) const;
	// By name; `module` empty: the kernel proper first, then any.
	std::optional<Symbol> find(std::string_view name, std::string_view module = {}) const;

	// False where every address reads 0 (kptr_restrict, no privilege).
	bool has_addresses() const;
	std::size_t count() const;

private:
	struct Entry;
	void load() const;
	void index_addresses() const;
	void index_names() const;
	Symbol symbol(const Entry& entry) const;

	std::string path_;
	mutable Blob text_;
	mutable bool loaded_ = false;
	mutable bool by_address_ready_ = false;
	mutable bool by_name_ready_ = false;
	struct Entry {
		std::uint64_t address;
		std::uint32_t name_at; // in text_
		std::uint16_t name_length;
		std::uint16_t module_length; // 0: vmlinux; it starts two bytes after the name
		char type;
	};
	mutable std::vector<Entry> entries_;
	mutable std::vector<std::uint32_t> by_address_;
	mutable std::vector<std::uint32_t> by_name_;
};

// The symbols of one ELF file, by the addresses the file itself uses (its
// virtual addresses); ElfSymbols::Mapping turns a process's address into one.
class ElfSymbols {
public:
	static ElfSymbols open(const std::string& path);
	static ElfSymbols from_blob(std::string name, Blob file);

	std::optional<Symbol> find(std::uint64_t file_address) const;
	std::optional<Symbol> find(std::string_view name) const;
	// In symbol-table order, .symtab if there is one, else .dynsym.
	const std::vector<Symbol>& all() const { return symbols_; }

	// The file's virtual address of a byte at `file_offset`: what a line of
	// /proc/PID/maps (start, offset) needs to become a load bias.
	std::optional<std::uint64_t> address_of_offset(std::uint64_t file_offset) const;

private:
	struct Segment {
		std::uint64_t offset, address, file_size;
	};
	std::string name_;
	Blob file_;
	std::vector<Symbol> symbols_;
	std::vector<std::uint32_t> by_address_;
	std::vector<Segment> segments_;
};

} // namespace dfr::types
