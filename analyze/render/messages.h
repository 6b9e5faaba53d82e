// SPDX-License-Identifier: GPL-2.0
//
// What a consumer says about faults and losses, in DTrace's words. Texts only:
// who prints them, and the program's name before them, is the caller's.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/render/programs.h"
#include "formats/abi/control.h"
#include "formats/trace/source.h"

namespace dfr::render {

struct Fault {
	uint32_t epid = 0;
	uint32_t action = 0; // 0: the predicate
	int64_t offset = -1; // in bytes of DIF; -1: not known
	uint32_t code = 0;   // enum dif_fault
	uint64_t address = 0;
};

// "error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): invalid address (0x0) in action #1 at DIF offset 16"
std::string fault_text(const Fault& fault, const trace::Catalog& catalog);
// "prog.d:3:14" of the expression, where the program has a line table; else empty.
std::string fault_place(const Fault& fault, Programs& programs);

// Clauses that were off on a CPU: "clauses of low priority (syscall:::entry) were thinned ..."
std::string thinned_text(const trace::Catalog& catalog, const trace::Losses::Stretch& stretch);

// Messages for what was lost since `before`; counts are differences. An empty text: nothing.
std::string drop_text(uint32_t cause, uint64_t count, int cpu, bool tags);

// What happened to the state that whoever reads its answers must know: "probe fbt:a:b:entry cannot
// be armed: Cannot allocate memory". Empty: nothing of that kind, or what the event before it says,
// for a clause's `if` and several clauses on one probe make an event several times.
std::string event_text(const trace::Catalog& catalog, size_t index);

} // namespace dfr::render
