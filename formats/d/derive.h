// SPDX-License-Identifier: GPL-2.0
//
// dfr record --for: from an analysis program, the program that records what
// the analysis will need: for each of its clauses one that captures the firing
// inputs the clause uses, under the conjuncts of its predicate that consist of
// firing inputs alone. BEGIN, END, ERROR and tick probes are the replay's own.
#pragma once

#include <string>
#include <string_view>

#include "formats/d/compile.h"

namespace dfr::d {

struct Derived {
	Compiled program; // to be enabled
	std::string text; // the same as D, to be shown
};

// If diagnostics.failed() afterwards, the result is not to be used.
Derived derive(std::string_view source, const CompileOptions& options, Target& target,
               Diagnostics& diagnostics);

} // namespace dfr::d
