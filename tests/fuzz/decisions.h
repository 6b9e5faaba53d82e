// SPDX-License-Identifier: GPL-2.0
//
// Decisions taken from a fuzzer's input, or from a generator's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfr::fuzz {

// Spends the input byte by byte; zeros when it is used up.
class Decisions {
public:
	Decisions(const uint8_t* data, size_t size) : data_(data), left_(size) {}
	uint8_t byte() {
		if (!left_)
			return 0;
		left_--;
		return *data_++;
	}
	uint16_t half() { return static_cast<uint16_t>(byte() | byte() << 8); }
	uint32_t word() { return half() | static_cast<uint32_t>(half()) << 16; }
	uint64_t wide() { return word() | static_cast<uint64_t>(word()) << 32; }
	// Mostly small: what offsets and counts want to be.
	uint64_t number() {
		const uint8_t choice = byte();
		return choice < 0xe0 ? choice : choice < 0xf8 ? half() : wide();
	}
	std::vector<std::byte> rest() {
		const auto* bytes = reinterpret_cast<const std::byte*>(data_);
		return {bytes, bytes + left_};
	}
	// What is spent on something else than what comes first, which may read it, too.
	Decisions last_quarter() const { return {data_ + left_ - left_ / 4, left_ / 4}; }
	size_t left() const { return left_; }

private:
	const uint8_t* data_;
	size_t left_;
};

} // namespace dfr::fuzz
