// SPDX-License-Identifier: GPL-2.0
//
// Times and amounts of memory as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace dfr {

std::string span_text(uint64_t ns);     // "0.250 ms", "12.3 s", "5 min", "3.2 h"
std::string bytes_text(uint64_t bytes); // "4.0 KiB", "12.5 MiB"
// "2026-11-22 15:02:33" of seconds since 1970, by this machine's zone; empty: there is no such time.
std::string local_time_text(int64_t seconds);

} // namespace dfr
