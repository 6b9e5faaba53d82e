// SPDX-License-Identifier: GPL-2.0
//
// LZ4 legacy frames: see lz4.h.
//
//	frame:     magic u32 | blocks, each: packed length u32 | sequences
//	sequence:  token u8 (high four bits: literals, low four: match length - 4)
//	           | more literals | the literals | distance u16 | more match
//	           a count of 15 goes on in bytes, up to and with the first that is
//	           not 255; the last sequence of a block ends after its literals
//
// A block unpacks to 8 MB, the last one to less; matches reach back 64 KB, not
// beyond the block's start.
#include "formats/types/lz4.h"

#include <algorithm>
#include <cstring>

namespace dfr::types {
namespace {

constexpr std::size_t kBlock = std::size_t(8) << 20;
constexpr std::size_t kMinMatch = 4;

class Block {
public:
	Block(std::span<const std::uint8_t> in, std::vector<std::uint8_t>& out)
	    : in_(in), out_(out), start_(out.size()), end_(out.size() + kBlock) {}

	bool unpack() {
		while (at_ < in_.size()) {
			const unsigned token = in_[at_++];
			std::size_t count = token >> 4;
			if (!extend(count) || !literals(count))
				return false;
			if (at_ == in_.size())
				return true;
			if (in_.size() - at_ < 2)
				return false;
			const std::size_t distance = in_[at_] | in_[at_ + 1] << 8;
			at_ += 2;
			count = token & 15;
			if (!extend(count) || !match(distance, count + kMinMatch))
				return false;
		}
		return false; // it must end with literals
	}

private:
	bool extend(std::size_t& count) {
		if (count != 15)
			return true;
		unsigned more;
		do {
			if (at_ == in_.size())
				return false;
			more = in_[at_++];
			count += more;
		} while (more == 255);
		return true;
	}

	bool literals(std::size_t count) {
		if (count > in_.size() - at_ || count > end_ - out_.size())
			return false;
		out_.insert(out_.end(), in_.begin() + static_cast<std::ptrdiff_t>(at_),
		            in_.begin() + static_cast<std::ptrdiff_t>(at_ + count));
		at_ += count;
		return true;
	}

	// The match may overlap what it makes, so it is copied in steps of the
	// distance at most.
	bool match(std::size_t distance, std::size_t count) {
		if (distance == 0 || distance > out_.size() - start_ || count > end_ - out_.size())
			return false;
		std::size_t to = out_.size();
		out_.resize(to + count);
		while (count != 0) {
			const std::size_t step = std::min(distance, count);
			std::memcpy(out_.data() + to, out_.data() + to - distance, step);
			to += step;
			count -= step;
		}
		return true;
	}

	std::span<const std::uint8_t> in_;
	std::vector<std::uint8_t>& out_;
	std::size_t at_ = 0;
	std::size_t start_;
	std::size_t end_;
};

std::uint32_t u32_at(std::span<const std::uint8_t> bytes, std::size_t at) {
	std::uint32_t value;
	std::memcpy(&value, bytes.data() + at, sizeof value);
	return value;
}

} // namespace

bool unpack_lz4(std::span<const std::uint8_t> frame, std::size_t most, std::vector<std::uint8_t>& out) {
	out.clear();
	if (frame.size() < 4 || u32_at(frame, 0) != kLz4LegacyMagic)
		return false;
	std::size_t at = 4;
	while (frame.size() - at >= 8) {
		const std::size_t length = u32_at(frame, at);
		at += 4;
		if (length > frame.size() - at || out.size() > most)
			return false;
		if (!Block(frame.subspan(at, length), out).unpack())
			return false;
		at += length;
	}
	return out.size() <= most;
}

} // namespace dfr::types
