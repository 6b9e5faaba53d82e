// SPDX-License-Identifier: GPL-2.0
//
// The kernel's own events of a boot, from its entry on: initcalls, which are how its parts and its modules begin, and
// when modules were loaded. They are of the kernel's event tracing, not of dfr: "trace_event=initcall:,
// module:module_load trace_clock=mono" on its command line lets it keep them, and its text of them is read here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/libdfr/boot_timeline.h"

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
	std::vector<BootInitcall> calls;  // in the order of their beginnings
	std::vector<BootPhase> levels;    // without a gap; the last one ends with its last initcall
	uint64_t lost = 0;                // events that the kernel's buffer had no room for
	uint64_t unread = 0;              // lines that are none of these
	std::vector<std::string> remarks; // of who stored them: what is to be known of them
};
// How a line with a remark begins.
inline constexpr const char* kEventsRemark = "# dfr: ";
// Whether a line of the kernel's text is one of these events.
bool is_boot_event(const std::string& line);
// `text`: as the file "trace" of tracefs has it.
BootInitcalls boot_initcalls(const std::string& text);

} // namespace dfr::lib
