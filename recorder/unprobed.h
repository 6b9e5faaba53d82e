// SPDX-License-Identifier: GPL-2.0
//
// Unprobed: why a function of the running kernel has no fbt probe, and which
// functions call it. The answers come from kallsyms, ftrace's list of sites,
// kprobes' blacklist, and the kernel's text in /proc/kcore, where direct calls
// contain their target. If a source cannot be read, the answer says less. Slow:
// callers() reads the whole text each time; the lists are read once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "formats/types/symbols.h"

namespace dfr::recorder {

struct UnprobedSources {
	std::string tracing = "/sys/kernel/tracing";
	std::string blacklist = "/sys/kernel/debug/kprobes/blacklist";
	std::string kcore = "/proc/kcore";
};

class Unprobed {
public:
	// Keeps a reference to the symbols.
	explicit Unprobed(const types::Symbols& symbols, UnprobedSources sources = {});

	// Why this function has no fbt probe; a clause without a full stop.
	std::string why(const std::string& function);
	// At most `most` functions that have probes and call it directly; empty: none known.
	std::vector<std::string> callers(const std::string& function, size_t most);
	// Both in one sentence, for a hint.
	std::string explain(const std::string& function);

private:
	void load();
	std::string copies_of(const std::string& function) const;

	const types::Symbols& symbols_;
	UnprobedSources sources_;
	bool loaded_ = false;
	std::vector<std::string> traceable_; // sorted
	std::unordered_set<std::string> forbidden_;
	uint64_t init_begin_ = 0, init_end_ = 0;
	uint64_t data_begin_ = 0, data_end_ = 0;
};

// The bytes at an address of the kernel, from /proc/kcore; fewer than `size` or none if it cannot be read.
std::vector<uint8_t> kernel_text(const std::string& kcore, uint64_t address, size_t size);

} // namespace dfr::recorder
