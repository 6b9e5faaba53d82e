// SPDX-License-Identifier: GPL-2.0
//
// dfr crash enable, disable, doctor, and what the unit runs: store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dfr::cli {

inline constexpr const char* kCrashFolder = "/var/lib/dfr/crash";

// Of what the disk has left recordings take so much at most: the full dump comes next, and mostly to this disk. It has them, too.
constexpr uint64_t room_for_recordings(uint64_t left) {
	return left / 2;
}
// Whether rings come to a disk that has so much left: a recording is mostly smaller than its rings.
enum class RingRoom { enough, if_packed, none };
constexpr RingRoom ring_room(uint64_t left, uint64_t rings) {
	return room_for_recordings(left) >= rings ? RingRoom::enough
	       : left >= rings                    ? RingRoom::if_packed
	                                          : RingRoom::none;
}

// Each gives the exit status; throws dfr::Error.
int crash_enable();
int crash_disable();
int crash_doctor();
// Harvests the memory of the kernel that died into a folder of its own in `folder`.
int crash_store(const std::string& memory, const std::string& folder);
// All that stands there.
std::vector<std::string> stored_recordings();
// Why a crash would not be stored; empty: it would be.
std::string no_crash_kernel();
// The latest one there. Throws dfr::Error if there is none.
std::string last_crash();

} // namespace dfr::cli
