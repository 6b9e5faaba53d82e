// SPDX-License-Identifier: GPL-2.0
//
// The bytes of a chunk's columns, in frames that zstd packs, so that a reader
// unpacks only what it looks at. To readers they are one run of bytes; where a
// frame ends matters only to how well it packs: a piece of bytes of one kind that
// is large has a frame for itself, since zstd makes its tables of frequencies for
// what stands together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/trace/bytes.h"

namespace dfr::trace {

class FrameWriter {
public:
	// Room for a piece at the end of what there is, to be filled by the caller before the next call.
	std::byte* piece(size_t size) {
		const size_t at = raw_.size();
		raw_.resize(at + size);
		if (size)
			ends_.push_back(raw_.size());
		return raw_.data() + at;
	}
	void piece(std::span<const std::byte> bytes) {
		std::byte* to = piece(bytes.size());
		if (!bytes.empty())
			std::memcpy(to, bytes.data(), bytes.size());
	}
	// Packs everything: the sizes go to `sizes`, the frames to the end of `to`.
	void pack(std::vector<std::byte>& sizes, std::vector<std::byte>& to) const;

private:
	std::vector<size_t> frame_ends() const;
	std::vector<std::byte> raw_;
	std::vector<size_t> ends_; // of the pieces
};

class FrameReader {
public:
	// `sizes` as pack() wrote them, `packed` as many bytes as they say. False: they do not fit together, or
	// hold more than `most` bytes when unpacked.
	bool open(VarintReader& sizes, std::span<const std::byte> packed, uint64_t most);
	uint64_t size() const { return size_; }
	// Unpacks the frames of these bytes if that has not been done; null: not there, or damaged.
	const std::byte* bytes(uint64_t offset, uint64_t size);
	size_t unpacked() const { return unpacked_; } // frames so far

private:
	struct Frame {
		uint64_t end = 0; // in the unpacked bytes
		std::span<const std::byte> stored;
		bool done = false;
	};
	std::vector<Frame> frames_;
	uint64_t size_ = 0;
	size_t unpacked_ = 0;
	std::unique_ptr<std::byte[]> raw_; // not initialized, so that pages that nobody asks for cost nothing
};

} // namespace dfr::trace
