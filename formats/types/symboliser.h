// SPDX-License-Identifier: GPL-2.0
//
// Symboliser: who knows the names of addresses: this machine (recorder/live_symbols.h),
// or a recording (analyze/libdfr/recorded_symbols.h).
#pragma once

#include <cstdint>
#include <string>

namespace dfr::types {

struct SymbolName {
	std::string module; // empty: not known
	std::string name;   // empty: not known
	uint64_t offset = 0;
};

class Symboliser {
public:
	virtual ~Symboliser() = default;
	virtual SymbolName kernel(uint64_t address) = 0;
	virtual SymbolName user(uint32_t pid, uint64_t address) = 0;
	// The process may end before its addresses are asked for. The second: what it had mapped at its end.
	virtual void remember(uint32_t) {}
	virtual void remember(uint32_t, const std::string&) {}
	// Of an internet address; itself where nobody is to be asked, because a recording may come from somebody else, whose
	// name servers would be told who reads it.
	virtual std::string host(const std::string& address) { return address; }
	// What is asked for next occurred at this time, on the recording's clock: an address may be called
	// something else later.
	virtual void at(uint64_t) {}
};

} // namespace dfr::types
