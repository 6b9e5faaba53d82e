// SPDX-License-Identifier: GPL-2.0
//
// CRC32C as formats/abi/block.h defines it: Castagnoli's polynomial, reflected,
// starting at ~0 and inverted at the end. Blocks, anchors and segments of .dfr
// files carry it. Not a hash, and no protection against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dfr::trace {

// The checksum of `bytes`, or of `bytes` after what `before` is the checksum of.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace dfr::trace
