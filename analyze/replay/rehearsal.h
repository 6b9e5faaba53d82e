// SPDX-License-Identifier: GPL-2.0
//
// Rehearsal: whether a recording that is still to be made will answer an analysis. The
// analysis is compiled as replay compiles it, against a catalog that holds what the
// recording program will record. So what the recording would lack is known before
// anything has happened, not after.
#pragma once

#include "formats/d/target.h"
#include "formats/dof/image.h"
#include "formats/trace/catalog.h"

namespace dfr::replay {

// The catalog of a recording that `program` makes on `machine`, as far as a compilation in replay
// reads it: probes, clauses, and the fields that hold firing inputs.
trace::Catalog catalog_to_be(const dof::Image& program, d::Target& machine);

} // namespace dfr::replay
