// SPDX-License-Identifier: GPL-2.0
//
// Numbers in bytes: loads and stores without alignment, and varints (7 bits a byte, lowest first; the
// top bit says that more follow).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace dfr::trace {

template <typename T> T load(const std::byte* at) {
	T value;
	std::memcpy(&value, at, sizeof(T));
	return value;
}

template <typename T> void store(std::byte* at, T value) {
	std::memcpy(at, &value, sizeof(T));
}

// Signed numbers near 0 as small unsigned ones.
inline uint64_t zigzag(uint64_t value) {
	return value << 1 ^ (static_cast<int64_t>(value) < 0 ? ~0ull : 0);
}
inline uint64_t unzigzag(uint64_t value) {
	return value >> 1 ^ (0 - (value & 1));
}

inline void put_varint(std::vector<std::byte>& to, uint64_t value) {
	for (; value >= 0x80; value >>= 7)
		to.push_back(std::byte(value | 0x80));
	to.push_back(std::byte(value));
}

// Reads hostile bytes. After the first failure all that it gives is 0 and good() is false.
class VarintReader {
public:
	explicit VarintReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
	uint64_t next() {
		uint64_t value = 0;
		for (unsigned shift = 0; shift < 64; shift += 7) {
			if (at_ == bytes_.size())
				break;
			const auto seven = std::to_integer<uint64_t>(bytes_[at_++]);
			value |= (seven & 0x7f) << shift;
			if (seven < 0x80)
				return value;
		}
		good_ = false;
		at_ = bytes_.size();
		return 0;
	}
	// A number of things that take at least one byte each of what is left.
	uint64_t count() {
		const uint64_t value = next();
		if (value <= left())
			return value;
		good_ = false;
		return 0;
	}
	bool good() const { return good_; }
	size_t left() const { return bytes_.size() - at_; }

private:
	std::span<const std::byte> bytes_;
	size_t at_ = 0;
	bool good_ = true;
};

} // namespace dfr::trace
