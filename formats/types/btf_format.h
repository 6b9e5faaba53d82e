// SPDX-License-Identifier: GPL-2.0
//
// BTF's numbers, for the reader's own files only. Not an interface: everybody
// else sees types.h.
#pragma once

#include <cstdint>

#include "formats/types/btf.h"

namespace dfr::types {
namespace btf {

inline constexpr std::uint32_t kMagic = 0xeb9f;
inline constexpr std::uint32_t kMagicSwapped = 0x9feb;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kHeaderSize = 24;
inline constexpr std::uint32_t kTypeSize = 12;

inline constexpr std::uint32_t kInt = 1, kPtr = 2, kArray = 3, kStruct = 4, kUnion = 5, kEnum = 6, kFwd = 7,
                               kTypedef = 8, kVolatile = 9, kConst = 10, kRestrict = 11, kFunc = 12,
                               kFuncProto = 13, kVar = 14, kDatasec = 15, kFloat = 16, kDeclTag = 17,
                               kTypeTag = 18, kEnum64 = 19;

inline constexpr std::uint32_t kIntSigned = 1, kIntChar = 2, kIntBool = 4;

inline std::uint32_t kind_of(std::uint32_t info) {
	return info >> 24 & 0x1f;
}
inline std::uint32_t vlen_of(std::uint32_t info) {
	return info & 0xffff;
}
inline bool flag_of(std::uint32_t info) {
	return info >> 31;
}

} // namespace btf

// One type as it stands in the file; `data` points at what follows its header,
// of which index_types() has checked the length.
struct Btf::Record {
	TypeId id;
	std::uint32_t name;
	std::uint32_t kind;
	std::uint32_t vlen;
	bool flag;
	std::uint32_t value; // size or type
	const std::uint8_t* data;
	std::uint64_t at; // in the blob, for messages
};

} // namespace dfr::types
