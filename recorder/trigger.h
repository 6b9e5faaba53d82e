// SPDX-License-Identifier: GPL-2.0
//
// Trigger: what asks for a snapshot of a state, one for each reason: the snapshot() actions of its
// programs with that text, or the oopses of the kernel. A value; DeviceSession asks for them.
#pragma once

#include <cstdint>
#include <string>

namespace dfr::recorder {

struct Trigger {
	std::string reason;
	bool oops = false;  // of the kernel; a program may have a snapshot("oops") beside it
	uint64_t count = 0; // since the state began to record
	uint64_t fresh = 0; // those among them that this session has not asked for before
	// Time of the first fresh one, or an earlier one if somebody else has asked meanwhile. 0: none is fresh, or all were
	// asked for by others before this session asked at all.
	uint64_t first = 0;
	uint64_t last = 0; // time of the last of all; 0: none
};

} // namespace dfr::recorder
