// SPDX-License-Identifier: GPL-2.0
//
// -x tree: a clause as an indented text, a node a line: what it is, its text or
// value, and its type once the analysis has given it one. For those who look
// into the compiler; canonical text (canon.h) is for comparing.
#pragma once

#include <string>

#include "formats/d/ast.h"
#include "formats/d/type_table.h"

namespace dfr::d {

// Bits of -x tree: what is shown.
inline constexpr uint64_t kTreeParsed = 1, kTreeAnalyzed = 2;

std::string tree_text(TypeTable& types, const Clause& clause, const char* stage);

} // namespace dfr::d
