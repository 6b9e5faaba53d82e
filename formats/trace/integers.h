// SPDX-License-Identifier: GPL-2.0
//
// A column of integers. Each is stored as its distance from the least one, in as
// few bytes as the greatest needs; if they are all the same, nothing is stored.
// Where few values come again and again, the values stand once and the column holds
// their numbers (a dictionary). Bytes of one place value stand together, because
// zstd then finds what repeats, and because noise in low bytes spoils no others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/trace/frames.h"

namespace dfr::trace {

struct IntegerColumn {
	uint64_t count = 0;
	uint64_t least = 0, greatest = 0; // compared with their sign, where the field is signed
	uint32_t values = 0;              // in the dictionary; 0: there is none
	uint64_t offset = 0;              // in the chunk's frames

	unsigned width() const; // bytes of a value
	unsigned index_width() const;
	// At most 8 for each value: neither product overflows if the count is checked.
	uint64_t bytes() const {
		return values ? uint64_t{values} * width() + count * index_width() : count * width();
	}
};

// Writes the values as pieces, and the column's head, without the count and the offset, to `head`.
void encode_integers(std::span<const uint64_t> values, bool is_signed, FrameWriter& frames,
                     std::vector<std::byte>& head);
// Reads a head; false: it makes no sense.
bool read_integer_head(VarintReader& in, uint64_t count, IntegerColumn& column);
// `from`: column.bytes() bytes, `to`: column.count integers. False: damaged.
bool decode_integers(const IntegerColumn& column, const std::byte* from, uint64_t* to);

} // namespace dfr::trace
