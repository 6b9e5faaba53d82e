// SPDX-License-Identifier: GPL-2.0
//
// The elements of an aggregation's key, one after another (formats/abi/catalog.h says
// how each kind stands there). The bytes are hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/abi/catalog.h"

namespace dfr::trace {

struct KeyElement {
	uint64_t number = 0; // INT; USTACK: the process; PROBETEXT: the probe's id
	std::span<const std::byte>
	    bytes; // STRING without its NUL; BYTES; the PCs of stacks; USYM: both words
};

// Takes the first element, of this kind, off `rest`; false: it is not there.
bool take_key_element(const dfr_field& field, std::span<const std::byte>& rest, KeyElement& element);

} // namespace dfr::trace
