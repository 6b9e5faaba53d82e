// SPDX-License-Identifier: GPL-2.0
//
// What a kept state has in memory at this moment, for `dfr status`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "recorder/device_session.h"

namespace dfr::recorder {

struct StateOverview {
	dfr_ioc_status status{};
	uint64_t now = 0;   // when this was asked, or when it ended; these three in ns of the records' clock
	uint64_t since = 0; // when the state began to record; 0: it has not
	// Since then every CPU's ring has all that was recorded, and was not taken; `since`, if nothing is gone.
	uint64_t from = 0;
	uint64_t records = 0, lost = 0; // since it began
	uint64_t estimated = 0;         // of what is lost, as nobody counts what fires at a detached probe
	std::string detached; // probes that are detached now, whose losses are told later; empty: none
	uint64_t bytes = 0;   // of records that are in memory
	uint64_t room = 0;    // for them, on all CPUs
	uint64_t marks = 0;
	std::optional<DeviceSession::Cost> cost; // the loaded module may be too old to know
};

// "0.12 % of CPU 3, where it is most; it may take 1 % of each". spent: millionths; budget: percent, 0: it has none.
std::string cost_text(uint32_t spent, uint32_t cpu, uint32_t budget);

// The ring's blocks up to the newest of which none is missing between them. Older ones are in memory because who took
// them has not given them back.
std::span<const dfr_ioc_seen> newest_run(const DeviceSession::RingList& ring);

// Looks at it, whoever holds it. Throws dfr::Error.
StateOverview look_at_state(const std::string& name);

} // namespace dfr::recorder
