// SPDX-License-Identifier: GPL-2.0
//
// SHA-256 (FIPS 180-4) of bytes that are in memory: what says which source, program and module an archive was made
// of. It is an identity, not a signature.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace dfr::boot {

// In hexadecimal.
std::string sha256(std::span<const uint8_t> bytes);

} // namespace dfr::boot
