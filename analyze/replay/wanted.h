// SPDX-License-Identifier: GPL-2.0
//
// Which part of a recording a person asks about (--from, --to, --cpu, --all), and
// what that selects of this recording.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/trace/united.h"

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
	bool all = false;       // what some CPUs have from before or behind the window, too
	bool part() const { return from || to || !cpus.empty(); }
};

// The times that a recording has, on its own clock. Headers and marks tell them before any record is read.
struct Extent {
	uint64_t earliest = UINT64_MAX, to = 0;
	uint64_t from = 0, until = 0; // of the window
};

struct Selected {
	trace::Selection records;
	Extent extent;
	bool touched = true; // false: nothing of this recording is in the span
	// Why the answer is less than whole: what was asked reaches beyond the window.
	std::vector<std::string> reasons;
	std::string
	    note; // which part of the span it does not cover, though others may; empty: it covers all of it
};

// A recording to select from. Its merger is open, and has no selection yet.
struct Selectable {
	trace::Merger& merger;
	const trace::UnitedSource& member;
};

// What is selected of each recording, by its own clock; the mergers are told. `windowed`: without --from and --all,
// records from before a recording's window are not selected, because not every CPU has them. Throws dfr::Error if
// nothing can be selected.
std::vector<Selected> select(const Wanted& wanted, std::span<const Selectable> recordings, bool windowed);

} // namespace dfr::replay
