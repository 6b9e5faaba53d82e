// SPDX-License-Identifier: GPL-2.0
//
// A trial: what a program would record and cost, found by running it for a moment and keeping nothing.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "recorder/device_session.h"

namespace dfr::recorder {

inline constexpr std::chrono::seconds kTrialTime{1};

struct Trial {
	std::chrono::nanoseconds took{};
	uint64_t records = 0, bytes = 0; // of all CPUs, as they lie in memory
	uint64_t lost = 0;
	uint32_t busiest = 0;       // the CPU with most bytes,
	uint64_t busiest_bytes = 0; // and how many
	uint64_t room = 0;          // bytes for each CPU's records
	DeviceSession::Cost cost;
};

// `session` has its program and has not started. Runs it for kTrialTime, or until `going` says no.
Trial run_trial(DeviceSession& session, const std::function<bool()>& going);

// What it says to a person, a line each.
std::vector<std::string> trial_lines(const Trial& trial);

} // namespace dfr::recorder
