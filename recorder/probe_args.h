// SPDX-License-Identifier: GPL-2.0
//
// The types of args[] for the module's probes, as C types of the kernel's BTF or
// as translated types of the D library. The stable providers' types come from a
// table, the others' from the kernel's own types.
#pragma once

#include <string>
#include <vector>

#include "formats/d/target.h"

namespace dfr::types {
class KernelTypes;
}

namespace dfr::recorder {

// The tracing file system's event formats: they have the system calls' argument types.
inline constexpr const char* kTracingEvents = "/sys/kernel/tracing/events";

// Empty: the probe has no arguments, or their types are not known.
std::vector<d::ProbeArg> probe_args(const d::ProbeInfo& probe, types::KernelTypes& types,
                                    const std::string& tracing_events = kTracingEvents);

// Why probe_args() returns none, as a clause without a full stop; empty: it returns some, the probe
// cannot have any, or the reason is not known.
std::string why_untyped(const d::ProbeInfo& probe, types::KernelTypes& types);

// The arguments that an event format lists after the common fields and __syscall_nr.
std::vector<d::ProbeArg> parse_event_format(std::string_view format);

} // namespace dfr::recorder
