// SPDX-License-Identifier: GPL-2.0
//
// Which clauses of a program run for recorded firings, and which the engine runs before
// and after them (BEGIN, END, ERROR): for answers that do not take the firings in their
// order (by_columns.h, by_threads.h).
#pragma once

#include <string>
#include <vector>

#include "analyze/replay/recording_target.h"
#include "formats/d/compile.h"

namespace dfr::replay {

struct Clauses {
	std::vector<const dof::EcbDesc*> recorded, own;
	// Why the firings must be taken in order, for a person; empty: as far as this tells, they need not.
	std::string refusal;
};
Clauses clauses_of(const d::Compiled& program, const RecordingTarget& target);

} // namespace dfr::replay
