// SPDX-License-Identifier: GPL-2.0
//
// What a boot waited for, one thing after the other, up to the login prompt: the path on which everything that is made
// shorter makes the boot shorter, as far as a recording of processes shows it. It is inferred: who makes a process is
// taken to have waited for the one of its processes that ended last before. Scripts do wait like that; systemd starts
// things side by side, and what it waited for besides (a device, a daemon's word that it is ready) is not recorded, so
// that time is its own here.
#pragma once

#include <optional>
#include <vector>

#include "analyze/libdfr/boot_timeline.h"

namespace dfr::lib {

struct BootStep {
	uint64_t from = 0, to = 0;
	std::optional<size_t> process; // index; none: the first process itself, or what is not recorded
};

// Without a gap from the beginning of the recording to the login prompt, or its end.
std::vector<BootStep> boot_path(const BootTimeline& boot);

} // namespace dfr::lib
