// SPDX-License-Identifier: GPL-2.0
//
// KernelEvents: events of the kernel's own tracer, which it kept of a boot before anything of
// ours could record, as an EVENTS segment holds them. Who recorded put them there
// (analyze/libdfr/kernel_text.h makes them of the kernel's text); analyze/libdfr/boot_initcalls.h
// says what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/trace/names.h"

namespace dfr::trace {

struct KernelEvents {
	struct Event {
		uint64_t time = 0; // as of records, to a microsecond; 0 until the kernel's clock runs
		uint32_t cpu = 0, pid = 0;
		uint32_t name = 0, text = 0; // in `texts`: "initcall_start", "func=acpi_init+0x0/0x35"
	};
	std::vector<std::string> texts;
	std::vector<Event> events;        // in the kernel's order
	uint64_t lost = 0;                // that the kernel's buffer had no room for
	std::vector<std::string> remarks; // what else is missing, or why there are none
	bool empty() const { return events.empty() && !lost && remarks.empty(); }

	// Those that are wanted, with the texts that they need and no others; `lost` and remarks stay.
	KernelEvents only(const std::function<bool(const Event&)>& wanted) const;
};

// Gathers events, each text once.
class KernelEventsBuilder {
public:
	void add(uint64_t time, uint32_t cpu, uint32_t pid, std::string_view name, std::string_view text);
	KernelEvents events;

private:
	uint32_t number(std::string_view text);
	TextTable table_;
};

// Numbers that name no text are refused, as everything that Cap'n Proto refuses: dfr::Error.
std::vector<std::byte> encode_kernel_events(const KernelEvents& events);
KernelEvents decode_kernel_events(std::span<const std::byte> payload);

} // namespace dfr::trace
