// SPDX-License-Identifier: GPL-2.0
//
// Which triggers get a snapshot. Each reason has its own interval: within it, further triggers of that
// reason are counted and get none, so that what fires ten thousand times a second fills no disk, and what
// fires once has its snapshot nevertheless.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace dfr::recorder {

class TriggerGate {
public:
	using Steady = std::chrono::steady_clock;

	void every(std::chrono::seconds interval) { every_ = interval; }
	// It has triggered so many times; `time`: of the first of these, in ns of the records' clock.
	void trigger(const std::string& reason, uint64_t time, uint64_t times, Steady::time_point now);

	struct Admitted {
		std::string reason;
		uint64_t time = 0;
		uint64_t held_back = 0; // triggers of this reason that got none since the one before
	};
	// The earliest trigger that shall have a snapshot and has none.
	std::optional<Admitted> next();

	uint64_t held_back() const { return held_back_; } // in all
	// A reason whose interval has ended with triggers that got none: told once, then they are forgotten.
	std::optional<Admitted> ended(Steady::time_point now);

private:
	struct Reason {
		std::optional<Steady::time_point> admitted; // the last time
		uint64_t waiting = 0;   // time of the trigger that waits for its snapshot; 0: none
		uint64_t held_back = 0; // since `admitted`
		uint64_t before = 0;    // up to the one that waits
	};
	std::chrono::seconds every_{60};
	std::map<std::string, Reason> reasons_;
	uint64_t held_back_ = 0;
};

} // namespace dfr::recorder
