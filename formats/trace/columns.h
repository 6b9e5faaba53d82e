// SPDX-License-Identifier: GPL-2.0
//
// Columns: the bodies of a chunk's blocks with like bytes next to like: ids,
// time deltas, size codes, contexts, and each field of each EPID in a stream of
// its own, each compressed by itself. Gives back exactly the bytes that went in.
// It carries the layouts that it was made by, so it unpacks without a catalog.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::trace {

// Blocks whose records cannot be walked are kept whole inside.
std::vector<std::byte> encode_columns(std::span<const Block> blocks, const Catalog& catalog);

// Fills `bodies`: what follows each header, one block after another. False: damaged.
bool decode_columns(std::span<const std::byte> stored, std::span<const dfr_block> headers,
                    std::span<std::byte> bodies);

} // namespace dfr::trace
