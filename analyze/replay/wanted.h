// SPDX-License-Identifier: GPL-2.0
//
// Which part of a recording a person asks about (--from, --to, --cpu, --all), and
// what that selects of this recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/trace/decode.h"

namespace dfr::replay {

// A point in a recording: relative to the window ("+5s" after its start, "-10s" before its end), a time of
// day ("14:03:02.120"), a date and a time ("2026-11-21 14:03:02"), or a number of ns on the recording's
// clock, as --json prints it ("@81726354000").
struct When {
	enum class TimeBase {
		kAfterStart,
		kBeforeEnd,
		kTimeOfDay,
		kWallTime,
		kClock
	} base = TimeBase::kClock;
	int64_t ns = 0;
	std::string text; // as it was written, for messages
};
std::optional<When> parse_when(const std::string& text);
// "0,2-3" as a set by CPU; nullopt: it is no list of CPUs.
std::optional<std::vector<bool>> parse_cpus(const std::string& text);

struct Wanted {
	std::optional<When> from, to;
	std::vector<bool> cpus; // empty: all
	bool all = false;       // what some CPUs have from before the window, too
	bool part() const { return from || to || !cpus.empty(); }
};

struct Selected {
	trace::Selection records;
	// Why the answer is less than whole: what was asked reaches beyond the window.
	std::vector<std::string> reasons;
};

// The merger is open, and has no selection yet. `windowed`: without --from and --all, records from before the window
// are not selected, because not every CPU has them. Throws dfr::Error if nothing can be selected.
Selected select(const Wanted& wanted, trace::Merger& merger, const trace::Catalog& catalog, bool windowed);

} // namespace dfr::replay
