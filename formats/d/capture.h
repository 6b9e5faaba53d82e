// SPDX-License-Identifier: GPL-2.0
//
// Replay: expressions are computed from what was recorded. The largest captured
// subtrees become loads of captured[i]; what is left over and names the world
// of the firing was not recorded, and is an error that says what to capture.
#pragma once

#include "formats/d/compilation.h"

namespace dfr::d {

// Collects what the records of the clause's probes hold, into compilation.captured.
void collect_captured(Compilation& compilation, const Clause& clause);
// Rewrites an analysed expression in place. False: something was not captured
// (reported). `cut`: of its value only what its type can hold is used. A live target: does nothing.
bool substitute_captured(Compilation& compilation, Node* node, bool cut);
// The same for memory that an action records by its address: in replay the
// node becomes the captured copy. canon is empty: the memory is computed, not captured.
bool captured_bytes(Compilation& compilation, const std::string& canon, Node* address);
// Replay: puts a test of these inputs in front of a predicate (there may be none yet), so that the clause runs only in
// firings that have all of them. The replay counts the others: the engine tells it (dfr_env.h).
void require_needed(const std::set<uint64_t>& needed, std::optional<dif::Difo>& predicate);
// derive(): adds the largest firing inputs of an expression to compilation.inputs.
void collect_inputs(Compilation& compilation, Node* node);
// The same for an action that is recorded itself (stack()): its canonical text.
bool require_captured(Compilation& compilation, const std::string& canon, const Node* node);

} // namespace dfr::d
