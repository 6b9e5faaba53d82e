// SPDX-License-Identifier: GPL-2.0
//
// Frames of a chunk's columns. Sizes: [ varint frames ][ varint raw, varint stored ]...;
// raw == stored: not packed, because that would not make it smaller.
#include "formats/trace/frames.h"

#include <algorithm>

#include "formats/trace/container.h"

namespace dfr::trace {
namespace {

constexpr size_t kFrameBytes = 64 * 1024;
// A piece of this size has a frame of its own.
constexpr size_t kOwnFrameBytes = 16 * 1024;
constexpr size_t kWorthPacking = 48;

} // namespace

std::vector<size_t> FrameWriter::frame_ends() const {
	std::vector<size_t> result;
	size_t start = 0, frame = 0;
	for (const size_t end : ends_) {
		if (end - start >= kOwnFrameBytes && start > frame) {
			result.push_back(start);
			frame = start;
		}
		if (end - start >= kOwnFrameBytes || end - frame >= kFrameBytes) {
			result.push_back(end);
			frame = end;
		}
		start = end;
	}
	if (start > frame)
		result.push_back(start);
	return result;
}

void FrameWriter::pack(std::vector<std::byte>& sizes, std::vector<std::byte>& to) const {
	const std::vector<size_t> ends = frame_ends();
	put_varint(sizes, ends.size());
	size_t start = 0;
	for (const size_t end : ends) {
		const auto raw = std::span(raw_).subspan(start, end - start);
		std::optional<std::vector<std::byte>> small;
		if (raw.size() >= kWorthPacking)
			small = compress(raw);
		const auto stored = small ? std::span<const std::byte>(*small) : raw;
		put_varint(sizes, raw.size());
		put_varint(sizes, stored.size());
		to.insert(to.end(), stored.begin(), stored.end());
		start = end;
	}
}

bool FrameReader::open(VarintReader& sizes, std::span<const std::byte> packed, uint64_t most) {
	frames_.resize(sizes.count());
	for (Frame& frame : frames_) {
		const uint64_t raw = sizes.next(), stored = sizes.next();
		if (stored > packed.size() || stored > raw || raw > most - size_)
			return false;
		size_ += raw;
		frame.end = size_;
		frame.stored = packed.first(stored);
		packed = packed.subspan(stored);
	}
	if (!sizes.good() || !packed.empty())
		return false;
	raw_.reset(new std::byte[size_ + 1]);
	return true;
}

const std::byte* FrameReader::bytes(uint64_t offset, uint64_t size) {
	if (offset > size_ || size > size_ - offset)
		return nullptr;
	auto frame = std::upper_bound(frames_.begin(), frames_.end(), offset,
	                              [](uint64_t at, const Frame& f) { return at < f.end; });
	for (; frame != frames_.end(); ++frame) {
		const uint64_t start = frame == frames_.begin() ? 0 : frame[-1].end;
		if (start >= offset + size)
			break;
		if (frame->done)
			continue;
		const auto raw = std::span(raw_.get() + start, frame->end - start);
		if (frame->stored.size() == raw.size())
			std::copy(frame->stored.begin(), frame->stored.end(), raw.begin());
		else if (!uncompress(frame->stored, raw))
			return nullptr;
		frame->done = true;
		unpacked_++;
	}
	return raw_.get() + offset;
}

} // namespace dfr::trace
