// SPDX-License-Identifier: GPL-2.0
//
// AddressNames: what the addresses in a recording are called, as a NAMES segment holds it,
// so that another machine and another boot can print them. KnownNames: many of these
// together, as they are asked.
//
// A kernel's symbol has the range of its addresses. A process's addresses are named
// by what it had mapped: mapping -> file -> the symbol at that place of the file, so
// that a library's symbols stand once, whoever has it mapped where. Each has the time
// from which on it was so, because processes end, exec(), and their numbers come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace dfr::trace {

struct AddressName {
	std::string module, name; // empty: not known
	uint64_t offset = 0;
};

struct AddressNames {
	struct KernelSymbol {
		uint64_t start = 0, size = 0;
		uint64_t since = 0; // time of the first record that had it; 0: from the start
		uint32_t module = 0, name = 0;
	};
	struct File {
		uint32_t name = 0, build_id = 0; // the build id in hexadecimal; "": not known
	};
	struct FileSymbol {
		uint32_t file = 0; // in `files`
		uint32_t name = 0;
		uint64_t offset = 0, size = 0; // in the file
	};
	struct MappedRange {
		uint32_t pid = 0, file = 0;
		uint64_t start = 0, end = 0, offset = 0; // `offset` in the file is mapped at `start`
		uint64_t since = 0;
	};

	std::vector<std::string> texts; // the others name them by number
	std::vector<KernelSymbol> kernel;
	std::vector<File> files;
	std::vector<FileSymbol> symbols;
	std::vector<MappedRange> mappings;
	bool empty() const { return kernel.empty() && files.empty() && symbols.empty() && mappings.empty(); }
};

// Texts, each once, by number.
class TextTable {
public:
	uint32_t number(std::string_view text);
	const std::string& text(uint32_t number) const { return *texts_[number]; }

private:
	std::unordered_map<std::string, uint32_t> known_;
	std::vector<const std::string*> texts_; // keys of known_
};

class KnownNames {
public:
	void add(const AddressNames& names);
	// Each returns whether it says something new. A symbol without a size that anybody knows reaches as far
	// as its addresses that occurred, so it may grow.
	bool add_kernel(uint64_t start, uint64_t size, uint64_t since, std::string_view module,
	                std::string_view name);
	uint32_t add_file(std::string_view name, std::string_view build_id); // its number
	bool add_symbol(uint32_t file, uint64_t offset, uint64_t size, std::string_view name);
	bool add_mapping(const AddressNames::MappedRange& mapping); // .file as add_file() said

	// Nullopt: nothing is known of this address. `time`: when it occurred.
	std::optional<AddressName> kernel(uint64_t address, uint64_t time) const;
	std::optional<AddressName> user(uint32_t pid, uint64_t address, uint64_t time) const;

	AddressNames fresh(); // what has come since the last call
	AddressNames all() const;
	size_t kernel_symbols() const { return kernel_.size(); }
	size_t user_symbols() const { return symbols_.size(); }
	size_t files() const { return files_.size(); }
	size_t size() const { return kernel_.size() + symbols_.size() + files_.size() + mappings_.size(); }

private:
	struct SizeSince {
		uint64_t size = 0, since = 0;
	};
	using KernelKey = std::tuple<uint64_t, uint32_t, uint32_t>; // start, module, name
	using SymbolKey = std::tuple<uint32_t, uint64_t, uint32_t>; // file, offset, name
	using MappingKey =
	    std::tuple<uint32_t, uint64_t, uint64_t, uint64_t, uint32_t>; // pid, start, end, offset, file
	struct Part;                                                      // what becomes one AddressNames

	TextTable texts_;
	std::map<KernelKey, SizeSince> kernel_;
	std::map<SymbolKey, uint64_t> symbols_;   // their sizes
	std::map<MappingKey, uint64_t> mappings_; // since when
	std::vector<AddressNames::File> files_;
	std::map<std::pair<uint32_t, uint32_t>, uint32_t> file_numbers_; // by name and build id
	std::set<KernelKey> fresh_kernel_;
	std::set<SymbolKey> fresh_symbols_;
	std::set<MappingKey> fresh_mappings_;
};

// Numbers that name nothing are refused, as everything that Cap'n Proto refuses: dfr::Error.
std::vector<std::byte> encode_names(const AddressNames& names);
AddressNames decode_names(std::span<const std::byte> payload);

} // namespace dfr::trace
