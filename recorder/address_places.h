// SPDX-License-Identifier: GPL-2.0
//
// AddressPlaces: who can say what was at an address at a time: this machine
// (live_symbols.h), or the tables of a dead kernel in an image of its memory
// (dead_kernel.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/types/symbols.h"

namespace dfr::recorder {

// When something was there, on the records' clock: perhaps from `since` on; from `seen` until `until`.
struct Presence {
	uint64_t since = 0, seen = 0, until = UINT64_MAX;
	bool may_hold(uint64_t time) const { return since <= time && time < until; }
};

// What of a process is at an address: `offset` of a file is mapped at `start`, and the symbol there, if one
// is known, begins at `symbol_offset` of that file. Texts are valid until the next question.
struct UserPlace {
	uint64_t start = 0, end = 0, offset = 0;
	Presence present = {};
	std::string_view file = {};
	std::string_view identity = {}; // the file's build id, or what else tells it from others of its name
	std::string_view symbol = {};   // empty: not known
	uint64_t symbol_offset = 0, symbol_size = 0;
	uint64_t into_symbol = 0; // the address's distance from its start
};

struct LoadedModule {
	std::string name;
	uint64_t start = 0, size = 0;
	Presence present = {};
};

struct KernelPlace {
	types::Symbol symbol;
	const LoadedModule* module = nullptr; // null: of the kernel proper
};

class AddressPlaces {
public:
	static constexpr uint64_t kAnyTime = UINT64_MAX; // what was there last
	virtual ~AddressPlaces() = default;
	// Texts are valid until the next question.
	virtual std::optional<KernelPlace> kernel_place(uint64_t address, uint64_t time) = 0;
	// `name_then`: the name (execname) that the process's first thread had then; empty: not known. A process
	// with another name now may have been another program then.
	virtual std::optional<UserPlace> place(uint32_t, uint64_t, uint64_t, std::string_view = {}) {
		return std::nullopt;
	}
	// What place() has told and is known better now: when it began, or that it ended. Without symbols.
	virtual std::vector<std::pair<uint32_t, UserPlace>> take_changes() { return {}; }
	virtual std::vector<LoadedModule> gone_modules() const { return {}; }
};

} // namespace dfr::recorder
