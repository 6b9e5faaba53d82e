// SPDX-License-Identifier: GPL-2.0
//
// dfr crash enable, disable, doctor, and what the unit runs: store.
#pragma once

#include <string>
#include <vector>

namespace dfr::cli {

inline constexpr const char* kCrashFolder = "/var/lib/dfr/crash";

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
