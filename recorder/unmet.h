// SPDX-License-Identifier: GPL-2.0
//
// What the module has switched off on this kernel: when it loads, it checks a table
// of assumptions (kmod/linux/assumptions.h) against the kernel, and reports which do
// not hold and which probes need them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dfr::recorder {

struct Unmet {
	std::string off; // "sched:::tick"
	std::string why; // "sched_tick has another prototype"
};

inline constexpr const char* kUnmet = "/sys/module/dfr/parameters/unmet";

// Empty: all assumptions hold, or the module is not loaded.
std::vector<Unmet> unmet(const std::string& path = kUnmet);

// Why probes of this provider and name are switched off, for a hint; empty: they are not.
std::string off_of(std::string_view provider, std::string_view name, const std::vector<Unmet>& all);

} // namespace dfr::recorder
