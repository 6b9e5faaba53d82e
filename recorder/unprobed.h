// SPDX-License-Identifier: GPL-2.0
//
// Unprobed: why a function of the running kernel has no fbt probe, and who calls
// it. Answers come from what the kernel tells about itself (kallsyms, ftrace's
// list of sites, kprobes' blacklist) and from its text in /proc/kcore, where a
// direct call shows its target. Sources that cannot be read leave answers
// shorter. Not for hot paths: it reads megabytes, once, when first asked.
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
	// The symbols must live as long.
	explicit Unprobed(const types::Symbols& symbols, UnprobedSources sources = {});

	// Why there is no fbt probe of this name; a clause without a full stop.
	std::string why(const std::string& function);
	// Functions with probes that call it directly, at most so many; empty: none known.
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
};

// Bytes of the kernel's text at an address, from /proc/kcore; fewer or none where it cannot be read.
std::vector<uint8_t> kernel_text(const std::string& kcore, uint64_t address, size_t size);

} // namespace dfr::recorder
