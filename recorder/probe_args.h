// SPDX-License-Identifier: GPL-2.0
//
// What the arguments of the module's probes are: args[] of each provider, as
// C types of the kernel's BTF or as translated types of the D library. The
// stable providers come from a table, the others from the kernel's own types.
#pragma once

#include <string>
#include <vector>

#include "formats/d/target.h"

namespace dfr::types {
class KernelTypes;
}

namespace dfr::recorder {

// Where the system calls' argument types are found: the tracing file system's event formats.
inline constexpr const char* kTracingEvents = "/sys/kernel/tracing/events";

// Empty: none, or not known.
std::vector<d::ProbeArg> probe_args(const d::ProbeInfo& probe, types::KernelTypes& types,
                                    const std::string& tracing_events = kTracingEvents);

// Why probe_args() knows none, in a clause without a full stop; empty: there are some, there
// can be none, or nothing more is known.
std::string why_untyped(const d::ProbeInfo& probe, types::KernelTypes& types);

// The arguments that one event format names behind the common fields and __syscall_nr.
std::vector<d::ProbeArg> parse_event_format(std::string_view format);

} // namespace dfr::recorder
