// SPDX-License-Identifier: GPL-2.0
//
// AddressNames: what the addresses in a recording are called, as a NAMES segment holds it,
// so that another machine and another boot can print them. KnownNames: many of these
// together, as they are asked.
//
// A kernel's symbol has the range of its addresses. A process's addresses are named
// by what it had mapped: mapping -> file -> the symbol at that place of the file, so
// that a library's symbols stand once, whoever has it mapped where. A mapping and a
// module have the times between which they were there, because processes end, exec(),
// their numbers come back, and modules go: nothing names an address of another time.
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
		uint64_t since = 0; // 0: as long as its module was there
		uint32_t module = 0, name = 0;
	};
	struct File {
		uint32_t name = 0;
		uint32_t build_id = 0; // in hexadecimal; of a file without one: what else tells it
	};
	struct FileSymbol {
		uint32_t file = 0; // in `files`
		uint32_t name = 0;
		uint64_t offset = 0, size = 0; // in the file
	};
	struct MappedRange {
		uint32_t pid = 0, file = 0;
		uint64_t start = 0, end = 0, offset = 0; // `offset` in the file is mapped at `start`
		// It may have been there from `since` on; it was from `seen` until `until`.
		uint64_t since = 0, seen = 0, until = UINT64_MAX;
	};
	struct ModuleRange {
		uint32_t name = 0;
		uint64_t start = 0, size = 0;
		uint64_t since = 0, until = UINT64_MAX;
	};

	std::vector<std::string> texts; // the others name them by number
	std::vector<KernelSymbol> kernel;
	std::vector<File> files;
	std::vector<FileSymbol> symbols;
	std::vector<MappedRange> mappings;
	std::vector<ModuleRange> modules;
	bool empty() const {
		return kernel.empty() && files.empty() && symbols.empty() && mappings.empty() &&
		       modules.empty();
	}
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
	bool add_module(std::string_view name, const AddressNames::ModuleRange& module); // without .name

	// Nullopt: nothing is known of this address at this time. kAnyTime: what held it last.
	static constexpr uint64_t kAnyTime = UINT64_MAX;
	std::optional<AddressName> kernel(uint64_t address, uint64_t time) const;
	std::optional<AddressName> user(uint32_t pid, uint64_t address, uint64_t time) const;

	AddressNames fresh(); // what has come since the last call
	AddressNames all() const;
	size_t kernel_symbols() const { return kernel_.size(); }
	size_t user_symbols() const { return symbols_.size(); }
	size_t files() const { return files_.size(); }
	size_t size() const {
		return kernel_.size() + symbols_.size() + files_.size() + mappings_.size() + modules_.size();
	}

private:
	struct SizeSince {
		uint64_t size = 0, since = 0;
	};
	using KernelKey = std::tuple<uint64_t, uint32_t, uint32_t>; // start, module, name
	using SymbolKey = std::tuple<uint32_t, uint64_t, uint32_t>; // file, offset, name
	struct Held {
		uint64_t since = 0, until = UINT64_MAX;
		bool at(uint64_t time) const { return time == kAnyTime || (since <= time && time < until); }
	};
	struct HeldModule {
		uint64_t size = 0;
		Held held;
	};
	// pid, start, end, offset, file, when it was first seen
	using MappingKey = std::tuple<uint32_t, uint64_t, uint64_t, uint64_t, uint32_t, uint64_t>;
	using ModuleKey = std::tuple<uint32_t, uint64_t, uint64_t>; // name, start, since
	struct Part;                                                // what becomes one AddressNames

	bool loaded(uint32_t module, uint64_t address, uint64_t time) const;

	TextTable texts_;
	std::map<KernelKey, SizeSince> kernel_;
	std::map<SymbolKey, uint64_t> symbols_; // their sizes
	std::map<MappingKey, Held> mappings_;
	std::map<ModuleKey, HeldModule> modules_;
	std::vector<AddressNames::File> files_;
	std::map<std::pair<uint32_t, uint32_t>, uint32_t> file_numbers_; // by name and build id
	std::set<KernelKey> fresh_kernel_;
	std::set<SymbolKey> fresh_symbols_;
	std::set<MappingKey> fresh_mappings_;
	std::set<ModuleKey> fresh_modules_;
};

// Numbers that name nothing are refused, as everything that Cap'n Proto refuses: dfr::Error.
std::vector<std::byte> encode_names(const AddressNames& names);
AddressNames decode_names(std::span<const std::byte> payload);

} // namespace dfr::trace
