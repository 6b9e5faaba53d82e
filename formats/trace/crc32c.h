// SPDX-License-Identifier: GPL-2.0
//
// CRC32C as formats/abi/block.h defines it: Castagnoli's polynomial, reflected,
// starting at ~0 and inverted at the end. Blocks, anchors and segments of .dfr
// files have it. It finds accidental damage, not forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dfr::trace {

// The checksum of `bytes`; with `before`, of the bytes that have the checksum `before`, followed by `bytes`.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

} // namespace dfr::trace
