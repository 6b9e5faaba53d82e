// SPDX-License-Identifier: GPL-2.0
//
// The kernel's own events of a boot, from its entry on: initcalls, which are how its parts and its modules begin, and
// when modules were loaded. They are of the kernel's event tracing, not of dfr, and stand beside the blocks of a boot's
// recording (formats/trace/kernel_events.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/libdfr/boot_timeline.h"
#include "formats/trace/kernel_events.h"

namespace dfr::lib {

struct BootInitcall {
	std::string name;   // of the function; of a module's without one, "init"
	std::string module; // empty: of the kernel itself
	std::string level;  // of the kernel's own
	uint32_t pid = 0;   // who ran it
	uint64_t from = 0, to = 0;
	int64_t result = 0;
	bool ended = false; // else `to` is the time of the last event
};

// Times are nanoseconds since the kernel's entry, to a microsecond; 0 for what came before the kernel's clock.
struct BootInitcalls {
	std::vector<BootInitcall> calls; // in the order of their beginnings
	std::vector<BootPhase> levels;   // without a gap; the last one ends with its last initcall
	uint64_t lost = 0;               // events that the kernel's buffer had no room for
	uint64_t unread = 0; // ends whose beginnings are not there, and events that are none of these
	std::vector<std::string> remarks; // of who recorded them: what is to be known of them
};
BootInitcalls boot_initcalls(const trace::KernelEvents& events);

} // namespace dfr::lib
