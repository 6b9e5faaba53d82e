// SPDX-License-Identifier: GPL-2.0
//
// The compressions of kdump-compressed dumps: zlib, lzo (lzo1x), snappy, zstd. Input is
// hostile: nothing is written or read outside of the two spans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dfr::recorder {

// How a page is stored, as its descriptor says.
enum PageCodec : uint32_t { kPlain = 0, kZlib = 0x1, kLzo = 0x2, kSnappy = 0x4, kZstd = 0x20 };

// Unpacks exactly one page. False: the bytes make no sense, or give another size.
bool unpack_page(uint32_t codec, std::span<const std::byte> packed, std::span<std::byte> page);

} // namespace dfr::recorder
