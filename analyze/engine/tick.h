// SPDX-License-Identifier: GPL-2.0
//
// Names of timer probes: tick-N[unit]. What they mean, not who fires them: the
// in-process engine by the clock, replay by the recording's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

extern "C" {
struct dfr_probe;
}

namespace dfr::engine {

// A timer's probe, and when it fires next: ns of the clock that its user fires it by.
struct Timer {
	dfr_probe* probe;
	uint64_t interval, due;
};

inline constexpr uint64_t kTickMin = 200'000; // ns; finer ones do not exist

// ns between two firings of "tick-10ms", or of another timer with its own word before the dash;
// nullopt: no such probe.
std::optional<uint64_t> timer_interval(std::string_view name, std::string_view word = "tick");

} // namespace dfr::engine
