// SPDX-License-Identifier: GPL-2.0
//
// The numbers of CTF version 3, for the reader's own files only.
//
//	dictionary:  header (52 bytes) | body, perhaps zlib-compressed
//	header:      magic u16, version u8, flags u8, then u32 each: parent label,
//	             parent name, unit name, and the offsets in the body of labels,
//	             objects, functions, object names, function names, variables,
//	             types, strings; length of strings
//	type:        name u32 | info u32 | size or type u32 [| size u64 as high, low
//	             if the u32 is 0xffffffff] | data that depends on kind
//	info:        bits 31-26 kind, bit 25 visible at top level, bits 24-0 vlen
//	             (of which 24 are used)
#pragma once

#include <cstdint>

#include "formats/types/ctf.h"

namespace dfr::types {
namespace ctf {

inline constexpr std::uint32_t kMagic = 0xdff2;
inline constexpr std::uint32_t kMagicSwapped = 0xf2df;
inline constexpr std::uint32_t kVersion3 = 4; // the byte that means version 3
inline constexpr std::uint32_t kHeaderSize = 52;
inline constexpr std::uint64_t kArchiveMagic = 0x8b47f2a4d7623eebULL;
inline constexpr std::uint32_t kArchiveHeader = 40;

inline constexpr std::uint32_t kCompressed = 1, kDynamic = 8;

inline constexpr std::uint32_t kUnknown = 0, kInteger = 1, kFloat = 2, kPointer = 3, kArray = 4,
                               kFunction = 5, kStruct = 6, kUnion = 7, kEnum = 8, kForward = 9, kTypedef = 10,
                               kVolatile = 11, kConst = 12, kRestrict = 13, kSlice = 14;

inline constexpr std::uint32_t kIntSigned = 1, kIntChar = 2, kIntBool = 4;
inline constexpr std::uint32_t kLargeSize = 0xffffffff;
// From this size on, members are written with 64-bit offsets.
inline constexpr std::uint64_t kLargeStruct = 536870912;
inline constexpr std::uint32_t kExternalString = 1U << 31;

} // namespace ctf

// One type as it stands in the body, its data checked to be inside.
struct Ctf::Record {
	std::uint32_t name;
	std::uint32_t kind;
	bool visible;
	std::uint32_t vlen;
	std::uint32_t type; // for kinds that refer to a type
	std::uint64_t size; // for kinds that have a size
	std::uint64_t at;   // where it starts in the body
	std::uint64_t data; // where its data starts
	std::uint64_t end;  // where the next type starts
};

} // namespace dfr::types
