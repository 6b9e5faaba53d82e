// SPDX-License-Identifier: GPL-2.0
//
// The text in which the kernel gives the events that its own tracer has kept (the file "trace" of tracefs), as events of a
// recording. Of a boot that was asked for them they are of its initcalls, which are how its parts and its modules begin,
// and of when modules were loaded: "trace_event=initcall:,module:module_load trace_clock=mono" on its command line. What
// else is in the text somebody else has traced.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

#include "formats/trace/kernel_events.h"

namespace dfr::lib {

struct KernelText {
	trace::KernelEvents events;
	uint64_t foreign = 0; // lines of others, which are left out
	bool cut = false;     // there was more than `most` bytes
};
KernelText read_kernel_text(std::istream& text, size_t most);

// How many events a CPU's buffer has lost, by its file "stats" of tracefs; nothing: it does not say so.
std::optional<uint64_t> lost_kernel_events(const std::string& stats);

} // namespace dfr::lib
