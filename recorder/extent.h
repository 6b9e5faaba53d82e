// SPDX-License-Identifier: GPL-2.0
//
// MemoryExtent: a piece of a dead machine's memory, as an anchor lists it: page frames in
// order, which lie anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "recorder/anchors.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

// What all anchors of an image may list, and what is read whole of that: more than there can be is crafted.
class ImageBudget {
public:
	explicit ImageBudget(const PhysicalMemory& memory)
	    : pages_(kPagesLeast + 4 * (memory.bytes() / kPage)), bytes_(kBytesLeast + 4 * memory.bytes()) {}
	// False: that is too much.
	bool take_pages(uint64_t pages) { return take(pages_, pages); }
	bool take_bytes(uint64_t bytes) { return take(bytes_, bytes); }

private:
	// A dump that is cut, or leaves pages out, lists more than it has.
	static constexpr uint64_t kPagesLeast = 1 << 18, kBytesLeast = 8 << 20;
	static bool take(uint64_t& left, uint64_t wanted) {
		if (wanted > left)
			return false;
		left -= wanted;
		return true;
	}
	uint64_t pages_, bytes_;
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
uint64_t each_unit(const FoundAnchor& anchor, const PhysicalMemory& memory, uint32_t unit,
                   std::unordered_set<uint64_t>& listed, const std::function<void(MemoryExtent)>& visit);

// The frames of all parts of one thing, laid end to end, up to the first part that is missing, and to `limit` bytes.
MemoryExtent extent_of(const AnchorGroup& group, AnchorKey first, uint64_t limit);

} // namespace dfr::recorder
