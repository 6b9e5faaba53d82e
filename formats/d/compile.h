// SPDX-License-Identifier: GPL-2.0
//
// The compiler's front door: D source and a target in, a DOF image out. What
// is wrong with the program goes to Diagnostics, up to 100 errors; only faults that
// are not the program's (damaged type information, a library that cannot be
// read) raise dfr::Error.
#pragma once

#include <string>
#include <string_view>

#include "formats/d/compile_options.h"
#include "formats/d/diagnostics.h"
#include "formats/d/target.h"

namespace dfr::d {

// If diagnostics.failed() afterwards, the result is not to be used.
Compiled compile(std::string_view source, const CompileOptions& options, Target& target,
                 Diagnostics& diagnostics);

// What matches the probes of a compiled clause.
inline ProbePattern pattern_of(const dof::ProbeDesc& probe) {
	return {probe.host, probe.provider, probe.module, probe.function, probe.name, probe.id};
}

// dfr record --for: from an analysis program, the program that records what
// the analysis will need: for each of its clauses one that captures the firing
// inputs the clause uses, under the conjuncts of its predicate that consist of
// firing inputs alone. BEGIN, END, ERROR and tick probes are the replay's own.
struct Derived {
	Compiled program; // to be enabled
	std::string text; // the same as D, to be shown
};

// If diagnostics.failed() afterwards, the result is not to be used.
Derived derive(std::string_view source, const CompileOptions& options, Target& target,
               Diagnostics& diagnostics);

} // namespace dfr::d
