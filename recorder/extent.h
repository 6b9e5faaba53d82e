// SPDX-License-Identifier: GPL-2.0
//
// MemoryExtent: a piece of a dead machine's memory, as an anchor lists it: page frames in
// order, which lie anywhere.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/anchors.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

// Of page frames, most of which lie side by side.
class FrameSet {
public:
	// False: it was there.
	bool insert(uint64_t frame) {
		auto bit = pieces_[frame / kPiece][frame % kPiece];
		const bool fresh = !bit;
		bit = true;
		return fresh;
	}

private:
	static constexpr size_t kPiece = 512;
	std::unordered_map<uint64_t, std::bitset<kPiece>> pieces_;
};

struct MemoryExtent {
	std::vector<uint64_t> frames; // in a raw image: pages of the file
	uint32_t within = 0;          // where it starts in the first frame
	int64_t displacement = 0;     // by which they were found there
};

// Fills `into` from the extent's start on. What the image does not have becomes 0; returns how many bytes that are.
uint64_t read_extent(const PhysicalMemory& memory, const MemoryExtent& extent, std::span<std::byte> into);

// A hole that a raw image leaves out may lie between an anchor and what it lists: the same with each other displacement.
std::vector<MemoryExtent> moved(const PhysicalMemory& memory, const MemoryExtent& extent);
// Moves the extent if it does not begin with a `Head` that is_right() takes, and does so elsewhere.
template <typename Head, typename Test>
void settle(const PhysicalMemory& memory, MemoryExtent& extent, const Test& is_right) {
	const auto begins = [&](const MemoryExtent& one) {
		Head head{};
		return read_extent(memory, one, std::as_writable_bytes(std::span(&head, 1))) == 0 &&
		       is_right(head);
	};
	if (memory.displacements().size() < 2 || extent.frames.empty() || begins(extent))
		return;
	for (MemoryExtent& other : moved(memory, extent))
		if (begins(other)) {
			extent = std::move(other);
			return;
		}
}

// The page frames of an anchor's runs, in order; at most `limit`, because a hostile anchor may claim
// any number.
std::vector<uint64_t> frames_of(const FoundAnchor& anchor, uint64_t limit);

// The pieces of `unit` bytes, of a power of two, that the anchor's frames hold, laid end to end. `listed`: frames in
// which such pieces began so far. What an anchor lists a second time, as a crafted image may again and again, is
// left out, and so is half a piece at the end; returns how many times.
uint64_t each_unit(const FoundAnchor& anchor, const PhysicalMemory& memory, uint32_t unit, FrameSet& listed,
                   const std::function<void(MemoryExtent)>& visit);

// The frames of all parts of one thing, laid end to end, up to the first part that is missing, and to `limit` bytes.
MemoryExtent extent_of(const AnchorGroup& group, AnchorKey first, uint64_t limit);

} // namespace dfr::recorder
