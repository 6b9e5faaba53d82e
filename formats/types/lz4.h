// SPDX-License-Identifier: GPL-2.0
//
// LZ4's legacy frame, which is how a kernel with CONFIG_KERNEL_LZ4 (Debian's
// cloud kernels of 6.1) is compressed. Decompression only, and nothing of the
// newer frame: for one format of one file, a library would be too much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dfr::types {

inline constexpr std::uint32_t kLz4LegacyMagic = 0x184c2102;

// `frame` starts with the magic and may be followed by up to seven bytes that
// do not belong to it. False if the data is wrong or unpacks to more than
// `most` bytes.
bool unpack_lz4(std::span<const std::uint8_t> frame, std::size_t most, std::vector<std::uint8_t>& out);

} // namespace dfr::types
