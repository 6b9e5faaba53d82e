// SPDX-License-Identifier: GPL-2.0
//
// Columns of integers. Head: varint dictionary values (0: none), varint least
// (zigzag), varint greatest - least. Bytes: the dictionary, if there is one, then
// the values or their numbers, lowest bytes first.
#include "formats/trace/integers.h"

#include <algorithm>
#include <bit>

namespace dfr::trace {
namespace {

constexpr uint32_t kMostValues = 65'536;

unsigned width_of(uint64_t greatest) {
	return (71 - static_cast<unsigned>(std::countl_zero(greatest))) / 8;
}

template <typename T>
void put_planes(std::span<const T> values, uint64_t least, unsigned width, FrameWriter& frames) {
	for (unsigned plane = 0; plane < width; plane++) {
		std::byte* to = frames.piece(values.size());
		for (size_t i = 0; i < values.size(); i++)
			to[i] = std::byte((values[i] - least) >> 8 * plane);
	}
}

template <unsigned kWidth>
void get_planes(const std::byte* from, size_t count, uint64_t least, uint64_t* to) {
	const auto* bytes = reinterpret_cast<const uint8_t*>(from);
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;
		for (unsigned plane = 0; plane < kWidth; plane++)
			value |= static_cast<uint64_t>(bytes[plane * count + i]) << 8 * plane;
		to[i] = least + value;
	}
}

void get_integers(const std::byte* from, size_t count, uint64_t least, unsigned width, uint64_t* to) {
	switch (width) {
	case 0: std::fill_n(to, count, least); break;
	case 1: get_planes<1>(from, count, least, to); break;
	case 2: get_planes<2>(from, count, least, to); break;
	case 3: get_planes<3>(from, count, least, to); break;
	case 4: get_planes<4>(from, count, least, to); break;
	case 5: get_planes<5>(from, count, least, to); break;
	case 6: get_planes<6>(from, count, least, to); break;
	case 7: get_planes<7>(from, count, least, to); break;
	default: get_planes<8>(from, count, least, to);
	}
}

// The values of a column, numbered as they come.
class Dictionary {
public:
	// False: there are more than `most`.
	bool fill(std::span<const uint64_t> column, size_t most) {
		const unsigned bits = std::bit_width(2 * most);
		slots_.assign(size_t{1} << bits, 0);
		numbers_.resize(column.size());
		for (size_t i = 0; i < column.size(); i++) {
			size_t slot = column[i] * 0x9e3779b97f4a7c15 >> (64 - bits);
			while (slots_[slot] && values[slots_[slot] - 1] != column[i])
				slot = (slot + 1) & (slots_.size() - 1);
			if (!slots_[slot]) {
				if (values.size() == most)
					return false;
				values.push_back(column[i]);
				slots_[slot] = static_cast<uint32_t>(values.size());
			}
			numbers_[i] = slots_[slot] - 1;
		}
		return true;
	}
	std::span<const uint32_t> numbers() const { return numbers_; }
	std::vector<uint64_t> values;

private:
	std::vector<uint32_t> slots_; // 1 + a number; 0: free
	std::vector<uint32_t> numbers_;
};

// How many values a dictionary may have; 0: none. One whose numbers take a byte must save a quarter. One
// whose numbers take two pays only where values come again very often: what is noise otherwise is noise
// in two bytes of numbers as well, but costs its dictionary.
size_t most_values(uint64_t count, unsigned width) {
	if (width < 2 || count < 8)
		return 0;
	const uint64_t few = std::min<uint64_t>(256, count * (width - 1) / width * 3 / 4);
	return width < 3 ? few : std::max(few, std::min<uint64_t>(kMostValues, count / 16));
}

} // namespace

unsigned IntegerColumn::width() const {
	return width_of(greatest - least);
}

unsigned IntegerColumn::index_width() const {
	return width_of(values - 1);
}

void encode_integers(std::span<const uint64_t> values, bool is_signed, FrameWriter& frames,
                     std::vector<std::byte>& head) {
	const uint64_t sign = is_signed ? 1ull << 63 : 0; // values ^ sign are in order without a sign
	uint64_t least = values.empty() ? 0 : ~0ull, greatest = 0;
	for (const uint64_t value : values) {
		least = std::min(least, value ^ sign);
		greatest = std::max(greatest, value ^ sign);
	}
	const unsigned width = width_of(greatest - least);
	least = values.empty() ? 0 : least ^ sign;
	greatest = values.empty() ? 0 : greatest ^ sign;
	Dictionary dictionary;
	const size_t most = most_values(values.size(), width);
	const bool listed = most && dictionary.fill(values, most);
	put_varint(head, listed ? dictionary.values.size() : 0);
	put_varint(head, zigzag(least));
	put_varint(head, greatest - least);
	if (!listed)
		return put_planes(values, least, width, frames);
	put_planes(std::span<const uint64_t>(dictionary.values), least, width, frames);
	put_planes(dictionary.numbers(), 0, width_of(dictionary.values.size() - 1), frames);
}

bool read_integer_head(VarintReader& in, uint64_t count, IntegerColumn& column) {
	const uint64_t values = in.next();
	column.count = count;
	column.least = unzigzag(in.next());
	column.greatest = column.least + in.next();
	column.values = static_cast<uint32_t>(values);
	return in.good() && values <= kMostValues && values <= count;
}

bool decode_integers(const IntegerColumn& column, const std::byte* from, uint64_t* to) {
	if (!column.values) {
		get_integers(from, column.count, column.least, column.width(), to);
		return true;
	}
	std::vector<uint64_t> values(column.values);
	get_integers(from, values.size(), column.least, column.width(), values.data());
	from += uint64_t{column.values} * column.width();
	get_integers(from, column.count, 0, column.index_width(), to);
	for (uint64_t i = 0; i < column.count; i++) {
		if (to[i] >= values.size())
			return false;
		to[i] = values[to[i]];
	}
	return true;
}

} // namespace dfr::trace
