// SPDX-License-Identifier: GPL-2.0
//
// dfr crash enable, disable, doctor, and what the unit runs: store.
#pragma once

#include <string>

namespace dfr::cli {

inline constexpr const char* kCrashFolder = "/var/lib/dfr/crash";

// Each gives the exit status; throws dfr::Error.
int crash_enable();
int crash_disable();
int crash_doctor();
// Harvests the memory of the kernel that died into kCrashFolder.
int crash_store(const std::string& memory);
// The latest one there. Throws dfr::Error if there is none.
std::string last_crash();

} // namespace dfr::cli
