// SPDX-License-Identifier: GPL-2.0
//
// What the module has switched off on this kernel: it holds a table of assumptions
// (kmod/linux/assumptions.h) against the kernel when it loads, and says which do not
// hold and what needs them.
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

// Empty: everything holds, or there is no module.
std::vector<Unmet> unmet(const std::string& path = kUnmet);

// What is off of what a description asks for, as a sentence for a hint; empty: nothing of it.
std::string off_of(std::string_view provider, std::string_view name, const std::vector<Unmet>& all);

} // namespace dfr::recorder
