// SPDX-License-Identifier: GPL-2.0
//
// Parses names of timer probes: tick-N[unit], and the units that they share with
// options. It does not fire them: the in-process engine does so by the clock, replay
// by the times of the records.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

extern "C" {
struct dfr_probe;
}

namespace dfr::engine {

// A timer's probe and when it fires next, in ns of its user's clock.
struct Timer {
	dfr_probe* probe;
	uint64_t interval, due;
};

inline constexpr uint64_t kNever = UINT64_MAX; // as a time: a timer that is not due
inline constexpr uint64_t kTickMin = 200'000;  // ns; a name with a shorter interval is no probe

// ns in "ms", "sec" ...; nullopt: no unit of time.
std::optional<uint64_t> time_unit(std::string_view name);

// ns between two firings of a timer such as "tick-10ms"; `word`: the part before the dash. nullopt: no
// such probe.
std::optional<uint64_t> timer_interval(std::string_view name, std::string_view word = "tick");

} // namespace dfr::engine
