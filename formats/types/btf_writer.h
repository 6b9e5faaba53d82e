// SPDX-License-Identifier: GPL-2.0
//
// write_btf(): BTF that stands alone, of some types and what they need, from any
// containers. It is what a recording keeps of its kernel's types. Not a copy of a
// container: no functions, variables, sections or tags, and what nobody asked for is
// cut off at pointers.
//
// A struct or union is written whole if it is a root, is what a root points to, is part
// of one that is whole, or is at most so many `pointers` away from these; further away
// it is announced only (FWD): `struct x *` keeps its name, and x has no members. What
// would make more than `most` bytes is announced only, too: the roots have room first,
// the earlier ones before the later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/types/types.h"

namespace dfr::types {

struct WrittenBtf {
	std::vector<std::uint8_t> bytes;
	std::uint32_t structs = 0;  // that are whole
	std::uint32_t left_out = 0; // roots without their members
};

WrittenBtf write_btf(std::span<const TypeRef> roots, unsigned pointers, std::size_t most);

} // namespace dfr::types
