// SPDX-License-Identifier: GPL-2.0
//
// DeadModules: the symbols of the modules that a dead kernel had loaded, from its own list
// of modules and the tables from which it named their addresses. Where in its structures
// these stand, its types say. All of it may be forged: what does not fit is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/types/kernel_types.h"
#include "formats/types/symbols.h"

namespace dfr::recorder {

class DeadModules {
public:
	// By an address of the dead kernel's; false: not all of it is there.
	using Read = std::function<bool(uint64_t address, std::span<std::byte> into)>;

	// `list`: where the kernel's list of modules begins. Hostile types: dfr::Error.
	DeadModules(Read read, uint64_t list, types::KernelTypes& types);
	DeadModules() = default; // of none

	// What held the address last. Texts are valid as long as this is.
	std::optional<types::Symbol> find(uint64_t address);

private:
	struct Places;
	struct NamedModule {
		std::string name;
		uint64_t tables = 0;                               // its struct mod_kallsyms
		std::vector<std::pair<uint64_t, uint64_t>> ranges; // start and size
		std::optional<types::Symbols> symbols;             // once they were asked for
	};
	static std::optional<Places> places(types::KernelTypes& types);
	uint64_t word(uint64_t address, size_t bytes = 8) const; // 0: not there
	std::optional<NamedModule> read_module(uint64_t at, const Places& places) const;
	std::string symbols_text(const NamedModule& module);

	Read read_;
	// In struct mod_kallsyms.
	uint64_t symbols_at_ = 0, count_at_ = 0, names_at_ = 0, letters_at_ = 0;
	std::vector<NamedModule> modules_;
	uint64_t symbols_left_ = 0, text_left_ = 0; // that are read of all modules
};

} // namespace dfr::recorder
