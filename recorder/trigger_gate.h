// SPDX-License-Identifier: GPL-2.0
//
// Which triggers get a snapshot. Each reason has its own interval: within it, further triggers of that
// reason are counted and get none, so that what fires ten thousand times a second fills no disk, and what
// fires once has its snapshot nevertheless.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dfr::recorder {

// Why a snapshot is taken. A program's snapshot("SIGUSR1") is not the signal that dfrd gets.
struct TriggerReason {
	std::string text;
	bool own = false; // dfrd's, or the kernel's: not a program's text
	auto operator<=>(const TriggerReason&) const = default;
};

class TriggerGate {
public:
	using Steady = std::chrono::steady_clock;

	void every(std::chrono::seconds interval) { every_ = interval; }
	// It has triggered so many times; `time`: of the first of these, in ns of the records' clock.
	void trigger(const TriggerReason& reason, uint64_t time, uint64_t times, Steady::time_point now);

	struct Admitted {
		TriggerReason reason;
		uint64_t time = 0;
		uint64_t held_back = 0; // triggers of this reason that got none since the one before
	};
	// The earliest trigger that shall have a snapshot and has none. A reason of which there is one `under_way` gets another
	// only while there are less than kOfOneReason of all, so that a rare one finds room beside a noisy one.
	static constexpr size_t kOfOneReason = 2;
	std::optional<Admitted> next(const std::vector<TriggerReason>& under_way = {});
	// Those that wait for that.
	std::vector<Admitted> waiting() const;
	// Its snapshot could not be taken: the next trigger of that reason has one again after five seconds, however long the
	// interval is, and that one tells of this.
	void failed(const Admitted& trigger, Steady::time_point now);

	uint64_t held_back() const { return held_back_; } // in all
	// A reason whose interval has ended with triggers that got none: told once here, and by the next snapshot.
	std::optional<Admitted> ended(Steady::time_point now);

private:
	struct Reason {
		// Its interval, with a trigger that got a snapshot, or with a snapshot that failed.
		std::optional<Steady::time_point> began;
		bool failed = false;
		uint64_t waiting = 0;   // time of the trigger that waits for its snapshot; 0: none
		uint64_t held_back = 0; // since the last one that got one
		uint64_t told = 0;      // of these, by ended()
		uint64_t before = 0;    // up to the one that waits
	};
	bool over(const Reason& one, Steady::time_point now) const;

	std::chrono::seconds every_{60};
	std::map<TriggerReason, Reason> reasons_;
	uint64_t held_back_ = 0;
};

} // namespace dfr::recorder
