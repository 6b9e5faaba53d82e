// SPDX-License-Identifier: GPL-2.0
//
// Columns: the bodies of a chunk's blocks, rearranged so that bytes of one meaning
// stand together: ids, time deltas, size codes, contexts, and each field of each
// EPID have a stream of their own, compressed by itself. Decoding gives back exactly
// the same bytes. The layouts are stored too, so decoding needs no catalog.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::trace {

// A block whose records cannot be walked is stored whole, in the stream kWhole.
std::vector<std::byte> encode_columns(std::span<const Block> blocks, const Catalog& catalog);

// Fills `bodies` with what follows each block's header, one block after another. False: damaged.
bool decode_columns(std::span<const std::byte> stored, std::span<const dfr_block> headers,
                    std::span<std::byte> bodies);

} // namespace dfr::trace
