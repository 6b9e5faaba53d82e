// SPDX-License-Identifier: GPL-2.0
//
// The clock of all live events, in the kernel and in this process: monotonic ns.
#pragma once

#include <cstdint>
#include <ctime>

namespace dfr {

inline uint64_t now_ns() {
	timespec now{};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace dfr
