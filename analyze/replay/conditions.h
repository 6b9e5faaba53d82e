// SPDX-License-Identifier: GPL-2.0
//
// Under which conditions the firings of a recorded clause left records, as far as its
// program says: a predicate, a fault that may end it, a speculation that may not have
// been committed, one CPU; and whether one clause's probes are all among another one's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/d/target.h"
#include "formats/dof/image.h"

namespace dfr::replay {

// The operands of a chain of `&&` in canonical text, sorted: views of it. A recording may say anything, so what stands
// very deep is taken as it is, and so is a text that is none.
std::vector<std::string_view> conjuncts(std::string_view canonical);

// Whether the clause's records are kept only where a speculation is committed.
bool speculates(const dof::Body& body);

// Whether the clause may fault somewhere else than in an input of capture(): then such a firing leaves no record of it.
// In doubt it may.
bool may_fault(const dof::EcbDesc& ecb, const dof::Body& body);

// Adds to a program that no dfr record will start (which does it by itself) the clause that tells of faults, so that
// replay can count the firings that left no record because of one; not where no clause that records may fault, or where
// the program has a clause for ERROR.
void tell_faults(dof::Image& program);

// -x cpu= of a program: the only CPU that it looks at; -1: it was not given.
int64_t only_cpu(const dof::Image& program);

// Whether every probe that `one` names, `other` names too. In doubt not.
bool within(const d::ProbePattern& one, const d::ProbePattern& other);

} // namespace dfr::replay
