// SPDX-License-Identifier: GPL-2.0
//
// The catalog of a dead machine's state: it stands in memory twice, and each entry
// has its place and a checksum (formats/abi/catalog.h), so each is taken from
// whichever copy has it whole. What neither has can be lent by an older recording
// of the same state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/trace/catalog.h"

namespace dfr::recorder {

struct SalvagedCatalog {
	trace::Catalog catalog;
	std::vector<std::string> missing; // what neither copy had; empty: nothing
	std::vector<std::string> remarks;
};

// `logs`: the copies' bytes, with zeros in the place of what is not there.
SalvagedCatalog salvage_catalog(std::span<const std::vector<std::byte>> logs, uint64_t state,
                                const std::array<uint8_t, 16>& boot);

// Adds what `from` has and `to` has not. Throws dfr::Error if they are of different states.
void lend_catalog(trace::Catalog& to, const trace::Catalog& from);

// The clauses whose records cannot be read ("EPID 5 (syscall::read:entry)"); empty: none is known to be missing.
std::string unreadable_clauses(const trace::Catalog& catalog);

} // namespace dfr::recorder
